"""`pegasos.kernels`: matrices of kernel values, and limits of memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from pegasos import _core, kernels, reference
from pegasos._memory import size_text
from pegasos.kernels import VectorKernel, memory_bytes
from pegasos.kernels._functions import Vectors, needs_float64, scale_gamma, without_zeros
from pegasos.kernels._rows import VectorRows

from .core_helpers import core_rows
from .kernel_core_helpers import VECTOR_KINDS, as_kind, in_full

# Panels hold 16 rows, tiles 256 by 256, vectors 4 or 8 values.
EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100)
sizes = st.sampled_from(EDGES)
kinds = st.sampled_from(VECTOR_KINDS)


def make_vectors(seed, n_rows, n_features, density=0.7, scale=1.0):
    """Some zeros, every third row a copy of another, every seventh all zero."""
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    X[2::3] = X[0]
    X[6::7] = 0.0
    return X


def tolerance(A, B, gamma, dtype):
    """Of rbf values below 1: inner products are rounded relative to the norms, times gamma."""
    eps = np.finfo(dtype).eps
    norm2 = max((in_full(A) ** 2).sum(axis=1).max(), (in_full(B) ** 2).sum(axis=1).max())
    return eps * (4 + 4 * gamma * norm2 * (4 + np.sqrt(A.shape[1])))


def result_type(A, B):
    return np.result_type(A.dtype, B.dtype)


# --- Values ---------------------------------------------------------------------------------------


def assert_kernels_agree(A, B, gamma, degree, coef0, **options):
    dtype = result_type(A, B)
    eps = np.finfo(dtype).eps
    a, b = in_full(A), in_full(B)

    K = kernels.rbf(A, B, gamma=gamma, **options)
    assert K.dtype == dtype
    assert K.flags.c_contiguous
    assert K.min() >= 0
    assert K.max() <= 1
    expected = reference.gaussian_kernel(a, b, gamma)
    assert_allclose(K, expected, rtol=0, atol=tolerance(A, B, gamma, dtype))
    assert_allclose(K, rbf_kernel(a, b, gamma=gamma), rtol=0, atol=tolerance(A, B, gamma, dtype))

    K = kernels.rbf(A, B, gamma=gamma, coef0=coef0, **options)
    assert_allclose(K, expected + coef0, rtol=2 * eps, atol=tolerance(A, B, gamma, dtype))

    # Rounding of an inner product is relative to the sum of the absolute values of its terms.
    size = np.abs(a) @ np.abs(b).T
    K = kernels.linear(A, B, **options)
    assert K.dtype == dtype
    error = (4 + a.shape[1]) * eps
    assert np.all(np.abs(K - reference.linear_kernel(a, b)) <= error * size)
    assert np.all(np.abs(K - linear_kernel(a, b)) <= error * size)
    K = kernels.linear(A, B, coef0=coef0, **options)
    expected = reference.linear_kernel(a, b, coef0)
    assert np.all(np.abs(K - expected) <= error * (size + abs(coef0)))

    K = kernels.poly(A, B, degree=degree, gamma=gamma, coef0=coef0, **options)
    assert K.dtype == dtype
    limit = degree * (8 + a.shape[1]) * eps * (gamma * size + abs(coef0)) ** degree
    expected = reference.polynomial_kernel(a, b, degree, gamma, coef0)
    assert np.all(np.abs(K - expected) <= limit)
    others = polynomial_kernel(a, b, degree=degree, gamma=gamma, coef0=coef0)
    assert np.all(np.abs(K - others) <= limit)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_a=sizes,
    n_b=sizes,
    n_features=st.sampled_from(EDGES[:12]),
    kind_a=kinds,
    kind_b=kinds,
    density=st.sampled_from([0.2, 0.8, 1.0]),
    gamma=st.floats(0.01, 2.0),
    degree=st.integers(1, 7),
    coef0=st.sampled_from([0.0, 1.0, -0.5]),
)
@example(0, 1, 1, 1, "csr-f32-i32", "csr-f64-i64", 1.0, 0.5, 1, 0.0)
@settings(max_examples=150)
def test_kernels_agree_with_the_reference_and_scikit_learn(
    seed, n_a, n_b, n_features, kind_a, kind_b, density, gamma, degree, coef0
):
    A = as_kind(make_vectors(seed, n_a, n_features, density), kind_a)
    B = make_vectors(seed + 1, n_b, n_features, density)
    B[-1] = in_full(A)[-1]  # a distance of zero
    assert_kernels_agree(A, as_kind(B, kind_b), gamma, degree, coef0)


@pytest.mark.parametrize("kind_a", VECTOR_KINDS)
@pytest.mark.parametrize("kind_b", VECTOR_KINDS)
def test_kernels_agree_at_the_edges_of_tiles(kind_a, kind_b):
    for n_a, n_b in ((255, 257), (256, 256), (513, 17)):
        A = as_kind(make_vectors(n_a, n_a, 13), kind_a)
        B = as_kind(make_vectors(n_b + 1, n_b, 13), kind_b)
        assert_kernels_agree(A, B, 0.1, 3, 1.0)


def test_sparse_rows_of_many_features_are_multiplied_in_fewer_panels_at_a_time():
    # 2^18 bytes of panels at once: one panel of 16 rows from 4096 features (float32) on.
    for n_features in (300, 1025, 5000):
        X = make_vectors(3, 70, n_features, density=0.02)
        for kind in ("csr-f32-i32", "csr-f64-i64"):
            A, B = as_kind(X, kind), as_kind(X[::-1], kind)
            assert_kernels_agree(A, B, 0.05, 2, 0.0)


@pytest.mark.parametrize("kind_a", VECTOR_KINDS)
@pytest.mark.parametrize("kind_b", VECTOR_KINDS)
def test_the_number_of_threads_changes_no_bit(kind_a, kind_b):
    A = as_kind(make_vectors(1, 300, 9), kind_a)
    B = as_kind(make_vectors(2, 700, 9), kind_b)
    for kernel, options in [
        (kernels.rbf, {"gamma": 0.2}),
        (kernels.rbf, {"gamma": 0.2, "coef0": 1.0}),
        (kernels.poly, {"degree": 3, "coef0": 1.0}),
        (kernels.linear, {}),
    ]:
        one = kernel(A, B, n_jobs=1, **options)
        for n_jobs in (2, 3):
            assert_array_equal(one, kernel(A, B, n_jobs=n_jobs, **options))


def test_small_numbers_by_hand():
    A, B = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0], [1.0, 2.0]])
    assert_array_equal(kernels.linear(A, B), [[1.0, 5.0]])
    assert_array_equal(kernels.poly(A, B, degree=3, gamma=2.0, coef0=-1.0), [[1.0, 729.0]])
    assert_allclose(kernels.rbf(A, B, gamma=0.5), [[np.exp(-6.5), 1.0]], rtol=1e-15)
    assert_array_equal(kernels.linear(A, B, coef0=-1.0), [[0.0, 4.0]])
    assert_allclose(kernels.rbf(A, B, gamma=0.5, coef0=2), [[2 + np.exp(-6.5), 3.0]], rtol=1e-15)


def test_inputs_need_not_be_arrays_and_are_not_changed():
    A, B = [[1, 2], [0, 1]], [[3, 4]]
    assert_array_equal(kernels.linear(A, B), [[11.0], [4.0]])
    assert kernels.linear(np.array(A, dtype=np.int8), np.array(B, dtype=np.int8)).dtype == "f4"
    F = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    strided = np.arange(12.0).reshape(3, 4)[:, ::2]
    assert_array_equal(kernels.linear(F, strided), F @ strided.T)
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), [0, 0, 1], [0, 3]), shape=(1, 2))
    for kernel in (kernels.linear, lambda A, B: kernels.rbf(A, B, gamma=0.01)):
        assert_allclose(kernel(twice, twice), kernel([[3.0, 5.0]], [[3.0, 5.0]]), rtol=1e-14)
        assert_allclose(kernel(twice, [[1, 1]]), kernel([[3.0, 5.0]], [[1, 1]]), rtol=1e-14)
    assert twice.nnz == 3


def test_other_sparse_formats_and_explicit_zeros_are_taken():
    X = make_vectors(0, 9, 4)
    for convert in (sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array):
        assert_allclose(kernels.linear(convert(X), X), X @ X.T, atol=1e-14)
    zeros = sp.csr_array(X)
    zeros.data[::2] = 0.0
    assert_allclose(kernels.linear(zeros, zeros), (zeros @ zeros.T).toarray(), atol=1e-14)


# --- Large norms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense-f32", "csr-f32-i32"])
@pytest.mark.parametrize("shift", [100.0, 1e4])
def test_rbf_of_float32_far_from_the_origin_is_computed_in_float64(kind, shift):
    X = as_kind(np.random.default_rng(0).normal(size=(60, 5)) + shift, kind)
    expected = reference.gaussian_kernel(in_full(X), in_full(X), 0.3)
    assert 0.01 < np.median(expected) < 0.9  # there is something to get wrong
    K = kernels.rbf(X, X, gamma=0.3)
    assert K.dtype == np.float32
    assert_allclose(K, expected, rtol=0, atol=1e-5)


def test_only_large_norms_times_gamma_need_float64():
    def needs(kernel, value):
        return needs_float64(kernel, Vectors(np.full((1, 1), value, dtype=np.float32), 1))

    gamma = VectorKernel("rbf", 0.25)
    assert not needs(gamma, 32.0)  # 0.25 * 32^2 = 256
    assert needs(gamma, 32.001)
    assert not needs(VectorKernel("poly", 0.25, 0.0, 3), 100.0)
    assert not needs(VectorKernel("linear"), 100.0)


def test_float32_keeps_four_digits_up_to_where_float64_takes_over():
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(80, 6)) + 6.0).astype(np.float32)
    gamma = 0.99 * 256 / float((X.astype(float) ** 2).sum(axis=1).max())
    assert not needs_float64(VectorKernel("rbf", gamma), Vectors(X, 1))
    K = kernels.rbf(X, X, gamma=gamma)
    expected = reference.gaussian_kernel(X, X, gamma)
    large = expected > 1e-6
    assert_allclose(K[large], expected[large], rtol=5e-4)


@pytest.mark.parametrize("gamma", [1e-38, 1e-39, 1e-37])
def test_rbf_of_float32_values_whose_squares_leave_float32_is_finite(gamma):
    X = np.full((3, 10), 1e19, dtype=np.float32)  # squared norms of 1e39, float32 ends at 3.4e38
    X[1] *= np.float32(0.5)
    expected = reference.gaussian_kernel(X, X, gamma)
    assert_allclose(kernels.rbf(X, X, gamma=gamma), expected, rtol=1e-4)


def test_rbf_of_float32_with_a_gamma_beyond_float32_is_finite():
    X = np.zeros((2, 3), dtype=np.float32)
    assert_array_equal(kernels.rbf(X, X, gamma=1e39), np.ones((2, 2)))


# --- The exponential ------------------------------------------------------------------------------


def units_off(values, x):
    """Errors against exp(x), in units of the last place of `values`."""
    exact = np.exp(x.astype(np.longdouble))
    last_place = np.spacing(exact.astype(values.dtype)).astype(np.longdouble)
    return np.abs(values.astype(np.longdouble) - exact) / last_place


@pytest.mark.parametrize(
    ("dtype", "smallest", "tiny"), [(np.float32, -64, 1.7e-28), (np.float64, -640, 1.2e-278)]
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_exp_is_within_two_units_of_the_last_place_and_zero_below(dtype, smallest, tiny, convert):
    # Distances from the origin are squares, exact up to one rounding; so the exponent is known.
    b = np.sqrt(np.linspace(0, 1.2 * -smallest, 150_001)).astype(dtype)
    b[:3] = 0, 1e-3, 1e-10
    x = -(b.astype(np.float64) ** 2).astype(dtype)
    origin = np.zeros((1, 1), dtype=dtype)
    K = kernels.rbf(convert(origin), convert(b[:, np.newaxis]), gamma=1.0)[0]
    assert K.dtype == dtype
    assert K[0] == 1.0
    inside = x >= smallest
    assert units_off(K[inside], x[inside]).max() <= 2.0
    assert K[inside].min() < tiny  # the whole range is used
    assert K[inside].min() > 0
    assert_array_equal(K[~inside], 0.0)
    assert np.count_nonzero(~inside) > 1000


def test_float32_rows_made_in_float64_hold_no_subnormal_numbers():
    X = np.linspace(0, 30, 400, dtype=np.float32)[:, np.newaxis]
    assert needs_float64(VectorKernel("rbf", 2.0), Vectors(X, 1))
    K = kernels.rbf(X, X, gamma=2.0)
    assert K.dtype == np.float32
    assert K[K > 0].min() > 1e-28
    exact = reference.gaussian_kernel(X, X, 2.0)
    assert_allclose(K[exact > 1e-27], exact[exact > 1e-27], rtol=1e-5)


def test_exp_is_one_at_a_distance_of_zero_in_every_lane_and_rest():
    for n in range(1, 20):
        B = np.ones((n, 2), dtype=np.float32)
        assert_array_equal(kernels.rbf(B[:1], B, gamma=3.0), np.ones((1, n)))


# --- Scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind_a", VECTOR_KINDS)
@pytest.mark.parametrize("kind_b", VECTOR_KINDS)
@pytest.mark.parametrize("n_rows", [1, 17, 300])
def test_scores_are_sums_of_kernel_values(kind_a, kind_b, n_rows):
    A, B = make_vectors(5, 259, 6), make_vectors(6, n_rows, 6)
    coef = np.random.default_rng(7).normal(size=(3, len(A)))
    coef[1, ::2] = 0.0
    a, b = core_rows(A, kind_a), core_rows(B, kind_b)
    squares = [np.empty(len(A)), np.empty(n_rows)]
    _core.squared_norms(a, squares[0], n_threads=2)
    _core.squared_norms(b, squares[1], n_threads=2)
    A, B = in_full(as_kind(A, kind_a)), in_full(as_kind(B, kind_b))
    assert_allclose(squares[0], (A**2).sum(axis=1), rtol=1e-14)
    K = reference.gaussian_kernel(A, B, 0.3)
    start = np.random.default_rng(8).normal(size=(3, n_rows))
    found = []
    for n_threads in (1, 2, 3):
        scores = start.copy()
        _core.kernel_scores(
            a,
            squares[0],
            None,
            coef,
            b,
            squares[1],
            scores,
            kernel="rbf",
            gamma=0.3,
            coef0=0.0,
            degree=1,
            same_matrix=False,
            in_double=False,
            n_threads=n_threads,
        )
        found.append(scores)
    eps = 1e-12 if "f64" in kind_a + kind_b else 1e-5
    assert_allclose(found[0], start + coef @ K, rtol=0, atol=eps * np.abs(coef).sum())
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


def test_in_double_makes_scores_of_float32_rows_exact():
    X = as_kind(make_vectors(5, 20, 3) + 1000.0, "dense-f32")
    rows, squares, scores = core_rows(X, "dense-f32"), np.empty(20), np.zeros((1, 20))
    _core.squared_norms(rows, squares, n_threads=1)
    options = {"kernel": "rbf", "gamma": 0.3, "coef0": 0.0, "degree": 1, "n_threads": 1}
    options |= {"same_matrix": True, "in_double": True}
    coef = np.ones((1, 20))
    _core.kernel_scores(rows, squares, None, coef, rows, squares, scores, **options)
    expected = reference.gaussian_kernel(in_full(X), in_full(X), 0.3).sum(axis=0)
    assert_allclose(scores[0], expected, rtol=1e-8)


# --- gamma as a word ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", VECTOR_KINDS)
def test_scale_and_auto_mean_what_they_do_in_scikit_learn(kind):
    X = as_kind(make_vectors(4, 30, 5), kind)
    assert_allclose(scale_gamma("scale", X), 1 / (5 * in_full(X).var()), rtol=1e-6)
    assert scale_gamma("auto", X) == 0.2
    assert scale_gamma(0.7, X) == 0.7


def test_scale_of_constant_data_is_one():
    assert scale_gamma("scale", np.full((3, 2), 0.0)) == 1.0
    assert scale_gamma("scale", sp.csr_array((3, 2))) == 1.0


def test_a_kernel_knows_its_diagonal_its_bound_and_whether_it_is_positive():
    squares = np.array([0.0, 1.0, 4.0])
    poly = VectorKernel("poly", 0.5, -1.0, 3)
    assert_array_equal(poly.diagonal(squares), [-1.0, -0.125, 1.0])
    assert poly.largest(4.0) == 27.0
    assert not poly.is_positive
    assert VectorKernel("poly", 0.5, 0.0, 3).is_positive
    assert_array_equal(VectorKernel("rbf", 0.5).diagonal(squares), 1.0)
    assert_array_equal(VectorKernel("linear").diagonal(squares), squares)
    assert VectorKernel("rbf", 0.5).largest(1e300) == 1.0
    assert VectorKernel("poly", 1.0, 0.0, 400).largest(1e300) == np.inf


# --- Limits of memory -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "size"),
    [
        (1, 1),
        (12345, 12345),
        (np.int64(7), 7),
        ("2GB", 2 * 10**9),
        ("500 MB", 5 * 10**8),
        ("500mb", 5 * 10**8),
        ("4GiB", 4 * 2**30),
        ("1.5 kB", 1500),
        ("0.5KiB", 512),
        ("3 MiB", 3 * 2**20),
        ("1TB", 10**12),
        ("1TiB", 2**40),
        (" 17 ", 17),
        ("17B", 17),
    ],
)
def test_sizes_are_read_as_people_write_them(memory, size):
    assert memory_bytes(memory) == size
    assert type(memory_bytes(memory)) is int


@pytest.mark.parametrize(
    "memory", ["", "much", "2 G", "GB", "2GB!", "-2GB", "1,5GB", "1e9", "2 GB RAM", None, "nan"]
)
def test_what_is_no_size_is_refused_with_examples(memory):
    with pytest.raises(ValueError, match=r"is not a size; .*'500MB', '4GB' or '2GiB'") as error:
        memory_bytes(memory)
    assert f"memory={memory!r}" in str(error.value)


@pytest.mark.parametrize("memory", [0, -1, -(10**9), "0", "0GB", "0.5", "0.0 MB"])
def test_no_memory_at_all_is_refused(memory):
    with pytest.raises(ValueError, match=r"leaves no room at all"):
        memory_bytes(memory)


@pytest.mark.parametrize(
    ("size", "text"),
    [(5, "5 bytes"), (1500, "1.5 kB"), (2e6, "2 MB"), (3.456e9, "3.46 GB"), (5e12, "5e+03 GB")],
)
def test_sizes_are_written_for_people(size, text):
    assert size_text(size) == text


# --- Dense rows of mostly zeros -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 5, 4096, 9000])
def test_rows_of_mostly_zeros_are_compressed(n_rows, dtype, monkeypatch):
    monkeypatch.setattr(_core, "has_matrix_unit", lambda: False)
    rng = np.random.default_rng(n_rows)
    X = rng.standard_normal((n_rows, 70)) * (rng.random((n_rows, 70)) < 0.1)
    X[0] = 0
    X[:, -1] = 1  # the last entry of a row may be its last column, or not
    X[-1, -1] = 0
    X = X.astype(dtype)
    compressed = without_zeros(X, 2)
    assert sp.issparse(compressed)
    assert compressed.dtype == dtype
    assert_array_equal(compressed.toarray(), X)


def test_other_rows_are_left_as_they_are():
    rng = np.random.default_rng(0)
    full, narrow = rng.standard_normal((50, 70)), np.zeros((50, 63))
    sparse = sp.csr_array(np.zeros((50, 70)))
    for X in (full, narrow, sparse):
        assert without_zeros(X, 2) is X


def test_a_matrix_unit_takes_rows_of_mostly_zeros_as_they_are(monkeypatch):
    monkeypatch.setattr(_core, "has_matrix_unit", lambda: True)
    X = np.zeros((50, 70), dtype=np.float32)
    assert without_zeros(X, 2) is X
    assert sp.issparse(without_zeros(X.astype(np.float64), 2))


def test_compressed_rows_have_the_kernel_of_the_dense_ones():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 80)) * (rng.random((300, 80)) < 0.15)
    maker = VectorRows(X, VectorKernel("rbf", 0.1), 2)
    assert maker.n_bytes > 0
    rows = np.arange(300)
    K = np.empty((300, 300))
    maker.make(rows, K, rows)
    assert_allclose(K, reference.gaussian_kernel(X, X, 0.1), rtol=1e-12)
