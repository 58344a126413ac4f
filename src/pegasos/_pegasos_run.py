"""Pegasos over a problem: the state in sum form, and the dual points that its epochs leave."""

from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._draws import Rows
from pegasos._problem import Certificate, Objectives, Problem, as_floats, new_tally, squared_norms
from pegasos._training import Run
from pegasos._validation import Floats

# Earlier epochs are remembered at powers of two; the latest few give the tightest windows.
MARKS_KEPT = 3


@dataclass
class PegasosState:
    """What a later call needs to go on: ``v = lam W w``, the running mean's ``u``, the counts."""

    v: Floats
    u: Floats | None
    tally: npt.NDArray[Any]
    keeps_norm: bool = False  # whether ``tally["norm2"]`` is ``||v||^2``: only projection needs it

    def copy(self) -> "PegasosState":
        """Return an independent copy."""
        return deepcopy(self)

    def fits(self, problem: Objectives) -> bool:
        """Tell whether this state can go on with the problem."""
        return self.v.shape == problem.zeros().shape

    def change_lam(self, ratio: float) -> None:
        """Keep the weights when lam becomes ``ratio`` times what it was; the mean begins anew."""
        self.v *= ratio
        self.tally["norm2"] *= ratio**2
        self.u = None

    def weights(self, lams: Floats) -> Floats:
        """Return the running mean of the weights if one is kept, else the last weights."""
        column = self.tally[:, np.newaxis]
        with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the weights looks at them
            if self.u is None:
                last: Floats = self.v / (lams[:, np.newaxis] * column["clock"])
                return last
            mean: Floats = (column["mean_clock"] * self.v - self.u) / column["mean_weight"]
        return mean


def new_pegasos_state(problem: Objectives) -> PegasosState:
    """Return the state before the first step."""
    return PegasosState(problem.zeros(), None, new_tally(problem.n_problems))


def pegasos_steps(
    problem: Objectives,
    state: PegasosState,
    draws: Rows,
    *,
    batch_size: int,
    project: bool,
    average: str | None,
    masses: Floats | None = None,
) -> None:
    """Make the steps of these draws; the running mean begins where it is first asked for."""
    if average is None:
        state.u = None
    elif state.u is None:
        state.u = problem.zeros()
        state.tally["mean_clock"] = state.tally["mean_weight"] = 0
    if project and not state.keeps_norm:
        state.tally["norm2"] = squared_norms(state.v)
    state.keeps_norm = project
    _core.pegasos_steps(
        problem.data,
        problem.positive,
        state.v,
        state.u,
        masses,
        as_floats(state.tally),
        draws,
        loss=problem.loss,
        lams=problem.lams,
        batch_size=batch_size,
        project=project,
        mean=average,
        n_threads=problem.threads,
    )


@dataclass
class _Mark:
    """The state at the end of some epoch."""

    draws: int
    v: Floats
    gain: Floats


class PegasosRun(Run):
    """Advances a :class:`PegasosState` and bounds the optimum from the visits it makes.

    Every row comes once per epoch, so the visits of whole epochs are a dual point, and their sum
    is a difference of two states: nothing is kept per row (how_it_works, "The certificate").
    Without ``whole_epochs`` (draws with replacement, batches that do not divide the epoch, a warm
    start within one) a row may come more often, and masses are kept, and clipped, per row.
    """

    def __init__(
        self,
        problem: Objectives,
        state: PegasosState | None,
        *,
        n_active: int,
        batch_size: int,
        whole_epochs: bool,
        project: bool,
        average: str | None,
    ) -> None:
        self.problem = problem
        self.n_active = n_active
        self.batch_size = batch_size
        self.project = project
        self.average = average
        self.state = state or new_pegasos_state(problem)
        self._masses = None if whole_epochs else np.zeros((problem.n_problems, problem.n_rows))
        self.state.tally["mass_unit"] = self.state.tally["shrink"] = 1
        self._draws = 0
        self._mass_since = 0
        self._marks = [self._mark()]
        self._next_mark = 1
        self._best_dual = np.full(problem.n_problems, -np.inf)
        self._window = problem.zeros()  # one for all: new arrays cost more than the sums

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        return self.state.tally["violations"].copy()

    def advance(self, draws: Rows) -> None:
        """Make the steps of these draws."""
        pegasos_steps(
            self.problem,
            self.state,
            draws,
            batch_size=self.batch_size,
            project=self.project,
            average=self.average,
            masses=self._masses,
        )
        self._draws += len(draws)
        if self.project:
            self._shrink_marks()

    def end_of_stride(self) -> None:
        """Take note of the end of an epoch: bound the optimum, remember the state."""
        if self._masses is None:
            self._bound_by_marks()
        if self._draws >= self._next_mark * self.n_active:
            while self._draws >= self._next_mark * self.n_active:
                self._next_mark *= 2
            if self._masses is None:
                self._marks = [*self._marks[-MARKS_KEPT + 1 :], self._mark()]
            else:
                self._bound_by_masses()
                self._masses[:] = 0
                self.state.tally["mass_unit"] = 1
                self._mass_since = self._draws

    def saved(self) -> dict[str, Any]:
        """Return what a run over whole epochs needs to go on from here."""
        return {
            "state": vars(self.state),
            "draws": self._draws,
            "marks": [vars(mark) for mark in self._marks],
            "next_mark": self._next_mark,
            "best_dual": self._best_dual,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved."""
        self.state = PegasosState(**saved["state"])
        self._draws = saved["draws"]
        self._marks = [_Mark(**mark) for mark in saved["marks"]]
        self._next_mark = saved["next_mark"]
        self._best_dual = saved["best_dual"]

    def certify(self) -> Certificate:
        """Return the weights so far with their objective and the best bound so far."""
        if self._masses is None:
            self._bound_by_marks()
        elif self._draws > self._mass_since:
            self._bound_by_masses()
        w = self.state.weights(self.problem.lams)
        return Certificate(w, self.problem.objective(w), self._best_dual.copy())

    def _mark(self) -> _Mark:
        return _Mark(self._draws, self.state.v.copy(), self.state.tally["gain"].copy())

    def _shrink_marks(self) -> None:
        # A projection scales all visits so far, those before a mark too.
        factor = self.state.tally["shrink"]
        for mark in self._marks:
            mark.v *= factor[:, np.newaxis]
            mark.gain *= factor
        factor[:] = 1

    def _bound_by_marks(self) -> None:
        problem, state = self.problem, self.state
        for mark in self._marks:
            epochs = ceil((self._draws - mark.draws) / self.n_active)
            if epochs == 0:
                continue
            w = np.subtract(state.v, mark.v, out=self._window)
            if self.batch_size > 1:
                w *= self.batch_size
            w /= problem.lams[:, np.newaxis] * problem.total_weight * epochs
            gain = (state.tally["gain"] - mark.gain) / epochs
            self._keep_best(problem.best_scaled_dual(gain, w))

    def _bound_by_masses(self) -> None:
        problem = self.problem
        assert self._masses is not None
        assert isinstance(problem, Problem)  # masses of draws from memory
        epochs = (self._draws - self._mass_since) / self.n_active
        masses = self._masses * (self.state.tally["mass_unit"][:, np.newaxis] / epochs)
        np.minimum(problem.as_fractions(masses), 1, out=masses)
        w = problem.weights_of(masses)
        self._keep_best(problem.best_scaled_dual(problem.gain(masses), w))

    def _keep_best(self, dual: Floats) -> None:
        np.fmax(self._best_dual, dual, out=self._best_dual)
