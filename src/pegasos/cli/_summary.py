"""What came out of a study: the best model of each kind, and reported beside measured."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pegasos.cli._output import write_table

if TYPE_CHECKING:
    from pegasos.studies import Comparison, Results

__all__ = ["as_json", "best_models", "cell_text", "write_summary"]

Row = dict[str, Any]

# What tells the cells of a grid apart, with the words for it.
_AXES = {
    "loss": "{} loss",
    "kernel": "{}",
    "gamma": "gamma {:g}",
    "degree": "degree {}",
    "coef0": "coef0 {:g}",
    "lam": "lam {:g}",
    "max_steps": "T {:,}",
    "max_iter": "{} epochs",
}
_FINAL = ("test_error", "train_error", "seconds", "gap")
_MODEL_COLUMNS = ("model", "data", "best at", "error of the folds", "test error", "seconds", "gap")
_COMPARISON_COLUMNS = ("model", "at", "quantity", "reported", "measured", "verdict")
_SUBSETS_SHOWN = 5  # beyond that only their means


def best_models(results: "Results") -> list[Row]:
    """Return the best cell of every model and subset, with the fit that was judged in the end."""
    study = results.study
    subsets = [part.subset for part in study.data.subsets()] if study.data else [""]
    rows = results.table.to_pylist()
    found = []
    for model in study.models:
        for subset in subsets:
            best = results.best(model.name, subset)
            final = [
                row
                for row in rows
                if row["part"] == "final" and (row["model"], row["subset"]) == (model.name, subset)
            ]
            found.append(
                {
                    "model": model.name,
                    "subset": subset,
                    "cell": {axis: best[axis] for axis in _AXES if _is_something(best[axis])},
                    # Without folds there is one cell, and the final fit is all there is.
                    "cross_validation": None if best["part"] == "final" else _numbers(best),
                    "final": {name: _mean(row[name] for row in final) for name in _FINAL}
                    if final
                    else None,
                }
            )
    return found


def as_json(results: "Results", page: Path | None) -> Row:
    """Return the summary as plain values, of which JSON can be made."""
    return {
        "study": results.study.name,
        "title": results.study.title,
        "folder": str(results.folder),
        "report": None if page is None else str(page),
        "complete": results.is_complete,
        "seconds": sum(run["seconds"] for run in results.facts["runs"]),
        "models": best_models(results),
        "comparisons": [
            {
                "model": comparison.reported.model,
                "at": dict(comparison.reported.at),
                "quantity": comparison.reported.quantity,
                "reported": float(comparison.reported.value),
                "measured": comparison.measured,
                "verdict": comparison.verdict,
                "source": comparison.reported.source,
                "note": comparison.reported.note,
            }
            for comparison in results.comparisons()
        ],
    }


def write_summary(results: "Results") -> None:
    """Write the tables to stdout that a run ends with."""
    models = best_models(results)
    if models:
        n_subsets = len({row["subset"] for row in models})
        rows = _means(models) if n_subsets > _SUBSETS_SHOWN else models
        write_table(_MODEL_COLUMNS, map(_model_cells, rows), "Best of each model")
    comparisons = results.comparisons()
    if comparisons:
        write_table(_COMPARISON_COLUMNS, map(_comparison_cells, comparisons), "Reported / measured")


def cell_text(cell: Mapping[str, Any]) -> str:
    """Write the parameters of a cell in one line, such as "rbf, gamma 0.5, lam 1e-05, T 500"."""
    known = [
        form.format(cell[axis])
        for axis, form in _AXES.items()
        if axis in cell and cell[axis] != "hinge"  # the usual loss goes without saying
    ]
    others = [f"{name} {value}" for name, value in cell.items() if name not in _AXES]
    return ", ".join(known + others)


def _model_cells(row: Row) -> tuple[str, ...]:
    folds, final = row["cross_validation"], row["final"] or {}
    error = ""
    if folds is not None:
        error = f"{_fraction(folds['test_error'])} ± {_fraction(folds['test_error_std'])}"
    return (
        row["model"],
        row["subset"],
        cell_text(row["cell"]),
        error,
        _fraction(final.get("test_error")),
        _short((final or folds or {}).get("seconds")),
        "" if final.get("gap") is None else f"{final['gap']:.2%}",
    )


def _comparison_cells(comparison: "Comparison") -> tuple[str, ...]:
    reported = comparison.reported
    # As many digits as were reported, and two more to see by how much ours differs.
    digits = max(0, round(-math.log10(2 * reported.rounding)))
    measured = comparison.measured
    return (
        reported.model,
        cell_text(reported.at) or "its best",
        reported.quantity.replace("_", " "),
        f"{reported.value:.{digits}f}",
        "" if measured is None else f"{measured:.{digits + 2}f}",
        comparison.verdict,
    )


def _means(models: list[Row]) -> list[Row]:
    """Return one row for each model, with the means over its subsets."""
    means = []
    for name in dict.fromkeys(row["model"] for row in models):
        rows = [row for row in models if row["model"] == name]
        mean = {"model": name, "subset": f"mean of {len(rows)}", "cell": {}}
        for part in ("cross_validation", "final"):
            known = [row[part] for row in rows if row[part] is not None]
            mean[part] = (
                {key: _mean(row[key] for row in known) for key in known[0]} if known else None
            )
        means.append(mean)
    return means


def _numbers(best: Row) -> Row:
    names = ("test_error", "test_error_std", "train_error", "train_error_std", "seconds")
    return {name: _mean([best[name]]) for name in names}


def _is_something(value: Any) -> bool:
    """Tell a value from what stands in the table where there is nothing."""
    return value not in ("", -1) and not (isinstance(value, float) and math.isnan(value))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return fmean(known) if known else None


def _fraction(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
