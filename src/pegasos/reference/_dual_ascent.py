"""Stochastic dual coordinate ascent, and a start for it by stochastic gradient steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pegasos.reference._checks import (
    Floats,
    Ints,
    Weights,
    check_average,
    check_draws,
    check_dual_point,
    check_problem,
    check_relaxation,
)
from pegasos.reference._losses import check_loss
from pegasos.reference._objectives import dual_weights
from pegasos.reference._pegasos import average_weight

NAP = 0.25  # one more visit is skipped for every so much of slack
LONGEST_SLEEP = 7
START_DECAY = 30.0


@dataclass(frozen=True, eq=False)
class SdcaRun:
    """What a run of :func:`sdca` leaves behind.

    Attributes
    ----------
    w, last : arrays of shape (n_features,)
        The model (last iterate or average, as asked for) and the last iterate.
    a : array of shape (n_rows,)
        The dual point of the last iterate.
    violations : int
        Visits, not slept through, that met a margin below 1.
    naps : int array of shape (n_rows,)
        How many of its next visits each row will sleep through.
    """

    w: Floats
    last: Floats
    a: Floats
    violations: int
    naps: Ints


def sdca(
    X: Floats,
    y: Floats,
    lam: float,
    draws: Ints,
    *,
    loss: str = "hinge",
    average: str | None = None,
    sample_weight: Weights = None,
    a: Floats | None = None,
    relaxation: float = 1.0,
    shrinking: bool = False,
    naps: Ints | None = None,
) -> SdcaRun:
    """Stochastic dual coordinate ascent: per draw, make `D(a)` as large as `a_i` alone can.

    Step, for the drawn row i::

        a_i <- the best value in [0, s_i]    (`hinge_coordinate`, `log_coordinate`)
        w   <- w + (change of a_i) y_i x_i/(lam S),    so that always w = w(a)

    This is SDCA (Shalev-Shwartz and Zhang, 2013). The last three options go beyond it.

    Parameters
    ----------
    X, y, lam, loss, sample_weight
        The problem, see :mod:`pegasos.reference`.
    draws : int array
        Rows to visit, one step each.
    average : {None, "uniform", "weighted"}
        Return the last iterate, or the mean of the iterates after each step, with equal weights
        ("uniform") or weights proportional to the step ("weighted").
    a : array of shape (n_rows,)
        The dual point to start from (zero if not given); is not changed.
    relaxation : float in (0, 2)
        Multiplies the step of the hinge loss before it is clipped: successive over-relaxation
        (Mangasarian and Musicant, 1999). D is a parabola in `a_i`, so a step of up to twice the way
        to its top still climbs.
    shrinking : bool
        Let rows sleep that are likely to stay where they are. A row whose visit leaves `a_i` as it
        was, at a bound, sleeps through one visit for every 1/4 between its margin and 1, at most 7:
        a sleeping row that is drawn is skipped, and has one visit less to sleep. Only steps that
        are made count for the average. No sleep is for ever, so the limit is the same. For the
        hinge loss only: the log loss has nothing at a bound.
    naps : int array of shape (n_rows,)
        How many visits each row sleeps through first (none if not given); is not changed.
    """
    X, y, s = check_problem(X, y, lam, sample_weight)
    draws = check_draws(draws, len(y))
    coordinate = check_loss(loss).coordinate
    check_average(average)
    check_relaxation(relaxation)
    if shrinking and loss != "hinge":
        raise ValueError(f'shrinking is for loss="hinge" alone; got loss={loss!r}.')
    a = np.zeros(len(y)) if a is None else check_dual_point(a, s).copy()
    naps = np.zeros(len(y), dtype=np.int64) if naps is None else np.array(naps, dtype=np.int64)
    if naps.shape != y.shape or (naps < 0).any():
        raise ValueError(f"Need {len(y)} naps, at least 0 each.")

    lam_s = lam * float(s.sum())
    w = dual_weights(a, X, y, lam, s)
    steps = violations = 0
    iterate_sum, weight_sum = np.zeros_like(w), 0.0
    for i in draws:
        if naps[i] > 0:
            naps[i] -= 1
            continue
        margin = float(y[i] * (X[i] @ w))
        violations += margin < 1.0
        q = float(X[i] @ X[i]) / lam_s
        new = coordinate(float(a[i]), float(s[i]), margin, q, relaxation)
        if shrinking and new == a[i]:
            naps[i] = min(int(abs(1.0 - margin) / NAP), LONGEST_SLEEP)
        w = w + (new - a[i]) * y[i] * X[i] / lam_s
        a[i] = new

        steps += 1
        c = average_weight(average, 1.0, steps)
        iterate_sum += c * w
        weight_sum += c
    mean = iterate_sum / weight_sum if average and steps else w
    return SdcaRun(w=mean, last=w, a=a, violations=violations, naps=naps)


def sgd_start(
    X: Floats,
    y: Floats,
    lam: float,
    draws: Ints,
    eta0: float,
    *,
    loss: str = "hinge",
    average: str | None = "weighted",
    sample_weight: Weights = None,
) -> Floats:
    """Averaged stochastic gradient steps from `w = 0`, a first epoch for dual ascent.

    Step, with the weight `W` seen before it (`W_0 = 0`)::

        eta = min(s_i eta0/(1 + max(30, lam S eta0) W/S), 1/(2 lam))
        w   <- (1 - eta lam) w + eta slope(y_i <w, x_i>) y_i x_i
        W   <- W + s_i

    Where lam S eta0 is above 30, these are the steps of Pegasos, `1/(lam (t + t0))` long; longer
    ones would forget what they have learnt.

    Returns the mean of w after each step with weights `s_i W`. Shalev-Shwartz and Zhang (2013)
    recommend a first epoch of stochastic gradient steps, too: where `||x_i||^2` is much larger than
    `lam S`, dual variables move slowly at first. Go on with::

        b = guess_masses(y * (X @ w), loss)
        sdca(..., a=s * b)

    Parameters
    ----------
    X, y, lam, loss, sample_weight
        The problem, see :mod:`pegasos.reference`.
    draws : int array
        Rows to visit, one step each.
    eta0 : float
        The first step size; one over the mean of `||x_i||^2` is a good one.
    average : {None, "uniform", "weighted"}
        Return the last w (None), or another mean.
    """
    X, y, s = check_problem(X, y, lam, sample_weight)
    draws = check_draws(draws, len(y))
    slope = check_loss(loss).slope
    check_average(average)
    if not (eta0 > 0 and np.isfinite(eta0)):
        raise ValueError(f"eta0 must be positive and finite; got {eta0}.")

    decay = max(START_DECAY, lam * s.sum() * eta0)
    w = np.zeros(X.shape[1])
    clock = 0.0
    iterate_sum, weight_sum = np.zeros_like(w), 0.0
    for i in draws:
        eta = min(s[i] * eta0 / (1.0 + decay * clock / s.sum()), 0.5 / lam)
        w = (1.0 - eta * lam) * w + eta * slope(y[i] * (X[i] @ w)) * y[i] * X[i]

        clock += float(s[i])
        c = average_weight(average, float(s[i]), clock)
        iterate_sum += c * w
        weight_sum += c
    return iterate_sum / weight_sum if average else w


def guess_masses(margins: ArrayLike, loss: str = "hinge", width: float = 1 / 8) -> Floats:
    """Guess `b_i = a_i/s_i` in [0, 1] from the margins at a good w, for dual ascent to start from.

    Hinge loss: the ramp `clip(1/2 + (1 - margin)/width, 0, 1)`. Log loss: the slope, which is exact
    at the optimum.
    """
    return check_loss(loss).guess(np.asarray(margins, dtype=np.float64), width)
