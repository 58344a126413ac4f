"""Dual coordinate ascent over a problem, with a stochastic start where the masses build up slowly.

One unit of dual mass moves a row's own margin by ``||x||^2 / (lam S)``. Where that is large (lam
small for the number of rows), ascent needs about as many epochs before the masses reach their
bounds. There the first epoch is spent on averaged gradient steps instead, masses are guessed from
the margins they end with, and ascent goes on from this dual point.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._draws import Rows
from pegasos._problem import Certificate, Problem, as_floats, new_tally
from pegasos._validation import Floats

# Chosen by measurement on cov1, a9a, ijcnn1 and text: see docs/how_it_works.md.
_START_ABOVE = 3.0
_RELAXATION_AFTER_START = 1.5
_RELAXATION = 1.2
# Without a start the first epochs move all masses: nothing is worth leaving asleep.
_RESTLESS_EPOCHS = 2


@dataclass
class SdcaState:
    """What a later call needs to go on: weights and the masses they are the sum of."""

    w: Floats
    masses: Floats
    asleep: npt.NDArray[np.uint8]
    violations: Floats
    epochs: float

    def copy(self) -> "SdcaState":
        """Return an independent copy."""
        return deepcopy(self)

    def fits(self, problem: Problem) -> bool:
        """Tell whether this state can go on with the problem."""
        shape = (problem.n_problems, problem.n_rows)
        return self.w.shape == problem.zeros().shape and self.masses.shape == shape

    def change_lam(self, ratio: float) -> None:
        """Do nothing: the run computes the weights of the masses anew."""


class SdcaRun:
    """Advances an :class:`SdcaState`; every state of it is a dual point."""

    def __init__(
        self,
        problem: Problem,
        state: SdcaState | None,
        *,
        n_active: int,
        average: str | None,
    ) -> None:
        self.problem = problem
        self.n_active = n_active
        self.average = average
        squared_norm = problem.mean_squared_norm()
        self._coupled = squared_norm > _START_ABOVE * problem.lam * problem.total_weight
        self._start = _Start(problem, squared_norm) if self._coupled and state is None else None
        shape = (problem.n_problems, problem.n_rows)
        self.state = state or SdcaState(
            w=problem.zeros(),
            masses=np.zeros(shape),
            asleep=np.zeros(shape, dtype=np.uint8),
            violations=np.zeros(problem.n_problems),
            epochs=0,
        )
        if state is not None:  # true for these rows, weights and lam, whatever they were before
            self.state.w = problem.weights_of(state.masses)
        self._u = None if average is None else problem.zeros()
        self._tally = new_tally(problem.n_problems)
        self._fresh: Certificate | None = None
        self._best: Certificate | None = None

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem, since the first call."""
        total: Floats = self.state.violations + self._tally["violations"]
        return total

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
        """Begin a new mean: older weights are further from the optimum."""
        self.state.violations += self._tally["violations"]
        if self._u is not None and self._tally["mean_clock"].any():
            self._mean = self._mean_weights()
            self._u[:] = 0
        self._tally = new_tally(self.problem.n_problems)

    def certify(self) -> Certificate:
        """Return the best weights seen at a certificate, their objective and the best bound."""
        if self._start is not None:
            self._end_start()
        certificate = self._fresh or self._look()
        self._fresh = None
        best = self._best
        if best is not None:
            better = certificate.objective < best.objective
            certificate = Certificate(
                np.where(better[:, np.newaxis], certificate.weights, best.weights),
                np.where(better, certificate.objective, best.objective),
                np.maximum(certificate.dual, best.dual),
            )
        self._best = certificate
        return certificate

    def _look(self) -> Certificate:
        problem, state = self.problem, self.state
        w = self._mean_weights()
        dual = problem.dual(problem.gain(state.masses), state.w)
        return Certificate(w, problem.objective(w), dual)

    def _mean_weights(self) -> Floats:
        clock = self._tally["mean_clock"][:, np.newaxis]
        if self._u is None:
            return self.state.w.copy()
        if not clock.any():
            return self._mean
        mean: Floats = self.state.w - self._u / clock
        return mean

    def _ascend(self, draws: Rows) -> None:
        problem, state = self.problem, self.state
        settled = self._coupled or state.epochs >= _RESTLESS_EPOCHS
        _core.sdca_steps(
            problem.data,
            problem.positive,
            state.w,
            self._u,
            state.masses,
            state.asleep,
            as_floats(self._tally),
            draws,
            loss=problem.loss,
            lam=problem.lam,
            relaxation=_RELAXATION_AFTER_START if self._coupled else _RELAXATION,
            weighted_mean=self.average == "weighted",
            shrinking=settled and problem.loss == "hinge",
            n_threads=problem.threads,
        )
        state.epochs += len(draws) / self.n_active
        self._fresh = None

    def _end_start(self) -> None:
        assert self._start is not None
        self._fresh = self._start.dual_start(self.state)
        self._mean = self._fresh.weights
        self.state.violations += self._start.tally["violations"]
        self._best = self._fresh
        self._start = None


class _Start:
    """One epoch of averaged gradient steps, and the dual point guessed from its end."""

    def __init__(self, problem: Problem, squared_norm: float) -> None:
        self.problem = problem
        self.eta0 = 1 / squared_norm
        self.draws = 0
        self.tally = new_tally(problem.n_problems)
        self._w = problem.zeros()
        self._u = problem.zeros()

    def advance(self, draws: Rows) -> None:
        problem = self.problem
        _core.sgd_start_steps(
            problem.data,
            problem.positive,
            self._w,
            self._u,
            as_floats(self.tally),
            draws,
            loss=problem.loss,
            lam=problem.lam,
            eta0=self.eta0,
            n_threads=problem.threads,
        )
        self.draws += len(draws)

    def dual_start(self, state: SdcaState) -> Certificate:
        """Guess masses into ``state`` at the mean weights, and certify those."""
        problem = self.problem
        column: Any = self.tally[:, np.newaxis]
        mean: Floats = (column["mean_clock"] * self._w - self._u) / column["mean_weight"]
        losses = np.empty(problem.n_problems)
        _core.guess_masses(
            problem.data,
            problem.positive,
            mean,
            state.masses,
            loss=problem.loss,
            n_threads=problem.threads,
            dual_rows=state.w,
            sums=losses,
        )
        objective = problem.objective(mean, losses)
        state.w /= problem.lam * problem.total_weight
        dual = problem.best_scaled_dual(problem.gain(state.masses), state.w)
        return Certificate(mean, objective, dual)
