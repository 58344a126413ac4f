"""The losses of the reference have their known values, slopes and best dual variables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from pegasos import reference

from .reference_helpers import EXACT, LOSS_NAMES


def test_losses_have_their_known_values():
    assert_array_equal(reference.hinge([-1.0, 0.0, 1.0, 3.0]), [2.0, 1.0, 0.0, 0.0])
    assert_array_equal(reference.hinge_slope([-1.0, 0.999, 1.0, 3.0]), [1.0, 1.0, 0.0, 0.0])
    assert_allclose(reference.log_loss([0.0, np.log(3)]), [np.log(2), np.log(4 / 3)], rtol=EXACT)
    assert_allclose(reference.log_slope([0.0, np.log(3), -np.log(3)]), [1 / 2, 1 / 4, 3 / 4])


def test_log_loss_is_exact_and_silent_at_huge_margins():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert_array_equal(reference.log_loss([-1e4, 1e4]), [1e4, 0.0])
        assert_array_equal(reference.log_slope([-1e4, 1e4]), [1.0, 0.0])
        # Far out, the loss and its slope are both exp(-margin): no loss of relative precision.
        assert_allclose(reference.log_loss(500.0), np.exp(-500.0), rtol=EXACT)
        assert_allclose(reference.log_slope(500.0), np.exp(-500.0), rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_slope_is_minus_the_derivative_of_the_value(loss):
    margins = np.array([-30.0, -2.0, -0.3, 0.0, 0.8, 1.2, 4.0])  # not at the kink of the hinge
    value, slope = reference.LOSSES[loss].value, reference.LOSSES[loss].slope
    h = 1e-5
    derivative = (value(margins + h) - value(margins - h)) / (2 * h)
    assert_allclose(slope(margins), -derivative, atol=1e-9)  # h^2 plus eps * 30/h


@given(
    b=st.floats(0, 1),
    s=st.floats(0.01, 100),
    margin=st.floats(-300, 300),
    log_q=st.floats(-6, 6),
)
@settings(max_examples=300)
def test_log_coordinate_solves_its_equation(b, s, margin, log_q):
    q = 10**log_q
    new = reference.log_coordinate(b * s, s, margin, q)
    assert 0 <= new <= s
    new_margin = margin + q * (new - b * s)
    # Stationary: new/s = sigma(-new_margin). An error of the margin moves sigma at most by 1/4 of
    # it, and the margin carries the rounding of its own large terms.
    rounding = 1e-11 * (1 + abs(margin) + q * s)
    assert abs(new / s - reference.log_slope(new_margin)) <= rounding


@pytest.mark.parametrize("margin", [-5.0, -0.2, 0.0, 3.0, 40.0])
@pytest.mark.parametrize("q", [0.0, 0.1, 20.0])
def test_log_coordinate_agrees_with_a_search_for_the_maximum(margin, q):
    b, s = 0.3, 2.0

    def loss_of_dual(new):  # -(S times the change of D), up to a constant
        fraction = new / s
        gain = s * reference.log_dual_gain(np.array([fraction]))[0]
        return -gain + (new - b * s) * margin + q * (new - b * s) ** 2 / 2

    best = minimize_scalar(loss_of_dual, bounds=(0, s), method="bounded", options={"xatol": 1e-10})
    # A search by values finds a maximum to the root of the rounding only.
    assert_allclose(reference.log_coordinate(b * s, s, margin, q), best.x, atol=1e-6)


def test_an_over_relaxed_step_is_clipped_after_the_stretch():
    assert reference.hinge_coordinate(0.5, 1.0, 0.0, 4.0, 1.9) == 0.5 + 1.9 / 4
    assert reference.hinge_coordinate(0.9, 1.0, 0.0, 4.0, 1.9) == 1.0
    assert reference.hinge_coordinate(0.1, 1.0, 2.0, 4.0, 1.9) == 0.0
    assert reference.hinge_coordinate(0.1, 3.0, 2.0, 0.0, 1.9) == 3.0  # an all-zero row
