"""Rows of results by columns, from a study or from a fitted grid."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pegasos.report._kinds import VALUES
from pegasos.report._numbers import power_text

Columns = dict[str, npt.NDArray[Any]]

# Means that are equal but for the order of their sums are equal: the first cell is the best then.
DIGITS = 12

# What a cell of a grid has beside lam and T.
_FIXED = ("loss", "gamma", "degree", "coef0", "subset")


def opened(results: Any) -> Any:
    """Return the results of a study; those in a folder, if its path is given."""
    if isinstance(results, str | PathLike):
        from pegasos.studies import open_results

        return open_results(Path(results))
    return results


def columns_of_results(results: Any, part: str | None = None) -> Columns:
    """Return the columns of a study's table, only one part of its rows if so wanted."""
    table = results.table
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return columns if part is None else keep(columns, columns["part"] == part)


def columns_of_estimator(estimator: Any) -> Columns:
    """Return the cells of a fitted PegasosCV or KernelPegasosCV, a row per cell and fold."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "test_error_"):
        raise TypeError(
            f"{type(estimator).__name__} has no grid to draw: its test_error_ is missing; give a "
            "fitted PegasosCV or KernelPegasosCV"
        )
    errors = {name: np.asarray(getattr(estimator, f"{name}_")) for name in VALUES}
    cells = estimator.cv_results_["params"]
    n_folds = errors["test_error"].shape[-1]
    columns = {
        name: np.repeat(_objects([cell[name] for cell in cells]), n_folds) for name in cells[0]
    }
    return {**columns, **{name: values.ravel() for name, values in errors.items()}}


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    """Return an array that keeps each value as it is: a gamma may be a number or "scale"."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def keep(columns: Columns, rows: npt.NDArray[np.bool_]) -> Columns:
    """Return these rows of all columns."""
    return {name: column[rows] for name, column in columns.items()}


def of_model(columns: Columns, model: str) -> Columns:
    """Return the rows of one model."""
    rows = keep(columns, columns["model"] == model)
    if not len(rows["model"]):
        known = sorted(set(columns["model"]))
        has = f"these models have: {', '.join(map(repr, known))}" if known else "none has any yet"
        raise ValueError(f"no results of this kind for model {model!r}; {has}")
    return rows


def choose(columns: Columns, wanted: dict[str, Any]) -> tuple[Columns, dict[str, Any]]:
    """Return the cells of one loss, kernel and subset, and those of them that were a choice.

    What is not wanted by name is as in the cell with the smallest mean test error.
    """
    names = [name for name in _FIXED if name in columns]
    columns = {**columns, **{name: _or_none(columns[name]) for name in names}}
    for name, wish in wanted.items():
        if wish is not None:
            columns = _keep_wanted(columns, name, wish)
    several = [name for name in names if len(set(columns[name].tolist())) > 1]
    if several:
        best = _best_cell(columns, (*several, "lam", "max_steps"))
        for name in several:
            columns = keep(columns, _is(columns[name], best[name]))
    chosen = [name for name in names if name in several or wanted.get(name) is not None]
    return columns, {name: columns[name][0] for name in chosen}


def grids_over_lam_and_steps(columns: Columns) -> list[tuple[dict[str, Any], Columns]]:
    """Return the rows of each grid over lam and T, with the first of them; other rows are left out.

    Model, loss, kernel and subset are the same in all cells of a grid.
    """
    has_both = np.isfinite(columns["lam"].astype(np.float64)) & (columns["max_steps"] > 0)
    columns = keep(columns, has_both)
    places: dict[tuple[Any, ...], list[int]] = {}
    names = ("model", "kernel", *_FIXED)
    for i, place in enumerate(zip(*(_or_none(columns[name]) for name in names), strict=True)):
        places.setdefault(place, []).append(i)
    grids = [{name: column[rows] for name, column in columns.items()} for rows in places.values()]
    return [({name: grid[name].tolist()[0] for name in grid}, grid) for grid in grids]


def n_judged(columns: Columns) -> int:
    """Return how many folds and repeats these rows are of."""
    return len(set(zip(columns["repeat"].tolist(), columns["fold"].tolist(), strict=True)))


def _or_none(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values with None where a study's table has nothing: NaN differs from itself."""
    return _objects([None if is_nothing(value) else value for value in column.tolist()])


def is_nothing(value: Any) -> bool:
    """Tell whether a study's table has nothing here: an empty text, the count -1, or NaN."""
    if isinstance(value, float):
        return value != value
    return value is None or value in ("", -1)


def _keep_wanted(columns: Columns, name: str, wish: Any) -> Columns:
    there = columns.get(name, np.array([]))
    rows = _is(there, wish)
    if not rows.any():
        known = ", ".join(repr(value) for value in dict.fromkeys(there.tolist())) or "no choice"
        raise ValueError(f"no cells with {name}={wish!r}; for {name} there is {known}")
    return keep(columns, rows)


def _is(column: npt.NDArray[Any], wish: Any) -> npt.NDArray[np.bool_]:
    if isinstance(wish, float):  # 0.1 from a file and 0.1 computed may differ in the last digit
        return np.array(
            [isinstance(v, float | int) and bool(np.isclose(v, wish, rtol=1e-9)) for v in column],
            dtype=bool,
        )
    return np.array([bool(v == wish) for v in column], dtype=bool)


def _best_cell(columns: Columns, names: tuple[str, ...]) -> dict[str, Any]:
    cells: dict[tuple[Any, ...], list[float]] = {}
    for *cell, error in zip(*(columns[name] for name in (*names, "test_error")), strict=True):
        cells.setdefault(tuple(cell), []).append(error)
    best = min(cells, key=lambda cell: _mean(cells[cell]))
    return dict(zip(names, best, strict=True))


def _mean(values: list[float]) -> float:
    mean = float(np.mean(values))
    return round(mean, DIGITS) if np.isfinite(mean) else np.inf


def describe_choice(chosen: dict[str, Any]) -> str:
    """Write a choice as in "gamma = 0.25, loss = log"."""
    return ", ".join(
        str(value) if name == "subset" else f"{name} = {_value_text(value)}"
        for name, value in chosen.items()
        if value is not None
    )


def _value_text(value: Any) -> str:
    return power_text(float(value)) if isinstance(value, float | np.floating) else str(value)
