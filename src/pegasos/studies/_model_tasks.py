"""The tasks of [[models]]: grids judged on folds, then the best cell judged on the test part."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pegasos.studies._best import best_cell, cell_of, select
from pegasos.studies._data import DataSpec
from pegasos.studies._divide import Divided, divide
from pegasos.studies._file import Study
from pegasos.studies._fits import fit_cell, fit_folds
from pegasos.studies._models import Cell, Model
from pegasos.studies._tasks import Row, Setting, Task

__all__ = ["ModelTasks", "chosen"]

# Rough, for the time left only: what a step of a kernel machine costs in steps of a linear one,
# and how many steps a run may take that ends by itself.
_KERNEL_STEP = 20.0
_UNKNOWN_STEPS = 100_000


class ModelTasks:
    """Makes the tasks of a study's models.

    Parameters
    ----------
    study : Study
        The study.
    setting : Setting
        How it is run.
    finished : callable
        Returns the table of results so far.
    """

    def __init__(self, study: Study, setting: Setting, finished: Callable[[], Any]) -> None:
        self._study = study
        self._setting = setting
        self._finished = finished
        self._last: tuple[tuple[str, int], Divided] | None = None

    def tasks(self) -> list[Task]:
        """Return all tasks; those on the same rows follow each other."""
        if not self._study.models or self._study.data is None:
            return []
        return [
            task
            for number, spec in enumerate(self._study.data.subsets())
            for repeat in range(self._setting.repeats)
            for model in self._study.models
            for task in self._tasks_of(model, spec, repeat, f"{number}/{repeat}")
        ]

    def _tasks_of(self, model: Model, spec: DataSpec, repeat: int, place: str) -> list[Task]:
        tasks = []
        if self._study.splits.n_folds > 0:
            tasks = [
                Task(
                    key=f"grid/{place}/{k}/{model.name}",
                    name=model.name,
                    title=self._title(model, spec, repeat, _said_of(cells)),
                    work=_work(model, cells) * self._study.splits.n_folds,
                    run=partial(self._grid, model, cells, spec, repeat),
                )
                for k, cells in enumerate(model.batches())
            ]
        if self._study.splits.test is not None:
            tasks.append(
                Task(
                    key=f"final/{place}/{model.name}",
                    name=model.name,
                    title=self._title(model, spec, repeat, ["test part"]),
                    work=_work(model, model.cells()[-1:]),
                    run=partial(self._final, model, spec, repeat),
                )
            )
        return tasks

    def _title(self, model: Model, spec: DataSpec, repeat: int, more: list[str]) -> str:
        repeats = self._setting.repeats
        which = [f"repeat {repeat + 1} of {repeats}"] if repeats > 1 else []
        return ", ".join(filter(None, [model.name, spec.subset, *which, *more]))

    def _grid(self, model: Model, cells: list[Cell], spec: DataSpec, repeat: int) -> list[Row]:
        setting = self._setting
        seed = setting.seed + repeat
        rows = fit_folds(model, cells, self._divided(spec, repeat), seed, setting.n_jobs)
        return [{**row, "subset": spec.subset, "repeat": repeat} for row in rows]

    def _final(self, model: Model, spec: DataSpec, repeat: int) -> list[Row]:
        cell = chosen(self._finished(), model, self._study, spec.subset, repeat)
        setting = self._setting
        seed = setting.seed + repeat
        divided = self._divided(spec, repeat)
        row = fit_cell(model, cell, divided, seed, setting.n_jobs, fold=None).row
        return [{**row, "part": "final", "subset": spec.subset, "repeat": repeat}]

    def _divided(self, spec: DataSpec, repeat: int) -> Divided:
        """Return the rows; the last ones are kept, as the next task most likely wants them too."""
        key = (spec.subset, repeat)
        if self._last is None or self._last[0] != key:
            setting = self._setting
            divided = divide(spec, self._study.splits, setting.folder, setting.seed + repeat)
            self._last = key, divided
        return self._last[1]


def chosen(table: Any, model: Model, study: Study, subset: str, repeat: int) -> Cell:
    """Return the cell that did best on the folds of one repeat; its test part has no say in it."""
    if study.splits.n_folds == 0:
        return model.cells()[0]  # the only one
    rows = select(table, model=model.name, part="grid", subset=subset, repeat=repeat)
    return cell_of(model, best_cell(rows)[0])


def _said_of(cells: list[Cell]) -> list[str]:
    """Return what some cells have in common: "gamma = 0.25"."""
    first = cells[0]
    same = [name for name in first if all(cell[name] == first[name] for cell in cells)]
    return [f"{name} = {first[name]}" for name in same]


def _work(model: Model, cells: list[Cell]) -> float:
    """Return how much work it is to fit these cells once."""
    made = [model.make(cell).get_params() for cell in cells]
    steps = [params["max_steps"] or _UNKNOWN_STEPS for params in made]
    total = sum(steps)
    if model.in_lockstep:  # shorter runs are snapshots of the longest
        total = max(steps) * len({(params["loss"], params["lam"]) for params in made})
    return total * (_KERNEL_STEP if model.is_kernel else 1.0)
