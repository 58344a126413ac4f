"""The tasks of the perceptron: iterative parameter mixing (McDonald, Hall and Mann, 2010).

Every shard passes once over its rows, from the common weights. The new ones are the mean of what
the shards have come to, each counting by its mistakes: with these mixing weights the number of
mistakes on separable data is bounded as for one perceptron over all rows.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos._perceptron import PerceptronState, perceptron_steps
from pegasos._validation import Floats
from pegasos.dask._ascent import Update
from pegasos.dask._cluster import add
from pegasos.dask._shard import Setting, Shard, Turn


@dataclass(frozen=True)
class Mixed:
    """The common weights, and counts per problem."""

    w: Floats
    means: Floats  # sum of the weights after every step
    clock: Floats
    violations: Floats
    mistakes: npt.NDArray[np.int64]  # of the last round
    learning: npt.NDArray[np.int64]  # the problems that have not passed without a mistake

    def __sizeof__(self) -> int:
        return 2 * self.w.nbytes


@dataclass(frozen=True)
class Count:
    """All that the client sees of a round."""

    mistakes: npt.NDArray[np.int64]
    n_learning: int
    clock: float


def begin_mixing(n_problems: int, n_features: int) -> Mixed:
    """Return the state before the first round."""
    w, nothing = np.zeros((n_problems, n_features + 1)), np.zeros(n_problems)
    return Mixed(w, w, nothing, nothing, nothing.astype(np.int64), np.arange(n_problems))


def learn(shard: Shard, turn: Turn, before: Mixed, setting: Setting) -> Update:
    """Pass over the rows of a shard; return how far it went, times its mistakes."""
    problem = shard.problem(setting, setting.total_weight)
    state = PerceptronState(problem.n_problems, shard.X.shape[1])
    state.w = before.w.copy()
    state.resume(setting.average)
    if turn.n_draws:
        draws = shard.stream(setting, turn).take(turn.n_draws)
        perceptron_steps(problem, state, before.learning, draws)
    mistakes, clock = state.tally["violations"], state.tally["clock"]
    update = {
        "way": mistakes[:, np.newaxis] * (state.w - before.w),
        "mistakes": mistakes,
        "clock": clock,
    }
    if state.u is not None:
        update["means"] = clock[:, np.newaxis] * state.w - state.u
    return update


def mix(before: Mixed, whole: bool, *updates: Update) -> Mixed:
    """Mix the weights; a problem without a mistake in a whole round is done."""
    total = add(*updates)
    mistakes = total["mistakes"]
    w = before.w + total["way"] / np.maximum(mistakes, 1)[:, np.newaxis]
    still = mistakes[before.learning] > 0 if whole else slice(None)
    return Mixed(
        w=w,
        means=before.means + total["means"] if "means" in total else before.means,
        clock=before.clock + total["clock"],
        violations=before.violations + mistakes,
        mistakes=mistakes.astype(np.int64),
        learning=before.learning[still],
    )


def count(mixed: Mixed) -> Count:
    """Return what the client sees."""
    return Count(mixed.mistakes, len(mixed.learning), float(mixed.clock.max()))


def state_of(mixed: Mixed, average: str | None) -> PerceptronState:
    """Return what one perceptron would have come to with these sums."""
    state = PerceptronState(len(mixed.w), mixed.w.shape[1] - 1)
    state.w = mixed.w
    state.tally["clock"], state.tally["violations"] = mixed.clock, mixed.violations
    if average is not None:
        state.u = mixed.clock[:, np.newaxis] * mixed.w - mixed.means
    return state
