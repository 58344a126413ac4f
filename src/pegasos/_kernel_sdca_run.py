"""Dual coordinate ascent with kernels: working sets of rows that can still move.

Scores of all rows are kept, so whether a row would move costs one comparison. An epoch goes
through all rows in random order, and collects those that may move; a working set full, its own
small problem is solved in several passes, with the kernel among its rows alone. Then the kernel
rows of what has changed are brought, and all scores updated. Every state is a dual point.
"""

import numpy as np

from pegasos import _core
from pegasos._kernel_problem import KernelProblem, RowNumbers
from pegasos._kernel_steps import KernelState, core_run, make_block
from pegasos._problem import Certificate
from pegasos._training import Run
from pegasos._validation import Floats

# How they were chosen: docs/kernels.md, section 13.
_MOST_ROWS = 2048
_MOST_PASSES = 50
_ENOUGH = 0.01
# Margins that are off by less than this part of tol are left alone.
_SLACK_OF_TOL = 1e-3
_SMALLEST_SLACK = 1e-9


class KernelSdcaRun(Run):
    """Advances the masses of a :class:`KernelState` by dual ascent."""

    def __init__(
        self,
        problem: KernelProblem,
        state: KernelState,
        *,
        n_active: int,
        tol: float | None,
        best: Floats | None = None,
    ) -> None:
        """Go on from a state; ``best`` are the coefficients that were last returned, if any."""
        self.problem = problem
        self.state = state
        self.n_active = n_active
        self._run = core_run(
            problem, state, solver="sdca", most_passes=_MOST_PASSES, enough=_ENOUGH
        )
        self._slack = max(_SMALLEST_SLACK, _SLACK_OF_TOL * (tol or 0))
        self._block = np.empty(_MOST_ROWS, dtype=np.int64)
        self._best: Certificate | None = None
        if best is not None:
            dual = problem.best_scaled_dual(state.masses, state.scores, scale=False)
            objective = problem.objective(best, problem.scores_of(best))
            self._best = Certificate(best, objective, dual)
        self._n = 0  # rows in the block so far
        self._looked_at = 0  # draws since it was begun

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        return self.state.tally["violations"].copy()

    def advance(self, draws: RowNumbers) -> None:
        """Look at the drawn rows, and move those that can."""
        while len(draws):
            looked_at, n = _core.next_movers(
                self._run,
                draws[: self.n_active - self._looked_at],
                slack=self._slack,
                block=self._block[self._n :],
            )
            draws = draws[looked_at:]
            self._n += n
            self._looked_at += looked_at
            if self._n == len(self._block) or self._looked_at == self.n_active:
                self.end_of_stride()

    def end_of_stride(self) -> None:
        """Solve the working set as it is."""
        if self._n:
            make_block(self.problem, self._run, self.state, self._working_set())
        self._n = self._looked_at = 0

    def _working_set(self) -> RowNumbers:
        """Return the rows collected, each once.

        The hinge's ascent chooses its own order: sorted, the kernel values among the rows are read
        from memory in one direction. The log loss takes them as they were drawn.
        """
        rows = self._block[: self._n]
        in_order, first = np.unique(rows, return_index=True)
        return in_order if self.problem.loss == "hinge" else rows[np.sort(first)]

    def certify(self) -> Certificate:
        """Return the best function seen at a certificate, its objective and the best bound."""
        problem, state = self.problem, self.state
        coef = problem.as_coefficients(state.masses)
        unit = (1 / (problem.lams * problem.total_weight))[:, np.newaxis]
        objective = problem.objective(coef * unit, state.scores * unit)
        dual = problem.best_scaled_dual(state.masses, state.scores, scale=False)
        new = Certificate(coef * unit, objective, dual)
        self._best = new if self._best is None else self._best.improved_by(new)
        return self._best
