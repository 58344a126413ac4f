"""What defaults.py asks of the linear machine: the epochs it needs, and how good its start is."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pegasos import PegasosClassifier, _sdca_run

Rows = tuple[Any, Any]

_SEED = 0
_CLOSE = 0.01
_LONGEST_LADDER = 40  # epochs tried one by one
# What the solver adds to textbook ascent, switched off.
TEXTBOOK = {"_MANY_ROWS_PER_ENTRY": math.inf, "_RELAXATION": 1.0, "_RESTLESS_EPOCHS": math.inf}


def fit(data: Rows, **parameters: Any) -> PegasosClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether the steps are used up is what is asked
        return PegasosClassifier(random_state=_SEED, **parameters).fit(*data)


# --- The defaults of Pegasos ----------------------------------------------------------------------


def relative_gap(model: PegasosClassifier) -> float:
    return float(np.max(np.divide(model.duality_gap_, model.objective_)))


def epochs_and_gap(data: Rows, **parameters: Any) -> list[str]:
    model = fit(data, **parameters)
    return [f"{model.n_iter_:,}", percent(relative_gap(model))]


def standard_error(data: Rows) -> float:
    """Return that of the objective of a default fit, relative to it: other rows give another."""
    model = fit(data)
    signs = np.where(data[1] == model.classes_[1], 1.0, -1.0)
    losses = np.maximum(0, 1 - signs * model.decision_function(data[0]))
    return float(losses.std() / math.sqrt(len(losses)) / model.objective_)


def epochs_by_average(data: Rows, lam: float) -> list[str]:
    return [f"{fit(data, lam=lam, average=how).n_iter_:,}" for how in (None, "uniform", "weighted")]


# --- The constants of dual ascent -----------------------------------------------------------------


@contextmanager
def ascent_with(**constants: float) -> Iterator[None]:
    """Change constants of the package's dual ascent."""
    before = {name: getattr(_sdca_run, name) for name in constants}
    try:
        vars(_sdca_run).update(constants)
        yield
    finally:
        vars(_sdca_run).update(before)


def optimum(data: Rows, lam: float) -> float:
    return float(fit(data, lam=lam, solver="sdca", tol=1e-5).objective_)


def ascent(data: Rows, lam: float, epochs: int) -> PegasosClassifier:
    return fit(data, lam=lam, solver="sdca", max_iter=epochs, tol=None)


def epochs_until(
    is_enough: Callable[[PegasosClassifier], bool], data: Rows, lam: float, **constants: float
) -> str:
    """Return after how many epochs of ascent, each time from the start, it is enough."""
    with ascent_with(**constants):
        for epochs in range(1, _LONGEST_LADDER + 1):
            if is_enough(ascent(data, lam, epochs)):
                return str(epochs)
    return f"more than {_LONGEST_LADDER}"


def start_and_ascent(data: Rows, lam: float) -> list[str]:
    """Return what the start comes to, and what textbook ascent needs for as much."""
    best = optimum(data, lam)
    bound = ascent(data, lam, 2).dual_objective_

    def is_close(model: PegasosClassifier) -> bool:
        return bool(model.objective_ <= (1 + _CLOSE) * best)

    return [
        percent(ascent(data, lam, 1).objective_ / best - 1),
        epochs_until(is_close, data, lam, **TEXTBOOK),
        epochs_until(is_close, data, lam, **{**TEXTBOOK, "_RELAXATION": 1.8}),
        percent(1 - bound / best),
        epochs_until(lambda model: model.dual_objective_ >= bound, data, lam, **TEXTBOOK),
    ]


def start_where_rows_are_few(data: Rows, lam: float) -> list[str]:
    """Return objectives as multiples of the optimum: with a start forced, and without one."""
    best = optimum(data, lam)
    with ascent_with(_MANY_ROWS_PER_ENTRY=0.0):
        models = [ascent(data, lam, 1)]
    models += [ascent(data, lam, epochs) for epochs in (1, 6)]
    return [f"{model.objective_ / best:.1f}" for model in models]


def percent(value: float) -> str:
    return f"{100 * value:.2g}%"
