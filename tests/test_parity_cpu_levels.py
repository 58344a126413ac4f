"""Every CPU level of the core gives the same bits; a level that is not there is refused."""

import os
import subprocess
import sys

import pytest

from pegasos import _core

# Loads the core alone, without the package: a process takes a tenth of a second, not three.
LOAD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
"""

NAME = LOAD + "print(core.cpu_level())"

# All solvers and passes, hinge loss, on dense and sparse rows of odd and even lengths. The log loss
# is left out: it calls exp and log of the C library, which may choose by CPU too.
EVERYTHING = (
    LOAD
    + """
import hashlib
import numpy as np

N, K = 70, 3
rng = np.random.default_rng(0)
positive = np.arange(K, dtype=np.int32)
code = rng.integers(0, K, size=N).astype(np.int32)
weight = rng.uniform(0.5, 2.0, size=N)
draws = rng.integers(N, size=400)
bits = hashlib.sha256()


def fresh(d):
    tally = np.zeros((K, core.TALLY_FIELDS))
    tally[:, 6:] = 1.0  # shrink, mass_unit, scale
    return np.zeros((K, d + 1)), np.zeros((K, d + 1)), np.zeros((K, N)), tally


def all_runs(rows, d):
    data = core.make_data(rows, code, weight, float(weight.sum()))
    common = {"n_threads": 1, "loss": "hinge"}
    for batch_size, mean in ((1, "weighted"), (3, "uniform")):
        v, u, mass, tally = fresh(d)
        options = {"lam": 0.02, "batch_size": batch_size, "project": True, "mean": mean}
        core.pegasos_steps(data, positive, v, u, mass, tally, draws, **options, **common)
        yield from (v, u, mass, tally)
    w, u, mass, tally = fresh(d)
    core.sgd_start_steps(data, positive, w, u, tally, draws, lam=1e-4, eta0=0.2, **common)
    yield from (w, u, tally)
    sums, dual, scores = np.empty(K), np.empty((K, d + 1)), np.empty((N, K))
    core.guess_masses(data, positive, w, mass, dual_rows=dual, sums=sums, **common)
    yield from (mass, dual, sums)
    core.scores(rows, w, n_threads=1, scores=scores)
    core.loss_sums(data, positive, w, sums=sums, **common)
    yield from (scores, sums)
    w, u, mass, tally = fresh(d)
    asleep = np.zeros((K, N), dtype=np.uint8)
    options = {"lam": 0.02, "relaxation": 1.2, "weighted_mean": True, "shrinking": True}
    core.sdca_steps(data, positive, w, u, mass, asleep, tally, draws, **options, **common)
    yield from (w, u, mass, asleep, tally)
    w, u, mass, tally = fresh(d)
    core.perceptron_steps(data, positive, w, u, tally, draws, n_threads=1)
    yield from (w, u, tally)


for d in (1, 2, 3, 7, 8, 13, 32):
    X = rng.normal(size=(N, d)) * (rng.random((N, d)) < 0.7)
    row, column = np.nonzero(X)
    starts = np.searchsorted(row, np.arange(N + 1))
    for dtype in (np.float32, np.float64):
        values = X.astype(dtype)
        sparse = (values[row, column], column.astype(np.int32), starts.astype(np.int32))
        for rows in (core.dense_rows(values, 1.0), core.csr_rows(*sparse, d, 1.0)):
            for array in all_runs(rows, d):
                assert np.isfinite(array).all()
                bits.update(array.tobytes())
print(core.cpu_level(), bits.hexdigest())
"""
)


def run_core(code, level):
    return subprocess.run(
        [sys.executable, "-c", code, _core.__file__],
        env={**os.environ, "PEGASOS_CPU_LEVEL": level},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def levels():
    """The levels to be had here, found by asking for each."""
    answers = {level: run_core(NAME, level) for level in ("v4", "v3", "v2", "plain")}
    return [level for level, done in answers.items() if done.stdout.strip() == level]


def test_every_cpu_level_gives_the_same_bits_for_the_hinge(levels):
    results = {}
    for level in levels:
        done = run_core(EVERYTHING, level)
        assert done.returncode == 0, done.stderr
        name, results[level] = done.stdout.split()
        assert name == level
    assert _core.cpu_level() in results
    assert len(set(results.values())) == 1


def test_no_level_named_means_the_best_there_is(levels):
    assert run_core(NAME, "").stdout.strip() == levels[0]


def test_an_unknown_cpu_level_is_refused_with_those_there_are(levels):
    done = run_core(NAME, "v9")
    assert done.returncode == 1
    assert "RuntimeError: PEGASOS_CPU_LEVEL=v9 is not available on this CPU" in done.stderr
    assert f"choose one of: {', '.join(levels)}" in done.stderr


def test_an_unknown_cpu_level_is_refused_on_threads_too():
    # An exception that left a thread would end the process instead.
    done = run_core(EVERYTHING.replace('"n_threads": 1', '"n_threads": 2'), "v9")
    assert done.returncode == 1
    assert "RuntimeError: PEGASOS_CPU_LEVEL=v9" in done.stderr
