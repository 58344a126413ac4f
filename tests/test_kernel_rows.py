"""Where kernel rows come from: a matrix that is there, vectors, or a function."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference
from pegasos.kernels import CachedRows, StoredMatrix, VectorKernel
from pegasos.kernels._checks import looks_indefinite, refuse_asymmetric
from pegasos.kernels._rows import CallableRows, SparseMatrixRows, VectorRows

from .core_helpers import make_sample
from .kernel_core_helpers import (
    VECTOR_KINDS,
    as_kind,
    core_kernel_steps,
    in_full,
    make_kernel_sample,
    make_problem,
    rows_of,
    symmetric,
)

# --- A matrix that is there -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["array", "read-only", "memmap"])
def test_a_stored_matrix_is_used_where_it_is(kind, dtype, tmp_path):
    sample = make_kernel_sample(0, 50, dtype=dtype)
    K = sample.K
    expected = core_kernel_steps(make_problem(sample, 0.1), np.arange(50).repeat(3))
    if kind == "memmap":
        K.tofile(tmp_path / "K")
        K = np.memmap(tmp_path / "K", dtype=dtype, mode="r", shape=K.shape)
    elif kind == "read-only":
        K.setflags(write=False)
    source = StoredMatrix(K)
    assert source.values is K
    assert source.slots is None
    assert source.n_rows == 50
    assert source.diagonal.dtype == np.float64
    assert_array_equal(source.diagonal, K.diagonal())
    which = np.array([4, 0, 49, 4])
    assert source.bring_the_rest(which)
    assert [part.tolist() for part in source.parts(which)] == [which.tolist()]
    local = source.local(which)
    assert_array_equal(local, K[np.ix_(which, which)])
    assert local.flags.c_contiguous

    problem = make_problem(sample, 0.1)
    problem.source = source
    run = core_kernel_steps(problem, np.arange(50).repeat(3))
    assert_array_equal(run.alpha, expected.alpha)
    assert_array_equal(run.scores, expected.scores)


# --- Makers of rows -------------------------------------------------------------------------------


def assert_makes_rows(maker, K, tolerance=0.0):
    """Rows into any slots in any order, the kernel among some rows, the diagonal."""
    n = len(K)
    assert maker.n_rows == n
    assert_allclose(maker.diagonal, K.diagonal(), rtol=0, atol=tolerance)
    out = np.full((n + 2, n), -7.0, dtype=maker.dtype)
    which, slots = np.array([n - 1, 0, n // 2]), np.array([1, n + 1, 0])
    maker.make(which, out, slots)
    assert_allclose(out[slots], K[which], rtol=0, atol=tolerance)
    untouched = np.setdiff1d(np.arange(n + 2), slots)
    assert_array_equal(out[untouched], -7.0)
    which = np.array([2, n - 1, 2, 0])  # repetitions, as uniform draws have
    local = maker.local(which)
    assert local.flags.c_contiguous
    assert local.dtype == maker.dtype
    assert_allclose(local, K[np.ix_(which, which)], rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", VECTOR_KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_vectors(kind, threads):
    X = as_kind(make_sample(0, n_rows=300, n_features=7).X, kind)
    full = in_full(X)
    eps = 1e-5 if "f32" in kind else 1e-13
    for kernel, K in [
        (VectorKernel("rbf", 0.3), reference.gaussian_kernel(full, full, 0.3)),
        (VectorKernel("poly", 0.5, 1.0, 3), reference.polynomial_kernel(full, full, 3, 0.5, 1.0)),
        (VectorKernel("linear"), reference.linear_kernel(full, full)),
    ]:
        maker = VectorRows(X, kernel, threads)
        assert maker.dtype == X.dtype
        assert_makes_rows(maker, K, eps * np.abs(K).max())


@pytest.mark.parametrize("kind", VECTOR_KINDS)
def test_an_rbf_kernel_of_a_row_with_itself_is_exactly_one(kind):
    rng = np.random.default_rng(1)
    X = as_kind(3 * rng.normal(size=(270, 11)), kind)
    maker = VectorRows(X, VectorKernel("rbf", 0.7), 1)
    assert_array_equal(maker.diagonal, 1.0)
    out = np.empty((270, 270), dtype=X.dtype)
    maker.make(np.arange(270), out, np.arange(270))
    assert_array_equal(out.diagonal(), 1.0)
    which = rng.integers(270, size=300)
    local = maker.local(which)
    same = which[:, np.newaxis] == which
    assert_array_equal(local[same], 1.0)
    assert np.all(local[~same] < 1.0)


def test_rows_of_float32_vectors_far_from_the_origin_are_made_in_float64():
    X = as_kind(np.random.default_rng(0).normal(size=(40, 5)) + 1e4, "dense-f32")
    K = reference.gaussian_kernel(X, X, 0.3)
    assert_makes_rows(VectorRows(X, VectorKernel("rbf", 0.3), 1), K, 1e-5)


def test_rows_of_vectors_that_would_overflow_are_refused():
    X = np.full((3, 2), 1e7, dtype=np.float32)
    with pytest.raises(ValueError, match="poly kernel of degree 3 overflows float32"):
        VectorRows(X, VectorKernel("poly", 1.0, 0.0, 3), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [sp.csr_array, sp.csr_matrix])
def test_rows_of_a_sparse_matrix_are_written_out(dtype, convert):
    K = symmetric(12, dtype)
    K[np.abs(K) < 1] = 0.0
    maker = SparseMatrixRows(convert(K))
    assert maker.dtype == dtype
    assert maker.diagonal.dtype == np.float64
    assert_makes_rows(maker, K)
    cache = CachedRows(maker, room=5 * K[0].nbytes, needed=0)
    for part in cache.parts(np.arange(12)):
        assert_array_equal(rows_of(cache, part), K[part])


def test_rows_of_a_function_of_arrays():
    X = make_sample(0, n_rows=12, n_features=3).X
    K = reference.polynomial_kernel(X, X, 2)
    for function in (
        lambda A, B: (A @ B.T) ** 2,
        lambda A, B: ((A @ B.T) ** 2).astype(np.float32),
        lambda A, B: ((A @ B.T) ** 2).tolist(),
        lambda A, B: sp.csr_array((A @ B.T) ** 2),
        lambda A, B: np.asfortranarray((A @ B.T) ** 2),
    ):
        maker = CallableRows(X, function)
        assert maker.dtype == np.float64
        assert_makes_rows(maker, K, 1e-6 * K.max())


def test_rows_of_a_function_of_sparse_rows():
    X = sp.csr_array(make_sample(0, n_rows=12, n_features=3).X)
    assert_makes_rows(CallableRows(X, lambda A, B: A @ B.T), (X @ X.T).toarray(), 1e-12)


def test_rows_of_a_function_of_strings():
    words = ["pegasos", "pegs", "sos", "", "gas"]
    calls = []

    def common_letters(A, B):
        calls.append((A, B))
        return [[len(set(a) & set(b)) for b in B] for a in A]

    maker = CallableRows(words, common_letters)
    K = np.array(common_letters(words, words), dtype=float)
    assert_makes_rows(maker, K)
    assert all(isinstance(A, list) and isinstance(A[0], str) for A, _ in calls)


@pytest.mark.parametrize(
    ("function", "returned"),
    [
        (lambda A, B: np.ones((len(B), len(A) + 1)), r"\(1, 2\)"),
        (lambda A, B: np.ones(len(A)), r"\(1,\)"),
        (lambda A, B: 1.0, r"\(\)"),
    ],
)
def test_a_function_that_returns_a_wrong_shape_is_refused(function, returned):
    with pytest.raises(ValueError, match=rf"of shape \(1, 1\) .* returned shape {returned}"):
        CallableRows(np.ones((3, 2)), function)


def test_a_function_is_checked_whenever_it_is_called():
    maker = CallableRows(np.arange(1.0, 5.0)[:, np.newaxis], lambda A, B: np.ones((len(A), 1)))
    with pytest.raises(ValueError, match=r"shape \(2, 4\) for 2 and 4 objects; .* shape \(2, 1\)"):
        maker.make(np.array([0, 1]), np.empty((4, 4)), np.array([0, 1]))
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        maker.local(np.array([0, 1]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_function_that_returns_no_number_is_refused(bad):
    X = np.arange(3.0)[:, np.newaxis]

    def apart(A, B):
        return np.where(A == B.T, 1.0, bad)

    with pytest.raises(ValueError, match="returned NaN or infinity"):
        CallableRows(X, lambda A, B: np.full((len(A), len(B)), bad))
    with pytest.raises(ValueError, match="returned NaN or infinity"):
        CallableRows(X, apart).make(np.array([0]), np.empty((3, 3)), np.array([0]))


# --- What a kernel matrix must be -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "convert"),
    [
        (3, np.asarray),
        (300, np.asarray),
        (5200, np.asarray),
        (3, sp.csr_array),
        (300, sp.csr_array),
    ],
)
def test_an_asymmetric_matrix_is_refused(n_rows, convert):
    K = np.eye(n_rows, dtype=np.float32)
    refuse_asymmetric(convert(K))
    K[1, 0] = 9e-5
    refuse_asymmetric(convert(K))  # rounding
    K[1, 0] = 2e-4
    with pytest.raises(ValueError, match=r"symmetric matrix .* by up to 0\.0002\. .*\(K \+ K\.T\)"):
        refuse_asymmetric(convert(K))


def test_a_difference_in_the_last_corner_is_found_too():
    K = np.eye(700)
    K[699, 3] = 1.0
    with pytest.raises(ValueError, match="symmetric"):
        refuse_asymmetric(K)


def test_a_matrix_of_zeros_is_symmetric():
    refuse_asymmetric(np.zeros((4, 4)))
    refuse_asymmetric(sp.csr_array((4, 4)))


def test_negative_eigenvalues_are_noticed():
    K = make_kernel_sample(0, 700).K
    assert not looks_indefinite(StoredMatrix(K))
    assert looks_indefinite(StoredMatrix(K - 0.2 * np.eye(700)))
    assert looks_indefinite(StoredMatrix(-np.eye(3)))
    assert not looks_indefinite(StoredMatrix(np.zeros((3, 3))))
    assert not looks_indefinite(StoredMatrix(np.full((3, 3), np.nan)))
