"""What both perceptrons share: epochs until none has a mistake, and the warning if one has."""

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from pegasos._draws import DrawStream, Rows
from pegasos._progress import FitProgress
from pegasos._training import one_or_all


def run_epochs(
    estimator: Any,
    learn: Callable[[Rows, Rows], None],
    tally: npt.NDArray[Any],
    stream: DrawStream,
) -> list[dict[str, Any]]:
    """Learn until an epoch passes without a mistake, or the steps are used up; return the history.

    ``learn(problems, draws)`` advances some of the problems and counts in the tally, in place. A
    problem that has passed a whole epoch without a mistake is done.
    """
    learning: Rows = np.arange(len(tally))
    history: list[dict[str, Any]] = []
    started = perf_counter()
    n_steps = estimator.max_steps or estimator.max_iter * stream.n_rows
    with FitProgress(type(estimator).__name__, n_steps, estimator.verbose) as progress:
        while n_steps > 0 and len(learning) > 0:
            before = tally["violations"].copy()
            draws = stream.take(min(n_steps, stream.n_rows))
            learn(learning, draws)
            n_steps -= len(draws)
            mistakes = (tally["violations"] - before).astype(np.int64)
            history.append(
                {
                    "step": int(tally["clock"].max()),
                    "seconds": perf_counter() - started,
                    "violations": one_or_all(mistakes),
                }
            )
            progress.advance(len(draws))
            progress.say(f"{mistakes.sum()} mistakes")
            if len(draws) == stream.n_rows:  # part of an epoch proves nothing
                learning = learning[mistakes[learning] > 0]
    return history


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
