"""The published algorithms in plain NumPy: slow, short, and the oracle of the tests.

Everything here keeps the weight vector `w` itself and takes one step after the other, as the
papers write it. The fast core keeps other quantities, but must make the same decisions, draw for
draw. All training functions therefore take the rows to visit as an argument (`draws`), and the
draws come from a NumPy generator, so that any fit can be replayed:

>>> import numpy as np
>>> from pegasos import reference
>>> X = np.array([[2.0, 0.0], [1.0, 1.0], [-1.0, 0.5], [-1.0, -1.0]])
>>> y = np.array([1.0, 1.0, -1.0, -1.0])
>>> rng = np.random.default_rng(42)
>>> draws = reference.draw_rows(rng, n_rows=4, n_draws=5 * 4, sampling="permutation")
>>> run = reference.pegasos(X, y, lam=0.5, draws=draws)
>>> a = reference.pegasos_dual_point(run.dual_mass, epochs=5)
>>> bool(reference.dual_objective(a, X, y, 0.5) <= reference.primal_objective(run.w, X, y, 0.5))
True

The problem, everywhere, with labels `y_i` in {-1, +1}, sample weights `s_i` (1 unless given) and
`S = sum_i s_i`::

    P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)

`lam = 1/(C S)` links it to liblinear's `C`. There is no intercept: append a constant column to X.

References
----------
Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM.
Mathematical Programming 127, 2011.
Shalev-Shwartz, Zhang: Stochastic dual coordinate ascent methods for regularized loss
minimization. JMLR 14, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Weights = Floats | None  # None: every row weighs 1

# --- Which rows to visit --------------------------------------------------------------------------


def draw_rows(rng: np.random.Generator, n_rows: int, n_draws: int, sampling: str) -> Ints:
    """Draw the rows to visit, in order; advances `rng`.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_rows, n_draws : int
        Rows of the data; how many visits.
    sampling : {"uniform", "permutation"}
        "uniform" draws with replacement, as published; the stream is the same as drawing one by
        one. "permutation" visits every row once per epoch, in a fresh order each time; to go on
        with the same stream later, draw whole epochs.
    """
    if n_rows < 1 or n_draws < 1:
        raise ValueError(f"n_rows and n_draws must be at least 1; got {n_rows} and {n_draws}.")
    if sampling == "uniform":
        return rng.integers(n_rows, size=n_draws)
    if sampling == "permutation":
        n_epochs = -(-n_draws // n_rows)  # rounded up
        return np.concatenate([rng.permutation(n_rows) for _ in range(n_epochs)])[:n_draws]
    raise ValueError(f'sampling must be "uniform" or "permutation"; got {sampling!r}.')


# --- Losses: value, slope, and what the dual needs ------------------------------------------------


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


def hinge_coordinate(a_i: float, s_i: float, margin: float, q: float) -> float:
    """Best dual variable of one row, hinge loss: `clip(a_i + (1 - margin)/q, 0, s_i)`.

    `q = ||x_i||^2/(lam S)` is how much the margin of row i grows when `a_i` grows by one.
    """
    if q == 0.0:  # an all-zero row: nothing to lose
        return s_i
    return min(max(a_i + (1.0 - margin) / q, 0.0), s_i)


def log_coordinate(a_i: float, s_i: float, margin: float, q: float) -> float:
    """Best dual variable of one row, log loss: `s_i sigma(z)`, z the root of an equation.

    With `a_i = s_i sigma(z)` the dual is stationary where the new margin is `-z`, that is::

        f(z) = z + s_i q sigma(z) - r = 0,    r = q a_i - margin

    f rises, is convex for z < 0 and concave for z > 0. So Newton's steps never jump over a
    negative root if they start right of it (and not right of 0), nor over a positive root if they
    start left of it (and not left of 0). As `0 < sigma < 1`, the root lies in (r - s_i q, r).
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
    """One loss: its value, minus its derivative, and the two functions of its dual."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    dual_gain: Callable[[Floats], Floats]
    coordinate: Callable[[float, float, float, float], float]


LOSSES: dict[str, Loss] = {
    "hinge": Loss(hinge, hinge_slope, hinge_dual_gain, hinge_coordinate),
    "log": Loss(log_loss, log_slope, log_dual_gain, log_coordinate),
}


# --- Objectives -----------------------------------------------------------------------------------


def primal_objective(
    w: Floats, X: Floats, y: Floats, lam: float, loss: str = "hinge", sample_weight: Weights = None
) -> float:
    """`P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)`, to be made small."""
    X, y, s = _check_problem(X, y, lam, sample_weight)
    w = np.asarray(w, dtype=np.float64)
    losses = _check_loss(loss).value(y * (X @ w))
    return float(lam / 2 * (w @ w) + (s @ losses) / s.sum())


def dual_weights(
    a: Floats, X: Floats, y: Floats, lam: float, sample_weight: Weights = None
) -> Floats:
    """Return the weight vector of a dual point, `w(a) = (1/(lam S)) sum_i a_i y_i x_i`."""
    X, y, s = _check_problem(X, y, lam, sample_weight)
    return np.asarray((np.asarray(a, dtype=np.float64) * y) @ X / (lam * s.sum()))


def dual_objective(
    a: Floats, X: Floats, y: Floats, lam: float, loss: str = "hinge", sample_weight: Weights = None
) -> float:
    """`D(a) = (1/S) sum_i s_i gain(a_i/s_i) - lam/2 ||w(a)||^2`, for `0 <= a_i <= s_i`.

    The gain is `b` for the hinge loss and the binary entropy `H(b)` for the log loss.
    `D(a) <= P(w)` for every feasible `a` and every `w`, so `P(w) - D(a)` bounds how far `w` is
    from optimal. At the optimum they are equal.
    """
    X, y, s = _check_problem(X, y, lam, sample_weight)
    a = _check_dual_point(a, s)
    w = dual_weights(a, X, y, lam, s)
    return float((s @ _check_loss(loss).dual_gain(a / s)) / s.sum() - lam / 2 * (w @ w))


# --- Pegasos --------------------------------------------------------------------------------------


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
    X, y, weights = _check_problem(X, y, lam, sample_weight)
    draws = _check_draws(draws, len(y))
    slope = _check_loss(loss).slope
    _check_average(average)
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
            factor = _factor_into_ball(w, radius=1.0 / np.sqrt(lam))
            w *= factor
            dual_mass *= factor

        c = _average_weight(average, step_weight, clock)
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
    return np.clip(mass / epochs, 0.0, _check_weights(sample_weight, len(mass)))


def _factor_into_ball(w: Floats, radius: float) -> float:
    """`min(1, radius/||w||)`: the factor that projects w on the ball."""
    norm = float(np.linalg.norm(w))
    return radius / norm if norm > radius else 1.0


def _average_weight(average: str | None, step_weight: float, clock: float) -> float:
    """Weight `c_t` of an iterate in the average."""
    return step_weight * clock if average == "weighted" else step_weight


# --- Dual coordinate ascent -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SdcaRun:
    """The model `w` (last iterate or average), the `last` iterate, and its dual point `a`."""

    w: Floats
    last: Floats
    a: Floats


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
) -> SdcaRun:
    """Stochastic dual coordinate ascent: per draw, make `D(a)` as large as `a_i` alone can.

    Step, for the drawn row i::

        a_i <- the best value in [0, s_i]    (`hinge_coordinate`, `log_coordinate`)
        w   <- w + (change of a_i) y_i x_i/(lam S),    so that always w = w(a)

    `a` is the dual point to start from (zero if not given). `average` is over the iterates after
    each step, with equal weights ("uniform") or weights proportional to the step ("weighted").
    """
    X, y, s = _check_problem(X, y, lam, sample_weight)
    draws = _check_draws(draws, len(y))
    coordinate = _check_loss(loss).coordinate
    _check_average(average)
    a = np.zeros(len(y)) if a is None else _check_dual_point(a, s).copy()

    lam_s = lam * float(s.sum())
    w = dual_weights(a, X, y, lam, s)
    iterate_sum, weight_sum = np.zeros_like(w), 0.0
    for step, i in enumerate(draws, start=1):
        margin = float(y[i] * (X[i] @ w))
        q = float(X[i] @ X[i]) / lam_s
        new = coordinate(float(a[i]), float(s[i]), margin, q)
        w = w + (new - a[i]) * y[i] * X[i] / lam_s
        a[i] = new

        c = _average_weight(average, 1.0, step)
        iterate_sum += c * w
        weight_sum += c
    return SdcaRun(w=iterate_sum / weight_sum if average else w, last=w, a=a)


# --- Relatives, for comparison --------------------------------------------------------------------


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
    X, y, _ = _check_problem(X, y)
    if average not in (None, "uniform"):
        raise ValueError(f'average must be None or "uniform" for the perceptron; got {average!r}.')
    w = np.zeros(X.shape[1])
    iterate_sum, n_draws = np.zeros_like(w), 0
    mistakes_per_epoch: list[int] = []
    for epoch in order:
        mistakes = 0
        for i in _check_draws(epoch, len(y)):
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
    X, y, _ = _check_problem(X, y)
    if not (eta > 0 and radius > 0):
        raise ValueError(f"eta and radius must be positive; got {eta} and {radius}.")
    draws = _check_draws(draws, len(y))
    w = np.zeros(X.shape[1])
    iterate_sum = np.zeros_like(w)
    for t, i in enumerate(draws, start=1):
        w = w + eta / np.sqrt(t) * hinge_slope(y[i] * (X[i] @ w)) * y[i] * X[i]
        w *= _factor_into_ball(w, radius)
        iterate_sum += w
    return w, iterate_sum / len(draws)


# --- Checks of the input --------------------------------------------------------------------------


def _check_problem(
    X: ArrayLike, y: ArrayLike, lam: float = 1.0, sample_weight: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """X, y and the sample weights as float64 arrays that fit together."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1] or len(y) == 0:
        raise ValueError(f"Need X (n_rows, n_features) and y (n_rows,); got {X.shape}, {y.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("X holds NaN or infinity; remove or impute these rows first.")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"Labels must be -1 or +1; got {np.unique(y)[:5]}. Recode y first.")
    if not (lam > 0 and np.isfinite(lam)):
        raise ValueError(f"lam must be positive and finite; got {lam}.")
    return X, y, _check_weights(sample_weight, len(y))


def _check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    s = np.asarray(np.ones(n_rows) if sample_weight is None else sample_weight, dtype=np.float64)
    if s.shape != (n_rows,) or not (np.isfinite(s) & (s > 0)).all():
        raise ValueError(f"Need {n_rows} positive sample weights; drop rows of weight zero first.")
    return s


def _check_dual_point(a: ArrayLike, s: Floats) -> Floats:
    a = np.asarray(a, dtype=np.float64)
    if a.shape != s.shape or not ((a >= 0) & (a <= s)).all():
        raise ValueError(f"A dual point holds {len(s)} values in [0, sample_weight]; clip it.")
    return a


def _check_draws(draws: ArrayLike, n_rows: int) -> Ints:
    rows: NDArray[Any] = np.asarray(draws)
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(f"Draws are a 1-d int array, not empty; got {rows.dtype}, {rows.shape}.")
    if rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(f"Draws must lie in 0..{n_rows - 1}; got {rows.min()}..{rows.max()}.")
    return rows.astype(np.int64)


def _check_loss(loss: str) -> Loss:
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {sorted(LOSSES)}; got {loss!r}.")
    return LOSSES[loss]


def _check_average(average: str | None) -> None:
    if average not in (None, "uniform", "weighted"):
        raise ValueError(f'average must be None, "uniform" or "weighted"; got {average!r}.')
