"""The tables of the page. Every number is there twice: as people read it, and in full."""

from dataclasses import dataclass
from math import isfinite, log10
from statistics import fmean
from typing import Any

from pegasos.report._numbers import count_text, error_text, percent_text, seconds_text
from pegasos.report._scores import Score, cell_text, place_text
from pegasos.report._table import columns_of_results, is_nothing

UNKNOWN = "–"


@dataclass(frozen=True)
class Number:
    """A number in a table."""

    text: str
    value: float


Cell = str | Number


@dataclass(frozen=True)
class Table:
    """A table of the page; the columns are named, and so is the first cell of each row."""

    head: tuple[str, ...]
    rows: list[tuple[Cell, ...]]


def comparisons_table(comparisons: list[Any]) -> Table:
    """Return reported values beside ours."""
    head = ("model", "where", "quantity", "reported", "measured here", "verdict", "note", "source")
    return Table(head, [_comparison(comparison) for comparison in comparisons])


def _comparison(comparison: Any) -> tuple[Cell, ...]:
    reported, measured = comparison.reported, comparison.measured
    is_time = reported.quantity == "seconds"
    decimals = max(0, round(-log10(2 * reported.rounding)))
    return (
        reported.model,
        place_text(reported.at) or "its best",
        reported.quantity.replace("_", " "),
        _of(reported.value, seconds_text if is_time else f"{{:.{decimals}f}}".format),
        _of(measured, seconds_text if is_time else "{:.4f}".format),
        comparison.verdict,
        reported.note,
        reported.source,
    )


def models_table(scores: list[Score]) -> Table:
    """Return what each model has come to; the columns that nothing is known of are left out."""
    errors = ("test error", "train error", "final test error", "final train error")
    head = ("model", "subset", "best cell", *errors, "seconds", "relative gap", "support vectors")
    by_model: dict[str, list[Score]] = {}
    for score in scores:
        by_model.setdefault(score.model, []).append(score)
    rows: list[tuple[Cell, ...]] = []
    for its in by_model.values():
        if len(its) > 1:
            rows.append(_mean_row(its))
        rows += map(_row, its)
    return _without_empty(Table(head, rows))


def _row(score: Score) -> tuple[Cell, ...]:
    final = score.final
    return (
        score.model,
        score.subset,
        cell_text(score.cell),
        *_errors(score),
        _of(final.get("test_error"), error_text),
        _of(final.get("train_error"), error_text),
        _of(score.seconds, seconds_text),
        _of(final.get("gap"), percent_text),
        _of(final.get("n_support"), count_text),
    )


def _mean_row(its: list[Score]) -> tuple[Cell, ...]:
    """Return the means over subsets of what is known of all of them; there is no mean of cells."""
    _, _, _, *columns = zip(*map(_row, its), strict=True)
    writers = (error_text,) * 4 + (seconds_text, percent_text, count_text)
    means: list[Cell] = []
    for column, write in zip(columns, writers, strict=True):
        known = [cell.value for cell in column if isinstance(cell, Number)]
        means.append(_of(fmean(known), write) if len(known) == len(its) else UNKNOWN)
    return (its[0].model, f"mean of {len(its)}", "", *means)


def _errors(score: Score) -> tuple[Cell, Cell]:
    """Return test and train error of the best cell; nothing if there was no choice to make."""
    if not score.n_judged:
        return UNKNOWN, UNKNOWN
    test = Number(error_text(score.error, score.spread), score.error)
    return test, _of(score.cell.get("train_error"), error_text)


def timings_table(results: Any) -> Table:
    """Return the seconds of training by size."""
    head = ("timing", "rows", "features", "T", "seconds")
    names = ("n_rows", "n_features", "max_steps")
    rows = columns_of_results(results, "timing")
    columns = zip(*(rows[name].tolist() for name in ("model", *names, "seconds")), strict=True)
    return Table(
        head,
        [
            (model, *(_of(size, count_text) for size in sizes), _of(seconds, seconds_text))
            for model, *sizes, seconds in columns
        ],
    )


def races_table(results: Any) -> Table:
    """Return who took how long to come close to the optimum."""
    head = ("race", "seconds", "T", "objective", "dual bound", "relative gap", "test error")
    rows = columns_of_results(results, "race")
    writers = {
        "seconds": seconds_text,
        "max_steps": count_text,
        "objective": "{:.6g}".format,
        "dual_objective": "{:.6g}".format,
        "gap": percent_text,
        "test_error": error_text,
    }
    table = Table(head, [])
    for model, *values in zip(*(rows[n].tolist() for n in ("model", *writers)), strict=True):
        seconds, *others = map(_of, values, writers.values())
        table.rows.append((model, "not reached" if seconds == UNKNOWN else seconds, *others))
    return _without_empty(table)


def _of(value: Any, write: Any) -> Cell:
    if is_nothing(value) or not isfinite(value):
        return UNKNOWN
    return Number(write(value), float(value))


def _without_empty(table: Table) -> Table:
    kept = [
        j
        for j in range(len(table.head))
        if j == 0 or any(row[j] not in ("", UNKNOWN) for row in table.rows)
    ]
    return Table(
        tuple(table.head[j] for j in kept), [tuple(row[j] for j in kept) for row in table.rows]
    )
