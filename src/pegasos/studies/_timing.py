"""[[timings]] of a study file: seconds of training while one thing grows, and nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from pegasos.studies._data import Dataset, DataSpec, read_data
from pegasos.studies._errors import StudyError
from pegasos.studies._fields import Fields
from pegasos.studies._models import Model, read_single
from pegasos.studies._sources import SOURCES
from pegasos.studies._tasks import Row, Setting, Task, new_row
from pegasos.studies._textbook import LOOPS

__all__ = ["SIZES", "Timing", "read_timing"]

Fit = Callable[[], Any]

# What may grow.
SIZES = ("n_rows", "n_features", "max_steps")
_OURS = "pegasos"


@dataclass(frozen=True)
class Timing:
    """A clock, checked.

    Attributes
    ----------
    name : str
        How the results call it.
    data : DataSpec
        What is trained on.
    axis : {"n_rows", "n_features", "max_steps"}
        What takes the ``values``, one after the other.
    implementation : str
        "pegasos": the estimator below; or a loop of :mod:`pegasos.studies._textbook`.
    model : Model or None
        The estimator; None for a loop.
    parameters : dict
        Those of a loop.
    max_steps : int
        Steps of every fit, unless they are the axis.
    runs : int
        Fits per value, each with other draws; their median counts.
    """

    name: str
    data: DataSpec
    axis: str
    values: tuple[int, ...]
    implementation: str
    model: Model | None
    parameters: dict[str, float]
    max_steps: int
    runs: int

    def row_names(self) -> list[str]:
        """Return what the results call its rows."""
        return [self.name]

    def tasks(self, setting: Setting) -> list[Task]:
        """Return a task for each value."""
        return [
            Task(
                key=f"timing/{self.name}/{value}",
                name=self.name,
                title=f"{self.name}, {self.axis} = {value:,}",
                work=float(self.runs * self._steps(value)),
                n_rows=1,
                run=partial(self._measure, value, setting),
            )
            for value in self.values
        ]

    def _steps(self, value: int) -> int:
        return value if self.axis == "max_steps" else self.max_steps

    def _measure(self, value: int, setting: Setting) -> list[Row]:
        data = self._data_at(value).load(setting.folder, setting.seed)
        max_steps = self._steps(value)
        if self.model is None:
            fits = self._loops(data, max_steps, setting)
            columns: dict[str, Any] = {**self.parameters, "max_steps": max_steps}
        else:
            cell: dict[str, Any] = {"max_steps": max_steps}
            if "tol" in self.model.make({}).get_params():
                cell["tol"] = None  # the steps are all that ends a run
            fits = self._fits(self.model, cell, data, setting)
            columns = self.model.columns(cell)
        n_rows, n_features = data.X.shape
        return [
            new_row(
                model=self.name,
                part="timing",
                n_rows=n_rows,
                n_features=n_features,
                seconds=median(map(_seconds, fits)),
                **columns,
            )
        ]

    def _data_at(self, value: int) -> DataSpec:
        if self.axis == "max_steps":
            return self.data
        if self.data.name and self.axis in SOURCES[self.data.name].options:
            return replace(self.data, options={**self.data.options, self.axis: value})
        return replace(self.data, rows=value)

    def _fits(
        self, model: Model, cell: dict[str, Any], data: Dataset, setting: Setting
    ) -> Iterator[Fit]:
        for seed in self._seeds(setting):
            made = model.make(cell, random_state=seed, n_jobs=setting.n_jobs)
            yield partial(made.fit, data.X, data.y)

    def _loops(self, data: Dataset, max_steps: int, setting: Setting) -> Iterator[Fit]:
        loop = LOOPS[self.implementation]
        classes = np.unique(data.y)
        if len(classes) != 2:
            raise StudyError(
                f"{self.name}: the loop {self.implementation!r} knows two classes, but the data "
                f"has {len(classes)}",
                "say which is against the rest, with positive = ... under [timings.data]",
            )
        X, y = loop.rows(data.X), np.where(data.y == classes[1], 1.0, -1.0)
        for seed in self._seeds(setting):
            draws = np.random.default_rng(seed).integers(len(y), size=max_steps)
            yield partial(loop.train, X, y, draws, **self.parameters)

    def _seeds(self, setting: Setting) -> range:
        return range(setting.seed, setting.seed + self.runs)


def _seconds(fit: Fit) -> float:
    start = perf_counter()
    fit()
    return perf_counter() - start


def read_timing(fields: Fields) -> Timing:
    """Check a table of [[timings]]."""
    name = fields.text("name")
    axis = fields.text("axis", choices=SIZES)
    values = fields.wholes("values", at_least=1)
    runs = fields.whole("runs", 3, at_least=1)
    # On the axis of steps they come from there.
    max_steps = 0 if axis == "max_steps" else fields.whole("max_steps", at_least=1)
    data = read_data(fields.table("data") or Fields({"name": "random"}), of_models=False)
    _refuse_axis_without_data(fields, axis, data)
    implementation = fields.text("implementation", _OURS, choices=(_OURS, *LOOPS))
    model, parameters = None, {}
    if implementation == _OURS:
        model = read_single(fields, "clock", ("max_steps", "max_iter", "tol"))
    else:
        parameters = _loop_parameters(fields, implementation)
    fields.done()
    return Timing(name, data, axis, values, implementation, model, parameters, max_steps, runs)


def _refuse_axis_without_data(fields: Fields, axis: str, data: DataSpec) -> None:
    known = SOURCES[data.name].options if data.name else {}
    if axis == "n_features" and axis not in known:
        having = [name for name, source in SOURCES.items() if axis in source.options]
        raise fields.error(
            "axis", f"n_features can only grow where data is made up; use data of {having}"
        )


def _loop_parameters(fields: Fields, implementation: str) -> dict[str, float]:
    parameters = {"lam": fields.number("lam", above=0)}
    if LOOPS[implementation].has_kernel:
        parameters["gamma"] = fields.number("gamma", above=0)
    return parameters
