"""What both perceptrons share: epochs until none has a mistake, and the warning if one has."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from pegasos._draws import Rows
from pegasos._progress import FitProgress
from pegasos._training import one_or_all
from pegasos._validation import Floats


@dataclass
class EpochPlace:
    """Where a perceptron stands."""

    learning: Rows  # problems that have not yet passed an epoch without a mistake
    steps_left: int
    epoch_left: int  # draws of the epoch under way
    is_whole: bool  # whether that epoch visits every row
    before: Floats  # mistakes when it began
    seconds: float
    history: list[dict[str, Any]]


def run_epochs(
    estimator: Any,
    learn: Callable[[Rows, Rows], None],
    tally: npt.NDArray[Any],
    draws: Any,
    place: EpochPlace | None = None,
    after_each_part: Callable[[EpochPlace], None] | None = None,
) -> list[dict[str, Any]]:
    """Learn until an epoch passes without a mistake, or the steps are used up; return the history.

    ``learn(problems, rows)`` advances some of the problems and counts in the tally, in place. A
    problem that has passed a whole epoch without a mistake is done. ``draws`` is a DrawStream or a
    ChunkDraws; ``place`` is where an earlier call stood, whose tally and draws these are.
    """
    n_steps = estimator.max_steps or estimator.max_iter * draws.n_rows
    everyone: Rows = np.arange(len(tally))
    place = place or EpochPlace(everyone, n_steps, 0, False, np.empty(0), 0.0, [])
    started = perf_counter() - place.seconds
    try:
        with FitProgress(type(estimator).__name__, n_steps, estimator.verbose) as progress:
            progress.advance(n_steps - place.steps_left)
            while place.steps_left > 0 and len(place.learning) > 0:
                if place.epoch_left == 0:
                    place.epoch_left = min(place.steps_left, draws.n_rows)
                    place.is_whole = place.epoch_left == draws.n_rows  # a part proves nothing
                    place.before = tally["violations"].copy()
                rows = draws.take(place.epoch_left)
                learn(place.learning, rows)
                place.steps_left -= len(rows)
                place.epoch_left -= len(rows)
                place.seconds = perf_counter() - started
                progress.advance(len(rows))
                if place.epoch_left == 0:
                    mistakes = _end_epoch(place, tally)
                    progress.say(f"{mistakes} mistakes")
                if after_each_part is not None:
                    after_each_part(place)
    finally:
        draws.finish()
    return place.history


def _end_epoch(place: EpochPlace, tally: npt.NDArray[Any]) -> int:
    """Take note of an epoch; return its mistakes."""
    mistakes = (tally["violations"] - place.before).astype(np.int64)
    place.history.append(
        {
            "step": int(tally["clock"].max()),
            "seconds": place.seconds,
            "violations": one_or_all(mistakes),
        }
    )
    if place.is_whole:
        place.learning = place.learning[mistakes[place.learning] > 0]
    return int(mistakes.sum())


def warn_of_mistakes(estimator: Any, *, separable: str, instead: str) -> None:
    """Warn if the last epoch of a fit still had mistakes."""
    left = np.sum(estimator.history_[-1]["violations"])
    if left:
        averaging = "" if estimator.average else "set average='uniform', "
        warnings.warn(
            f"{type(estimator).__name__} still made {left} mistakes in the last of "
            f"{estimator.n_iter_} epochs: the classes may not be {separable}, and then it never "
            f"stops by itself. Raise max_iter, {averaging}or use {instead}.",
            ConvergenceWarning,
            stacklevel=5,  # this function, fit, its two wrappers, the caller
        )
