"""The answer of a study, which stands at the top of the page."""

from collections import Counter
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean
from typing import Any

import numpy as np

from pegasos.report._numbers import error_text, percent_text, seconds_text, slope_text
from pegasos.report._scaling import fitted_slopes
from pegasos.report._scores import Score, cell_text
from pegasos.report._table import columns_of_results

_SIZES = {"max_steps": "the number of steps", "n_rows": "the number of rows"}
_SIZES["n_features"] = "the number of features"
_VERDICTS = ("met", "explained", "missed", "not measured")


@dataclass(frozen=True)
class Fact:
    """A number that matters, what it is called, and what it is of."""

    name: str
    value: str
    about: str


@dataclass
class Answer:
    """What a study has found: a headline, the numbers that matter, and a few sentences."""

    headline: str = ""
    about: str = ""
    facts: list[Fact] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def answer(results: Any, scores: list[Score], comparisons: list[Any]) -> Answer:
    """Return the answer, as far as there is one yet."""
    made = Answer()
    by_model: dict[str, list[Score]] = {}
    for score in scores:
        if isfinite(score.error):
            by_model.setdefault(score.model, []).append(score)
    if by_model:
        best = min(by_model, key=lambda model: fmean(score.error for score in by_model[model]))
        _say_best(made, best, by_model)
        made.facts += _certificate(by_model[best]) or _certificate_of_a_fold(results, best)
    made.sentences += _slopes(results) + _races(results) + _reported(comparisons)
    return made


def _say_best(made: Answer, best: str, by_model: dict[str, list[Score]]) -> None:
    its = by_model[best]
    among = f"best of {len(by_model)} models" if len(by_model) > 1 else ""
    made.headline = f"{best}, {among}" if among else best
    if len(its) > 1:
        made.about = f"Numbers are means over {len(its)} subsets of the data."
    else:
        made.about = f"Best cell: {cell_text(its[0].cell)}." if cell_text(its[0].cell) else ""
    made.facts = [_error(its), *_final_error(its), *_seconds(its)]


def _error(its: list[Score]) -> Fact:
    error, n = fmean(score.error for score in its), its[0].n_judged
    if n == 0:
        return Fact("Test error", error_text(error), "on the test part")
    if n == 1:
        return Fact("Test error", error_text(error), "on the validation split")
    spread = fmean(score.spread for score in its)
    about = f"mean and standard deviation over {n} folds"
    return Fact("Test error", error_text(error, spread), about)


def _final_error(its: list[Score]) -> list[Fact]:
    errors = [score.final.get("test_error", float("nan")) for score in its if score.n_judged]
    known = [error for error in errors if isfinite(error)]
    if not known:
        return []
    about = "of the best cell, fitted to the whole training part"
    return [Fact("Error on the test part", error_text(fmean(known)), about)]


def _seconds(its: list[Score]) -> list[Fact]:
    known = [score.seconds for score in its if isfinite(score.seconds)]
    if not known:
        return []
    what = (
        "to fit the best cell to the whole training part" if its[0].final else "for the best cell"
    )
    return [Fact("Training", seconds_text(fmean(known)), what)]


def _certificate(its: list[Score]) -> list[Fact]:
    certified = [score.final for score in its if isfinite(score.final.get("gap", float("nan")))]
    if not certified:
        return []
    worst = max(certified, key=lambda final: final["gap"])
    about = _bounds(worst["objective"], worst["dual_objective"])
    if len(its) > 1:
        about = f"at most; {about} on {worst['subset']}"
    return [Fact("Relative gap", percent_text(worst["gap"]), about)]


def _certificate_of_a_fold(results: Any, model: str) -> list[Fact]:
    """Return the certificate of the fit without the first fold, for a study without test part."""
    if results.study.splits.test is not None or not results.is_complete:
        return []
    try:
        fitted = results.refit(model, "").estimator
    except ValueError:  # the data is not there any more, or it comes in subsets
        return []
    if not hasattr(fitted, "objective_"):
        return []
    objective, dual = np.atleast_1d(fitted.objective_), np.atleast_1d(fitted.dual_objective_)
    gaps = (objective - dual) / objective
    worst = int(gaps.argmax())
    about = f"of the fit without the first fold: {_bounds(objective[worst], dual[worst])}"
    return [Fact("Relative gap", percent_text(gaps[worst]), about)]


def _bounds(objective: float, dual: float) -> str:
    return f"objective {objective:.4g}; the optimum is at least {dual:.4g}"


def _slopes(results: Any) -> list[str]:
    return [
        f"{name}: time grows with the power {slope_text(slope)} of {_SIZES[axis]}."
        for name, axis, slope in fitted_slopes(results)
    ]


def _races(results: Any) -> list[str]:
    """Say of each race who came first."""
    rows = columns_of_results(results, "race")
    races: dict[str, dict[str, float]] = {}
    for name, seconds in zip(rows["model"].tolist(), rows["seconds"].tolist(), strict=True):
        race, _, solver = name.rpartition(": ")
        if solver != "optimum":
            races.setdefault(race, {})[solver] = seconds
    return [f"{race}: {_ranking(runners)}." for race, runners in races.items()]


def _ranking(runners: dict[str, float]) -> str:
    there = sorted((who for who in runners if isfinite(runners[who])), key=lambda who: runners[who])
    texts = [f"{who} is there after {seconds_text(runners[who])}" for who in there]
    texts += [f"{who} is not within its time" for who in runners if who not in there]
    return ", ".join(texts)


def _reported(comparisons: list[Any]) -> list[str]:
    if not comparisons:
        return []
    counts = Counter(comparison.verdict for comparison in comparisons)
    texts = [f"{counts[verdict]} {verdict}" for verdict in _VERDICTS if counts[verdict]]
    return [f"Reported values: {', '.join(texts)}."]
