"""Small doors to the C++ core: a parity test then reads like two calls with the same arguments.

Rows act as if they had one more feature, the constant `bias`; the reference gets it as a column.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from pegasos import _core, reference
from pegasos._problem import as_floats, new_tally

KINDS = ("dense-f32", "dense-f64", "csr-f32-i32", "csr-f32-i64", "csr-f64-i32", "csr-f64-i64")
LOSSES = ("hinge", "log")
AVERAGES = (None, "uniform", "weighted")
SAMPLINGS = ("permutation", "uniform")


@dataclass(frozen=True)
class Sample:
    """Data of a test: rows as the core gets them (`kind`) and as the reference does (float64)."""

    X: np.ndarray
    y: np.ndarray  # -1 or +1
    weight: np.ndarray | None
    kind: str
    bias: float

    @property
    def rows(self):
        """The rows of the reference, with the constant column."""
        stored = self.X.astype(np.float32) if "f32" in self.kind else self.X
        return with_constant(stored, self.bias)

    @property
    def n_rows(self):
        return len(self.y)


def with_constant(X, value):
    """The rows with one more feature, in float64."""
    return np.column_stack([np.asarray(X, dtype=np.float64), np.full(len(X), value)])


def make_sample(
    seed, n_rows=24, n_features=5, *, kind="dense-f64", weighted=False, bias=0.0, density=0.7
):
    """Continuous values, so that no margin is exactly 1; some zeros, and then whole rows of them.

    Where a margin is 1 up to rounding, the reference and the core may rightly decide differently.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, size=n_rows) if weighted else None
    return Sample(X, y, weight, kind, bias)


def samples(max_rows=30):
    """Strategy: shapes that reach every lane of the vector code, all kinds of rows."""
    return st.builds(
        make_sample,
        st.integers(0, 2**32 - 1),
        st.integers(1, max_rows),
        st.integers(1, 19),
        kind=st.sampled_from(KINDS),
        weighted=st.booleans(),
        # No round numbers: a row of zeros has the margin bias^2 k/(lam t), which must not be 1.
        bias=st.sampled_from([0.0, 1.0173, 0.3137]),
        density=st.sampled_from([0.3, 0.9, 1.0]),
    )


def lams(low=-4.0, high=1.0):
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


def core_rows(X, kind, bias=0.0):
    values = np.float32 if "f32" in kind else np.float64
    if kind.startswith("dense"):
        return _core.dense_rows(np.ascontiguousarray(X, dtype=values), bias)
    index = np.int32 if kind.endswith("i32") else np.int64
    csr = sp.csr_array(X)
    arrays = csr.data.astype(values), csr.indices.astype(index), csr.indptr.astype(index)
    return _core.csr_rows(*arrays, X.shape[1], bias)


def core_data(sample, code=None):
    code = (sample.y > 0).astype(np.int32) if code is None else np.asarray(code, dtype=np.int32)
    total = float(sample.n_rows if sample.weight is None else sample.weight.sum())
    rows = core_rows(sample.X, sample.kind, sample.bias)
    return _core.make_data(rows, code, sample.weight, total)


def problem_codes(code):
    """Which class each problem calls +1: the labels +1, or every class once."""
    return np.array([1] if code is None else range(max(code) + 1), dtype=np.int32)


@dataclass(frozen=True)
class CoreRun:
    """One row per problem; `w` is the mean if one was asked for, else the last iterate."""

    w: np.ndarray
    last: np.ndarray
    mass: np.ndarray
    tally: np.ndarray
    asleep: np.ndarray | None = None

    @property
    def violations(self):
        return self.tally["violations"].astype(int)


def _zeros(sample, positive):
    return np.zeros((len(positive), sample.X.shape[1] + 1))


def _calls(draws, parts, multiple=1):
    """Cut the draws into several calls, at multiples of the batch."""
    cuts = np.linspace(0, len(draws) // multiple, parts + 1).astype(int) * multiple
    cuts[-1] = len(draws)
    return [np.ascontiguousarray(draws[a:b]) for a, b in pairwise(cuts)]


def core_pegasos(
    sample,
    lam,
    draws,
    *,
    loss="hinge",
    batch_size=1,
    project=False,
    average=None,
    code=None,
    n_threads=1,
    parts=1,
):
    positive = problem_codes(code)
    v, mass = _zeros(sample, positive), np.zeros((len(positive), sample.n_rows))
    u = None if average is None else np.zeros_like(v)
    tally = new_tally(len(positive))
    data = core_data(sample, code)
    for part in _calls(draws, parts, batch_size):
        _core.pegasos_steps(
            data,
            positive,
            v,
            u,
            mass,
            as_floats(tally),
            part,
            loss=loss,
            lams=np.full(len(positive), lam),
            batch_size=batch_size,
            project=project,
            mean=average,
            n_threads=n_threads,
        )
    column = tally[:, np.newaxis]
    last = v / (lam * column["clock"])
    mean = last if u is None else (column["mean_clock"] * v - u) / column["mean_weight"]
    return CoreRun(mean, last, mass * column["mass_unit"], tally)


def core_sdca(
    sample,
    lam,
    draws,
    *,
    loss="hinge",
    average=None,
    relaxation=1.0,
    shrinking=False,
    code=None,
    n_threads=1,
    parts=1,
):
    positive = problem_codes(code)
    w, mass = _zeros(sample, positive), np.zeros((len(positive), sample.n_rows))
    u = None if average is None else np.zeros_like(w)
    asleep = np.zeros(mass.shape, dtype=np.uint8)
    tally = new_tally(len(positive))
    data = core_data(sample, code)
    for part in _calls(draws, parts):
        _core.sdca_steps(
            data,
            positive,
            w,
            u,
            mass,
            asleep,
            as_floats(tally),
            part,
            loss=loss,
            lam=lam,
            relaxation=relaxation,
            weighted_mean=average == "weighted",
            shrinking=shrinking,
            n_threads=n_threads,
        )
    mean = w if u is None else w - u / tally["mean_clock"][:, np.newaxis]
    return CoreRun(mean, w, mass, tally, asleep)


def core_start(
    sample, lam, draws, eta0, *, loss="hinge", average=True, code=None, n_threads=1, parts=1
):
    positive = problem_codes(code)
    w, tally = _zeros(sample, positive), new_tally(len(positive))
    u = np.zeros_like(w) if average else None
    data = core_data(sample, code)
    for part in _calls(draws, parts):
        _core.sgd_start_steps(
            data,
            positive,
            w,
            u,
            as_floats(tally),
            part,
            loss=loss,
            lam=lam,
            eta0=eta0,
            n_threads=n_threads,
        )
    column = tally[:, np.newaxis]
    last = w * column["scale"]
    mean = last if u is None else (column["mean_clock"] * w - u) / column["mean_weight"]
    return CoreRun(mean, last, np.empty(0), tally)


def core_perceptron(sample, draws, *, average=None, code=None, n_threads=1, parts=1):
    positive = problem_codes(code)
    w, tally = _zeros(sample, positive), new_tally(len(positive))
    u = None if average is None else np.zeros_like(w)
    data = core_data(sample, code)
    for part in _calls(draws, parts):
        _core.perceptron_steps(data, positive, w, u, as_floats(tally), part, n_threads=n_threads)
    mean = w if u is None else w - u / tally["clock"][:, np.newaxis]
    return CoreRun(mean, w, np.empty(0), tally)


def assert_same_weights(core, expected):
    """Equal up to rounding that a few hundred steps may add up: 1e-9 of the largest weight."""
    np.testing.assert_allclose(core, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


def two_classes(seed, n_rows=20, n_features=4, *, weighted=False):
    """A sample with both labels in it, and labels as people have them."""
    sample = make_sample(seed, n_rows, n_features, weighted=weighted)
    sample.y[:2] = [1.0, -1.0]
    return sample, np.where(sample.y > 0, "yes", "no")


def draw(seed, n_rows, n_draws, sampling="permutation"):
    return reference.draw_rows(np.random.default_rng(seed), n_rows, n_draws, sampling)


def assert_model(model, w, bias):
    """`coef_` and `intercept_` are the weights of the rows with the constant appended."""
    assert_same_weights(model.coef_[0], w[:-1])
    assert_same_weights(model.intercept_, w[-1:] * bias)


def best_scaled(a, rows, y, lam, loss, weight):
    """The best bound of the points f a, f in [0, 1], by gain(f a) >= f gain(a)."""
    w = reference.dual_weights(a, rows, y, lam, weight)
    cost = lam / 2 * (w @ w)
    gain = reference.dual_objective(a, rows, y, lam, loss, weight) + cost
    factor = min(1.0, gain / (2 * cost))
    return factor * gain - factor**2 * cost, factor
