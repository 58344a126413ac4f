"""A look at what the shards have come to: objective and bound over all rows, violations."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos import _core
from pegasos._problem import squared_norms
from pegasos._validation import Floats
from pegasos.dask._ascent import Update
from pegasos.dask._cluster import add
from pegasos.dask._shard import Setting, Shard


@dataclass(frozen=True)
class Look:
    """All that the client sees before the end: three numbers per problem."""

    objective: Floats
    dual: Floats
    violations: Floats


def losses(shard: Shard, state: Any, setting: Setting) -> Update:
    """Return the summed losses of a shard's rows at the weights to be certified."""
    problem = shard.problem(setting, setting.total_weight / setting.n_shards)
    sums = np.empty(problem.n_problems)
    _core.loss_sums(
        problem.data,
        problem.positive,
        state.mean,
        loss=problem.loss,
        n_threads=problem.threads,
        sums=sums,
    )
    return {"losses": sums}


def look(setting: Setting, state: Any, *updates: Update) -> Look:
    """Return the objective at the weights to be certified, and the bound."""
    if updates:
        mean = setting.lam / 2 * squared_norms(state.mean)
        objective = mean + add(*updates)["losses"] / setting.total_weight
    else:
        objective = state.objective
    return Look(objective, state.dual, state.violations)


def weights_of(state: Any) -> Floats:
    """Return the weights to be certified."""
    mean: Floats = state.mean
    return mean


def better_of(improved: Any, state: Any, old: Floats) -> Floats:
    """Return the new weights of the problems that have improved, the old ones of the others."""
    return np.where(improved[:, np.newaxis], state.mean, old)
