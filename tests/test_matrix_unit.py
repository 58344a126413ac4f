"""Kernels of float32 rows by the matrix unit that some CPUs have: as exact as without it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import KernelPegasosClassifier, _core, kernels, reference
from pegasos.kernels import CachedRows, VectorKernel
from pegasos.kernels._functions import Vectors
from pegasos.kernels._rows import VectorRows

pytestmark = pytest.mark.skipif(
    not _core.has_matrix_unit(), reason="this CPU has no matrix unit, or it was not compiled for"
)

# A tile has 16 rows of 32 features, a product two tiles on either side, a lot 256 rows.
ROWS = st.sampled_from([1, 2, 15, 16, 17, 31, 32, 33, 65, 255, 257, 300])
FEATURES = st.sampled_from([1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 65, 300])
SCALES = st.sampled_from([1.0, 1 / 255, 3.0, 0.1, 2.0**-19])


def pixels(seed, n_rows, n_features, grid):
    """Whole multiples of the grid, as float32 has them."""
    steps = np.random.default_rng(seed).integers(-256, 257, size=(n_rows, n_features))
    steps.flat[0] = 1
    return (steps * grid).astype(np.float32)


def normal(seed, n_rows, n_features):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features)).astype(np.float32)


def grid_of(X, likely=0.0):
    return _core.find_grid(Vectors(X, 1).rows, likely, n_threads=1)


def assert_products_are_exact(A, B):
    """To what rounding a sum in float32 costs."""
    a, b = (np.asarray(M.toarray() if sp.issparse(M) else M, dtype=np.float64) for M in (A, B))
    found = kernels.linear(A, B)
    assert found.dtype == np.float32
    size = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    eps = np.finfo(np.float32).eps
    assert np.all(np.abs(found - a @ b.T) <= (4 + np.sqrt(a.shape[1])) * eps * size)


@given(seed=st.integers(0, 999), n=ROWS, m=ROWS, d=FEATURES, grid=SCALES)
def test_products_of_rows_on_a_grid(seed, n, m, d, grid):
    A, B = pixels(seed, n, d, grid), pixels(seed + 1, m, d, grid)
    assert grid_of(A) == np.float32(grid)
    assert_products_are_exact(A, B)


@given(seed=st.integers(0, 999), n=ROWS, m=ROWS, d=FEATURES)
def test_products_of_any_rows(seed, n, m, d):
    A, B = normal(seed, n, d), normal(seed + 1, m, d)
    assert_products_are_exact(A, B)
    assert_products_are_exact(pixels(seed, n, d, 1 / 255), B)
    assert_products_are_exact(A, pixels(seed, m, d, 1 / 255))


@given(seed=st.integers(0, 999), n=ROWS, m=ROWS, d=FEATURES)
def test_products_of_sparse_rows(seed, n, m, d):
    full = normal(seed, n, d) * (np.random.default_rng(seed).random((n, d)) < 0.5)
    sparse = sp.csr_array(full.astype(np.float32))
    assert_products_are_exact(sparse, normal(seed + 1, m, d))
    assert_products_are_exact(sparse, sparse)


def test_two_terms_leave_five_digits_of_a_gaussian_kernel():
    X = normal(0, 400, 784) / np.float32(28)  # gamma ||x||^2 is about 1
    K = kernels.rbf(X, X, gamma=1.0)
    assert_allclose(K, reference.gaussian_kernel(*2 * [X.astype(float)], 1.0), rtol=0, atol=3e-6)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_the_gaussian_of_the_unit_is_that_of_float64(gamma):
    A, B = normal(1, 50, 3) * np.float32(0.7), normal(2, 70, 3) * np.float32(0.7)
    exact = reference.gaussian_kernel(A.astype(float), B.astype(float), gamma)
    norm2 = max((A.astype(float) ** 2).sum(axis=1).max(), (B.astype(float) ** 2).sum(axis=1).max())
    K = kernels.rbf(A, B, gamma=gamma)
    limit = np.finfo(np.float32).eps * (4 + 16 * gamma * norm2)
    shows = exact > 1e-27
    assert_allclose(K[shows], exact[shows], rtol=limit)
    assert np.all(K[~shows] < 1e-26)


# --- Grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "grid"),
    [
        ([0, 1, 0, 1], 1.0),
        ([0, -3, 6, 768], 3.0),
        ([0, 1, 257], 0.0),  # more than eight binary digits
        ([2, 3], 0.0),  # the smallest is taken for the grid
        ([0.5, 0.25, 1.0], 0.25),
        ([1.0, 1.0 + 2.0**-20], 0.0),
        ([0, 0, 0], 0.0),
        ([2.0**-30, 2.0**-29], 0.0),  # squares would come near the limits of float32
        ([2.0**30], 0.0),
    ],
)
def test_the_grid_is_the_number_that_all_are_multiples_of(values, grid):
    assert grid_of(np.array([values], dtype=np.float32)) == grid


def test_a_grid_is_looked_for_in_all_rows_on_any_number_of_threads():
    X = pixels(0, 3000, 1500, 1 / 255)  # more than one thread has to do
    rows = Vectors(X, 2).rows
    for threads in (1, 2, 5):
        assert _core.find_grid(rows, 0.0, n_threads=threads) == np.float32(1 / 255)
    X[2999, 1499] = 0.3
    for threads in (1, 2, 5):
        assert _core.find_grid(rows, 0.0, n_threads=threads) == 0


def test_a_likely_grid_is_found_where_the_smallest_value_does_not_show_it():
    X = np.array([[2, 3]], dtype=np.float32)
    assert grid_of(X, likely=1.0) == 1.0
    assert grid_of(X, likely=5.0) == 0.0


def test_float64_has_no_grid():
    assert grid_of(np.ones((3, 3))) == 0.0


# --- Rows that are not kept -----------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_that_are_not_kept_add_up_to_the_same(threads):
    X = normal(3, 700, 20)
    maker = VectorRows(X, VectorKernel("rbf", 0.05), threads)
    rows, K = np.arange(700), np.empty((700, 700), dtype=np.float32)
    maker.make(rows, K, rows)
    which = np.array([5, 6, 699, 300, 0])
    coef = np.random.default_rng(4).normal(size=(3, 5))
    coef[1] = 0
    scores = np.ones((3, 700))
    maker.add(which, coef, scores)
    assert_allclose(scores, 1 + coef @ K[which].astype(float), rtol=0, atol=1e-6)
    assert_array_equal(scores[1], 1)


def test_rows_of_many_features_are_worth_keeping():
    scores, coef = np.zeros((1, 50)), np.ones((1, 3))
    for n_features, depth, unkept in ((100, 768, True), (200, 1344, False)):
        maker = VectorRows(normal(3, 50, n_features), VectorKernel("rbf", 0.05), 1)
        assert maker.depth == depth  # six products of whole tiles
        cache = CachedRows(maker, room=10**6, needed=0)
        assert cache.add_unkept(np.arange(3), coef, scores) == unkept
        cache.fill()
        assert not cache.add_unkept(np.arange(3), coef, scores)
    assert_allclose(scores[0, :3].sum(), 3, rtol=0.01)  # once: each with itself, hardly with others


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_fit_without_keeping_rows_is_as_good(n_classes, loss, monkeypatch):
    X = normal(5, 900, 6)
    y = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1], np.linspace(-0.5, 0.5, n_classes - 1))
    for most in ("_MOST_ROWS", "_MOST_ROWS_BY_UNIT"):  # too few for the whole matrix to be made
        monkeypatch.setattr(f"pegasos._kernel_sdca_run.{most}", 300)
    fits = []
    for products in (1024, 0):
        monkeypatch.setattr("pegasos.kernels._rows._NOT_WORTH_KEEPING", products)
        model = KernelPegasosClassifier(
            lam=0.01, gamma=0.3, loss=loss, solver="sdca", tol=1e-3, random_state=0
        )
        fits.append(model.fit(X, y))
    for model in fits:
        assert np.all(model.duality_gap_ <= 1e-3 * model.objective_)
    assert_allclose(fits[0].objective_, fits[1].objective_, rtol=2e-3)
    again = fits[0].set_params(n_jobs=3).fit(X, y)
    assert_array_equal(again.dual_coef_, fits[0].dual_coef_)
