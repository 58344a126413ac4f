"""The tasks of [[models]]: grids judged on folds, then the best cell judged on the test part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pegasos._cluster import Shared
from pegasos.studies._best import best_cell, cell_of, select
from pegasos.studies._data import DataSpec
from pegasos.studies._divide import Divided, divide
from pegasos.studies._file import Study
from pegasos.studies._fits import fit_cell, fit_folds
from pegasos.studies._models import Cell, Model
from pegasos.studies._tasks import Pieces, Row, Setting, Task

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
        fits = _Fits(model, spec.subset, repeat, self._setting.seed + repeat)
        shared = Shared((spec.subset, repeat), partial(self._divided, spec, repeat))
        tasks = []
        if self._study.splits.n_folds > 0:
            tasks = [
                self._grid(fits, cells, shared, f"grid/{place}/{k}/{model.name}")
                for k, cells in enumerate(model.batches())
            ]
        if self._study.splits.test is not None:
            before = tuple(task.key for task in tasks)
            tasks.append(self._final(fits, shared, f"final/{place}/{model.name}", before))
        return tasks

    def _grid(self, fits: "_Fits", cells: list[Cell], shared: Shared, key: str) -> Task:
        n_folds = self._study.splits.n_folds
        return Task(
            key=key,
            name=fits.model.name,
            title=self._title(fits, _said_of(cells)),
            work=_work(fits.model, cells) * n_folds,
            n_rows=len(cells) * n_folds,
            run=lambda: fits.grid(cells, range(n_folds), self._setting.n_jobs, shared.make()),
            pieces=Pieces(
                (), shared, lambda: [partial(fits.grid, cells, [f], 1) for f in range(n_folds)]
            ),
        )

    def _final(self, fits: "_Fits", shared: Shared, key: str, before: tuple[str, ...]) -> Task:
        def cell() -> Cell:
            return chosen(self._finished(), fits.model, self._study, fits.subset, fits.repeat)

        return Task(
            key=key,
            name=fits.model.name,
            title=self._title(fits, ["test part"]),
            work=_work(fits.model, fits.model.cells()[-1:]),
            n_rows=1,
            run=lambda: fits.final(cell(), self._setting.n_jobs, shared.make()),
            pieces=Pieces(before, shared, lambda: [partial(fits.final, cell(), 1)]),
        )

    def _title(self, fits: "_Fits", more: list[str]) -> str:
        repeats = self._setting.repeats
        which = [f"repeat {fits.repeat + 1} of {repeats}"] if repeats > 1 else []
        return ", ".join(filter(None, [fits.model.name, fits.subset, *which, *more]))

    def _divided(self, spec: DataSpec, repeat: int) -> Divided:
        """Return the rows; the last ones are kept, as the next task most likely wants them too."""
        key = (spec.subset, repeat)
        if self._last is None or self._last[0] != key:
            setting = self._setting
            seed = setting.seed + repeat
            data = spec.load(setting.folder, seed)
            self._last = key, divide(data, self._study.splits, seed)
        return self._last[1]


@dataclass(frozen=True)
class _Fits:
    """Fits of a model to the rows of one subset and repeat, which may be elsewhere."""

    model: Model
    subset: str
    repeat: int
    seed: int

    def grid(
        self, cells: list[Cell], folds: Sequence[int], n_jobs: int | None, divided: Divided
    ) -> list[Row]:
        rows = fit_folds(self.model, cells, divided, self.seed, n_jobs, folds)
        return [self._placed(row) for row in rows]

    def final(self, cell: Cell, n_jobs: int | None, divided: Divided) -> list[Row]:
        fitted = fit_cell(self.model, cell, divided, self.seed, n_jobs, fold=None)
        return [self._placed({**fitted.row, "part": "final"})]

    def _placed(self, row: Row) -> Row:
        return {**row, "subset": self.subset, "repeat": self.repeat}


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
