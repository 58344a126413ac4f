"""Kernel Pegasos over a problem, and the dual points that its visits leave."""

from dataclasses import dataclass

import numpy as np

from pegasos._kernel_problem import KernelProblem, RowNumbers
from pegasos._kernel_steps import KernelState, KernelSteps, mean_or_last
from pegasos._problem import Certificate
from pegasos._training import Run
from pegasos._validation import Floats

# Earlier epochs are remembered at powers of two; the latest few give the tightest windows.
_MARKS_KEPT = 3
# So that rounding alone takes no mass above its bound, and no kernel rows to clip it.
_A_LITTLE_MORE = 1 + 1e-9


@dataclass
class _Mark:
    draws: int
    masses: Floats
    scores: Floats


class KernelPegasosRun(Run):
    """Advances a :class:`KernelState` and bounds the optimum from the visits it makes.

    The masses earned between two moments, divided by the number of epochs between them, are a
    dual point wherever none exceeds its row's weight: always after whole epochs, else after
    clipping, which takes the kernel rows of what was clipped.
    """

    def __init__(
        self, problem: KernelProblem, state: KernelState, *, n_active: int, average: str | None
    ) -> None:
        self.problem = problem
        self.state = state
        self.n_active = n_active
        self._steps = KernelSteps(problem, state, solver="pegasos", average=average)
        self._draws = 0
        self._marks = [self._mark()]
        self._next_mark = 1
        self._best_dual = np.full(problem.n_problems, -np.inf)

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        return self.state.tally["violations"].copy()

    def advance(self, draws: RowNumbers) -> None:
        """Make the steps of these draws."""
        self._steps.make(draws)
        self._draws += len(draws)

    def end_of_stride(self) -> None:
        """Remember the state at the end of an epoch whose number is a power of two."""
        if self._draws >= self._next_mark * self.n_active:
            while self._draws >= self._next_mark * self.n_active:
                self._next_mark *= 2
            self._bound()
            self._marks = [*self._marks[-_MARKS_KEPT + 1 :], self._mark()]

    def certify(self) -> Certificate:
        """Return the coefficients so far with their objective and the best bound so far."""
        problem, state = self.problem, self.state
        self._bound()
        signed = problem.as_signed(state.masses)
        coef = mean_or_last(signed, state.mean_masses, state.tally, problem.lams)
        scores = mean_or_last(state.scores, state.mean_scores, state.tally, problem.lams)
        return Certificate(coef, problem.objective(coef, scores), self._best_dual.copy())

    def _mark(self) -> _Mark:
        return _Mark(self._draws, self.state.masses.copy(), self.state.scores.copy())

    def _bound(self) -> None:
        for mark in self._marks:
            epochs = (self._draws - mark.draws) / self.n_active
            if epochs > 0:
                masses = self.problem.as_fractions(self.state.masses - mark.masses)
                scores = self.state.scores - mark.scores
                self._bound_by(masses, scores, max(1.0, epochs))

    def _bound_by(self, masses: Floats, scores: Floats, epochs: float) -> None:
        problem = self.problem
        epochs *= _A_LITTLE_MORE
        masses /= epochs
        scores /= epochs
        excess = np.maximum(masses - 1, 0)
        clipped = np.flatnonzero(excess.any(axis=0))
        if len(clipped):
            coef = -problem.as_coefficients(excess)[:, clipped]
            problem.add_rows(clipped, coef, scores)
            masses -= excess
        np.fmax(self._best_dual, problem.best_scaled_dual(masses, scores), out=self._best_dual)
