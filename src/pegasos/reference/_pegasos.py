"""Pegasos, with its options: batches, projection, averages, sample weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pegasos.reference._checks import (
    Floats,
    Ints,
    Weights,
    check_average,
    check_draws,
    check_problem,
    check_weights,
)
from pegasos.reference._losses import check_loss


@dataclass(frozen=True, eq=False)
class PegasosRun:
    """What a run of :func:`pegasos` leaves behind.

    Attributes
    ----------
    w, last : arrays of shape (n_features,)
        The model (last iterate or average, as asked for) and the last iterate `w_{T+1}`.
    violations : int
        Draws that met a margin below 1 (counted for the log loss too).
    dual_mass : array of shape (n_rows,)
        Sum of `s_i slope_i` over the visits of row i (scaled down along with w by projections).
        Always `sum_i dual_mass_i y_i x_i = k lam W_T w_{T+1}`, k the batch size.
    clock : float
        `W_T`, the weight seen; T if all weights are 1.
    """

    w: Floats
    last: Floats
    violations: int
    dual_mass: Floats
    clock: float


def pegasos(
    X: Floats,
    y: Floats,
    lam: float,
    draws: Ints,
    *,
    loss: str = "hinge",
    batch_size: int = 1,
    project: bool = False,
    average: str | None = None,
    sample_weight: Weights = None,
) -> PegasosRun:
    """Run Pegasos from `w_1 = 0`, one step for every `k = batch_size` draws.

    Step t, with `W_0 = 0`::

        eta     = 1/(lam W_t),    W_t = W_{t-1} + s_t,    s_t = mean of the batch's weights
        w_{t+1} = (1 - eta lam s_t) w_t + eta/k sum_{i in batch} s_i slope(y_i <w_t, x_i>) y_i x_i
        w_{t+1} = min(1, 1/(sqrt(lam) ||w_{t+1}||)) w_{t+1}                      (if `project`)

    Without sample weights the clock `W_t` is just t, `eta = 1/(lam t)`, and this is the published
    algorithm to the letter. A weight means repetition, so a row of weight s moves the clock by s.
    At step 1 every margin is zero: it always violates.

    Parameters
    ----------
    X, y, lam, loss, sample_weight
        The problem, see the top of this module. Weights must be positive.
    draws : int array of length T * batch_size
        Rows to visit, for example from :func:`draw_rows`; step t uses the t-th `batch_size`.
    project : bool
        Project every iterate on the ball of radius 1/sqrt(lam), which holds the optimum of both
        losses.
    average : {None, "uniform", "weighted"}
        Return the last iterate, or the mean of `w_2 .. w_{T+1}` with the weights `c_t = s_t`
        ("uniform") or `c_t = s_t W_t` ("weighted"; proportional to t for unit weights).
    """
    X, y, weights = check_problem(X, y, lam, sample_weight)
    draws = check_draws(draws, len(y))
    slope = check_loss(loss).slope
    check_average(average)
    if batch_size < 1 or len(draws) % batch_size:
        raise ValueError(f"T steps need T * {batch_size} (batch_size) draws; got {len(draws)}.")

    w = np.zeros(X.shape[1])
    clock = 0.0
    violations = 0
    dual_mass = np.zeros(len(y))
    iterate_sum, weight_sum = np.zeros_like(w), 0.0
    for batch in draws.reshape(-1, batch_size):
        x, sign, s = X[batch], y[batch], weights[batch]
        margins = sign * (x @ w)
        pull = s * slope(margins)
        violations += int(np.count_nonzero(margins < 1.0))
        np.add.at(dual_mass, batch, pull)  # a row may be in the batch twice

        step_weight = float(s.mean())
        clock += step_weight
        eta = 1.0 / (lam * clock)
        w = (1.0 - eta * lam * step_weight) * w + eta * ((pull * sign) @ x) / batch_size

        if project:
            factor = factor_into_ball(w, radius=1.0 / np.sqrt(lam))
            w *= factor
            dual_mass *= factor

        c = average_weight(average, step_weight, clock)
        iterate_sum += c * w
        weight_sum += c
    mean = iterate_sum / weight_sum if average else w
    return PegasosRun(w=mean, last=w, violations=violations, dual_mass=dual_mass, clock=clock)


def pegasos_dual_point(dual_mass: Floats, epochs: float, sample_weight: Weights = None) -> Floats:
    """Make a feasible dual point of a Pegasos run: `a_i = clip(dual_mass_i/epochs, 0, s_i)`.

    After E whole epochs with `sampling="permutation"` every row was visited E times, each visit
    adding at most `s_i`: nothing is clipped, and `dual_weights(a)` is the last iterate. After
    uniform draws `epochs` is `len(draws)/n_rows`; rows drawn more often may be clipped.
    """
    if not epochs > 0:
        raise ValueError(f"epochs must be positive; got {epochs}.")
    mass = np.asarray(dual_mass, dtype=np.float64)
    return np.clip(mass / epochs, 0.0, check_weights(sample_weight, len(mass)))


def factor_into_ball(w: Floats, radius: float) -> float:
    """`min(1, radius/||w||)`: the factor that projects w on the ball."""
    norm = float(np.linalg.norm(w))
    return radius / norm if norm > radius else 1.0


def average_weight(average: str | None, step_weight: float, clock: float) -> float:
    """Weight `c_t` of an iterate in the average."""
    return step_weight * clock if average == "weighted" else step_weight
