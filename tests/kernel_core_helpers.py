"""Small doors to the kernel machines: matrices, where rows come from, runs on given draws."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from pegasos import reference
from pegasos._kernel_problem import KernelProblem
from pegasos._kernel_steps import KernelState, KernelSteps, mean_or_last
from pegasos.kernels import CachedRows, StoredMatrix

VECTOR_KINDS = (
    "dense-f32",
    "dense-f64",
    "csr-f32-i32",
    "csr-f32-i64",
    "csr-f64-i32",
    "csr-f64-i64",
)


def as_kind(X, kind):
    """The matrix as a user would pass it; f32 rounds its values."""
    X = np.ascontiguousarray(X, dtype=np.float32 if "f32" in kind else np.float64)
    if kind.startswith("dense"):
        return X
    csr = sp.csr_array(X)
    index = np.int32 if kind.endswith("i32") else np.int64
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    return csr


def in_full(X):
    """The same values as a dense float64 matrix."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


@dataclass(frozen=True)
class KernelSample:
    """A kernel matrix with labels; `code` counts classes from 0."""

    K: np.ndarray
    code: np.ndarray
    weight: np.ndarray | None

    @property
    def n_rows(self):
        return len(self.code)

    def y(self, positive=1):
        return np.where(self.code == positive, 1.0, -1.0)


def make_kernel_sample(
    seed, n_rows=40, *, n_classes=2, weighted=False, kernel="rbf", dtype=np.float64
):
    """Overlapping classes. Continuous values: no margin is 1, and no two gains are equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    code = (np.digitize(X[:, 0] + 0.8 * rng.normal(size=n_rows), [0.0, 0.8, 1.6])) % n_classes
    if kernel == "rbf":
        K = reference.gaussian_kernel(X, X, 0.5)
    elif kernel == "poly":
        K = reference.polynomial_kernel(X, X, 2, coef0=0.5)
    else:
        X[::5] = 0.0  # K(x, x) = 0
        K = reference.linear_kernel(X, X)
    weight = rng.uniform(0.5, 2.0, size=n_rows) if weighted else None
    return KernelSample(np.ascontiguousarray(K.astype(dtype)), code.astype(np.int32), weight)


class CountingRows:
    """Makes the rows of a given matrix, and remembers which it was asked for."""

    n_bytes = 0

    def __init__(self, K):
        self.n_rows = len(K)
        self.dtype = K.dtype
        self.diagonal = K.diagonal().astype(np.float64)
        self.made = []
        self._K = K

    def make(self, which, out, slots):
        assert out.strides[1] == out.itemsize
        assert len(np.unique(which)) == len(which) == len(slots) == len(np.unique(slots))
        self.made.append(which.copy())
        out[slots] = self._K[which]

    def make_symmetric(self, first, last, out):
        rows = np.arange(first, last)
        self.make(rows, out, rows)

    def local(self, which, out=None):
        return np.ascontiguousarray(self._K[np.ix_(which, which)])


def cached(K, n_rows):
    """A cache with room for so many rows of the matrix."""
    line = 64  # bytes; where rows are long, they begin with one
    row_bytes = K[0].nbytes if K[0].nbytes < 64 * line else -(-K[0].nbytes // line) * line
    return CachedRows(CountingRows(K), room=1000 + n_rows * row_bytes, needed=1000)


def row_source(K, room):
    """`room` is None for the matrix itself, else the number of rows that a cache may hold."""
    return StoredMatrix(K) if room is None else cached(K, room)


def make_problem(sample, lams, *, positive=(1,), loss="hinge", room=None, threads=1):
    """One problem per entry of `positive` and `lams` (either may be one for all)."""
    lams, positive = np.broadcast_arrays(np.atleast_1d(lams), np.atleast_1d(positive))
    return KernelProblem(
        row_source(sample.K, room),
        sample.code,
        np.array(positive, dtype=np.int32),
        sample.weight,
        lams=np.array(lams, dtype=np.float64),
        loss=loss,
        threads=threads,
    )


@dataclass(frozen=True)
class KernelCoreRun:
    """One row per problem: the model (a mean if one was kept), the last function, and counts."""

    coef: np.ndarray
    scores: np.ndarray
    last: np.ndarray
    last_scores: np.ndarray
    alpha: np.ndarray
    tally: np.ndarray

    @property
    def violations(self):
        return self.tally["violations"].astype(int)

    def arrays(self):
        return [self.coef, self.scores, self.last, self.last_scores, self.alpha, self.tally]

    def only(self, p):
        return KernelCoreRun(*(array[p : p + 1] for array in self.arrays()))


def in_calls(draws, parts):
    cuts = np.linspace(0, len(draws), parts + 1).astype(int)
    return [np.ascontiguousarray(draws[a:b]) for a, b in pairwise(cuts)]


def core_kernel_steps(problem, draws, *, solver="pegasos", average=None, parts=1):
    state = KernelState(problem, average)
    steps = KernelSteps(problem, state, solver=solver, average=average)
    for part in in_calls(np.asarray(draws), parts):
        steps.make(part)
    signed = problem.as_signed(state.masses)
    if solver == "pegasos":
        models = [
            mean_or_last(values, mean, state.tally, problem.lams)
            for values, mean in [
                (signed, state.mean_masses),
                (state.scores, state.mean_scores),
                (signed, None),
                (state.scores, None),
            ]
        ]
    else:
        clock = state.tally["clock"][:, np.newaxis]
        subtract = [0 if x is None else x / clock for x in (state.mean_masses, state.mean_scores)]
        models = [signed - subtract[0], state.scores - subtract[1], signed, state.scores.copy()]
    return KernelCoreRun(*models, state.masses, state.tally)


def assert_same_bits(one, other):
    for a, b in zip(one.arrays(), other.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)


def assert_close(core, reference, tolerance=1e-9):
    """Equal up to rounding: `tolerance` of the largest value, or of 1."""
    reference = np.asarray(reference)
    scale = max(1.0, np.abs(reference).max(initial=0))
    np.testing.assert_allclose(core, reference, rtol=0, atol=tolerance * scale)


def symmetric(n, dtype=np.float64, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return np.ascontiguousarray((A + A.T).astype(dtype))


def rows_of(source, which):
    """The rows as the core would read them."""
    slots = which if source.slots is None else source.slots[which]
    assert np.all(slots >= 0)
    return source.values[slots]


def started(problem, seed):
    """A state on its way: some masses at their bounds, some between, with the scores they give."""
    rng = np.random.default_rng(seed)
    state = KernelState(problem, None)
    state.masses[:] = np.clip(rng.uniform(-0.6, 1.6, size=state.masses.shape), 0, 1)
    state.scores[:] = problem.scores_of(problem.as_coefficients(state.masses))
    return state


def assert_scores_belong_to_masses(problem, state, tolerance=1e-9):
    coef = problem.as_coefficients(state.masses)
    K = problem.source.maker._K if problem.source.slots is not None else problem.source.values
    assert_close(state.scores, coef @ K.astype(np.float64), tolerance)
