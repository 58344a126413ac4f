"""Kernel machines: Pegasos, dual ascent and the perceptron on a Gram matrix, and their objectives.

The model is a function `f(x) = sum_i coef_i K(x_i, x)`. It stands for `w = sum_i coef_i phi(x_i)`,
so `f(x) = <w, phi(x)>` and `||w||^2 = coef^T K coef`; phi itself is never needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pegasos.reference._checks import (
    Floats,
    Ints,
    Weights,
    check_average,
    check_draws,
    check_gram_problem,
    check_masses,
    check_perceptron_average,
    check_relaxation,
)
from pegasos.reference._losses import check_loss, hinge_coordinate
from pegasos.reference._pegasos import average_weight

# --- Objectives -----------------------------------------------------------------------------------


def kernel_primal_objective(
    coef: Floats,
    K: Floats,
    y: Floats,
    lam: float,
    loss: str = "hinge",
    sample_weight: Weights = None,
) -> float:
    """`P(f) = lam/2 coef^T K coef + (1/S) sum_i s_i loss(y_i f(x_i))`, to be made small."""
    K, y, s = check_gram_problem(K, y, lam, sample_weight)
    coef = np.asarray(coef, dtype=np.float64)
    f = K @ coef
    return float(lam / 2 * (coef @ f) + (s @ check_loss(loss).value(y * f)) / s.sum())


def kernel_dual_objective(
    masses: Floats,
    K: Floats,
    y: Floats,
    lam: float,
    loss: str = "hinge",
    sample_weight: Weights = None,
) -> float:
    """`D(b) = (1/S) sum_i s_i gain(b_i) - lam/2 coef^T K coef`, for masses `0 <= b_i <= 1`.

    Here `coef_i = s_i b_i y_i/(lam S)`. The masses are the dual variables of the linear machines
    per unit of weight, `b_i = a_i/s_i`; the gain is that of :func:`dual_objective`, and
    `D(b) <= P(f)` for all masses and all functions, as there.
    """
    K, y, s = check_gram_problem(K, y, lam, sample_weight)
    b = check_masses(masses, len(y))
    coef = _dual_coef(b, y, lam, s)
    return float((s @ check_loss(loss).dual_gain(b)) / s.sum() - lam / 2 * (coef @ K @ coef))


def _dual_coef(b: Floats, y: Floats, lam: float, s: Floats) -> Floats:
    return np.asarray(s * b * y / (lam * s.sum()))


# --- Pegasos --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KernelPegasosRun:
    """What a run of :func:`kernel_pegasos` leaves behind.

    Attributes
    ----------
    coef, last : arrays of shape (n_rows,)
        Coefficients of the model (last function or average, as asked for) and of the last function
        `f_{T+1}`, which are `alpha_i y_i/(lam W_T)`.
    alpha : array of shape (n_rows,)
        Sum of `s_i slope_i` over the visits of row i; for the hinge loss without weights, how often
        it violated. It is the `dual_mass` of the linear run: :func:`pegasos_dual_point` makes a
        dual point a of it, with masses `a/s`.
    violations : int
        Draws that met a margin below 1 (counted for the log loss too).
    clock : float
        `W_T`, the weight seen; T if all weights are 1.
    """

    coef: Floats
    last: Floats
    alpha: Floats
    violations: int
    clock: float


def kernel_pegasos(
    K: Floats,
    y: Floats,
    lam: float,
    draws: Ints,
    *,
    loss: str = "hinge",
    sample_weight: Weights = None,
    average: str | None = None,
) -> KernelPegasosRun:
    """Run kernelised Pegasos (Fig. 3 of the paper) from `alpha = 0`, one step per draw.

    Step t, for the drawn row i, with `W_0 = 0`::

        W_t     = W_{t-1} + s_i
        z       = y_i/(lam W_t) sum_j alpha_j y_j K(x_j, x_i)
        alpha_i = alpha_i + s_i slope(z)
        f_{t+1} = 1/(lam W_t) sum_j alpha_j y_j K(x_j, .)

    Without sample weights `W_t` is t and this is the published algorithm to the letter: a row whose
    `z < 1` adds one to its alpha. Note that z divides by `lam t`. The published linear algorithm
    tests `w_t`, which is the same sum over `lam (t - 1)`: the kernel form tests a function that has
    shrunk already, and with the linear kernel the two may part from the second step on.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The Gram matrix, `K_ij = K(x_i, x_j)`.
    y, lam, loss, sample_weight
        The problem, see :mod:`pegasos.reference`. Weights must be positive.
    draws : int array
        Rows to visit, one step each.
    average : {None, "uniform", "weighted"}
        Return the last function, or the mean of `f_2 .. f_{T+1}` with the weights `c_t = s_i`
        ("uniform") or `c_t = s_i W_t` ("weighted"; proportional to t for unit weights).
    """
    K, y, s = check_gram_problem(K, y, lam, sample_weight)
    draws = check_draws(draws, len(y))
    slope = check_loss(loss).slope
    check_average(average)

    alpha = np.zeros(len(y))
    clock = 0.0
    violations = 0
    coef_sum, weight_sum = np.zeros(len(y)), 0.0
    for i in draws:
        clock += float(s[i])
        margin = y[i] * (K[i] @ (alpha * y)) / (lam * clock)
        violations += int(margin < 1.0)
        alpha[i] += s[i] * slope(margin)
        coef = alpha * y / (lam * clock)

        c = average_weight(average, float(s[i]), clock)
        coef_sum += c * coef
        weight_sum += c
    mean = coef_sum / weight_sum if average else coef
    return KernelPegasosRun(coef=mean, last=coef, alpha=alpha, violations=violations, clock=clock)


# --- Dual coordinate ascent -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KernelSdcaRun:
    """What a run of :func:`kernel_sdca` leaves behind.

    Attributes
    ----------
    coef : array of shape (n_rows,)
        Coefficients of the last function, `s_i b_i y_i/(lam S)`.
    masses : array of shape (n_rows,)
        The dual point `b` of the last function.
    violations : int
        Visits that met a margin below 1.
    """

    coef: Floats
    masses: Floats
    violations: int


def kernel_sdca(
    K: Floats,
    y: Floats,
    lam: float,
    draws: Ints,
    *,
    loss: str = "hinge",
    sample_weight: Weights = None,
    relaxation: float = 1.0,
    masses: Floats | None = None,
) -> KernelSdcaRun:
    """Stochastic dual coordinate ascent: per draw, make `D(b)` as large as `b_i` alone can.

    Step, for the drawn row i::

        z   = y_i f(x_i) = y_i/(lam S) sum_j s_j b_j y_j K(x_j, x_i)
        b_i <- the best value in [0, 1]    (`hinge_coordinate`, `log_coordinate`)

    When `b_i` grows by one, z grows by `q = s_i K(x_i, x_i)/(lam S)`.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The Gram matrix, `K_ij = K(x_i, x_j)`.
    y, lam, loss, sample_weight
        The problem, see :mod:`pegasos.reference`.
    draws : int array
        Rows to visit, one step each.
    relaxation : float in (0, 2)
        Multiplies the step of the hinge loss before it is clipped, see :func:`sdca`.
    masses : array of shape (n_rows,)
        The dual point to start from (zero if not given); is not changed.
    """
    K, y, s = check_gram_problem(K, y, lam, sample_weight)
    draws = check_draws(draws, len(y))
    coordinate = check_loss(loss).coordinate
    check_relaxation(relaxation)
    b = np.zeros(len(y)) if masses is None else check_masses(masses, len(y)).copy()

    violations = 0
    for i in draws:
        margin = float(y[i] * (K[i] @ _dual_coef(b, y, lam, s)))
        violations += int(margin < 1.0)
        q = float(s[i] * K[i, i] / (lam * s.sum()))
        b[i] = coordinate(float(b[i]), 1.0, margin, q, relaxation)
    return KernelSdcaRun(coef=_dual_coef(b, y, lam, s), masses=b, violations=violations)


def steepest_draws(
    K: Floats,
    y: Floats,
    lam: float,
    block: Ints,
    *,
    most_steps: int,
    enough: float,
    sample_weight: Weights = None,
    masses: Floats | None = None,
) -> Ints:
    """Return which rows of a working set the ascent for the hinge loss moves, one after the other.

    Always the one whose step raises `S D(b)` most, by `s_i (d (1 - z) - q d^2/2)` if its mass moves
    by d. It stops after `most_steps`, or when as many steps as the set has rows, each as good as
    the best now, would raise the dual by no more than `enough` of what it has gained. To make the
    steps, give the rows to :func:`kernel_sdca`.
    """
    K, y, s = check_gram_problem(K, y, lam, sample_weight)
    block = check_draws(block, len(y))
    b = np.zeros(len(y)) if masses is None else check_masses(masses, len(y)).copy()
    q = s * np.diag(K) / (lam * s.sum())
    draws: list[int] = []
    raised = 0.0
    while len(draws) < most_steps:
        z = y * (K @ _dual_coef(b, y, lam, s))
        best = np.array([hinge_coordinate(b[i], 1.0, z[i], q[i]) for i in block])
        d = best - b[block]
        gain = s[block] * (d * (1 - z[block]) - q[block] * d**2 / 2)
        k = int(np.argmax(gain))
        if gain[k] <= 0 or len(block) * gain[k] <= enough * raised:
            break
        raised += float(gain[k])
        b[block[k]] = best[k]
        draws.append(int(block[k]))
    return np.array(draws, dtype=np.int64)


# --- Perceptron -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KernelPerceptronRun:
    """What a run of :func:`kernel_perceptron` leaves behind.

    Attributes
    ----------
    coef, last : arrays of shape (n_rows,)
        Coefficients of the model (last function or average) and of the last function,
        `alpha_i y_i`.
    alpha : array of shape (n_rows,)
        How many mistakes were made on each row.
    mistakes_per_epoch : list of int
        Mistakes of each epoch run.
    """

    coef: Floats
    last: Floats
    alpha: Floats
    mistakes_per_epoch: list[int]


def kernel_perceptron(
    K: Floats, y: Floats, order: Iterable[Ints], *, average: str | None = None
) -> KernelPerceptronRun:
    """Kernel perceptron, from `alpha = 0`: on a mistake, `y_i f(x_i) <= 0`, `alpha_i += 1`.

    The function is `f = sum_j alpha_j y_j K(x_j, .)`. `order` holds one array of rows per epoch.
    The run stops after an epoch without mistakes. `average="uniform"` returns the mean of f after
    every draw, mistake or not. With the linear kernel this is :func:`perceptron`.
    """
    K, y, _ = check_gram_problem(K, y)
    check_perceptron_average(average)
    alpha = np.zeros(len(y))
    coef_sum, n_draws = np.zeros(len(y)), 0
    mistakes_per_epoch: list[int] = []
    for epoch in order:
        mistakes = 0
        for i in check_draws(epoch, len(y)):
            if y[i] * (K[i] @ (alpha * y)) <= 0.0:
                alpha[i] += 1.0
                mistakes += 1
            coef_sum += alpha * y
            n_draws += 1
        mistakes_per_epoch.append(mistakes)
        if mistakes == 0:
            break
    if not mistakes_per_epoch:
        raise ValueError("order must hold at least one epoch (an array of rows); got none.")
    last = alpha * y
    mean = coef_sum / n_draws if average else last
    return KernelPerceptronRun(mean, last, alpha, mistakes_per_epoch)
