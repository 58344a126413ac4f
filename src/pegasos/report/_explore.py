"""What the reader of the page can look at cell by cell: every grid over lam and T."""

from typing import Any

import numpy as np

from pegasos.report._cells import readable_on
from pegasos.report._grid import ErrorGrid, Floats, means
from pegasos.report._heatmap import HeatmapDisplay
from pegasos.report._kinds import VALUES
from pegasos.report._numbers import count_text, error_text, power_text, seconds_text
from pegasos.report._scores import cell_text
from pegasos.report._style import COLOURS
from pegasos.report._table import columns_of_results, grids_over_lam_and_steps, n_judged


def explorable(results: Any) -> dict[str, Any]:
    """Return the grids of a study as plain values, of which JSON can be made; empty without any.

    All texts are written here, so that the charts say the same as the figures and tables.
    """
    grids = []
    for row, cells in grids_over_lam_and_steps(columns_of_results(results, "grid")):
        means_of = {value: means(cells, value) for value in (*VALUES, "seconds")}
        known = [np.isfinite(means_of[value].errors) for value in VALUES]
        if all(errors.any() for errors in known) and known[0].size > 1:  # one cell is no choice
            grids.append(_grid(row, means_of, has_spread=n_judged(cells) > 1))
    if not grids:
        return {}
    smallest = [np.nanmin(np.array(grid["test_error"]["errors"], float)) for grid in grids]
    return {"grids": grids, "first": int(np.argmin(smallest)), "colours": COLOURS}


def _grid(
    row: dict[str, Any], means_of: dict[str, ErrorGrid], *, has_spread: bool
) -> dict[str, Any]:
    any_of_them = means_of["seconds"]
    kernel = cell_text({**row, "lam": None, "max_steps": None})
    return {
        "name": ", ".join(filter(None, (row["model"], row["subset"], kernel))),
        "kernel": kernel,
        "lams": [power_text(lam) for lam in any_of_them.lams],
        "steps": any_of_them.steps.tolist(),
        "step_texts": [count_text(steps) for steps in any_of_them.steps],
        "seconds": [
            ["" if np.isnan(seconds) else seconds_text(seconds) for seconds in line]
            for line in any_of_them.errors
        ],
        **{value: _errors(means_of[value], has_spread) for value in VALUES},
    }


def _errors(grid: ErrorGrid, has_spread: bool) -> dict[str, Any]:
    drawn = HeatmapDisplay(grid.errors, lams=grid.lams, steps=grid.steps)
    spread = grid.spread if has_spread else np.full_like(grid.spread, np.nan)
    return {
        "errors": _or_null(grid.errors),
        "spread": _or_null(spread),
        "best": drawn.best_,
        "is_log": drawn._is_log,
        "cells": [[drawn._text(error) for error in line] for line in grid.errors],
        "inks": [[readable_on(colour) for colour in line] for line in drawn._colours()],
        "texts": [
            ["" if np.isnan(error) else error_text(error, its) for error, its in line]
            for line in np.stack([grid.errors, spread], axis=-1)
        ],
        "ticks": [(tick, drawn._text(tick)) for tick in drawn._ticks().tolist()],
    }


def _or_null(values: Floats) -> list[list[float | None]]:
    """Return rows of numbers; JSON has no NaN."""
    return [[None if np.isnan(value) else value for value in row] for row in values.tolist()]
