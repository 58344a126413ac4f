"""A look at what the shards have come to: objective and bound over all rows, violations."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos import _core
from pegasos._problem import Problem, squared_norms
from pegasos._validation import Floats
from pegasos.dask._ascent import Update, bounds
from pegasos.dask._cluster import add, made
from pegasos.dask._shard import Setting, Shard


@dataclass(frozen=True)
class Look:
    """All that the client sees before the end: three numbers per problem."""

    objective: Floats
    dual: Floats
    violations: Floats


def losses(shard: Shard, setting: Setting, recipe: list[Any]) -> Update:
    """Return the summed losses of a shard's rows at the weights to be certified."""
    problem = _problem(shard, setting)
    return {"losses": problem.loss_sums(made(recipe).mean)}


def losses_and_guess(shard: Shard, setting: Setting, recipe: list[Any]) -> Update:
    """Return the losses, and what masses guessed from the margins add up to: a dual point."""
    problem = _problem(shard, setting)
    mean = made(recipe).mean
    sums, rows, gain = np.empty(len(mean)), problem.zeros(), np.empty(len(mean))
    masses = np.empty((1, problem.n_rows))  # of one problem at a time: rows may be many
    for p in range(len(mean)):
        one, positive = slice(p, p + 1), problem.positive[p : p + 1]
        _core.guess_masses(
            problem.data,
            positive,
            mean[one],
            masses,
            loss=problem.loss,
            n_threads=problem.threads,
            dual_rows=rows[one],
            sums=sums[one],
        )
        _core.gain_sums(
            problem.data,
            positive,
            masses,
            loss=problem.loss,
            n_threads=problem.threads,
            sums=gain[one],
        )
    return {"losses": sums, "rows": rows, "gain": gain}


def _problem(shard: Shard, setting: Setting) -> Problem:
    return shard.problem(setting, setting.total_weight / setting.n_shards)


def look(setting: Setting, state: Any, *updates: Update) -> Look:
    """Return the objective at the weights to be certified, and the bound."""
    if not updates:
        return Look(state.objective, state.dual, state.violations)
    total, dual = add(*updates), state.dual
    norms = squared_norms(state.mean)
    objective = setting.lam / 2 * norms + total["losses"] / setting.total_weight
    if "rows" in total:
        w = total["rows"] / (setting.lam * setting.total_weight)
        dual = np.fmax(dual, bounds(setting, len(w)).best_scaled_dual(total["gain"], w))
    return Look(objective, dual, state.violations)


def look_at(setting: Setting, recipe: list[Any]) -> Look:
    """Look at weights whose objective is known."""
    return look(setting, made(recipe))


def weights_of(state: Any) -> Floats:
    """Return the weights to be certified."""
    mean: Floats = state.mean
    return mean


def better_of(improved: Any, state: Any, old: Floats) -> Floats:
    """Return the new weights of the problems that have improved, the old ones of the others."""
    return np.where(improved[:, np.newaxis], state.mean, old)
