"""Fits cells of a model: all on all folds, or the best one on the whole training part."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from pegasos import KernelPegasosCV, PegasosCV
from pegasos.kernels._functions import scale_gamma
from pegasos.studies._certificate import certificate
from pegasos.studies._divide import Divided
from pegasos.studies._models import Cell, Model
from pegasos.studies._splits import Split
from pegasos.studies._tasks import Row, new_row

__all__ = ["Fitted", "fit_cell", "fit_folds"]

Place = tuple[int, int]  # number of the cell, number of the fold


@dataclass(frozen=True)
class Fitted:
    """One cell, fitted to some rows and judged by others.

    Attributes
    ----------
    estimator : estimator
        Takes prepared rows.
    prepare : pipeline or None
        Prepares rows; None if nothing is to be done.
    X, X_test : matrix
        The rows learned from and judged by, prepared.
    row : dict
        Its row of the results, as far as it is known here.
    """

    estimator: Any
    prepare: Any
    X: Any
    X_test: Any
    row: Row


def fit_folds(
    model: Model,
    cells: list[Cell],
    divided: Divided,
    seed: int,
    n_jobs: int | None,
    folds: Sequence[int],
) -> list[Row]:
    """Return a row for each cell and fold: what the estimator fitted to that fold's rows does.

    Cells of a model that runs in lockstep must differ in loss, lam and steps only.
    """
    model.prepare.refuse(divided.X, model.name)
    if model.in_lockstep:
        rows = dict(_in_lockstep(model, cells, divided, seed, n_jobs, folds))
    else:
        rows = {
            (c, f): _fit(model, cell, divided.X, divided.y, divided.folds[f], seed, n_jobs).row
            for c, cell in enumerate(cells)
            for f in folds
        }
    return [{**rows[place], "part": "grid", "fold": place[1]} for place in sorted(rows)]


def fit_cell(
    model: Model, cell: Cell, divided: Divided, seed: int, n_jobs: int | None, fold: int | None
) -> Fitted:
    """Fit a cell to the training part and judge it by the test part; or both on one fold."""
    model.prepare.refuse(divided.X, model.name)
    if fold is not None:
        split = divided.folds[fold]
        return _fit(model, cell, divided.X, divided.y, split, seed, n_jobs)
    model.prepare.refuse(divided.X_test, model.name)
    prepare = model.prepare.fitted(divided.X)
    X, X_test = _prepared(prepare, divided.X), _prepared(prepare, divided.X_test)
    return _judged(
        model, cell, prepare, (X, divided.y), (X_test, divided.y_test), seed=seed, n_jobs=n_jobs
    )


# --- One by one -----------------------------------------------------------------------------------


def _fit(
    model: Model, cell: Cell, X: Any, y: Any, split: Split, seed: int, n_jobs: int | None
) -> Fitted:
    prepare = model.prepare.fitted(X[split[0]])
    learn, judge = ((_prepared(prepare, X[rows]), y[rows]) for rows in split)
    return _judged(model, cell, prepare, learn, judge, seed=seed, n_jobs=n_jobs)


def _prepared(prepare: Any, X: Any) -> Any:
    return X if prepare is None else prepare.transform(X)


def _judged(
    model: Model,
    cell: Cell,
    prepare: Any,
    learn: tuple[Any, Any],
    judge: tuple[Any, Any],
    *,
    seed: int,
    n_jobs: int | None,
) -> Fitted:
    estimator = model.make(cell, random_state=seed, n_jobs=n_jobs)
    start = perf_counter()
    estimator.fit(*learn)
    seconds = perf_counter() - start
    row = _row(
        model,
        cell,
        learn[0].shape,
        train_error=_error(estimator, *learn),
        test_error=_error(estimator, *judge),
        seconds=seconds,
        **certificate(estimator),
    )
    return Fitted(estimator, prepare, learn[0], judge[0], row)


def _error(estimator: Any, X: Any, y: Any) -> float:
    return float(np.mean(estimator.predict(X) != y))


def _row(model: Model, cell: Cell, shape: tuple[int, int], **measured: Any) -> Row:
    return new_row(
        model=model.name,
        n_rows=shape[0],
        n_features=shape[1],
        **model.columns(cell),
        **measured,
    )


# --- In lockstep ----------------------------------------------------------------------------------


def _in_lockstep(
    model: Model,
    cells: list[Cell],
    divided: Divided,
    seed: int,
    n_jobs: int | None,
    wanted: Sequence[int],
) -> Iterator[tuple[Place, Row]]:
    made = [model.make(cell, random_state=seed, n_jobs=n_jobs).get_params() for cell in cells]
    for X, folds in _runs(model, made[0], divided, wanted):
        splits = [divided.folds[f] for f in folds]
        grid = _grid(model, made, X[splits[0][0]]).set_params(cv=splits)
        grid.fit(X, divided.y)
        for c, cell in enumerate(cells):
            where = _place(grid, made[c])
            for k, f in enumerate(folds):
                shape = (len(splits[k][0]), X.shape[1])
                yield (
                    (c, f),
                    _row(
                        model,
                        cell,
                        shape,
                        train_error=grid.train_error_[where][k],
                        test_error=grid.test_error_[where][k],
                        seconds=grid.fit_seconds_[where][k],
                    ),
                )


def _runs(
    model: Model, params: Cell, divided: Divided, folds: Sequence[int]
) -> Iterator[tuple[Any, Sequence[int]]]:
    """Yield prepared rows, and the folds that share them.

    All folds share one kernel matrix, unless something about the rows depends on the fold.
    """
    if not model.prepare.is_fitted and not _is_rule(params):
        yield model.prepare.of(divided.X), folds
        return
    for f in folds:
        yield model.prepare.of(divided.X, divided.folds[f][0]), [f]


def _is_rule(params: Cell) -> bool:
    """Tell whether gamma goes by the rows that are learned from."""
    return params.get("kernel") in ("rbf", "poly") and isinstance(params["gamma"], str)


def _grid(model: Model, made: list[Cell], X_train: Any) -> Any:
    """Return the grid of some cells, not fitted, without its folds."""
    kind = KernelPegasosCV if model.is_kernel else PegasosCV
    known = inspect.signature(kind).parameters
    shared = {name: value for name, value in made[0].items() if name in known}
    if model.is_kernel:
        gamma = scale_gamma(made[0]["gamma"], X_train) if _is_rule(made[0]) else made[0]["gamma"]
        shared |= {"gammas": (gamma,), "degrees": (made[0]["degree"],)}
    return kind(
        lams=_values(made, "lam"),
        steps=sorted(_values(made, "max_steps")),
        losses=_values(made, "loss"),
        refit=False,
        **shared,
    )


def _values(made: list[Cell], name: str) -> list[Any]:
    return list(dict.fromkeys(params[name] for params in made))


def _place(grid: Any, params: Cell) -> tuple[int, ...]:
    """Return where the errors of a cell are in the arrays of a grid."""
    kernel = (0, 0) if hasattr(grid, "gammas") else ()
    return (
        grid.losses.index(params["loss"]),
        *kernel,
        grid.lams.index(params["lam"]),
        grid.steps.index(params["max_steps"]),
    )
