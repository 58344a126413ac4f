"""The textbook loops that studies time: slow, but right."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import reference
from pegasos.studies._textbook import LOOPS, LaplaceSquared


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.6)
    y = np.where(rng.random(40) < 0.5, -1.0, 1.0)
    return X, y, rng.integers(40, size=300)


@pytest.mark.parametrize("name", ["dense", "sparse", "scaling-trick"])
def test_linear_loops_make_the_published_steps(name, problem):
    X, y, draws = problem
    loop = LOOPS[name]
    w = loop.train(loop.rows(sp.csr_matrix(X)), y, draws, lam=0.05)
    published = reference.pegasos(X, y, 0.05, draws).w
    np.testing.assert_allclose(w, published, rtol=1e-9, atol=1e-12)  # rounding alone


@pytest.mark.parametrize("name", ["naive", "optimised"])
def test_kernel_loops_make_the_published_steps(name, problem):
    X, y, draws = problem
    loop = LOOPS[name]
    coef = loop.train(loop.rows(X), y, draws, lam=0.05, gamma=0.5)
    K = reference.gaussian_kernel(X, X, 0.5)
    published = reference.kernel_pegasos(K, y, 0.05, draws).coef
    np.testing.assert_allclose(coef, published, rtol=1e-9)  # counts over the same number


def test_the_wrong_norm_is_that_of_the_report():
    kernel = LaplaceSquared(0.125)
    # Distances |3 - 0| + |4 - 0| = 7 and 0.
    values = kernel(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(values, [[np.exp(-0.125 * 49), 1.0]])
