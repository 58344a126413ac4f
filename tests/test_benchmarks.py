"""The benchmark's parts do what its tables say, on tiny data; nothing here is timed."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from .benchmark_helpers import imported


@pytest.fixture(scope="module", autouse=True)
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture
def tiny_sparse(bench, monkeypatch):
    """Make the generated set tiny, and its optimum easy to find."""
    source = bench.datasets._SOURCES["sparse"]
    tiny = type(source)((), lambda _: bench.rcv1_like.generate(300, n_words=500, words_per_row=20))
    monkeypatch.setitem(bench.datasets._SOURCES, "sparse", tiny)
    easy = replace(bench.linear.TASKS["sparse"], lam=0.01)
    monkeypatch.setitem(bench.linear.TASKS, "sparse", easy)


def test_the_judge_computes_the_hinge_objective_in_chunks(bench, monkeypatch):
    monkeypatch.setattr(bench.measure, "_ROWS_A_CHUNK", 2)
    X = np.array([[1, 0], [0, 2], [3, 0]], dtype=np.float32)
    y = np.array([1, -1, -1], dtype=np.int8)
    # Margins 1/2, -2, -3/2 lose 1/2, 3, 5/2: mean 2; the norm adds 0.1/2 * 5/4.
    w = [[0.5, 1.0]]
    assert_allclose(bench.measure.hinge_objective(X, y, w, 0.1), 2.0625, rtol=1e-15)
    assert bench.measure.hinge_objective(sp.csr_matrix(X), y, w, 0.1) == pytest.approx(2.0625)


def test_generated_rows_are_canonical_full_and_of_unit_length(bench):
    X, y = bench.rcv1_like.generate(400, n_words=300, words_per_row=40, seed=3)
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert_array_equal(np.diff(X.indptr), 40)
    words = X.indices.reshape(400, 40)
    assert np.all(np.diff(words, axis=1) > 0)
    assert words.min() >= 0
    assert words.max() < 300
    # Forty float32 numbers, each rounded to 6e-8 of itself.
    assert_allclose(np.linalg.norm(X.toarray().astype(float), axis=1), 1, rtol=1e-6)
    assert set(y) == {-1, 1}


def test_generated_rows_depend_on_the_seed_alone(bench):
    first, again, other = (bench.rcv1_like.generate(50, 300, 20, seed=seed) for seed in (0, 0, 1))
    assert_array_equal(first[0].toarray(), again[0].toarray())
    assert_array_equal(first[1], again[1])
    assert np.any(first[0].toarray() != other[0].toarray())


def test_a_missing_file_is_named(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    with pytest.raises(bench.datasets.MissingDataError, match=r"covtype\.csv\.gz is not in"):
        bench.datasets.prepare("cov1", tmp_path)
    monkeypatch.delenv("PEGASOS_DATA")
    with pytest.raises(bench.datasets.MissingDataError, match="set PEGASOS_DATA"):
        bench.datasets.prepare("cov1", tmp_path)


def test_cov1_is_class_two_against_the_rest_in_unit_columns_and_rows(bench, monkeypatch, tmp_path):
    (tmp_path / "covtype").mkdir()
    lines = ["a,b,c,kind", "20,5,0,2", "10,6,1,1", "20,6,0,7", "10,5,1,2"]
    np.savetxt(tmp_path / "covtype" / "covtype.csv.gz", lines, fmt="%s")
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    monkeypatch.setattr(bench.datasets, "_COV1_ROWS", 3)
    X, y = bench.datasets.prepare("cov1", tmp_path / "cache").load()
    half = np.sqrt(0.5)
    rows = np.array([[1, 0, 0], [0, half, half], [half, half, 0], [0, 0, 1]], dtype=np.float32)
    some = np.random.default_rng(1).permutation(4)[:3]
    np.testing.assert_allclose(X, rows[some], rtol=1e-6)
    assert_array_equal(y, np.array([1, -1, -1, 1])[some])


def test_a_review_that_comes_twice_is_taken_once(bench, monkeypatch, tmp_path):
    (tmp_path / "reviews").mkdir()
    reviews = "music pos 1 good good song\nmusic neg 2 bad song\nbooks pos 3 good good song\n"
    (tmp_path / "reviews" / "reviews.txt").write_text(reviews)
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    X, y = bench.datasets.prepare("reviews", tmp_path / "cache").load()
    assert X.shape == (2, 3)
    assert_array_equal(y, [1, -1])


def test_the_cache_gives_back_what_was_generated(bench, tiny_sparse, tmp_path):
    X, y = bench.rcv1_like.generate(300, n_words=500, words_per_row=20)
    for _ in range(2):
        X_cached, y_cached = bench.datasets.prepare("sparse", tmp_path).load()
        assert (X_cached != X).nnz == 0
        assert X_cached.indices.dtype == np.int32
        assert_array_equal(y, y_cached)
    assert len(list(tmp_path.iterdir())) == 1
    assert bench.datasets.n_bytes(X, y) == 300 * (20 * 8 + 4 + 1) + 4


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize(
    # Not snapml: importing it switches the whole process to flush-to-zero, and later tests notice.
    "key",
    ["sgd", "sgd-mean", "linearsvc", "liblinear", "pegasos-1", "sdca-2"],
)
def test_everyone_minimises_the_same_objective(bench, key, is_sparse):
    """A wrong C or alpha, or weights of the wrong sign, would end far from the optimum."""
    contestant = bench.linear_peers.BY_KEY[key]
    if reason := contestant.why_not():
        pytest.skip(reason)
    X, y = bench.rcv1_like.generate(300, n_words=500, words_per_row=20)
    y[:2] = -1, 1  # the first label is the negative one: liblinear takes it for its positive
    lam = 0.01
    optimum = bench.linear_peers.BY_KEY["sdca-1"].fit(X, y, lam, 300, 0).w
    best = bench.measure.hinge_objective(X, y, optimum, lam)
    budget = 1e-4 if contestant.unit == "eps" else 300
    given = X if is_sparse else X.toarray()
    _, fitted = bench.measure.timed(lambda: contestant.fit(given, y, lam, budget, 0))
    # Plain SGD ends with a step of a 3,000th of 1/lam and is the farthest away.
    assert best * (1 - 1e-6) <= bench.measure.hinge_objective(X, y, fitted.w, lam) <= best * 1.02


def test_names_choose_contestants_groups_and_sides(bench):
    def keys(*names):
        return [
            contestant.key
            for contestant in bench.contestants.chosen(bench.linear_peers.CONTESTANTS, list(names))
        ]

    assert keys("snapml", "sgd-mean") == ["sgd-mean", "snapml-1", "snapml-2"]
    assert keys("sdca", "pegasos") == ["pegasos-1", "pegasos-2", "sdca-1", "sdca-2"]
    assert all(key.startswith(("pegasos", "sdca")) for key in keys("ours"))
    assert (
        sorted(keys("ours") + keys("peers")) == sorted(keys()) == sorted(bench.linear_peers.BY_KEY)
    )


def climb(bench, run_once, budgets, **settings):
    climbing = bench.ladder.Climb(run_once, optimum=1.0, **{"repeats": 3, "limit": 60} | settings)
    for _ in climbing.go(budgets):
        pass
    return climbing.points


def test_a_climb_ends_at_the_finest_level(bench):
    points = climb(bench, lambda budget, _: (budget, 1 + 1 / budget**4, 0.0), (1, 2, 4, 8, 16))
    assert [point.budget for point in points] == [1, 2, 4, 8]
    # All runs for the first budgets at 1e-1, 1e-2, 1e-3 and the ones before them.
    assert [len(point.seconds) for point in points] == [3, 3, 3, 3]


def test_long_runs_that_no_level_hangs_on_are_made_once(bench):
    objectives = {1: 1.9, 2: 1.8, 3: 1.7, 4: 1.0001}
    points = climb(bench, lambda budget, _: (1.0, objectives[budget], 0.0), (1, 2, 3, 4))
    assert [len(point.seconds) for point in points] == [1, 1, 3, 3]


def test_a_climb_gives_up_when_its_seconds_are_spent(bench):
    points = climb(bench, lambda budget, _: (4.0, 2.0, 0.0), range(1, 100), limit=10)
    assert [point.budget for point in points] == [1, 2, 3]


def test_a_lucky_seed_does_not_decide(bench):
    def run_once(budget, seed):
        lucky = budget == 1 and seed == 0
        return 1.0, 1.0 if lucky or budget == 2 else 1.5, 0.0

    points = climb(bench, run_once, (1, 2, 3))
    assert [point.budget for point in points] == [1, 2]
    assert bench.ladder.cheapest(points, 1.0, 1e-3).budget == 2
    assert bench.ladder.cheapest(points[:1], 1.0, 1e-3) is None


def made_up_results(bench):
    """LinearSVC needs 2 s to 1e-2, sdca 0.5 s with one thread; nobody gets to 1e-3."""

    def point(budget, seconds, objective):
        return {
            "budget": budget,
            "seconds": [seconds, seconds * 0.9, seconds * 1.5],
            "objectives": [objective] * 3,
            "conversions": [0.0] * 3,
        }

    task = {
        "facts": {
            "title": "toy",
            "lam": 0.01,
            "is_sparse": False,
            "n_rows": 1000,
            "n_features": 10,
            "n_nonzeros": 10_000,
            "n_bytes": 41_000,
        },
        "reference": {"objective": 1.0, "bound": 0.999999, "seconds": 1.0, "epochs": 5},
        "points": {
            "linearsvc": [point(1, 1.0, 1.05), point(2, 2.0, 1.005)],
            "sdca-1": [point(0.5, 0.25, 1.05), point(1, 0.5, 1.008)],
        },
        "left_out": {"liblinear": "no such module"},
        "epoch_seconds": {"sgd": 0.4, "pegasos-1": 0.1},
        "memory_bytes": {"sdca-1": 4100},
    }
    return {
        "machine": {"CPU": "abacus"},
        "versions": {"pegasos": "0"},
        "limit": 60,
        "runs": [{"date": "2000-01-01", "command": "python benchmarks/linear.py"}],
        "tasks": {"toy": task},
    }


def test_tables_show_medians_spread_ratios_and_what_is_missing(bench):
    text = bench.linear_report.tables(made_up_results(bench))
    toy = "| toy, lam 1e-2 |"
    assert f"{toy} 1e-2 | LinearSVC 2.00 s | sdca 0.500 s | **4.0** | – | – |" in text
    assert f"{toy} 1e-3 | – | – | – | – | – |" in text
    assert "| LinearSVC | 1.00 s (0.900–1.50) | 2.00 s (1.80–3.00) | – (5.0e-3) |" in text
    assert "P* = 1.00000000, certified to be within 1e-6 of optimal" in text
    assert "Left out: liblinear (no such module)." in text
    assert f"{toy} SGDClassifier | 0.400 s | 0.100 s | **4.0** | – | – |" in text
    assert f"{toy} SGDClassifier, averaged | – | – | – | – | – |" in text
    assert f"{toy} 0.0 MB | 0.00 MB | 0.0 MB (10%) |" in text


def test_a_false_bound_is_called_false(bench):
    content = made_up_results(bench)
    assert "it is false" not in bench.linear_report.tables(content)
    content["tasks"]["toy"]["reference"]["bound"] = 1.001
    assert "it is false" in bench.linear_report.tables(content)


def test_a_section_is_replaced_and_the_rest_stays(bench, tmp_path):
    path = tmp_path / "BENCHMARKS.md"
    bench.report.write_section(path, "linear", "first")
    bench.report.write_section(path, "kernel", "third")
    bench.report.write_section(path, "linear", "second")
    text = path.read_text()
    assert text.startswith("# Benchmarks\n")
    assert "first" not in text
    assert text.index("second") < text.index("third")
    bench.report.write_section(path, "linear", "second")
    assert path.read_text() == text


def test_the_figure_is_written_twice_the_same(bench, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        bench.linear_figure.draw(made_up_results(bench), tmp_path / name)
    assert (tmp_path / "a.png").stat().st_size > 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_line_of_the_figure_never_goes_back(bench):
    points = [(1.0, 0.5), (3.0, 0.1), (2.0, 0.7), (4.0, 1e-4), (5.0, 1e-5)]
    assert bench.linear_figure.frontier(points) == [(1.0, 0.5), (3.0, 0.1), (4.0, 1e-4)]


@pytest.mark.parametrize(
    ("repeats", "limit", "n_runs"),
    [(3, 100, 3), (1, 100, 1), (5, 25, 2), (5, 19, 1), (5, 1, 1)],
)
def test_no_run_begins_that_would_end_beyond_the_limit(bench, monkeypatch, repeats, limit, n_runs):
    monkeypatch.setattr(bench.measure, "timed", lambda work: (10.0, work()))
    seconds, seed = bench.measure.repeated(lambda seed: seed, repeats, limit)
    assert seconds == [10.0] * n_runs
    assert seed == n_runs - 1


def test_the_reason_of_a_failure_names_no_folder(bench):
    reason_of = bench.contestants.reason_of
    error = ImportError("cannot import name 'A' from 'b' (/home/me/lib/b.py)")
    assert reason_of(error) == "ImportError: cannot import name 'A' from 'b'"
    error = OSError("[Errno 2] No such file: '/home/me/data.bin'")
    assert reason_of(error) == "OSError: [Errno 2] No such file: 'data.bin'"
    assert reason_of(ValueError("1/2 is not whole")) == "ValueError: 1/2 is not whole"


def allocate(n_bytes):
    return np.ones(n_bytes, dtype=np.uint8).sum()


@pytest.mark.skipif(sys.platform != "linux", reason="the peak can be reset on Linux only")
def test_the_peak_is_seen_although_the_memory_is_freed(bench):
    n_bytes = 1 << 26
    allocate(2 * n_bytes)  # an earlier, higher peak must not hide it
    peak, total = bench.measure.peak_beyond(lambda: allocate(n_bytes))
    assert total == n_bytes
    # The kernel counts pages in batches, and Python may grow a little on its own.
    assert n_bytes * 0.9 < peak < n_bytes * 1.5


def test_results_of_other_conditions_are_refused(bench, tmp_path):
    results, path = bench.results, tmp_path / "r.json"
    results.Results.open(path, quick=True).save()
    assert results.Results.open(path, quick=True).content["quick"]
    with pytest.raises(results.ResultsError, match="another quick"):
        results.Results.open(path, quick=False)
    path.write_text("{")
    with pytest.raises(results.ResultsError, match="not a JSON file"):
        results.Results.read(path)


@pytest.fixture
def run(bench, tiny_sparse, tmp_path):
    """Run the script on the tiny set and return its exit code and the results it keeps."""

    def run(*arguments):
        code = bench.linear.main(
            [
                *("--sets", "sparse", "--quick", "--limit", "0.05"),
                *("--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "r.json")),
                *arguments,
            ]
        )
        return code, json.loads((tmp_path / "r.json").read_text())

    return run


def test_the_script_measures_prints_and_keeps(run, capsys):
    code, content = run("--peers", "sdca-1", "linearsvc", "--parts", "ladder", "epochs")
    assert code == 0
    printed = capsys.readouterr()
    assert "| PegasosClassifier sdca, 1 thread |" in printed.out
    assert "optimum" in printed.err
    assert set(content["tasks"]["sparse"]["points"]) == {"sdca-1", "linearsvc"}
    assert str(Path.home()) not in content["runs"][0]["command"]
    assert "/" not in content["runs"][0]["command"].removeprefix("python benchmarks/linear.py")


def test_a_second_run_adds_to_the_first_and_redraw_measures_nothing(run, tmp_path):
    _, first = run("--peers", "linearsvc", "--parts", "ladder")
    _, second = run("--peers", "pegasos-1", "--parts", "epochs")
    first, second = first["tasks"]["sparse"], second["tasks"]["sparse"]
    assert second["points"] == first["points"]
    assert second["reference"] == first["reference"]
    assert set(second["epoch_seconds"]) == {"pegasos-1"}
    before = (tmp_path / "r.json").stat().st_mtime_ns
    code, _ = run("--redraw", "--output", str(tmp_path / "B.md"))
    assert code == 0
    assert (tmp_path / "r.json").stat().st_mtime_ns == before
    assert "LinearSVC" in (tmp_path / "B.md").read_text()


def test_a_peer_that_fails_is_left_out_and_named(bench, run, monkeypatch, capsys):
    def fail(*_):
        raise OverflowError("too many rows")

    broken = replace(bench.linear_peers.BY_KEY["linearsvc"], fit=fail)
    monkeypatch.setattr(bench.linear_peers, "CONTESTANTS", [broken])
    code, content = run()
    assert code == 0
    assert content["tasks"]["sparse"]["left_out"] == {"linearsvc": "OverflowError: too many rows"}
    assert "LinearSVC is left out: OverflowError: too many rows" in capsys.readouterr().err


def test_an_interrupted_run_keeps_what_was_finished(bench, run, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.linear_trial.Trial, "measure", interrupt)
    code, content = run()
    assert code == 130
    assert content["tasks"]["sparse"]["reference"]["objective"] > 0
    assert "--redraw" in capsys.readouterr().err


def test_memory_of_a_fit_is_measured_in_another_process(bench, tiny_sparse, tmp_path):
    dataset = bench.datasets.prepare("sparse", tmp_path)
    peak = bench.measure.in_fresh_process(bench.linear_trial.peak_of_fit, "sdca-1", dataset, 0.01)
    assert 0 <= peak < 50_000_000
