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
lams = np.full(K, 0.02)
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
        options = {"lams": lams, "batch_size": batch_size, "project": True, "mean": mean}
        core.pegasos_steps(data, positive, v, u, mass, tally, draws, **options, **common)
        yield from (v, u, mass, tally)
    w, u, mass, tally = fresh(d)
    core.sgd_start_steps(data, positive, w, u, tally, draws, lam=1e-4, eta0=0.2, **common)
    yield from (w, u, tally)
    sums, dual, scores = np.empty(K), np.empty((K, d + 1)), np.empty((N, K))
    core.guess_masses(data, positive, w, mass, dual_rows=dual, sums=sums, **common)
    yield from (mass, dual, sums)
    terms, slopes = np.empty((K, d + 3 + (d + 1) ** 2)), np.empty((K, len(core.LINE_FRACTIONS)))
    core.newton_terms(data, positive, w, mass, width=0.5, curvature=True, terms=terms, **common)
    core.line_slopes(data, positive, w, dual, width=0.5, slopes=slopes, **common)
    yield from (mass, terms, slopes)
    right = dual[0].copy()
    core.solve_newton(terms[0, d + 3 :].reshape(d + 1, d + 1).copy(), ridge=1.0, right=right)
    yield right
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

# Kernel values of sparse rows, sums of kernel rows, and all solvers of the kernel machines (hinge).
# Dense rows go through BLAS, which is not ours: their values must be close to those of sparse rows.
KERNELS = (
    LOAD
    + """
import hashlib
import numpy as np
import scipy.linalg.cython_blas as blas

core.use_blas(blas.__pyx_capi__["sgemm"], blas.__pyx_capi__["dgemm"])
rng = np.random.default_rng(0)
bits = hashlib.sha256()
KERNEL = {
    "rbf": {"gamma": 0.3, "coef0": 0.5, "degree": 1},
    "poly": {"gamma": 0.5, "coef0": 1.0, "degree": 5},
    "linear": {"gamma": 1.0, "coef0": 0.25, "degree": 1},
}


def gram(rows, n, dtype, name, in_double):
    squares, K = np.empty(n), np.empty((n, n), dtype)
    core.squared_norms(rows, squares, n_threads=1)
    which = np.arange(n)
    options = {"kernel": name, "same_matrix": True, "in_double": in_double, "n_threads": 1}
    core.kernel_rows(
        rows, squares, which, rows, squares, None, K, which, **options, **KERNEL[name]
    )
    scores = np.zeros((2, n))
    coef = np.random.default_rng(1).normal(size=(2, n))
    core.kernel_scores(rows, squares, None, coef, rows, squares, scores, **options, **KERNEL[name])
    return squares, K, scores


def machines(K):
    n, rng = len(K), np.random.default_rng(2)
    positive = np.arange(3, dtype=np.int32)
    code = rng.integers(0, 3, size=n).astype(np.int32)
    weight = rng.uniform(0.5, 2.0, size=n)
    draws = rng.integers(n, size=300)
    for solver in ("pegasos", "perceptron", "sdca"):
        scores, mass, mean_scores, mean_mass = (np.zeros((3, n)) for _ in range(4))
        tally = np.zeros((3, core.TALLY_FIELDS))
        tally[:, 6:] = 1.0
        ascent = solver == "sdca"
        for weights in (weight, None):  # the block of ascent has a path for all weights alike
            run = core.kernel_run(
                code, weights, float(n), K.diagonal().astype(float), positive,
                np.array([0.1, 0.01, 0.01]), scores, mass,
                None if ascent else mean_scores, None if ascent else mean_mass, tally,
                solver=solver, loss="hinge", weighted_mean=True, most_passes=5, enough=0.01,
            )
            if ascent:
                block, n_steps = rng.permutation(n), np.zeros(3, np.int64)
                delta = np.empty((3, n))
                core.kernel_decisions(
                    run, block, None, K, None, delta, None, n_steps, n_threads=1
                )
                core.add_stored_rows(K, None, block, delta, scores, n_threads=1)
                yield from (delta, n_steps.astype(float))
            else:
                assert core.kernel_steps(run, K, None, draws, block=128, n_threads=1) == 300
        yield from (scores, mass, mean_scores, mean_mass, tally)


for n, d in ((1, 1), (7, 3), (45, 9), (70, 33)):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[n // 2] = 0.0
    row, column = np.nonzero(X)
    starts = np.searchsorted(row, np.arange(n + 1))
    for dtype in (np.float32, np.float64):
        values = X.astype(dtype)
        sparse = (values[row, column], column.astype(np.int32), starts.astype(np.int32))
        for name in KERNEL:
            for in_double in (False, True):
                found = gram(core.csr_rows(*sparse, d, 0.0), n, dtype, name, in_double)
                for array in (*found, *machines(found[1])):
                    assert np.isfinite(array).all()
                    bits.update(array.tobytes())
                dense = gram(core.dense_rows(values, 0.0), n, dtype, name, in_double)
                for array, other in zip(dense, found):
                    limit = 1e-4 if dtype == np.float32 else 1e-11
                    assert np.abs(array - other).max() <= limit * max(1, np.abs(other).max())
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
    answers = {level: run_core(NAME, level) for level in ("amx", "v4", "v3", "v2", "plain")}
    return [level for level, done in answers.items() if done.stdout.strip() == level]


@pytest.mark.parametrize("code", [EVERYTHING, KERNELS], ids=["linear", "kernels"])
def test_every_cpu_level_gives_the_same_bits_for_the_hinge(levels, code):
    results = {}
    if code is KERNELS:  # a matrix unit adds up in another order
        levels = [level for level in levels if level != "amx"]
    for level in levels:
        done = run_core(code, level)
        assert done.returncode == 0, done.stderr
        name, results[level] = done.stdout.split()
        assert name == level
    assert len(results) == len(levels) >= 1
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
