"""The tasks of Pegasos: every shard makes its own steps, then the weights are averaged.

A shard of weight S_k begins a round with ``v_k = lam W_k w``, where w are the common weights and
W_k = S_k E, E the epochs so far. Its steps add ``sum_i c_i y_i x_i`` to v_k. The mean of all
weights, each shard counting by S_k, is then ``w = v / (lam S E)`` with ``v`` the sum of what *all*
shards have added: the sum form of one machine. So its dual points are here, too: every row is
visited once per epoch, and the visits of whole rounds are masses (how_it_works, "The certificate").
"""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from pegasos._pegasos_run import MARKS_KEPT, PegasosState, pegasos_steps
from pegasos._problem import new_tally
from pegasos._validation import Floats
from pegasos.dask._ascent import Update, bounds
from pegasos.dask._cluster import add, made
from pegasos.dask._shard import Setting, Shard, Turn, in_parts


@dataclass(frozen=True)
class Mark:
    """The sums at the end of some round."""

    epochs: float
    v: Floats
    gain: Floats


@dataclass(frozen=True)
class Steps:
    """What all shards have come to."""

    v: Floats
    means: Floats  # sum of c_t w_t
    mean_weight: Floats  # sum of c_t
    gain: Floats
    violations: Floats
    epochs: float  # the last one perhaps in part
    weight: Floats  # of all visits: S times the epochs
    dual: Floats
    marks: tuple[Mark, ...]
    lam: float
    averages: bool

    def __sizeof__(self) -> int:
        return (2 + len(self.marks)) * self.v.nbytes

    @property
    def mean(self) -> Floats:
        """The weights that a certificate is about."""
        if self.averages:
            mean: Floats = self.means / self.mean_weight[:, np.newaxis]
            return mean
        return self.v / (self.lam * self.weight[:, np.newaxis])


def begin_steps(n_problems: int, n_features: int, setting: Setting) -> Steps:
    """Return the state before the first step."""
    v, nothing = np.zeros((n_problems, n_features + 1)), np.zeros(n_problems)
    return Steps(
        v=v,
        means=v,
        mean_weight=nothing,
        gain=nothing,
        violations=nothing,
        epochs=0,
        weight=nothing,
        dual=np.full(n_problems, -np.inf),
        marks=(Mark(0, v, nothing),),
        lam=setting.lam,
        averages=setting.average is not None,
    )


def step(shard: Shard, turn: Turn, setting: Setting, recipe: list[Any]) -> Update:
    """Make steps on the rows of a shard; return what they add to the common sums."""
    before: Steps = made(recipe)
    problem = shard.problem(setting, setting.total_weight)
    share = shard.own_weight / setting.total_weight
    tally = new_tally(problem.n_problems)
    tally["clock"] = before.epochs * shard.own_weight
    v = before.v * share
    state = PegasosState(v.copy(), None, tally)
    for draws in in_parts(shard.stream(setting, turn), problem, turn.n_draws):
        pegasos_steps(problem, state, draws, batch_size=1, project=False, average=setting.average)
    update = {
        "v": state.v - v,
        "gain": tally["gain"],
        "violations": tally["violations"],
        "weight": tally["clock"] - before.epochs * shard.own_weight,
    }
    if setting.average is not None:
        # Weights proportional to t: the clock of all shards goes 1/share times as fast as this one.
        scale = 1 / share if setting.average == "weighted" else 1.0
        column: Any = tally[:, np.newaxis]
        u = 0.0 if state.u is None else state.u  # not a single step: no mean has begun
        update["means"] = scale * (column["mean_clock"] * state.v - u)
        update["mean_weight"] = scale * tally["mean_weight"]
    return update


def gather_steps(setting: Setting, before: Steps, n_epochs: float, *updates: Update) -> Steps:
    """Add what the shards have found, and bound the optimum by the rounds since some marks."""
    total = add(*updates)
    v, gain = before.v + total["v"], before.gain + total["gain"]
    epochs = before.epochs + n_epochs
    dual, scale = before.dual, setting.lam * setting.total_weight
    for mark in before.marks:
        visits = ceil(epochs - mark.epochs)
        window = (v - mark.v) / (scale * visits)
        bound = bounds(setting, len(v)).best_scaled_dual((gain - mark.gain) / visits, window)
        dual = np.fmax(dual, bound)
    marks = before.marks
    # Marks are set where the epochs double: the later ones forget the poor first weights.
    if epochs >= 2 * marks[-1].epochs:
        marks = (*marks[-MARKS_KEPT + 1 :], Mark(epochs, v, gain))
    averages = "means" in total
    return Steps(
        v=v,
        means=before.means + total["means"] if averages else before.means,
        mean_weight=before.mean_weight + total["mean_weight"] if averages else before.mean_weight,
        gain=gain,
        violations=before.violations + total["violations"],
        epochs=epochs,
        weight=before.weight + total["weight"],
        dual=dual,
        marks=marks,
        lam=setting.lam,
        averages=before.averages,
    )


def state_of(steps: Steps) -> PegasosState:
    """Return what one machine would have come to with these sums."""
    tally = new_tally(len(steps.v))
    tally["clock"], tally["mean_weight"] = steps.weight, steps.mean_weight
    tally["gain"], tally["violations"] = steps.gain, steps.violations
    # mean = (C v - u) / mean_weight holds for any C, the clock of the mean: here 0.
    return PegasosState(steps.v, -steps.means if steps.averages else None, tally)
