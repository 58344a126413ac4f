"""Newton's steps on the objective with the corner of the hinge rounded, where features are few.

The slope of the rounded hinge falls from 1 to 0 on a ramp about the margin 1. At any weights these
slopes are dual masses, so each look gives a bound. At the minimum of the rounded objective the
weights are those of the masses, and what is left of the gap is the price of the rounding, about
the square of the ramp's width: then the ramp is halved.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos import _core
from pegasos._problem import Certificate, Objectives, inner_products
from pegasos._validation import Floats

# Chosen by measurement on cov1, a9a and ijcnn1: see docs/how_it_works.md.
_FIRST_WIDTH = 0.5
# With more rows to a weight, the gradient steps before come as close in less time.
_MOST_ROWS_PER_WEIGHT = 5000
# A step squares the entries of each row on the ramp (an eighth of them, log loss: all). Where a row
# has more than so many entries, ascent is the quicker way.
_MOST_ENTRIES = {"hinge": 64, "log": 16}
# The ramp is halved when rounding makes up so much of the gap.
_MOSTLY_ROUNDING = 0.5
# Steps that leave more than this of the gap do not pay; after two in a row ascent goes on alone.
_WORTHWHILE = 0.75
_MOST_IDLE_STEPS = 2
# If no more than this of the first step goes downhill, it comes from too far away: the same.
_TOO_SHORT = 0.25


@dataclass(frozen=True)
class DualPoint:
    """The masses that suit the margins at some weights."""

    margins_at: Floats
    width: float
    w: Floats  # the weights that the masses stand for
    dual: Floats  # the dual objective of each problem


@dataclass(frozen=True)
class _Look:
    """What sums over all rows tell of some weights; one row per problem."""

    certificate: Certificate
    point: DualPoint
    rounding: Floats  # the gap that would be left at the minimum of the rounded objective
    dual_rows: Floats
    curvature: Floats


class NewtonSteps:
    """Improves weights, and remembers how wide the ramp is."""

    def __init__(self, problem: Objectives) -> None:
        self.problem = problem
        self.width = _FIRST_WIDTH
        self._idle = 0
        self._shortest = 1.0  # of the latest steps, as a fraction of the whole way
        self._w = problem.zeros()  # where the last step has led

    @staticmethod
    def suit(problem: Objectives, entries: float, n_active: int) -> bool:
        """Tell whether a step is worth about three passes over the rows."""
        n_weights = problem.n_features + 1
        enough = n_weights**2 <= n_active <= _MOST_ROWS_PER_WEIGHT * n_weights
        return enough and entries <= _MOST_ENTRIES[problem.loss]

    @property
    def pay(self) -> bool:
        """Whether another step is likely to be worth its time."""
        return self._idle < _MOST_IDLE_STEPS

    def saved(self) -> dict[str, Any]:
        """Return what the next step needs to know."""
        return {"width": self.width, "idle": self._idle, "w": self._w}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved."""
        self.width, self._idle, self._w = saved["width"], saved["idle"], saved["w"]

    def begin(self, w: Floats, masses: Floats) -> tuple[Certificate, DualPoint]:
        """Make a step from ``w``; return the best weights and bounds, and the point it leads to.

        The masses of the point are written.
        """
        self._w = w
        before, after = self._go(masses)
        if self._shortest < _TOO_SHORT:
            self._idle = _MOST_IDLE_STEPS
        return before.certificate.improved_by(after.certificate), after.point

    def improve(self, known: Certificate) -> tuple[Certificate, DualPoint]:
        """Make another step, from where the last one has led; return the same.

        Ascent may know better weights by now, but this way gets on in great strides.
        """
        before, after = self._go()
        best = known.improved_by(before.certificate).improved_by(after.certificate)
        pays = best.relative_gap <= _WORTHWHILE * known.relative_gap
        self._idle = 0 if pays else self._idle + 1
        return best, after.point

    def _go(self, masses: Floats | None = None) -> tuple[_Look, _Look]:
        before = self._look(self._w, curvature=True)
        self._w = self._w + self._step(self._w, before)
        after = self._look(self._w, masses=masses)
        if np.all(after.rounding >= _MOSTLY_ROUNDING * after.certificate.gap):
            self.width /= 2
        return before, after

    def _look(self, w: Floats, *, curvature: bool = False, masses: Floats | None = None) -> _Look:
        problem, n = self.problem, w.shape[1]
        sums = problem.newton_terms(w, self.width, curvature=curvature, masses=masses)
        dual_rows, losses, gains = sums[:, :n], sums[:, n], sums[:, n + 1]
        dual_w = problem.weights_of_rows(dual_rows)
        bound = problem.best_scaled_dual(gains, dual_w)
        return _Look(
            Certificate(w, problem.objective(w, losses), bound),
            DualPoint(w, self.width, dual_w, problem.dual(gains, dual_w)),
            (losses - gains + inner_products(w, dual_rows)) / problem.total_weight,
            dual_rows,
            sums[:, n + 2 :],
        )

    def _step(self, w: Floats, look: _Look) -> Floats:
        problem, n = self.problem, w.shape[1]
        ridges = problem.lams * problem.total_weight
        downhill = look.dual_rows - ridges[:, np.newaxis] * w
        steps = downhill.copy()
        for ridge, curvature, step in zip(ridges, look.curvature, steps, strict=True):
            if not _core.solve_newton(curvature.reshape(n, n), ridge=ridge, right=step):
                step[:] = 0  # rounding has left no direction: stay
        falls = self._falls(w, steps, ridges, inner_products(downhill, steps))
        lengths = np.array([_length(fall) for fall in falls])
        self._shortest = float(lengths.min())
        shortened: Floats = steps * lengths[:, np.newaxis]
        return shortened

    def _falls(self, w: Floats, steps: Floats, ridges: Floats, first: Floats) -> Floats:
        """Return how steeply it goes downhill, times S, at the beginning of each step and on it."""
        problem = self.problem
        losses = problem.line_slopes(w, steps, self.width)
        per_fraction = np.outer(inner_products(steps, steps), _core.LINE_FRACTIONS)
        rises = ridges[:, np.newaxis] * (inner_products(w, steps)[:, np.newaxis] + per_fraction)
        return np.column_stack([first, losses - rises])


def _length(falls: Floats) -> float:
    """Return the fraction of a step at which it ceases to go downhill, between two looks."""
    at = (0.0, *_core.LINE_FRACTIONS)
    for k in range(1, len(at)):
        if falls[k] < 0:
            part = falls[k - 1] / (falls[k - 1] - falls[k])
            return float(at[k - 1] + (at[k] - at[k - 1]) * part)
    return 1.0
