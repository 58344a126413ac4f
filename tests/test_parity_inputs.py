"""However the data are stored, the fit is the same: the model of the numbers they hold."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import PegasosClassifier, PerceptronClassifier, reference

from .core_helpers import assert_same_weights, make_sample, with_constant

MODELS = {
    "pegasos": PegasosClassifier(lam=0.05, max_steps=500, tol=None, random_state=0),
    "log": PegasosClassifier(
        lam=0.05, loss="log", batch_size=3, project=True, max_steps=200, tol=None, random_state=0
    ),
    "sdca": PegasosClassifier(lam=0.05, solver="sdca", max_steps=500, tol=None, random_state=0),
    "start": PegasosClassifier(lam=1e-5, solver="sdca", max_steps=500, tol=None, random_state=0),
    "perceptron": PerceptronClassifier(max_iter=3, average="uniform", random_state=0),
}
every_model = pytest.mark.parametrize("name", MODELS)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(name, X, y):
    model = MODELS[name]
    return type(model)(**model.get_params()).fit(X, y)


def data(seed=0, n_rows=210, n_features=2, density=0.7):
    """Rows enough per feature for the stochastic start of sdca."""
    sample = make_sample(seed, n_rows, n_features, density=density)
    sample.y[:2] = [1.0, -1.0]
    return sample.X, sample.y


def assert_same_bits(model, other):
    assert_array_equal(model.coef_, other.coef_)
    assert_array_equal(model.intercept_, other.intercept_)
    assert_array_equal(model.n_violations_, other.n_violations_)
    assert getattr(model, "objective_", 0) == getattr(other, "objective_", 0)
    assert getattr(model, "dual_objective_", 0) == getattr(other, "dual_objective_", 0)


def assert_same_model(model, other):
    """Dense and sparse rows add their products in another order: equal up to rounding."""
    assert_same_weights(model.coef_, other.coef_)
    assert_same_weights(model.intercept_, other.intercept_)
    assert_array_equal(model.n_violations_, other.n_violations_)


# --- The same numbers, stored otherwise -----------------------------------------------------------


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def every_other(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


@every_model
@pytest.mark.parametrize(
    "store",
    [
        read_only,
        np.asfortranarray,
        every_other,
        lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
        lambda X: X.astype(np.longdouble),
    ],
    ids=["read-only", "fortran", "sliced", "reversed", "big-endian", "lists", "longdouble"],
)
def test_the_layout_of_a_dense_array_changes_no_bit(name, store):
    X, y = data()
    assert_same_bits(fit(name, store(X), y), fit(name, X, y))


def freeze(csr):
    for array in (csr.data, csr.indices, csr.indptr):
        array.setflags(write=False)
    return csr


def with_int64(csr):
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def with_mixed_indices(csr):
    csr.indptr = csr.indptr.astype(np.int64)
    return csr


def backwards(csr):
    """The columns of every row in falling order."""
    for first, last in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        csr.indices[first:last] = csr.indices[first:last][::-1].copy()
        csr.data[first:last] = csr.data[first:last][::-1].copy()
    csr.has_sorted_indices = False
    return csr


def with_a_column_twice(csr):
    """Every entry x as x/4 + 3x/4, which adds up to x exactly in binary."""
    return sp.csr_array(
        (
            np.repeat(csr.data, 2) * np.tile([0.25, 0.75], csr.nnz),
            np.repeat(csr.indices, 2),
            2 * csr.indptr,
        ),
        shape=csr.shape,
    )


def with_stored_zeros(csr):
    rows = csr.toarray()
    everywhere = np.ones_like(rows)
    full = sp.csr_array(everywhere)
    full.data[:] = rows.ravel()
    return full


@every_model
@pytest.mark.parametrize(
    "store",
    [
        lambda csr: csr,
        freeze,
        with_int64,
        with_mixed_indices,
        backwards,
        with_a_column_twice,
        with_stored_zeros,
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_array,
        lambda csr: sp.vstack([csr, csr]).tocsr()[: csr.shape[0]],
    ],
    ids=[
        "csr",
        "read-only",
        "int64",
        "mixed-indices",
        "unsorted",
        "column-twice",
        "stored-zeros",
        "matrix",
        "csc",
        "coo",
        "slice",
    ],
)
def test_sparse_rows_make_the_dense_model(name, store):
    X, y = data()
    X = X.astype(np.float32).astype(np.float64)  # halves and quarters of it stay exact
    sparse = store(sp.csr_array(X))
    before = sparse.copy()
    model = fit(name, sparse, y)
    assert_same_model(model, fit(name, X, y))
    assert_array_equal(sparse.toarray(), before.toarray())
    assert_array_equal(sparse.data, before.data)  # a column listed twice is added up in a copy
    assert_allclose(model.decision_function(sparse), model.decision_function(X), atol=1e-9)


@every_model
@pytest.mark.parametrize(
    ("dtype", "sparse"),
    [
        *product([np.int8, np.uint8, np.int16, np.int64, bool], [False, True]),
        (np.float16, False),  # SciPy has no sparse float16
    ],
)
def test_small_numbers_mean_the_same_in_every_dtype(name, dtype, sparse):
    # Whole numbers can make a margin exactly 1, where rounding decides; not with such a lam.
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2 if dtype is bool else 5, size=(30, 6)).astype(dtype)
    y = rng.integers(0, 2, size=30)
    store = sp.csr_array if sparse else np.asarray
    model = MODELS[name]
    parameters = model.get_params()
    if "lam" in parameters:
        parameters["lam"] *= np.pi / 3
    models = [type(model)(**parameters).fit(store(rows), y) for rows in (X, X.astype(np.float64))]
    assert_same_model(*models)


@every_model
def test_float32_is_used_as_it_is(name):
    X, y = data()
    X = X.astype(np.float32)
    model = fit(name, X, y)
    assert_same_model(model, fit(name, X.astype(np.float64), y))
    assert model.coef_.dtype == np.float64
    assert_allclose(model.decision_function(X), model.decision_function(X.astype(np.float64)))


@every_model
@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [0, 1], [False, True], [3.0, 7.0]])
def test_labels_are_only_names(name, labels):
    X, y = data()
    model = fit(name, X, np.array(labels)[(y > 0).astype(int)])
    assert_array_equal(model.classes_, labels)
    assert_same_bits(model, fit(name, X, y))


# --- Shapes at the edge ---------------------------------------------------------------------------


# Not short fractions: with those a margin can be exactly 1, where rounding decides.
SOME = np.random.default_rng(2).normal(size=(9, 40))


def reference_model(X, y, n_steps):
    draws = reference.draw_rows(np.random.default_rng(0), len(y), n_steps, "permutation")
    rows = with_constant(X, 1.0)
    return reference.pegasos(rows, y, 0.05, draws, average="weighted").w


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (SOME[:2, :2], np.array([-1.0, 1.0])),  # one row per class
        (SOME[:9, :1], np.array([1.0, -1.0, 1.0] * 3)),
        (np.zeros((6, 2)), np.array([1.0, -1.0] * 3)),  # nothing to learn but the intercept
        (np.repeat(SOME[:2, :2], 5, axis=0), np.repeat([1.0, -1.0], 5)),
        (np.repeat(SOME[:1, :2], 7, axis=0), np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])),
        (SOME[:3], np.array([1.0, -1.0, 1.0])),
        (np.pi / 3 * np.eye(5), np.array([1.0, -1.0, 1.0, -1.0, 1.0])),
    ],
    ids=["two-rows", "one-feature", "all-zero", "duplicates", "contradiction", "wide", "identity"],
)
def test_edge_shapes_are_fitted_as_the_reference_does(X, y, sparse):
    store = sp.csr_array if sparse else np.asarray
    model = fit("pegasos", store(X), y)
    w = reference_model(X, y, 500)
    assert_same_weights(model.coef_[0], w[:-1])
    assert_same_weights(model.intercept_, w[-1:])


@every_model
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_zeros_and_empty_csr_rows_are_rows(name, sparse):
    X, y = data(n_rows=12)
    X[[0, 5, 11]] = 0.0
    store = sp.csr_array if sparse else np.asarray
    model = fit(name, store(X), y)
    assert np.isfinite(model.coef_).all()
    if sparse:
        assert_same_model(model, fit(name, X, y))
    # Without an intercept such a row has margin 0 for ever, and costs 1 whatever the weights are.
    if name == "sdca":
        bare = {"solver": "sdca", "fit_intercept": False, "tol": 1e-6, "random_state": 0}
        kept = X.any(axis=1)
        share = kept.mean()
        assert share < 1
        whole = PegasosClassifier(lam=0.05, **bare).fit(store(X), y)
        part = PegasosClassifier(lam=0.05 / share, **bare).fit(X[kept], y[kept])
        expected = (1 - share) + share * part.objective_
        assert_allclose(whole.objective_, expected, rtol=1e-5)


@every_model
def test_a_matrix_of_empty_csr_rows_alone_is_fitted(name):
    model = fit(name, sp.csr_array((4, 3)), [0, 1, 0, 1])
    assert_array_equal(model.coef_, np.zeros((1, 3)))


# --- What is refused ------------------------------------------------------------------------------


def broken(change):
    csr = sp.csr_array(np.arange(1.0, 13.0).reshape(4, 3))
    change(csr)
    return csr


def set_at(name, where, value):
    def change(csr):
        getattr(csr, name)[where] = value

    return change


@every_model
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_at("indptr", 1, 9), "indptr"),
        (set_at("indptr", 2, -1), "indptr"),
        (set_at("indptr", 4, 500), "indptr"),
        (set_at("indptr", 0, 1), "indptr"),
        (set_at("indices", 3, 3), "column indices outside 0..2"),
        (set_at("indices", 11, 10**6), "column indices outside 0..2"),
        (set_at("indices", 0, -1), "column indices outside 0..2"),
    ],
)
def test_a_broken_csr_matrix_is_refused_with_its_fault(name, change, message):
    y = [0, 1, 0, 1]
    good = broken(lambda csr: None)
    model = fit(name, good, y)
    with pytest.raises(ValueError, match=message):
        fit(name, broken(change), y)
    with pytest.raises(ValueError, match=message):
        model.predict(broken(change))


@every_model
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_not_finite_are_refused(name, bad, sparse, dtype):
    X, y = data()
    X = X.astype(dtype)
    store = sp.csr_array if sparse else np.asarray
    model = fit(name, store(X), y)
    X[7, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(name, store(X), y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.decision_function(store(X))


@every_model
@pytest.mark.parametrize("y", [np.zeros(210), np.ones(210, dtype=int), np.array(["a"] * 210)])
def test_a_single_class_is_refused(name, y):
    X, _ = data()
    with pytest.raises(ValueError, match="one class"):
        fit(name, X, y)
