"""Relatives, for comparison: the perceptron and online gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pegasos.reference._checks import (
    Floats,
    Ints,
    check_draws,
    check_perceptron_average,
    check_problem,
)
from pegasos.reference._losses import hinge_slope
from pegasos.reference._pegasos import factor_into_ball


@dataclass(frozen=True, eq=False)
class PerceptronRun:
    """The model `w` (last iterate or average), the `last` iterate, mistakes of each epoch run."""

    w: Floats
    last: Floats
    mistakes_per_epoch: list[int]


def perceptron(
    X: Floats, y: Floats, order: Iterable[Ints], *, average: str | None = None
) -> PerceptronRun:
    """Rosenblatt's perceptron, from `w = 0`: on a mistake, `y_i <w, x_i> <= 0`, `w += y_i x_i`.

    `order` holds one array of rows per epoch. The run stops after an epoch without mistakes.
    `average="uniform"` returns the mean of w after every draw, mistake or not.
    """
    X, y, _ = check_problem(X, y)
    check_perceptron_average(average)
    w = np.zeros(X.shape[1])
    iterate_sum, n_draws = np.zeros_like(w), 0
    mistakes_per_epoch: list[int] = []
    for epoch in order:
        mistakes = 0
        for i in check_draws(epoch, len(y)):
            if y[i] * (X[i] @ w) <= 0.0:
                w = w + y[i] * X[i]
                mistakes += 1
            iterate_sum += w
            n_draws += 1
        mistakes_per_epoch.append(mistakes)
        if mistakes == 0:
            break
    if not mistakes_per_epoch:
        raise ValueError("order must hold at least one epoch (an array of rows); got none.")
    return PerceptronRun(iterate_sum / n_draws if average else w, w, mistakes_per_epoch)


def online_gradient_descent(
    X: Floats, y: Floats, draws: Ints, eta: float, radius: float
) -> tuple[Floats, Floats]:
    """Online gradient descent on the hinge loss in a ball (Zinkevich, 2003): only to compare with.

    Step t::

        w_{t+1} = project(w_t + eta/sqrt(t) slope(y_i <w_t, x_i>) y_i x_i, radius),    w_1 = 0

    There is no regulariser: the ball stands in for it, and it is not the problem above. Returns
    the last iterate and the plain mean of `w_2 .. w_{T+1}`.
    """
    X, y, _ = check_problem(X, y)
    if not (eta > 0 and radius > 0):
        raise ValueError(f"eta and radius must be positive; got {eta} and {radius}.")
    draws = check_draws(draws, len(y))
    w = np.zeros(X.shape[1])
    iterate_sum = np.zeros_like(w)
    for t, i in enumerate(draws, start=1):
        w = w + eta / np.sqrt(t) * hinge_slope(y[i] * (X[i] @ w)) * y[i] * X[i]
        w *= factor_into_ball(w, radius)
        iterate_sum += w
    return w, iterate_sum / len(draws)
