"""The benchmark from file to model judges what it runs, on tiny data; nothing here is timed."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from pegasos.io import read

from .benchmark_helpers import imported
from .conftest import two_blobs

pytest.importorskip("pyarrow", reason="csv needs the extra io")

LAM = 0.05


@pytest.fixture(scope="module")
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture(scope="module")
def files(bench, tmp_path_factory):
    """Rows, labels and the files of a dense set and of a sparse one."""
    folder = tmp_path_factory.mktemp("files")
    blobs, labels = two_blobs(noise=1.5)
    X, y = blobs.astype(np.float32), (2 * labels - 1).astype(np.int8)
    sparse = X.copy()
    sparse[np.random.default_rng(0).random(X.shape) < 0.5] = 0
    found = {}
    for name, rows in (("csv", X), ("svm", sp.csr_matrix(sparse))):
        dataset = bench.datasets.DataSet(name, folder / name)
        bench.datasets._store(dataset.folder, rows, y)
        found[name] = (*dataset.load(), bench.end_to_end.write_files(dataset, folder))
    return found


def test_all_files_hold_the_same_rows(files):
    X, y, paths = files["csv"]
    assert set(paths) == {"csv", "svm", "vw"}
    np.testing.assert_array_equal(read(paths["csv"]).X, X)
    rows, labels = load_svmlight_file(str(paths["svm"]), dtype=np.float32)
    np.testing.assert_array_equal(rows.toarray(), X)
    np.testing.assert_array_equal(labels, y)
    text = paths["svm"].read_text().splitlines()
    for line, for_vw in zip(text, paths["vw"].read_text().splitlines(), strict=True):
        assert for_vw.split(" | ") == line.split(" ", 1)
    assert set(files["svm"][2]) == {"svm", "vw"}


# Enough for each to come close; VW's steps shrink too slowly to come closer than this.
BUDGETS = {"sgd": 200, "linearsvc": 2000, "liblinear": 1e-4, "pegasos": 1e-3}
CLOSE = {"vw": 0.3}


@pytest.mark.parametrize("kind", ["csv", "svm"])
@pytest.mark.parametrize("key", ["sgd", "linearsvc", "liblinear", "vw", "pegasos"])
def test_every_contestant_minimises_the_same_objective(bench, files, key, kind):
    contestant = next(c for c in bench.end_to_end_peers.CONTESTANTS if c.key == key)
    if contestant.why_not():
        pytest.skip(contestant.why_not())
    X, y, paths = files[kind]
    optimum = bench.linear.reference(X, y, LAM)["objective"]
    data = paths[kind if contestant.file == "own" else contestant.file]
    trial = bench.end_to_end.Trial(contestant, data, X, y, LAM, optimum, 1, 60)
    one, suboptimality = trial._run(BUDGETS.get(key, 50))
    assert -1e-4 < suboptimality < CLOSE.get(key, 0.02)
    assert one["seconds"] > 0
    assert one["peak"] > 1e6


def test_a_command_that_fails_is_no_result(bench):
    with pytest.raises(RuntimeError, match="ValueError: no"):
        bench.end_to_end.clocked([sys.executable, "-c", "raise ValueError('no')"])


def test_the_peak_of_memory_is_that_of_the_command_alone(bench):
    here = np.ones(40_000_000)  # 320 MB in this process, which the command knows nothing of
    small = bench.end_to_end.clocked([sys.executable, "-c", "pass"])
    large = bench.end_to_end.clocked([sys.executable, "-c", "x = b'x' * 200_000_000"])
    assert here.sum() > 0
    assert small["peak"] < 100e6
    assert 200e6 < large["peak"] < 300e6


def made_up(**measured):
    facts = {"title": "rows", "n_rows": 10, "n_features": 3, "n_text": 2e6, "lam": 1e-4}
    results = {
        key: {
            "seconds": seconds,
            "reached": reached,
            "peak": 5e6,
            "suboptimality": 0.004,
            "budget": 3,
        }
        for key, (seconds, reached) in measured.items()
    }
    return {"facts": facts, "measured": results, "left_out": {"vw": "it is not installed"}}


def test_the_fastest_peer_that_arrived_is_what_ours_is_measured_by(bench):
    task = made_up(
        sgd=([6.0, 8.0, 7.0], True), linearsvc=([1.0], False), pegasos=([2.0, 1.0, 4.0], True)
    )
    assert bench.end_to_end_report.times_faster(task) == 3.5
    text = bench.end_to_end_report.tables({"tasks": {"text": task}})
    assert "**3.5** times the fastest peer (goal: 5)" in text
    assert "| pegasos fit | **2.00 s** (1.00–4.00) | 5 MB | 4.0e-3 | 3 tol |" in text
    assert "not reached in 1.00 s" in text
    assert "Left out: VW --sgd (it is not installed)." in text


def test_without_ours_or_without_peers_there_is_nothing_to_compare(bench):
    assert bench.end_to_end_report.times_faster(made_up(sgd=([1.0], True))) is None
    assert bench.end_to_end_report.times_faster(made_up(pegasos=([1.0], True))) is None
