"""What `pegasos.kernels` refuses, and what it says then."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import kernels


@pytest.mark.parametrize("gamma", [0, 0.0, -1.0, np.nan])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match=r"gamma must be positive and finite; got"):
        kernels.rbf([[1.0]], [[1.0]], gamma=gamma)
    with pytest.raises(ValueError, match=r"gamma must be positive and finite; got"):
        kernels.poly([[1.0]], [[1.0]], gamma=gamma)


def test_gamma_must_be_finite():
    for kernel in (kernels.rbf, kernels.poly):
        with pytest.raises(ValueError, match="gamma"):
            kernel([[0.0]], [[0.0]], gamma=np.inf)


@pytest.mark.parametrize("degree", [0, -1, 1.5])
def test_degree_must_be_a_positive_whole_number(degree):
    with pytest.raises(ValueError, match=f"a whole number, at least 1; got {degree}"):
        kernels.poly([[1.0]], [[1.0]], degree=degree)


@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
def test_different_numbers_of_features_are_refused(name):
    options = {"gamma": 1.0} if name == "rbf" else {}
    with pytest.raises(ValueError, match="A has 3 features, B has 2"):
        getattr(kernels, name)(np.ones((2, 3)), sp.csr_array(np.ones((2, 2))), **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_values_that_are_not_finite_are_refused(bad, convert):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        kernels.linear(convert([[1.0, bad]]), [[1.0, 1.0]])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_overflow_is_refused_with_the_remedy(convert):
    X = convert(np.full((2, 4), 500.0, dtype=np.float32))
    with pytest.raises(ValueError, match="poly kernel of degree 6 overflows float32") as error:
        kernels.poly(X, X, degree=6)
    for part in ("norm 1e+03", "about 1e+36", "lower the degree or gamma", "pass X as float64"):
        assert part in str(error.value)
    assert np.all(np.isfinite(kernels.poly(X.astype(np.float64), X, degree=6)))

    X = convert(np.full((2, 1), 1e17, dtype=np.float32))
    with pytest.raises(ValueError, match="the linear kernel overflows float32") as error:
        kernels.linear(X, X)
    assert "degree" not in str(error.value)

    X = convert(np.full((2, 1), 1e100))
    with pytest.raises(ValueError, match="poly kernel of degree 4 overflows float64") as error:
        kernels.poly(X, X, degree=4)
    assert "pass X as float64" not in str(error.value)

    X = convert(np.full((2, 1), 1e200))
    with pytest.raises(ValueError, match="the norm of a row overflows"):
        kernels.rbf(X, X, gamma=1.0)


def test_overflow_looks_at_both_sides_and_at_coef0():
    small, large = np.ones((1, 1), dtype=np.float32), np.full((1, 1), 1e17, dtype=np.float32)
    for sides in ((small, large), (large, small)):
        with pytest.raises(ValueError, match="overflows float32"):
            kernels.linear(*sides)
    with pytest.raises(ValueError, match="overflows float32"):
        kernels.poly(small, small, coef0=-1e12)
