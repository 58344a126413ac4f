"""The kernel benchmark's parts do what its tables say, on tiny data; nothing here is timed."""

import bz2
import gzip
import json
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from .benchmark_helpers import imported

GAMMA, LAM = 0.3, 0.01
# Sums of a hundred float64 terms, in another order.
ROUNDING = 1e-12


@pytest.fixture(scope="module", autouse=True)
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture
def problem(bench):
    return bench.kernel_peers.Problem(LAM, GAMMA, 120)


@pytest.fixture(params=["dense", "CSR"])
def data(request, make_blobs):
    X, y = make_blobs(120, 4)
    X = X.astype(np.float32)
    return (sp.csr_matrix(X) if request.param == "CSR" else X), np.where(y, 1, -1).astype(np.int8)


# --- The judge ------------------------------------------------------------------------------------


def test_the_function_of_a_peer_is_its_decision_function(bench, problem, data):
    X, y = data
    model = SVC(C=problem.C, gamma=GAMMA).fit(X, y)
    function = bench.kernel_peers.function_of(model, ours=False)
    scores = function.coef @ rbf_kernel(X[function.support], X, gamma=GAMMA) + function.bias
    # SVC computes its kernel in float64 of the same float32 data; rbf_kernel does so in chunks.
    assert_allclose(scores[0], model.decision_function(X), rtol=1e-5, atol=1e-5)


def test_the_judge_computes_the_objective_of_svc(bench, monkeypatch, problem, data):
    monkeypatch.setattr(bench.measure, "_NUMBERS_A_TILE", 700)  # several tiles
    X, y = data
    model = SVC(C=problem.C, gamma=GAMMA, tol=1e-9).fit(X, y)
    svc = bench.kernel_peers.BY_KEY["svc"]
    (found,) = bench.kernel_trial.judge(svc, model, problem, X, y)["objectives"]

    X = X.toarray() if sp.issparse(X) else X
    coef = np.zeros(len(y))
    coef[model.support_] = np.ravel(dense(model.dual_coef_))
    squared_norm = coef @ rbf_kernel(X.astype(float), gamma=GAMMA) @ coef
    scores = rbf_kernel(X.astype(float), gamma=GAMMA) @ coef + model.intercept_
    by_hand = LAM / 2 * squared_norm + np.maximum(0, 1 - y * scores).mean()
    assert found == pytest.approx(by_hand, rel=ROUNDING)
    # Strong duality: SVC's coefficients are y_i a_i/(lam m), and its tolerance is 1e-9.
    dual = LAM * np.abs(coef).sum() - LAM / 2 * squared_norm
    assert found == pytest.approx(dual, rel=1e-7)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def test_several_problems_are_judged_as_one_by_one(bench, data):
    X, y = data
    rng = np.random.default_rng(0)
    signs = np.where(rng.random((3, len(y))) < 0.5, -1.0, 1.0)
    support, coef = np.array([5, 0, 77]), rng.standard_normal((3, 3))
    judge = partial(
        bench.measure.kernel_hinge_objectives, partial(rbf_kernel, gamma=GAMMA), X, lam=LAM
    )
    together = judge(signs=signs, support=support, coef=coef)
    for i in range(3):
        (alone,) = judge(signs=signs[i : i + 1], support=support, coef=coef[i : i + 1])
        assert together[i] == pytest.approx(alone, rel=ROUNDING)


def test_peers_with_several_classes_are_not_judged(bench, problem, three_classes):
    X, y = three_classes
    judge = bench.kernel_trial.judge
    assert judge(bench.kernel_peers.BY_KEY["svc"], SVC().fit(X, y), problem, X, y) == {}


def test_signs_are_those_of_one_class_or_of_each_against_the_rest(bench):
    one_vs_rest = bench.datasets.one_vs_rest
    assert_array_equal(one_vs_rest(np.array([-1, 1, 1])), [[-1, 1, 1]])
    assert_array_equal(one_vs_rest(np.array([7, 0, 3])), [[-1, 1, -1], [-1, -1, 1], [1, -1, -1]])


@pytest.mark.parametrize("coef0", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_judge_agrees_with_our_own_objective(bench, three_classes, n_classes, coef0):
    problem = bench.kernel_peers.Problem(LAM, GAMMA, 120, coef0)
    X, y = three_classes
    _, y = np.unique(y, return_inverse=True)
    y = y if n_classes == 3 else np.where(y == 1, 1, -1)
    ours = bench.kernel_peers.BY_KEY["pegasos-1"]
    model = ours.make(problem, 0).fit(X, y)
    judged = bench.kernel_trial.judge(ours, model, problem, X, y)
    # The kernel may have been computed in float32.
    assert_allclose(judged["objectives"], np.atleast_1d(model.objective_), rtol=1e-5)
    assert np.all(np.array(judged["bounds"]) <= judged["objectives"])


# --- Data -----------------------------------------------------------------------------------------


def test_problems_are_given_by_lam_or_by_c(bench):
    Task = bench.kernel_trial.Task
    by_lam, by_c = Task("", "", gamma=1, lam=0.01), Task("", "", gamma=1, C=2)
    assert_allclose(by_lam.problem(50).C, 2, rtol=1e-15)
    assert_allclose(by_c.problem(50).lam, 0.01, rtol=1e-15)


def test_digits_are_read_as_numbers_from_0_to_1(bench, monkeypatch, tmp_path):
    (tmp_path / "mnist").mkdir()
    pixels = np.array([[0, 255], [51, 102]], dtype=np.uint8)
    for name, header, content in (("images-idx3", 16, pixels), ("labels-idx1", 8, b"\x08\x03")):
        with gzip.open(tmp_path / "mnist" / f"t10k-{name}-ubyte.gz", "wb") as file:
            file.write(bytes(header) + bytes(content))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    part = bench.datasets.prepare("mnist-test", tmp_path / "cache")
    X, y = bench.kernel.TASKS["mnist-8"].load(part)
    assert_allclose(X, [[0, 1], [0.2, 0.4]], rtol=1e-7)
    assert_array_equal(y, [1, -1])
    _, y = bench.kernel.TASKS["mnist"].load(part, n_rows=1)
    assert_array_equal(y, [8])


def test_a_test_part_without_the_last_feature_has_its_column(bench, monkeypatch, tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.tst.bz2").write_bytes(bz2.compress(b"-1 1:1 5:1\n+1 2:1\n"))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    X, y = bench.datasets.prepare("a9a-test", tmp_path / "cache").load()
    assert X.shape == (2, 123)
    assert_array_equal(y, [-1, 1])


def test_both_parts_of_the_usps_digits_are_read(bench, monkeypatch, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "usps.h5", "w") as file:
        for part, digit in (("train", 3), ("test", 9)):
            file[f"{part}/data"] = np.full((1, 2), digit / 10, dtype=np.float32)
            file[f"{part}/target"] = np.array([digit], dtype=np.int32)
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    for name, digit in (("usps", 3), ("usps-test", 9)):
        X, y = bench.datasets.prepare(name, tmp_path / "cache").load()
        assert_allclose(X, [[digit / 10] * 2], rtol=1e-7)
        assert_array_equal(y, [digit])


# --- Report ---------------------------------------------------------------------------------------


def made_up_results():
    """One set; ours with one thread fits 4 times as fast as SVC and predicts 25 times as fast."""

    def found(fit, predict, **more):
        times = {"fit_seconds": [fit, 2 * fit, fit / 2], "predict_seconds": [predict]}
        return {**times, "error": 0.0288, "n_support": 1550, "memory_bytes": 5_000_000, **more}

    facts = {
        "title": "toy",
        "gamma": 0.5,
        "lam": 1e-3,
        "C": 1.0,
        "coef0": 0.0,
        "is_sparse": True,
        "n_rows": 1000,
        "n_test_rows": 500,
        "n_features": 10,
        "n_bytes": 41_000,
        "n_classes": 2,
    }
    task = {
        "facts": facts,
        "measured": {
            "svc": found(8.0, 5.0, objectives=[0.0399]),
            "pegasos-1": found(2.0, 0.2, objectives=[0.04, 0.05], bounds=[0.03999, 0.0499]),
        },
        "left_out": {"intelex": "sklearnex is not installed"},
    }
    return {
        "machine": {"CPU": "abacus"},
        "versions": {"pegasos": "0"},
        "limit": 60,
        "runs": [{"date": "2000-01-01", "command": "python benchmarks/kernel.py"}],
        "tasks": {"toy": task},
    }


def test_tables_show_medians_spread_ratios_objectives_and_what_is_missing(bench):
    text = bench.kernel_report.tables(made_up_results())
    assert "| toy | fit | 8.00 s | – | 2.00 s | – | **4.0** | – | – | – |" in text
    assert "| toy | predict | 5.00 s | – | 0.200 s | – | **25.0** | – | – | – |" in text
    svc = "8.00 s (4.00–16.0) | 5.00 s | 2.88% | 1,550 | 5 MB | – | 0.039900 | – | – |"
    assert f"| SVC | {svc}" in text
    # Means over the problems, and the largest gap: (0.05 - 0.0499)/0.05.
    ours = "2.88% | 1,550 | 5 MB | 0.045000 | – | 0.044945 | 2.0e-3 |"
    assert (
        f"| KernelPegasosClassifier, 1 thread | **2.00 s** (1.00–4.00) | **0.200 s** | {ours}"
        in text
    )
    assert "Left out: scikit-learn-intelex, all cores (sklearnex is not installed)." in text
    assert "lam 1.00e-3, C 1.\n" in text


def test_a_constant_in_our_kernel_is_named(bench):
    content = made_up_results()
    content["tasks"]["toy"]["facts"]["coef0"] = 1.0
    assert "C 1; ours with coef0 1." in bench.kernel_report.tables(content)


def test_the_section_begins_with_the_goals(bench):
    text = bench.kernel_report.document(made_up_results(), "kernel.png")
    head = text.partition("![")[0]
    fit = "- fit, against SVC (goal: 10 times): 4.0 to 4.0 times with 1 thread (reached on 0 of 1"
    predict = (
        "- predict, against SVC (goal: 20 times): 25.0 to 25.0 times with 1 thread (reached on 1"
    )
    assert fit in head
    assert predict in head
    assert "intelex" not in head  # nothing was measured
    assert "](kernel.png)" in text


def test_a_false_bound_is_called_false(bench):
    content = made_up_results()
    assert "it is false" not in bench.kernel_report.tables(content)
    content["tasks"]["toy"]["measured"]["pegasos-1"]["bounds"] = [0.041, 0.051]
    assert "it is false" in bench.kernel_report.tables(content)


def test_the_figure_is_written_twice_the_same(bench, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        bench.kernel_figure.draw(made_up_results(), tmp_path / name)
    assert (tmp_path / "a.png").stat().st_size > 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


# --- The script -----------------------------------------------------------------------------------


@pytest.fixture
def run(bench, make_blobs, monkeypatch, tmp_path):
    """Run the script on a tiny set and return its exit code and the results it keeps."""
    for name, seed in (("reuters", 0), ("reuters-test", 1)):
        X, y = make_blobs(60, 3, seed=seed)
        made = (X.astype(np.float32), np.where(y, 1, -1).astype(np.int8))
        source = type(bench.datasets._SOURCES[name])((), lambda _, made=made: made)
        monkeypatch.setitem(bench.datasets._SOURCES, name, source)

    def run(*arguments):
        code = bench.kernel.main(
            [
                *("--sets", "reuters", "--quick"),
                *("--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "r.json")),
                *arguments,
            ]
        )
        return code, json.loads((tmp_path / "r.json").read_text())

    return run


def test_the_script_measures_prints_and_keeps(run, capsys, tmp_path):
    code, content = run("--packages", "svc", "--output", str(tmp_path / "B.md"))
    assert code == 0
    printed = capsys.readouterr()
    assert "| SVC |" in printed.out
    assert "reuters: SVC" in printed.err
    task = content["tasks"]["reuters"]
    assert (task["facts"]["n_rows"], task["facts"]["n_test_rows"]) == (60, 60)
    found = task["measured"]["svc"]
    assert len(found["fit_seconds"]) == len(found["predict_seconds"]) == 1
    assert 0 < found["n_support"] <= 60
    assert 0 < found["error"] < 0.5
    assert len(found["objectives"]) == 1
    assert "<!-- kernel: begin -->\n## Kernel SVMs" in (tmp_path / "B.md").read_text()


def test_a_package_that_is_not_there_is_left_out_and_named(bench, run, monkeypatch):
    absent = bench.kernel_peers.Contestant(
        key="svc", title="SVC", group="svc", make=None, needs="no_such_module"
    )
    monkeypatch.setattr(bench.kernel_peers, "CONTESTANTS", [absent])
    code, content = run()
    assert code == 0
    reason = content["tasks"]["reuters"]["left_out"]["svc"]
    assert reason.startswith("no_such_module is not installed")
