"""The objectives of the reference, by hand, and the dual is never above the primal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference

from .reference_helpers import EXACT, LOSS_NAMES, X2, Y2, random_problem


def test_primal_objective_by_hand():
    w = np.array([1.0, 1.0])  # margins 1 and -2, losses 0 and 3
    assert reference.primal_objective(w, X2, Y2, 0.5) == 0.5 + 3 / 2
    assert reference.primal_objective(w, X2, Y2, 0.5, sample_weight=np.array([1.0, 3.0])) == (
        0.5 + 9 / 4
    )
    log = (np.log1p(np.exp(-1.0)) + np.log1p(np.exp(2.0))) / 2
    assert_allclose(reference.primal_objective(w, X2, Y2, 0.5, "log"), 0.5 + log, rtol=EXACT)


def test_dual_objective_by_hand():
    a = np.array([1.0, 0.25])  # w = (1, -1/2), since lam S = 1
    assert_array_equal(reference.dual_weights(a, X2, Y2, 0.5), [1.0, -0.5])
    assert reference.dual_objective(a, X2, Y2, 0.5) == 0.625 - 0.25 * 1.25
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))  # the row with a = 1 has none
    expected = entropy / 2 - 0.25 * 1.25
    assert_allclose(reference.dual_objective(a, X2, Y2, 0.5, "log"), expected, rtol=EXACT)


def test_weighted_dual_objective_by_hand():
    s, a = np.array([1.0, 3.0]), np.array([1.0, 1.5])  # lam S = 2: w = (1/2, -3/2)
    assert_array_equal(reference.dual_weights(a, X2, Y2, 0.5, s), [0.5, -1.5])
    assert reference.dual_objective(a, X2, Y2, 0.5, "hinge", s) == 2.5 / 4 - 0.25 * 2.5
    expected = 3 * np.log(2) / 4 - 0.25 * 2.5  # H(1/2) = log 2, weighing 3 of 4
    assert_allclose(reference.dual_objective(a, X2, Y2, 0.5, "log", s), expected, rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@given(seed=st.integers(0, 2**32 - 1), log_lam=st.floats(-6, 2), size=st.floats(-3, 3))
@settings(max_examples=60)
def test_no_dual_point_lies_above_any_primal_point(loss, seed, log_lam, size):
    X, y, s = random_problem(seed)
    rng = np.random.default_rng(seed)
    a = s * rng.choice([0.0, 1.0, rng.random()], size=len(y))
    w = 10**size * rng.normal(size=X.shape[1])
    lam = 10**log_lam
    dual = reference.dual_objective(a, X, y, lam, loss, s)
    for point in (w, reference.dual_weights(a, X, y, lam, s)):  # its own w bounds it tighter
        primal = reference.primal_objective(point, X, y, lam, loss, s)
        assert dual <= primal + EXACT * (1 + primal)
