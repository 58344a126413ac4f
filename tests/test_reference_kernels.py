"""The kernels of the reference, by hand and against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise

from pegasos import reference

from .reference_helpers import EXACT

ORIGIN = np.zeros((1, 2))


def two_sets_of_rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 4)), rng.normal(size=(5, 4))


def test_linear_kernel_by_hand():
    K = reference.linear_kernel([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]], [[2.0, 1.0], [0.0, 4.0]])
    assert_array_equal(K, [[4.0, 8.0], [-1.0, -4.0], [6.0, 0.0]])


def test_polynomial_kernel_by_hand():
    a, b = [[1.0, 2.0]], [[2.0, 1.0], [0.0, -1.0]]  # <a, b> = 4 and -2
    assert_array_equal(reference.polynomial_kernel(a, b, 3), [[64.0, -8.0]])
    assert_array_equal(reference.polynomial_kernel(a, b, 2, gamma=0.5, coef0=3.0), [[25.0, 4.0]])


def test_gaussian_kernel_by_hand():
    # Squared distances 0 and 1^2 + 2^2 = 5.
    K = reference.gaussian_kernel([[1.0, 1.0]], [[1.0, 1.0], [2.0, 3.0]], gamma=0.5)
    assert_allclose(K, [[1.0, np.exp(-2.5)]], rtol=EXACT)


def test_gaussian_kernel_measures_euclidean_distances():
    # (3, 4) and (5, 0) are 5 from the origin; the sums of their absolute values are 7 and 5.
    same = reference.gaussian_kernel(ORIGIN, [[3.0, 4.0], [5.0, 0.0]], gamma=0.1)
    assert_allclose(same, np.full((1, 2), np.exp(-2.5)), rtol=EXACT)
    # (3, 1) and (2, 2) have the same such sum, 4, but squared distances 10 and 8.
    near = reference.gaussian_kernel(ORIGIN, [[3.0, 1.0], [2.0, 2.0]], gamma=0.1)
    assert_allclose(near, [[np.exp(-1.0), np.exp(-0.8)]], rtol=EXACT)


def test_a_width_that_divides_is_gamma_one_over_twice_the_width():
    # As in reports: exp(-||a - b||^2/(2 g)). With g = 2 and squared distance 4 this is exp(-1).
    g, b = 2.0, [[2.0, 0.0]]
    as_reported = np.exp(-4.0 / (2 * g))
    assert_allclose(reference.gaussian_kernel(ORIGIN, b, gamma=1 / (2 * g)), [[as_reported]])
    for mistaken in (g, 1 / g, 2 * g, 1 / (2 * g**2)):
        K = reference.gaussian_kernel(ORIGIN, b, gamma=mistaken)
        assert not np.allclose(K, as_reported, rtol=0.3)


@pytest.mark.parametrize("gamma", [1e-3, 0.4, 10.0])
def test_gaussian_kernel_equals_scikit_learns(gamma):
    A, B = two_sets_of_rows()
    # Theirs expands the square, so its exponent carries the rounding of ||a||^2, about 1e-14 here.
    expected = pairwise.rbf_kernel(A, B, gamma=gamma)
    assert_allclose(reference.gaussian_kernel(A, B, gamma), expected, rtol=1e-11)


@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.parametrize(("gamma", "coef0"), [(1.0, 0.0), (0.3, 1.5)])
def test_polynomial_kernel_equals_scikit_learns(degree, gamma, coef0):
    A, B = two_sets_of_rows()
    expected = pairwise.polynomial_kernel(A, B, degree=degree, gamma=gamma, coef0=coef0)
    assert_allclose(reference.polynomial_kernel(A, B, degree, gamma, coef0), expected, rtol=EXACT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.linear_kernel([1.0, 2.0], ORIGIN), "same columns; got \\(2,\\)"),
        (lambda: reference.linear_kernel(ORIGIN, [[1.0]]), "got \\(1, 2\\), \\(1, 1\\)"),
        (lambda: reference.linear_kernel(np.empty((0, 2)), ORIGIN), "got \\(0, 2\\)"),
        (lambda: reference.gaussian_kernel(ORIGIN, np.empty((0, 2)), 1.0), "got \\(1, 2\\), \\(0"),
        (lambda: reference.gaussian_kernel(ORIGIN, ORIGIN, 0.0), "gamma must be positive"),
        (lambda: reference.gaussian_kernel(ORIGIN, ORIGIN, np.nan), "gamma must be positive"),
        (lambda: reference.gaussian_kernel(ORIGIN, ORIGIN, np.inf), "gamma must be positive"),
        (lambda: reference.polynomial_kernel(ORIGIN, ORIGIN, 2, -1.0), "gamma must be positive"),
        (lambda: reference.polynomial_kernel(ORIGIN, ORIGIN, 0), "degree must be a whole number"),
        (lambda: reference.polynomial_kernel(ORIGIN, ORIGIN, 1.5), "got 1.5"),
    ],
)
def test_bad_input_to_kernels_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
