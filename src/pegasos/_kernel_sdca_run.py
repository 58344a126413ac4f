"""Dual coordinate ascent with kernels: working sets of rows that can still move.

Scores of all rows are kept, so whether a row would move costs one comparison. An epoch goes
through all rows in random order, and collects those that may move; a working set full, its own
small problem is solved in several passes, with the kernel among its rows alone. Then the kernel
rows of what has changed are brought, and all scores updated. Every state is a dual point.

Every class has working sets of its own, and goes through the rows at its own pace. Those of all
classes are solved at the same time: a kernel row that several need is brought and read once.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._kernel_problem import KernelProblem, RowNumbers
from pegasos._kernel_steps import KernelState, core_run, decide, fill_if_worth_it
from pegasos._problem import Certificate
from pegasos._training import Run
from pegasos._validation import Floats

# How they were chosen: docs/kernels.md, section 13.
_MOST_ROWS = 2048
_MOST_ROWS_BY_UNIT = 4096
_MOST_PASSES = 50
_MOST_BYTES = 2**27  # for the kernels of sets that are solved at once
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
        self._best: Certificate | None = None
        if best is not None:
            dual = problem.best_scaled_dual(state.masses, state.scores, scale=False)
            objective = problem.objective(best, problem.scores_of(best))
            self._best = Certificate(best, objective, dual)
        slack = max(_SMALLEST_SLACK, _SLACK_OF_TOL * (tol or 0))
        parts = _that_share_rows(problem)
        most_rows = _MOST_ROWS_BY_UNIT if problem.source.by_unit else _MOST_ROWS
        n_bytes = problem.source.values.itemsize * most_rows**2
        self._at_once = min(problem.threads, _MOST_BYTES // n_bytes)
        self._sets = [
            _WorkingSet(problem, state, part, n_active, slack, most_rows) for part in parts
        ]
        self._spaces: list[npt.NDArray[Any]] = []
        # The kernels of the first sets would hold more values than half of the matrix.
        if problem.n_rows**2 <= 2 * len(self._sets) * most_rows**2:
            fill_if_worth_it(problem.source, problem.n_rows)

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        return self.state.tally["violations"].copy()

    def advance(self, draws: RowNumbers) -> None:
        """Look at the drawn rows; solve the working sets when all of them are full."""
        for working_set in self._sets:
            working_set.draw(draws)
        while all(each.fill() for each in self._sets):
            self._solve(self._sets)

    def end_of_stride(self) -> None:
        """Look at all rows that were drawn, and solve the working sets as they are."""
        while some := [each for each in self._sets if each.fill() or each.n_rows]:
            self._solve(some)

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

    def _solve(self, sets: list["_WorkingSet"]) -> None:
        """Solve working sets, as many at a time as there are threads; then update all scores."""
        solved: list[tuple[slice, RowNumbers, Floats]] = []
        for first in range(0, len(sets), self._at_once):
            group = sets[first : first + self._at_once]
            for each in group:
                self.problem.source.bring_the_rest(each.rows())
            grams = [self._gram(each.rows(), k) for k, each in enumerate(group)]
            solved += _side_by_side(_WorkingSet.solve, group, grams)
        self._add(solved)

    def _gram(self, rows: RowNumbers, k: int) -> npt.NDArray[Any] | None:
        """Return the kernel among the rows, in the k-th of some spaces; None if they are there."""
        source, n = self.problem.source, len(rows)
        if source.has(rows):
            return None
        if k == len(self._spaces):
            self._spaces.append(np.empty(0, source.values.dtype))
        if len(self._spaces[k]) < n * n:
            self._spaces[k] = np.empty(n * n, source.values.dtype)
        return source.local(rows, self._spaces[k][: n * n].reshape(n, n))

    def _add(self, solved: list[tuple[slice, RowNumbers, Floats]]) -> None:
        """Add to all scores what the coefficients of these problems and rows have gained."""
        rows = np.unique(np.concatenate([rows for _, rows, _ in solved]))
        coef = np.zeros((self.problem.n_problems, len(rows)))
        for part, some, delta in solved:
            coef[part, np.searchsorted(rows, some)] = delta
        if not self.problem.source.add_unkept(rows, coef, self.state.scores):
            self.problem.add_rows(rows, coef, self.state.scores)


class _WorkingSet:
    """Rows that may still move for some problems, collected as they are drawn."""

    def __init__(
        self,
        problem: KernelProblem,
        state: KernelState,
        part: slice,
        n_active: int,
        slack: float,
        most_rows: int,
    ) -> None:
        self.part = part
        self.problem = problem.only(part)
        self.state = state.only(part)
        self.n_active = n_active
        self.slack = slack
        self.n_rows = 0
        self._run = core_run(
            self.problem, self.state, solver="sdca", most_passes=_MOST_PASSES, enough=_ENOUGH
        )
        self._rows = np.empty(most_rows, dtype=np.int64)
        self._draws = np.empty(0, dtype=np.int64)  # still to be looked at
        self._looked_at = 0  # draws since it was begun

    def draw(self, draws: RowNumbers) -> None:
        """Take draws, to be looked at after those before."""
        self._draws = np.concatenate([self._draws, draws])

    def fill(self) -> bool:
        """Collect rows among those drawn; tell whether there are enough to be solved."""
        while len(self._draws) and not self._is_full:
            looked_at, n = _core.next_movers(
                self._run,
                self._draws[: self.n_active - self._looked_at],
                slack=self.slack,
                block=self._rows[self.n_rows :],
            )
            self._draws = self._draws[looked_at:]
            self.n_rows += n
            self._looked_at += looked_at
            if self._looked_at == self.n_active and self.n_rows == 0:
                self._looked_at = 0
        return self._is_full

    @property
    def _is_full(self) -> bool:
        return self.n_rows == len(self._rows) or self._looked_at == self.n_active

    def rows(self) -> RowNumbers:
        """Return the rows collected, each once.

        The hinge's ascent chooses its own order: sorted, the kernel values among the rows are read
        from memory in one direction. The log loss takes them as they were drawn.
        """
        rows = self._rows[: self.n_rows]
        in_order, first = np.unique(rows, return_index=True)
        return in_order if self.problem.loss == "hinge" else rows[np.sort(first)]

    def solve(self, gram: npt.NDArray[Any] | None) -> tuple[slice, RowNumbers, Floats]:
        """Move the masses and begin anew; return whose coefficients of which rows gain what."""
        rows = self.rows()
        delta, _ = decide(self.problem, self._run, self.state, rows, gram)
        self.n_rows = self._looked_at = 0
        changed = np.flatnonzero(delta.any(axis=0))
        return self.part, rows[changed], delta[:, changed]


def _side_by_side(function: Any, *arguments: list[Any]) -> Iterator[Any]:
    """Return what the function makes of the arguments, on a thread for each."""
    if len(arguments[0]) == 1:
        return map(function, *arguments)
    with ThreadPoolExecutor(len(arguments[0])) as threads:
        return threads.map(function, *arguments)


def _that_share_rows(problem: KernelProblem) -> list[slice]:
    """Return which problems have their working sets in common.

    With the hinge hardly a row may move for two classes (USPS, MNIST: one in twenty), so that a
    common set would hold few rows of each. With the log loss every row moves for all.
    """
    n = problem.n_problems
    return [slice(n)] if problem.loss == "log" else [slice(p, p + 1) for p in range(n)]
