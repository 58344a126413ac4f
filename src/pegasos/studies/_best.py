"""Rows of the results by cell of the grid, and which cell is the best."""

import math
from typing import Any

import numpy as np

from pegasos.studies._models import Cell, Model
from pegasos.studies._tasks import Row, new_row

__all__ = ["CELL_COLUMNS", "best_cell", "cell_of", "select", "summary"]

# What tells the cells of a model apart.
CELL_COLUMNS = ("loss", "kernel", "lam", "gamma", "coef0", "degree", "max_steps", "max_iter")
# Means that are equal but for the order of their sums are equal: the first cell is the best then.
_DIGITS = 12


def select(table: Any, **wanted: Any) -> list[Row]:
    """Return the rows of a table with these values in these columns, in their order."""
    import pyarrow.compute as pc

    for column, value in wanted.items():
        table = table.filter(pc.equal(table[column], value))
    rows: list[Row] = table.to_pylist()
    return rows


def best_cell(rows: list[Row]) -> list[Row]:
    """Return the rows of the cell with the smallest mean test error: the first of them if equal.

    What could not be measured is never the best.
    """
    cells: dict[Any, list[Row]] = {}
    for row in rows:
        cells.setdefault(_place(row), []).append(row)
    return min(cells.values(), key=_mean_error)


def summary(rows: list[Row]) -> Row:
    """Return the rows of one cell as one: means over folds and repeats, and their spread."""
    one = {**rows[0], "fold": -1, "repeat": 0}  # of all of them
    for name in ("test_error", "train_error", "seconds"):
        one[name] = float(np.mean([row[name] for row in rows]))
    for name in ("test_error", "train_error"):
        one[f"{name}_std"] = float(np.std([row[name] for row in rows]))
    return one


def cell_of(model: Model, row: Row) -> Cell:
    """Return the parameters of the cell that a row is about."""
    return next(
        cell for cell in model.cells() if _place(new_row(**model.columns(cell))) == _place(row)
    )


def _place(row: Row) -> tuple[Any, ...]:
    """Return the cell that a row is about, as something that equals itself: NaN does not."""
    values = (row[name] for name in CELL_COLUMNS)
    return tuple(None if isinstance(v, float) and math.isnan(v) else v for v in values)


def _mean_error(rows: list[Row]) -> float:
    mean = float(np.mean([row["test_error"] for row in rows]))
    return math.inf if math.isnan(mean) else round(mean, _DIGITS)
