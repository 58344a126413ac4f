"""A first epoch for dual ascent where the masses would fill too slowly."""

from typing import Any

import numpy as np

from pegasos import _core
from pegasos._draws import Rows
from pegasos._problem import Certificate, Objectives, as_floats, new_tally
from pegasos._validation import Floats


class SgdStart:
    """An epoch of gradient steps, and masses guessed from the margins it ends with.

    ``averages``: go on from the mean of the weights after every step, not from the last ones.
    """

    def __init__(
        self,
        problem: Objectives,
        masses: Floats,
        n_active: int,
        squared_norm: float,
        *,
        averages: bool,
    ) -> None:
        self.problem = problem
        self.masses = masses
        # The steps are as long as the weights: by their mean only the ratios matter.
        self.eta0 = n_active / problem.total_weight / squared_norm
        self.draws = 0
        self.tally = new_tally(problem.n_problems)
        self._w = problem.zeros()
        self._u = problem.zeros() if averages else None

    def advance(self, draws: Rows) -> None:
        """Make the steps of these draws."""
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

    def saved(self) -> dict[str, Any]:
        """Return what the steps need to go on from here."""
        return {"draws": self.draws, "tally": self.tally, "w": self._w, "u": self._u}

    def restore(self, saved: dict[str, Any], masses: Floats) -> None:
        """Go on from what was saved; the guess will go into these masses."""
        self.draws, self.tally = saved["draws"], saved["tally"]
        self._w, self._u, self.masses = saved["w"], saved["u"], masses

    def weights(self) -> Floats:
        """Return the mean of the weights after every step, or the last ones."""
        column: Any = self.tally[:, np.newaxis]
        if self._u is None:
            last: Floats = column["scale"] * self._w
            return last
        mean: Floats = (column["mean_clock"] * self._w - self._u) / column["mean_weight"]
        return mean

    def end(self, w: Floats) -> Certificate:
        """Leave a dual point in the masses and ``w``; certify the weights of the steps."""
        problem = self.problem
        weights = self.weights()
        losses, dual_rows = problem.guess_masses(weights, self.masses)
        objective = problem.objective(weights, losses)
        np.divide(dual_rows, problem.lam * problem.total_weight, out=w)
        dual = problem.best_scaled_dual(problem.gain(self.masses), w)
        return Certificate(weights, objective, dual)
