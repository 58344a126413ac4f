"""The first epoch of dual ascent where rows are many: gradient steps on every shard, their mean.

See :mod:`pegasos._sdca_start`. Zinkevich and others (2010) average such runs once, at the end.
"""

import numpy as np

from pegasos import _core
from pegasos._problem import squared_norms
from pegasos._sdca_start import SgdStart
from pegasos._validation import Floats
from pegasos.dask._ascent import Ascent, Together, Update, begin, bounds
from pegasos.dask._cluster import add
from pegasos.dask._shard import Setting, Shard, Turn, in_parts


def descend(
    shard: Shard, turn: Turn, setting: Setting, squared_norm: float, averages: bool
) -> Update:
    """Make an epoch of gradient steps on the rows of a shard, as if there were no others."""
    problem = shard.problem(setting, shard.own_weight)
    start = SgdStart(problem, np.empty((0, 0)), shard.n_active, squared_norm, averages=averages)
    for draws in in_parts(shard.stream(setting, turn), problem, turn.n_draws):
        start.advance(draws)
    weight = start.tally["clock"]
    mean = start.weights() if turn.n_draws else problem.zeros()
    return {
        "mean": mean * weight[:, np.newaxis],
        "weight": weight,
        "violations": start.tally["violations"],
    }


def mix(descents: list[Update]) -> Update:
    """Return the mean of the weights, each shard counting by the rows it has seen."""
    total = add(*descents)
    return total | {"mean": total["mean"] / total["weight"][:, np.newaxis]}


def guess(shard: Shard, setting: Setting, descents: list[Update]) -> Ascent:
    """Guess the masses of a shard's rows from their margins at the mean weights.

    Every shard makes the mean for itself, and need not wait for a worker that does it for all.
    """
    problem = shard.problem(setting, setting.total_weight / setting.n_shards)
    nothing = begin(shard)
    rows, losses, masses = problem.zeros(), np.empty(problem.n_problems), nothing.masses
    _core.guess_masses(
        problem.data,
        problem.positive,
        mix(descents)["mean"],
        masses,
        loss=problem.loss,
        n_threads=problem.threads,
        dual_rows=rows,
        sums=losses,
    )
    update = {"rows": rows, "losses": losses, "gain": problem.gain(masses)}
    return Ascent(masses, masses, nothing.asleep, 0, update)


def gather_guesses(setting: Setting, descents: list[Update], *updates: Update) -> Together:
    """Return the dual point of the guesses, and the mean weights with their objective."""
    total, mixed = add(*updates), mix(descents)
    mean: Floats = mixed["mean"]
    w = total["rows"] / (setting.lam * setting.total_weight)
    dual = bounds(setting, len(w)).best_scaled_dual(total["gain"], w)
    return Together(
        w=w,
        point=w,
        mean=mean,
        dual=dual,
        violations=mixed["violations"],
        clock=np.ones(len(w)),
        objective=setting.lam / 2 * squared_norms(mean) + total["losses"] / setting.total_weight,
    )
