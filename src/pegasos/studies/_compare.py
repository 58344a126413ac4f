"""Reported values beside measured ones."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from statistics import fmean, linear_regression
from typing import Any

from pegasos.studies._best import CELL_COLUMNS, best_cell, select, summary
from pegasos.studies._reported import Reported
from pegasos.studies._tasks import Row
from pegasos.studies._timing import SIZES

__all__ = ["Comparison", "compare"]

# Whoever names one of these asks for cells of the grid.
_OF_THE_GRID = {*CELL_COLUMNS, "fold"}


@dataclass(frozen=True)
class Comparison:
    """A reported value beside ours.

    Attributes
    ----------
    reported : Reported
        The published value, with its source.
    measured : float or None
        Ours; None if it is not there yet, or could not be reached.
    verdict : {"met", "explained", "missed", "not measured"}
        As good or better, within the rounding of the report; not, but the study says why; not;
        not computed yet.
    """

    reported: Reported
    measured: float | None
    verdict: str


def compare(reported: Reported, table: Any, unfinished: Collection[str]) -> Comparison:
    """Compare a reported value with the table; ``unfinished`` names rows that are still to come."""
    rows = [] if reported.model in unfinished else _rows_at(reported, table)
    if not rows:
        return Comparison(reported, None, "not measured")
    measured = _measured(reported.quantity, rows)
    if not math.isnan(measured) and reported.is_met_by(measured):
        return Comparison(reported, measured, "met")
    verdict = "explained" if reported.note else "missed"
    return Comparison(reported, None if math.isnan(measured) else measured, verdict)


def _rows_at(reported: Reported, table: Any) -> list[Row]:
    """Return the rows that the report is about: of the test part, unless cells are named."""
    rows = select(table, model=reported.model, **reported.at)
    parts = {row["part"] for row in rows}
    if parts == {"grid", "final"}:
        part = "grid" if _OF_THE_GRID & reported.at.keys() else "final"
        return [row for row in rows if row["part"] == part]
    return rows


def _measured(quantity: str, rows: list[Row]) -> float:
    """Return the value that stands for these rows."""
    if quantity == "slope":
        return _slope(rows)
    column = quantity.replace("accuracy", "error")
    if rows[0]["part"] in ("timing", "race"):
        # The quickest, of those that arrived.
        value = min((row[column] for row in rows if not math.isnan(row[column])), default=math.nan)
    else:
        subsets: dict[str, list[Row]] = {}
        for row in rows:
            subsets.setdefault(row["subset"], []).append(row)
        value = fmean(_of_subset(part)[column] for part in subsets.values())
    return 1 - value if quantity.endswith("accuracy") else float(value)


def _of_subset(rows: list[Row]) -> Row:
    """Return the mean over folds and repeats: of the best cell, or of the finals of all repeats."""
    return summary(rows if rows[0]["part"] == "final" else best_cell(rows))


def _slope(rows: list[Row]) -> float:
    """Return the slope of a clock's seconds against what grows, both logarithmic."""
    growing = [size for size in SIZES if len({row[size] for row in rows}) > 1]
    if len(growing) != 1:
        return math.nan
    sizes = [math.log(row[growing[0]]) for row in rows]
    return linear_regression(sizes, [math.log(row["seconds"]) for row in rows]).slope
