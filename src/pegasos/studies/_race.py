"""[[races]] of a study file: seconds until the objective is within a given distance of the best.

The tables of the Pegasos paper. First the optimum is enclosed; then every solver makes fits of
growing budgets, each from the start, until one is close enough. That one is timed.
"""

from dataclasses import dataclass
from functools import partial
from math import ceil, nan
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from pegasos.studies._certificate import certificate
from pegasos.studies._data import Dataset, DataSpec, read_data
from pegasos.studies._errors import StudyError
from pegasos.studies._fields import Fields
from pegasos.studies._models import Model, read_single
from pegasos.studies._tasks import Row, Setting, Task, new_row

__all__ = ["Race", "read_race"]

_SOLVERS = ("pegasos", "sdca")
_OPTIMUM = "optimum"
_GROWTH = 1.25  # of budgets: the one found is at most a quarter larger than needed
_SMALLEST_BUDGET = 1 / 64  # of an epoch
# The bounds of the optimum are so much closer to each other than what is raced for.
_CLOSER = 100
_ROUGHLY = 1e-2  # relative gap of a first fit, which tells how large the optimum is


@dataclass(frozen=True)
class Race:
    """A race, checked.

    Attributes
    ----------
    name : str
        The results call its rows "name: solver" and "name: optimum".
    data : DataSpec
        What is trained on.
    model : Model
        Who runs; its solver and its steps are those of the race.
    suboptimality : float
        ``P(w) - P*`` to reach.
    solvers : tuple of str
        Who races.
    runs : int
        How often the winning fit is timed; the median counts.
    limit : float
        Seconds; a solver whose fits take longer is given up.
    """

    name: str
    data: DataSpec
    model: Model
    suboptimality: float
    solvers: tuple[str, ...]
    runs: int
    limit: float

    def row_names(self) -> list[str]:
        """Return what the results call its rows."""
        return [f"{self.name}: {who}" for who in (_OPTIMUM, *self.solvers)]

    def tasks(self, setting: Setting) -> list[Task]:
        """Return the race as one task: all solvers need the optimum."""
        return [
            Task(
                key=f"race/{self.name}",
                name=self.name,
                title=self.name,
                work=1e7,
                n_rows=1 + len(self.solvers),
                run=partial(self._run, setting),
            )
        ]

    def _run(self, setting: Setting) -> list[Row]:
        data = self.data.load(setting.folder, setting.seed)
        n_classes = len(np.unique(data.y))
        if n_classes != 2:
            raise StudyError(
                f"{self.name}: a race has one objective, that of two classes, but the data has "
                f"{n_classes}",
                "say which is against the rest, with positive = ... under [races.data]",
            )
        fits = _Fits(self, data, setting)
        seconds, optimum = fits.timed(solver="sdca", tol=fits.tight())
        rows = [self._row(_OPTIMUM, seconds, optimum, data)]
        goal = optimum.dual_objective_ + self.suboptimality
        rows += [self._fastest(solver, fits, goal) for solver in self.solvers]
        return rows

    def _fastest(self, solver: str, fits: "_Fits", goal: float) -> Row:
        """Return the row of the first budget that comes below the goal, or of the last one made."""
        n_rows = len(fits.data.y)
        budget = ceil(_SMALLEST_BUDGET * n_rows)
        while True:
            seconds, model = fits.timed(solver=solver, max_steps=budget, tol=None)
            if model.objective_ <= goal:
                again = [
                    fits.timed(solver=solver, max_steps=budget, tol=None)[0]
                    for _ in range(self.runs - 1)
                ]
                return self._row(solver, median([seconds, *again]), model, fits.data)
            if seconds > self.limit:
                return self._row(solver, nan, model, fits.data)
            budget = ceil(_GROWTH * budget)

    def _row(self, who: str, seconds: float, model: Any, data: Dataset) -> Row:
        columns = self.model.columns({"max_steps": model.n_steps_})
        n_rows, n_features = data.X.shape
        errors = {"train_error": 1 - model.score(data.X, data.y)}
        if data.X_test is not None:
            errors["test_error"] = 1 - model.score(data.X_test, data.y_test)
        return new_row(
            model=f"{self.name}: {who}",
            part="race",
            n_rows=n_rows,
            n_features=n_features,
            seconds=seconds,
            **errors,
            **certificate(model),
            **columns,
        )


@dataclass(frozen=True)
class _Fits:
    """Makes fits of a race, and stops their time."""

    race: Race
    data: Dataset
    setting: Setting

    def timed(self, **parameters: Any) -> tuple[float, Any]:
        setting = self.setting
        model = self.race.model.make(parameters, random_state=setting.seed, n_jobs=setting.n_jobs)
        start = perf_counter()
        model.fit(self.data.X, self.data.y)
        return perf_counter() - start, model

    def tight(self) -> float:
        """Return the relative gap at which the optimum is known well enough."""
        _, rough = self.timed(solver="sdca", tol=_ROUGHLY)
        return float(self.race.suboptimality / (_CLOSER * rough.objective_))


def read_race(fields: Fields) -> Race:
    """Check a table of [[races]]."""
    name = fields.text("name")
    suboptimality = fields.number("suboptimality", above=0)
    solvers = fields.texts("solvers", _SOLVERS, choices=_SOLVERS)
    runs = fields.whole("runs", 3, at_least=1)
    limit = fields.number("limit", 60.0, above=0)
    table = fields.table("data")
    if table is None:
        raise fields.error("data", "is missing; a race needs a table [races.data] of its own")
    data = read_data(table, of_models=False)
    model = read_single(fields, "race", ("solver", "max_steps", "max_iter", "tol"))
    if "Pegasos" not in model.estimator:
        raise fields.error("estimator", "has no objective to race for; use one of Pegasos")
    fields.done()
    return Race(name, data, model, suboptimality, solvers, runs, limit)
