"""Results of a study, and what can be asked of them."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pegasos.studies._best import best_cell, select, summary
from pegasos.studies._compare import Comparison, compare
from pegasos.studies._data import Dataset, DataSpec
from pegasos.studies._divide import divide
from pegasos.studies._errors import StudyError
from pegasos.studies._fields import closest
from pegasos.studies._file import Study, parse
from pegasos.studies._fingerprint import changes, fingerprint
from pegasos.studies._fits import fit_cell
from pegasos.studies._model_tasks import chosen
from pegasos.studies._models import Cell, Model
from pegasos.studies._plan import plan
from pegasos.studies._race import Race
from pegasos.studies._store import RESULTS, Saved, read
from pegasos.studies._timing import Timing

__all__ = ["Refitted", "Results", "open_results"]


@dataclass(frozen=True)
class Refitted:
    """The best cell of a model, fitted again.

    Attributes
    ----------
    estimator : estimator
        Fitted to ``X`` and ``y``.
    prepare : pipeline or None
        Turns rows as the data has them into rows for the estimator; None: they are the same.
    X, y : matrix and array
        The rows learned from, prepared: the training part, or that of the first fold if there is no
        test part.
    X_test, y_test : matrix and array
        The rows judged by, prepared: the test part, or the rows held out of the first fold.
    X_raw, X_raw_test : matrix
        ``X`` and ``X_test`` before they were prepared.
    data : Dataset
        All of the data.
    cell : dict
        The parameters of the cell.
    """

    estimator: Any
    prepare: Any
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    X_raw: Any
    X_raw_test: Any
    data: Dataset
    cell: Cell


class Results:
    """Results of a study, complete or not.

    Made by :func:`run` and :func:`open_results`.

    Attributes
    ----------
    study : Study
        The study as it was run.
    folder : Path
        Where the results are.
    table : pyarrow.Table
        A row for each cell and fold ("grid" in the column ``part``), each best cell on a test part
        ("final"), each size that was timed ("timing"), each solver of a race ("race").
    facts : dict
        ``runs``: versions, machine, start and seconds of each run of the program; ``warnings``.
    """

    def __init__(self, study: Study, folder: Path, saved: Saved) -> None:
        self.study = study
        self.folder = folder
        self.table = saved.table
        self.facts = saved.facts
        self._prints = saved.prints
        self._done = set(saved.done)

    @property
    def is_complete(self) -> bool:
        """Whether all tasks of the study are done."""
        return not self._unfinished

    def best(self, model: str, subset: str = "") -> dict[str, Any]:
        """Return the best cell of a model, by its mean test error over folds and repeats.

        Parameters
        ----------
        model : str
            Its name.
        subset : str, default=""
            Which pair of classes, if the study has several.

        Returns
        -------
        dict
            As a row of the table, with means over folds and repeats, and standard deviations
            ``test_error_std`` and ``train_error_std``. Of the test part if there are no folds.
        """
        self._model(model)
        part = "grid" if self.study.splits.n_folds > 0 else "final"
        rows = select(self.table, model=model, part=part, subset=subset)
        if not rows:
            raise StudyError(
                f"there are no results of {model!r}{f' on {subset!r}' if subset else ''} yet",
                "run the study to its end, or name another subset",
            )
        return summary(best_cell(rows))

    def comparisons(self) -> list[Comparison]:
        """Return all reported values of the study beside the measured ones.

        Returns
        -------
        list of Comparison
            In the order of the study file.
        """
        return [compare(item, self.table, self._unfinished) for item in self.study.reported]

    def dataset(self, subset: str = "") -> Dataset:
        """Return the data of the study, as the first repeat has it.

        Parameters
        ----------
        subset : str, default=""
            Which pair of classes; empty: all of the data.

        Returns
        -------
        Dataset
            Rows, labels, names of the classes.
        """
        return self._spec(subset, whole=True).load(self.study.folder, self.study.seed)

    def refit(self, model: str, subset: str = "") -> Refitted:
        """Fit the best cell of a model again, as the first repeat did.

        Parameters
        ----------
        model : str
            Its name.
        subset : str, default=""
            Which pair of classes, if the study has several.

        Returns
        -------
        Refitted
            The estimator, with the rows it learned from and those to judge it by.
        """
        study, named = self.study, self._model(model)
        spec = self._spec(subset, whole=False)
        if named.name in self._unfinished:
            raise StudyError(f"{model!r} is not finished", "run the study to its end")
        cell = chosen(self.table, named, study, subset, repeat=0)
        data = spec.load(study.folder, study.seed)
        divided = divide(data, study.splits, study.seed)
        has_test = study.splits.test is not None
        with warnings.catch_warnings(action="ignore"):  # they are among the facts
            fitted = fit_cell(
                named, cell, divided, study.seed, n_jobs=None, fold=None if has_test else 0
            )
        if has_test:
            X, y, X_test, y_test = divided.X, divided.y, divided.X_test, divided.y_test
        else:
            (X, y), (X_test, y_test) = (
                (divided.X[rows], divided.y[rows]) for rows in divided.folds[0]
            )
        return Refitted(
            estimator=fitted.estimator,
            prepare=fitted.prepare,
            X=fitted.X,
            y=y,
            X_test=fitted.X_test,
            y_test=y_test,
            X_raw=X,
            X_raw_test=X_test,
            data=data,
            cell=cell,
        )

    @cached_property
    def _unfinished(self) -> set[str]:
        """What the results call the rows that are still to come."""
        tasks = plan(self.study, None, lambda: self.table)
        names = {task.name for task in tasks if task.key not in self._done}
        items: tuple[Model | Timing | Race, ...]
        items = (*self.study.models, *self.study.timings, *self.study.races)
        return {name for item in items if item.name in names for name in item.row_names()}

    @cached_property
    def _data(self) -> DataSpec:
        """The data, if it is still what the results are of."""
        if self.study.data is None:
            raise StudyError("the study has no [data] for models", "ask for its table")
        changed = changes(self._prints, fingerprint(self.study))
        if changed:
            raise StudyError(
                f"{changed} has changed since the results in {self.folder} were made",
                "put the old data back, or run the study again in another folder",
            )
        return self.study.data

    def _model(self, name: str) -> Model:
        models = {model.name: model for model in self.study.models}
        if name not in models:
            raise StudyError(f"the study has no model {name!r}", closest(name, models))
        return models[name]

    def _spec(self, subset: str, *, whole: bool) -> DataSpec:
        if whole and not subset:
            return self._data
        specs = {spec.subset: spec for spec in self._data.subsets()}
        if subset not in specs:
            raise StudyError(f"the study has no subset {subset!r}", closest(subset, specs))
        return specs[subset]


def open_results(folder: str | Path) -> Results:
    """Open the results of a study, complete or not.

    Parameters
    ----------
    folder : str or Path
        Where a study was run.

    Returns
    -------
    Results
        As of now; a run that is going on does not mind.

    Raises
    ------
    StudyError
        There is nothing, or nothing that can be read.
    """
    folder = Path(folder)
    saved = read(folder)
    if saved is None:
        raise StudyError(
            f"there are no results in {folder}: {RESULTS} is missing",
            "run a study there first ('pegasos study run NAME -o FOLDER')",
        )
    study = parse(saved.text, name=saved.name, folder=Path(saved.folder), file=folder / RESULTS)
    return Results(study, folder, saved)
