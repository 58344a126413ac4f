"""Steps of the kernel machines, block by block: decide on few rows, then update all scores."""

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._kernel_problem import KernelProblem, RowNumbers
from pegasos._problem import as_floats, new_tally
from pegasos._validation import Floats
from pegasos.kernels import CachedRows

# 128 to 384 differ little (USPS, ten classes, seven lam): a block of stored rows costs a gather of
# its own kernel values, a block of rows to be made should need many of them at once. Blocks of
# stored rows of which few change anything grow to four times as many.
_BLOCK_OF_STORED_ROWS = 256
_BLOCK_OF_MADE_ROWS = 512


class KernelState:
    """Functions under way: scores and masses per problem and row, and the counts."""

    def __init__(self, problem: KernelProblem, average: str | None) -> None:
        self.scores = problem.zeros()
        self.masses = problem.zeros()  # alpha (pegasos, perceptron) or b in [0, 1] (sdca)
        self.mean_scores: Floats | None = None
        self.mean_masses: Floats | None = None  # signed: what the mean of the functions subtracts
        self.tally: npt.NDArray[Any] = new_tally(problem.n_problems)
        self.keep_mean(problem, average)

    def keep_mean(self, problem: KernelProblem, average: str | None) -> None:
        """Keep what a mean needs, from now on if it was not kept before."""
        if average is None:
            self.mean_scores = self.mean_masses = None
        elif self.mean_masses is None:
            self.mean_scores, self.mean_masses = problem.zeros(), problem.zeros()
            self.tally["mean_clock"] = self.tally["mean_weight"] = 0

    def only(self, which: RowNumbers | slice) -> "KernelState":
        """Return the state of some problems: a copy, or with a slice a view."""
        part = copy(self)
        for name in self._arrays():
            setattr(part, name, getattr(self, name)[which])
        return part

    def put_back(self, which: RowNumbers, part: "KernelState") -> None:
        """Take over the state of some problems."""
        for name in self._arrays():
            getattr(self, name)[which] = getattr(part, name)

    def _arrays(self) -> list[str]:
        names = ["scores", "masses", "tally"]
        return names if self.mean_masses is None else [*names, "mean_scores", "mean_masses"]


class KernelSteps:
    """The steps of one solver ("pegasos" or "perceptron") over a problem."""

    def __init__(
        self, problem: KernelProblem, state: KernelState, *, solver: str, average: str | None
    ) -> None:
        self.problem = problem
        self.state = state
        self._run = core_run(problem, state, solver=solver, average=average)

    def make(self, draws: RowNumbers) -> None:
        """Make the steps of these draws."""
        source = self.problem.source
        while len(draws):
            done = _core.kernel_steps(
                self._run,
                source.values,
                source.slots,
                draws,
                block=_BLOCK_OF_STORED_ROWS,
                n_threads=self.problem.threads,
            )
            draws = draws[done:]
            if len(draws):  # rows are missing
                make_block(self.problem, self._run, self.state, draws[:_BLOCK_OF_MADE_ROWS])
                draws = draws[_BLOCK_OF_MADE_ROWS:]


def core_run(
    problem: KernelProblem,
    state: KernelState,
    *,
    solver: str,
    average: str | None = None,
    most_passes: int = 1,
    enough: float = 0.0,
) -> Any:
    """Give the core a view of problem and state."""
    return _core.kernel_run(
        problem.code,
        problem.weight,
        problem.total_weight,
        problem.source.diagonal,
        problem.positive,
        problem.lams,
        state.scores,
        state.masses,
        state.mean_scores,
        state.mean_masses,
        as_floats(state.tally),
        solver=solver,
        loss=problem.loss,
        weighted_mean=average == "weighted",
        most_passes=most_passes,
        enough=enough,
    )


def make_block(
    problem: KernelProblem, run: Any, state: KernelState, block: RowNumbers
) -> npt.NDArray[np.int64]:
    """Decide one block, then bring the rows that changed and update all scores.

    Return the steps that each problem took (sdca).
    """
    source = problem.source
    gram = None if source.bring_the_rest(block) else source.local(block)
    delta, n_steps = decide(problem, run, state, block, gram)
    targets = [state.scores] if state.mean_scores is None else [state.scores, state.mean_scores]
    changed = np.flatnonzero(delta.any(axis=0))
    problem.add_rows(block[changed], delta[:, changed], *targets)
    return n_steps


def decide(
    problem: KernelProblem,
    run: Any,
    state: KernelState,
    block: RowNumbers,
    gram: npt.NDArray[Any] | None,
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Make the steps of a block; scores are left as they are.

    ``gram`` is the kernel among its rows; without it, all of them must be there. Return what the
    coefficients gain, per problem and row (then what their means do), and the steps (sdca).
    """
    n = problem.n_problems
    delta = np.empty((n if state.mean_scores is None else 2 * n, len(block)))
    n_steps = np.zeros(n, dtype=np.int64)
    _core.kernel_decisions(
        run,
        block,
        gram,
        problem.source.values,
        problem.source.slots,
        delta[:n],
        None if state.mean_scores is None else delta[n:],
        n_steps,
        n_threads=problem.threads,
    )
    return delta, n_steps


def fill_if_worth_it(source: Any, n_draws: int) -> None:
    """Make the whole matrix at once if there is room for it and most rows will be asked for."""
    if isinstance(source, CachedRows) and source.holds_all and n_draws >= source.n_rows:
        source.fill()


def mean_or_last(
    signed: Floats, mean: Floats | None, tally: npt.NDArray[Any], lams: Floats
) -> Floats:
    """Return the function of Pegasos: the last, or the mean of all if one is kept.

    ``signed`` are coefficients ``y_i alpha_i`` or their scores; ``mean`` what the mean subtracts.
    """
    column = tally[:, np.newaxis]
    if mean is None:
        last: Floats = signed / (lams[:, np.newaxis] * column["clock"])
        return last
    function: Floats = (column["mean_clock"] * signed - mean) / column["mean_weight"]
    return function
