"""A grid of parameters and the table of its results, in the format of GridSearchCV."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pegasos._validation import Floats


@dataclass(frozen=True)
class Grid:
    """The axes of a grid: name -> values. ``lam`` and ``max_steps`` (ascending) come last.

    One lockstep run covers all cells that differ in these two only.
    """

    axes: dict[str, tuple[Any, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def lams(self) -> Floats:
        """The values of lam."""
        return np.array(self.axes["lam"], dtype=np.float64)

    @property
    def steps(self) -> tuple[int, ...]:
        """The values of T."""
        return self.axes["max_steps"]

    def runs(self) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
        """Return the lockstep runs: where they are in the grid, and their parameters.

        The first axis (the loss) changes fastest, so that runs of one kernel follow each other.
        """
        outer = {name: self.axes[name] for name in list(self.axes)[:-2]}
        places = product(*(range(len(values)) for values in outer.values()))
        return [
            (place, {name: outer[name][k] for name, k in zip(outer, place, strict=True)})
            for place in sorted(places, key=lambda place: place[1:])
        ]

    def cells(self) -> list[dict[str, Any]]:
        """Return the parameters of every cell, in the order of the arrays."""
        return [dict(zip(self.axes, cell, strict=True)) for cell in product(*self.axes.values())]


@dataclass(frozen=True)
class Judged:
    """How good a cell is on one fold."""

    test_error: float
    train_error: float
    test_score: float
    train_score: float
    seconds: float  # that judging took


class Table:
    """What is known of every cell and fold: arrays of the grid's shape x folds."""

    def __init__(self, grid: Grid, n_folds: int) -> None:
        self.grid = grid
        shape = (*grid.shape, n_folds)
        self.test_error: Floats = np.full(shape, np.nan)
        self.train_error: Floats = np.full(shape, np.nan)
        self.test_score: Floats = np.full(shape, np.nan)
        self.train_score: Floats = np.full(shape, np.nan)
        self.fit_seconds: Floats = np.full(shape, np.nan)
        self.judge_seconds: Floats = np.full(shape, np.nan)

    def put(self, cell: tuple[int, ...], fit_seconds: float, judged: Judged) -> None:
        """Enter what a fold has come to."""
        self.test_error[cell] = judged.test_error
        self.train_error[cell] = judged.train_error
        self.test_score[cell] = judged.test_score
        self.train_score[cell] = judged.train_score
        self.fit_seconds[cell] = fit_seconds
        self.judge_seconds[cell] = judged.seconds

    def cv_results(self) -> dict[str, Any]:
        """Return the table as GridSearchCV has it."""
        results: dict[str, Any] = {}
        for name, values in (("fit_time", self.fit_seconds), ("score_time", self.judge_seconds)):
            results |= _mean_and_std(name, _by_cell(values))
        cells = self.grid.cells()
        for name in self.grid.axes:
            results[f"param_{name}"] = np.ma.array([cell[name] for cell in cells])
        results["params"] = cells
        for name, values in (("test_score", self.test_score), ("train_score", self.train_score)):
            scores = _by_cell(values)
            results |= {f"split{f}_{name}": scores[:, f] for f in range(scores.shape[1])}
            results |= _mean_and_std(name, scores)
        ranks = rankdata(-results["mean_test_score"], method="min", nan_policy="omit")
        last = np.nan_to_num(ranks, nan=len(ranks))  # a score that is NaN is never the best
        results["rank_test_score"] = last.astype(np.int32)
        return results


def _by_cell(values: Floats) -> Floats:
    return values.reshape(-1, values.shape[-1])


def _mean_and_std(name: str, values: Floats) -> dict[str, Floats]:
    return {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}
