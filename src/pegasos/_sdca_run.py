"""Dual coordinate ascent over a problem.

Where there are many rows to an entry of a row, the first epoch goes into averaged gradient steps,
which find good weights without masses; those are then guessed from the margins, and ascent goes on
from this dual point. It saves most where ascent would be slowest to fill the masses: all its mass
moves a row's own margin by ``s ||x||^2 / (lam S)``, its *coupling*, and ascent needs about that
many epochs to give it.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._draws import Rows
from pegasos._newton import DualPoint, NewtonSteps
from pegasos._problem import Certificate, Objectives, as_floats, new_tally
from pegasos._sdca_start import SgdStart
from pegasos._training import Run
from pegasos._validation import Floats

# Chosen by measurement on cov1, a9a, ijcnn1 and text: see docs/how_it_works.md.
_MANY_ROWS_PER_ENTRY = 100
_STRONG_COUPLING = 1.0
# Where a row has less than a hundredth of the features, a step hardly moves the margins of others:
# the last weights of the start are as calm as their mean, which remembers the beginning.
_SPARSE = 100
_RELAXATION = 1.2
_RELAXATION_WHERE_STRONG = 1.5
# From nothing, the first epochs move all masses: no row is worth leaving asleep.
_RESTLESS_EPOCHS = 2
ROUNDING_MATTERS = 1e-6


@dataclass(frozen=True)
class Pace:
    """How the steps go over rows of this kind."""

    many_rows: bool
    relaxation: float
    averages_start: bool  # go on from the mean of the weights of the start, not from the last

    @classmethod
    def over(
        cls, squared_norm: float, entries: float, *, n_features: int, lam: float, n_active: int
    ) -> "Pace":
        """Choose by the means of ``||x_i||^2`` and of the entries of a row, and the coupling."""
        many_rows = n_active >= _MANY_ROWS_PER_ENTRY * entries
        strong = many_rows and squared_norm / (lam * n_active) > _STRONG_COUPLING
        return cls(
            many_rows,
            relaxation=_RELAXATION_WHERE_STRONG if strong else _RELAXATION,
            averages_start=_SPARSE * entries > n_features,
        )

    def lets_rows_sleep(self, loss: str, epochs: float) -> bool:
        """Tell whether rows may be left asleep after so many epochs."""
        return loss == "hinge" and (self.many_rows or epochs >= _RESTLESS_EPOCHS)


@dataclass
class SdcaState:
    """What a later call needs to go on: weights and the masses they are the sum of."""

    w: Floats
    masses: Floats
    asleep: npt.NDArray[np.uint8]
    violations: Floats
    epochs: float
    best: Floats | None = None  # the weights last returned

    def copy(self) -> "SdcaState":
        """Return an independent copy."""
        return deepcopy(self)

    def fits(self, problem: Objectives) -> bool:
        """Tell whether this state can go on with the problem."""
        shape = (problem.n_problems, problem.n_rows)
        return self.w.shape == problem.zeros().shape and self.masses.shape == shape

    def change_lam(self, ratio: float) -> None:
        """Do nothing: the run computes the weights of the masses anew."""


class SdcaRun(Run):
    """Advances an :class:`SdcaState`; every state of it is a dual point."""

    def __init__(
        self,
        problem: Objectives,
        state: SdcaState | None,
        *,
        n_active: int,
        average: str | None,
    ) -> None:
        self.problem = problem
        self.n_active = n_active
        self.average = average
        self._state = state or _new_state(problem)
        self._point: DualPoint | None = None  # what will become of the masses
        squared_norm, entries = problem.typical_row()
        self._pace = Pace.over(
            squared_norm,
            entries,
            n_features=problem.n_features,
            lam=problem.lam,
            n_active=n_active,
        )
        self._start: SgdStart | None = None
        self._newton: NewtonSteps | None = None
        self._best: Certificate | None = None
        if state is not None:  # true for these rows, weights and lam, whatever they were before
            self._state.w = problem.weights_of(state.masses)
            if state.best is not None:
                dual = problem.dual(problem.gain(state.masses), self._state.w)
                self._best = Certificate(state.best, problem.objective(state.best), dual)
        elif self._pace.many_rows and squared_norm > 0:  # rows of zeros lead nowhere
            self._start = SgdStart(
                problem,
                self._state.masses,
                n_active,
                squared_norm,
                averages=self._pace.averages_start,
            )
            if NewtonSteps.suit(problem, entries, n_active):
                self._newton = NewtonSteps(problem)
        self._tally = new_tally(problem.n_problems)
        if average is not None:  # one array each for all strides
            self._u, self._means = problem.zeros(), problem.zeros()
        self._mean = self._state.w
        self._keeps_mean = False
        self._best_is_new = False

    @property
    def state(self) -> SdcaState:
        """What a later call needs to go on."""
        self._settle()
        return self._state

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        total: Floats = self._state.violations + self._tally["violations"]
        return total

    def begin_stride(self, *, certified: bool) -> None:
        """Begin a new mean: older weights are further from the optimum.

        A mean that nobody will look at is not kept: it costs as much as the steps themselves.
        """
        self._settle()
        self._keeps_mean = certified and self.average is not None
        if self._keeps_mean:
            self._u.fill(0)
        self._tally = new_tally(self.problem.n_problems)

    def advance(self, draws: Rows) -> None:
        """Make the steps of these draws."""
        if self._start is not None:
            n_start = self.n_active - self._start.draws
            self._start.advance(draws[:n_start])
            draws = draws[n_start:]
            if self._start.draws == self.n_active:
                self._end_start()
        if len(draws):
            self._ascend(draws)

    def end_of_stride(self) -> None:
        """Take note of the end of an epoch: divide its mean."""
        self._state.violations += self._tally["violations"]
        self._mean = self._state.w
        if self._keeps_mean:
            # A problem all of whose rows slept has made no step: what it has is its mean.
            clock: Any = np.maximum(self._tally["mean_clock"], 1)[:, np.newaxis]
            np.divide(self._u, clock, out=self._means)
            self._mean = np.subtract(self._state.w, self._means, out=self._means)
        self._tally["violations"] = 0

    def saved(self) -> dict[str, Any]:
        """Return what the run needs to go on from here."""
        return {
            "state": vars(self.state),
            "start": None if self._start is None else self._start.saved(),
            "newton": None if self._newton is None else self._newton.saved(),
            "best": None if self._best is None else vars(self._best),
            "best_is_new": self._best_is_new,
            "tally": self._tally,
            "keeps_mean": self._keeps_mean,
            "u": self._u if self._keeps_mean else None,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved."""
        self._state = SdcaState(**saved["state"])
        self._mean = self._state.w  # until the stride ends
        if self._start is not None and saved["start"] is not None:
            self._start.restore(saved["start"], self._state.masses)
        else:
            self._start = None
        if self._newton is not None:
            self._newton.restore(saved["newton"])
        self._best = None if saved["best"] is None else Certificate(**saved["best"])
        self._best_is_new = saved["best_is_new"]
        self._tally = saved["tally"]
        self._keeps_mean = saved["keeps_mean"]
        if self._keeps_mean:
            self._u = saved["u"]

    def certify(self) -> Certificate:
        """Return the best weights seen at a certificate, their objective and the best bound."""
        if self._start is not None:
            self._end_start()
        if self._best is None:
            self._best = self._look()
        elif not self._best_is_new:
            look = self._look()
            self._best = self._best.improved_by(look)
            if self._newton is not None and self._newton.pay:
                self._improve(look.dual)
        self._best_is_new = False
        self._state.best = self._best.weights
        return self._best

    def _look(self) -> Certificate:
        problem, state = self.problem, self._state
        objective, gain = problem.objective_and_gain(self._mean, state.masses)
        dual = problem.dual(gain, state.w)
        if np.any(objective - dual < ROUNDING_MATTERS * objective):
            # So close, the rounding of all steps so far might show: add up the masses anew.
            state.w = problem.weights_of(state.masses)
            dual = problem.dual(gain, state.w)
        return Certificate(self._mean.copy(), objective, dual)

    def _improve(self, dual: Floats) -> None:
        """Make a step of Newton's; go on from its masses if they are better than these."""
        assert self._best is not None
        assert self._newton is not None
        self._best, point = self._newton.improve(self._best)
        if np.all(point.dual > dual):
            self._point = point

    def _settle(self) -> None:
        """Write the masses of a step of Newton's: only now, since the last of a fit needs none."""
        if self._point is not None:
            point, self._point = self._point, None
            self.problem.guess_masses(point.margins_at, self._state.masses, point.width)
            self._state.w = point.w

    def _ascend(self, draws: Rows) -> None:
        problem, state = self.problem, self._state
        masses, asleep = problem.local(state.masses), problem.local(state.asleep)
        _core.sdca_steps(
            problem.data,
            problem.positive,
            state.w,
            self._u if self._keeps_mean else None,
            masses,
            asleep,
            as_floats(self._tally),
            draws,
            loss=problem.loss,
            lam=problem.lam,
            relaxation=self._pace.relaxation,
            weighted_mean=self.average == "weighted",
            shrinking=self._pace.lets_rows_sleep(problem.loss, state.epochs),
            n_threads=problem.threads,
        )
        problem.put_back(state.masses, masses)
        problem.put_back(state.asleep, asleep)
        state.epochs += len(draws) / self.n_active
        self._best_is_new = False

    def _end_start(self) -> None:
        assert self._start is not None
        if self._newton is None or self._start.draws < self.n_active:  # cut short: no time for more
            self._best = self._start.end(self._state.w)
        else:
            self._best, point = self._newton.begin(self._start.weights(), self._state.masses)
            self._state.w = point.w
        self._best_is_new = True
        self._mean = self._best.weights
        self._state.violations += self._start.tally["violations"]
        self._start = None


def _new_state(problem: Objectives) -> SdcaState:
    shape = (problem.n_problems, problem.n_rows)
    return SdcaState(
        w=problem.zeros(),
        masses=np.zeros(shape),
        asleep=np.zeros(shape, dtype=np.uint8),
        violations=np.zeros(problem.n_problems),
        epochs=0,
    )
