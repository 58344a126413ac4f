"""A step of Newton's method on the objective with the corner of the hinge rounded."""

from __future__ import annotations

import numpy as np

from pegasos.reference._checks import Floats, Weights, check_problem
from pegasos.reference._losses import check_loss

FRACTIONS = (0.125, 0.25, 0.5, 1.0)  # of a step, at which its slope is looked at


def newton_step(
    w: Floats,
    X: Floats,
    y: Floats,
    lam: float,
    width: float,
    *,
    loss: str = "hinge",
    sample_weight: Weights = None,
) -> Floats:
    """One step of Newton's method on the rounded objective, as long as it goes downhill.

    The hinge is rounded so that its slope falls from 1 to 0 on a ramp, `b(z) = clip(1/2 + (1 -
    z)/width, 0, 1)`; the log loss is smooth as it is, `b(z) = sigma(-z)`. With the margins z at w::

        g = lam S w - sum_i s_i b(z_i) y_i x_i          (S times the gradient)
        H = lam S I + sum_i s_i (-b'(z_i)) x_i x_i^T
        w <- w - t H^-1 g

    t is where the slope of the objective along the step reaches 0, 1 at most. The slope is computed
    at 1/8, 1/4, 1/2 and all of the step and taken to be a straight line in between. The slopes
    `b(z_i)` are dual masses, at every w: see :func:`guess_masses`.

    Parameters
    ----------
    w : array of shape (n_features,)
        The weights to improve; are not changed.
    X, y, lam, loss, sample_weight
        The problem, see :mod:`pegasos.reference`.
    width : float
        Of the ramp, positive; not used by the log loss.
    """
    X, y, s = check_problem(X, y, lam, sample_weight)
    kind = check_loss(loss)
    if not width > 0:
        raise ValueError(f"width must be positive; got {width}.")
    lam_s = lam * float(s.sum())

    def uphill(at: Floats) -> Floats:
        return lam_s * at - (s * kind.guess(y * (X @ at), width) * y) @ X

    b = kind.guess(y * (X @ w), width)
    curvature = s * (b * (1 - b) if loss == "log" else ((b > 0) & (b < 1)) / width)
    hessian = lam_s * np.eye(X.shape[1]) + (X.T * curvature) @ X
    step = -np.linalg.solve(hessian, uphill(w))
    at = np.array([0.0, *FRACTIONS])
    slopes = [float(uphill(w + t * step) @ step) for t in at]
    return w + _root(at, slopes) * step


def _root(at: Floats, slopes: list[float]) -> float:
    """Where the slope, a straight line from one point to the next, turns positive."""
    for k in range(1, len(at)):
        if slopes[k] > 0:
            below, above = slopes[k - 1], slopes[k]
            return float(at[k - 1] + (at[k] - at[k - 1]) * below / (below - above))
    return float(at[-1])
