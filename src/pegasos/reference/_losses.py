"""The losses of a margin `y <w, x>`: value, slope, and what the dual needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pegasos.reference._checks import Floats


def hinge(margins: ArrayLike) -> Floats:
    """`max(0, 1 - margin)`, with `margin = y <w, x>`."""
    return np.maximum(0.0, 1.0 - np.asarray(margins, dtype=np.float64))


def log_loss(margins: ArrayLike) -> Floats:
    """`log(1 + exp(-margin))`, natural logarithm, without overflow."""
    return np.logaddexp(0.0, -np.asarray(margins, dtype=np.float64))


def hinge_slope(margins: ArrayLike) -> Floats:
    """`-d hinge/d margin`: 1 where `margin < 1`, else 0 (also at the kink itself)."""
    return (np.asarray(margins) < 1.0).astype(np.float64)


def log_slope(margins: ArrayLike) -> Floats:
    """`-d log_loss/d margin = sigma(-margin) = 1/(1 + exp(margin))`, without overflow."""
    margins = np.asarray(margins, dtype=np.float64)
    small = np.exp(-np.abs(margins))  # in [0, 1]
    return np.asarray(np.where(margins > 0, small, 1.0) / (1.0 + small))


def hinge_dual_gain(b: Floats) -> Floats:
    """Gain of a row in the dual of the hinge loss, `b = a_i/s_i` in [0, 1]: `b` itself."""
    return b


def log_dual_gain(b: Floats) -> Floats:
    """Gain of a row in the dual of the log loss: binary entropy `H(b)` in nats, `H(0)=H(1)=0`."""
    return -_x_log_x(b) - _x_log_x(1.0 - b)


def _x_log_x(x: Floats) -> Floats:
    return x * np.log(np.where(x > 0, x, 1.0))


def hinge_guess(margins: ArrayLike, width: float = 1 / 8) -> Floats:
    """Guess `b` from the margins at a good w: a ramp, `clip(1/2 + (1 - margin)/width, 0, 1)`.

    At the optimum `b` is the slope, 1 left of the kink and 0 right of it; on it, any value. The
    guess is the slope of a hinge whose kink is rounded.
    """
    margins = np.asarray(margins, dtype=np.float64)
    return np.clip((1.0 + width / 2 - margins) / width, 0.0, 1.0)


def log_guess(margins: ArrayLike, width: float = 1 / 8) -> Floats:
    """Guess `b` from the margins at a good w: the slope. There is no kink to round."""
    return log_slope(margins)


def hinge_coordinate(
    a_i: float, s_i: float, margin: float, q: float, relaxation: float = 1.0
) -> float:
    """Best dual variable of one row, hinge loss: `clip(a_i + (1 - margin)/q, 0, s_i)`.

    `q = ||x_i||^2/(lam S)` is how much the margin of row i grows when `a_i` grows by one. The step
    is multiplied by `relaxation` before it is clipped.
    """
    if q == 0.0:  # an all-zero row: nothing to lose
        return s_i
    return min(max(a_i + relaxation * (1.0 - margin) / q, 0.0), s_i)


def log_coordinate(
    a_i: float, s_i: float, margin: float, q: float, relaxation: float = 1.0
) -> float:
    """Best dual variable of one row, log loss: `s_i sigma(z)`, z the root of an equation.

    With `a_i = s_i sigma(z)` the dual is stationary where the new margin is `-z`, that is::

        f(z) = z + s_i q sigma(z) - r = 0,    r = q a_i - margin

    f rises, is convex for z < 0 and concave for z > 0. So Newton's steps never jump over a
    negative root if they start right of it (and not right of 0), nor over a positive root if they
    start left of it (and not left of 0). As `0 < sigma < 1`, the root lies in (r - s_i q, r).
    `relaxation` is not used.
    """
    q_s = s_i * q
    r = q * a_i - margin
    z = min(0.0, r) if q_s / 2 - r > 0 else max(0.0, r - q_s)
    for _ in range(100):
        sigma = _sigma(z)
        step = (z + q_s * sigma - r) / (1.0 + q_s * sigma * _sigma(-z))
        z -= step
        if abs(step) <= 1e-12 * (1.0 + abs(z)):
            break
    return s_i * _sigma(z)


def _sigma(z: float) -> float:
    return float(log_slope(-z))


@dataclass(frozen=True)
class Loss:
    """One loss: its value, minus its derivative, and the three functions of its dual."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    dual_gain: Callable[[Floats], Floats]
    guess: Callable[[Floats, float], Floats]
    coordinate: Callable[[float, float, float, float, float], float]


LOSSES: dict[str, Loss] = {
    "hinge": Loss(hinge, hinge_slope, hinge_dual_gain, hinge_guess, hinge_coordinate),
    "log": Loss(log_loss, log_slope, log_dual_gain, log_guess, log_coordinate),
}


def check_loss(loss: str) -> Loss:
    """Return the loss of this name."""
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {sorted(LOSSES)}; got {loss!r}.")
    return LOSSES[loss]
