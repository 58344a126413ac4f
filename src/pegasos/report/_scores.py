"""How good each model of a study is: its best cell, and what became of it on the test part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.report._numbers import count_text, power_text
from pegasos.report._table import Columns, columns_of_results, is_nothing, keep, n_judged

_MEANS = ("test_error", "train_error", "seconds")


@dataclass(frozen=True)
class Score:
    """A model on one subset of the data. NaN is what is not known.

    Attributes
    ----------
    model, subset : str
        Whose score it is.
    cell : dict
        The row of the best cell.
    error, spread : float
        Mean test error of this cell and its standard deviation; of the test part if no cells
        were compared.
    n_judged : int
        How many folds and repeats these are of; 0 if no cells were compared.
    final : dict
        The best cell fitted to the whole training part: errors, seconds, certificate, number of
        support vectors. Empty if that has not been done.
    """

    model: str
    subset: str
    cell: dict[str, Any]
    error: float
    spread: float
    n_judged: int
    final: dict[str, Any]

    @property
    def seconds(self) -> float:
        """Seconds of training: of the final fit, or of the best cell."""
        return float(self.final.get("seconds", self.cell.get("seconds", np.nan)))


def scores(results: Any) -> list[Score]:
    """Return the scores of all models that have any yet, in the order of the study file."""
    columns = columns_of_results(results)
    found = []
    for model in (model.name for model in results.study.models):
        of_model = keep(columns, columns["model"] == model)
        for subset in dict.fromkeys(of_model["subset"].tolist()):
            rows = keep(of_model, of_model["subset"] == subset)
            found.append(_score(results, model, subset, rows))
    return found


def _score(results: Any, model: str, subset: str, rows: Columns) -> Score:
    grid = keep(rows, rows["part"] == "grid")
    final = _final(keep(rows, rows["part"] == "final"))
    if not len(grid["part"]):
        error = final.get("test_error", np.nan)
        return Score(model, subset, final, error, np.nan, 0, final)
    best = results.best(model, subset)
    n = n_judged(grid)
    spread = best["test_error_std"] if n > 1 else np.nan
    return Score(model, subset, best, best["test_error"], spread, n, final)


def _final(rows: Columns) -> dict[str, Any]:
    """Return the final fit: of several repeats the mean, and the certificate of the worst."""
    if not len(rows["part"]):
        return {}
    gaps = rows["gap"].astype(np.float64)
    worst = int(np.nanargmax(gaps)) if np.isfinite(gaps).any() else 0
    row = {name: column.tolist()[worst] for name, column in rows.items()}
    return {**row, **{name: float(np.mean(rows[name].astype(np.float64))) for name in _MEANS}}


def cell_text(row: Mapping[str, Any]) -> str:
    """Write a cell of a grid: "rbf kernel, gamma = 2, lam = 10⁻⁵, T = 25,000"."""
    known = (name for name in _WRITERS if not is_nothing(row.get(name)))
    return ", ".join(_WRITERS[name](row[name]) for name in known)


def place_text(place: Mapping[str, Any]) -> str:
    """Write the place in the results that a reported value is about."""
    others = (name for name in place if name not in _WRITERS)
    texts = [cell_text(place), *(f"{name} = {place[name]}" for name in others)]
    return ", ".join(filter(None, texts))


_WRITERS: dict[str, Callable[[Any], str]] = {
    "kernel": "{} kernel".format,
    "loss": "{} loss".format,
    "degree": "degree = {}".format,
    "gamma": lambda value: f"gamma = {power_text(value)}",
    "coef0": lambda value: f"coef0 = {power_text(value)}",
    "lam": lambda value: f"lam = {power_text(value)}",
    "max_steps": lambda value: f"T = {count_text(value)}",
    "max_iter": lambda value: f"epochs = {count_text(value)}",
}
