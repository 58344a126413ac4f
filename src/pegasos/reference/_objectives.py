"""The two objectives: the primal, to be made small, and the dual, never above it."""

from __future__ import annotations

import numpy as np

from pegasos.reference._checks import Floats, Weights, check_dual_point, check_problem
from pegasos.reference._losses import check_loss


def primal_objective(
    w: Floats, X: Floats, y: Floats, lam: float, loss: str = "hinge", sample_weight: Weights = None
) -> float:
    """`P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)`, to be made small."""
    X, y, s = check_problem(X, y, lam, sample_weight)
    w = np.asarray(w, dtype=np.float64)
    losses = check_loss(loss).value(y * (X @ w))
    return float(lam / 2 * (w @ w) + (s @ losses) / s.sum())


def dual_weights(
    a: Floats, X: Floats, y: Floats, lam: float, sample_weight: Weights = None
) -> Floats:
    """Return the weight vector of a dual point, `w(a) = (1/(lam S)) sum_i a_i y_i x_i`."""
    X, y, s = check_problem(X, y, lam, sample_weight)
    return np.asarray((np.asarray(a, dtype=np.float64) * y) @ X / (lam * s.sum()))


def dual_objective(
    a: Floats, X: Floats, y: Floats, lam: float, loss: str = "hinge", sample_weight: Weights = None
) -> float:
    """`D(a) = (1/S) sum_i s_i gain(a_i/s_i) - lam/2 ||w(a)||^2`, for `0 <= a_i <= s_i`.

    The gain is `b` for the hinge loss and the binary entropy `H(b)` for the log loss.
    `D(a) <= P(w)` for every feasible `a` and every `w`, so `P(w) - D(a)` bounds how far `w` is
    from optimal. At the optimum they are equal.
    """
    X, y, s = check_problem(X, y, lam, sample_weight)
    a = check_dual_point(a, s)
    w = dual_weights(a, X, y, lam, s)
    return float((s @ check_loss(loss).dual_gain(a / s)) / s.sum() - lam / 2 * (w @ w))
