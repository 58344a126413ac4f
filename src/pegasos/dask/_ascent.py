"""The tasks of dual ascent: each shard ascends on its own rows, and the updates are added.

CoCoA+ (Ma and others, 2015) with adding. A shard maximises what its own rows add to the dual, with
the quadratic term K times as steep, K the number of shards, for all shards move at once. That is
the problem of the core with S/K for S: its weights then move K times as far as the masses say, from
w to w + K dw. The dual point of all shards together is w + sum dw, again a true dual point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._problem import Bounds, Problem, as_floats, new_tally, squared_norms
from pegasos._sdca_run import Pace
from pegasos._validation import Floats
from pegasos.dask._cluster import add, made
from pegasos.dask._shard import Setting, Shard, Turn, in_parts

Update = dict[str, Any]


@dataclass(frozen=True)
class Ascent:
    """What a shard keeps from round to round, and what it tells the others."""

    point: Floats  # the masses of the dual point
    masses: Floats  # where the next round begins: a little further in the same direction
    asleep: npt.NDArray[np.uint8]
    epochs: float
    update: Update

    def __sizeof__(self) -> int:
        return self.point.nbytes + self.masses.nbytes + self.asleep.nbytes


@dataclass(frozen=True)
class Together:
    """What all shards have come to."""

    w: Floats  # of the masses at which the next round begins
    point: Floats  # of the dual point
    mean: Floats
    dual: Floats
    violations: Floats
    clock: Floats  # of the momentum, per problem
    objective: Floats | None = None  # at the mean, where it is known

    def __sizeof__(self) -> int:
        return 3 * self.w.nbytes

    @property
    def momentum(self) -> Floats:
        """How much further to go, as a fraction of the way of this round (Nesterov)."""
        return (self.clock - 1) / _next_clock(self.clock)


def _next_clock(clock: Floats) -> Floats:
    later: Floats = (1 + np.sqrt(1 + 4 * clock**2)) / 2
    return later


def told(shard: Shard, tick: int, function: Callable[..., Ascent], *args: Any) -> Update:
    """Return what the others must know of an ascent: nothing that has an entry per row."""
    ascent: Ascent = shard.once(tick, function, *args)
    return ascent.update


def kept(shard: Shard, tick: int, function: Callable[..., Ascent], *args: Any) -> Ascent:
    """Return what stays with the rows of the same ascent."""
    ascent: Ascent = shard.once(tick, function, *args)
    return replace(ascent, update={})


def begin(shard: Shard) -> Ascent:
    """Return a shard's state before the first round: no mass at all."""
    n_problems = len(shard.target.positive)
    shape = (n_problems, shard.X.shape[0])
    masses = np.zeros(shape)
    return Ascent(masses, masses, np.zeros(shape, dtype=np.uint8), 0, {})


def begin_together(n_problems: int, n_features: int) -> Together:
    """Return the weights of no mass at all."""
    w, nothing = np.zeros((n_problems, n_features + 1)), np.zeros(n_problems)
    return Together(w, w, w, nothing, nothing, np.ones(n_problems))


def ascend(
    shard: Shard,
    turn: Turn,
    before: Ascent,
    setting: Setting,
    recipe: list[Any],
    pace: Pace,
    keeps_mean: bool,
) -> Ascent:
    """Ascend for some epochs, from the dual point of all shards together."""
    together: Together = made(recipe)
    problem = shard.problem(setting, setting.total_weight / setting.n_shards)
    stream = shard.stream(setting, turn)
    w, masses, asleep = together.w.copy(), before.masses.copy(), before.asleep.copy()
    epochs = before.epochs

    def steps(n_draws: int, u: Floats | None) -> npt.NDArray[Any]:
        nonlocal epochs
        tally = new_tally(problem.n_problems)
        for draws in in_parts(stream, problem, n_draws):
            _core.sdca_steps(
                problem.data,
                problem.positive,
                w,
                u,
                masses,
                asleep,
                as_floats(tally),
                draws,
                loss=problem.loss,
                lam=problem.lam,
                relaxation=pace.relaxation,
                weighted_mean=setting.average == "weighted",
                shrinking=pace.lets_rows_sleep(problem.loss, epochs),
                n_threads=problem.threads,
            )
            epochs += len(draws) / shard.n_active
        return tally

    # The mean is over the last epoch alone: older weights are further from the optimum.
    lead = max(0, turn.n_draws - shard.n_active)
    first = steps(lead, None)
    u = problem.zeros() if keeps_mean else None
    last = steps(turn.n_draws - lead, u)
    update = {
        "point": (w - together.w) / setting.n_shards,
        "gain": problem.gain(masses),
        "violations": first["violations"] + last["violations"],
    }
    if u is not None:
        clock: Any = np.maximum(last["mean_clock"], 1)[:, np.newaxis]
        update["mean"] = (w - u / clock - together.w) / setting.n_shards
    further = _further(before.point, masses, together.momentum)
    if further is not masses:
        update["ahead"] = _rows(problem, further - masses)
    return Ascent(masses, further, asleep, epochs, update)


def _further(point: Floats, masses: Floats, momentum: Floats) -> Floats:
    if not momentum.any():
        return masses
    further = masses - point
    further *= momentum[:, np.newaxis]
    further += masses
    return np.clip(further, 0, 1, out=further)


def _rows(problem: Problem, masses: Floats) -> Floats:
    rows = problem.zeros()
    _core.dual_rows(problem.data, problem.positive, masses, n_threads=problem.threads, sums=rows)
    return rows


def gather(setting: Setting, before: Together, *updates: Update) -> Together:
    """Add what the shards have found."""
    total = add(*updates)
    point = before.w + total["point"]
    mean = before.w + total["mean"] if "mean" in total else point
    w = point
    if "ahead" in total:
        w = point + total["ahead"] / (setting.lam * setting.total_weight)
    dual = bounds(setting, len(w)).dual(total["gain"], point)
    clock = _next_clock(before.clock)
    if setting.n_shards == 1:
        clock = before.clock
    # A round that has made the bound worse has gone too far: no momentum for a while.
    clock = np.where(dual < before.dual, 1.0, clock)
    return Together(w, point, mean, dual, before.violations + total["violations"], clock)


def anew(shard: Shard, ascent: Ascent, setting: Setting) -> Update:
    """Add up all masses again, free of the rounding of the steps."""
    problem = shard.problem(setting, setting.total_weight / setting.n_shards)
    rows = _rows(problem, ascent.point)
    if ascent.masses is ascent.point:
        return {"point": rows, "w": rows}
    return {"point": rows, "w": _rows(problem, ascent.masses)}


def gather_anew(setting: Setting, before: Together, *updates: Update) -> Together:
    """Replace the weights by those that the masses stand for, and bound the optimum by them."""
    total = add(*updates)
    scale = setting.lam * setting.total_weight
    point = total["point"] / scale
    moved = squared_norms(before.point) - squared_norms(point)
    return replace(
        before, point=point, w=total["w"] / scale, dual=before.dual + setting.lam / 2 * moved
    )


def bounds(setting: Setting, n_problems: int) -> Bounds:
    """Return what turns gains into bounds."""
    return Bounds(np.full(n_problems, setting.lam), setting.total_weight)
