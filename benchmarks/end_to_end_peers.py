"""Who takes part: a command from a file to a model file, and how to read the weights back."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import contestants
import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float64]

_SCRIPT = Path(__file__).with_name("end_to_end_fit.py")
_PROGRAM = Path(sys.executable).with_name("pegasos")
_EPOCHS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
_TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    """A command, the budgets it tries, the ending of the file it reads, and its weights.

    ``file`` is "svm" or "vw"; "own" is text for sparse rows and csv for dense ones.
    """

    ladder: tuple[float, ...]
    unit: str
    file: str
    weights: Callable[[Path, int], Weights]

    def command(self, data: Path, model: Path, lam: float, budget: float) -> list[str]:
        if self.ours:
            options = ["--solver", "sdca", "--no-intercept", "--lam", repr(lam)]
            return [
                str(_PROGRAM),
                "fit",
                str(data),
                "-o",
                str(model),
                *options,
                "--tol",
                f"{budget}",
            ]
        script = [sys.executable, str(_SCRIPT), self.key]
        return [*script, str(data), str(model), repr(lam), repr(budget)]


def _of_ours(model: Path, _n_features: int) -> Weights:
    from pegasos import load

    return np.asarray(load(model).coef_).ravel()


def _of_scikit_learn(model: Path, _n_features: int) -> Weights:
    import joblib

    return np.asarray(joblib.load(model).coef_).ravel()


def _of_liblinear(model: Path, n_features: int) -> Weights:
    from pegasos.io import from_liblinear

    return _padded(np.asarray(from_liblinear(model).coef_).ravel(), n_features)


def _of_vw(model: Path, n_features: int) -> Weights:
    """Return the weights by number: names that are numbers are not hashed."""
    import vowpalwabbit

    workspace: Any = vowpalwabbit.Workspace(f"-i {model} --quiet")
    weights = np.array([workspace.get_weight(j) for j in range(1, n_features + 1)])
    workspace.finish()
    return weights


def _padded(weights: Weights, n_features: int) -> Weights:
    return np.pad(weights, (0, n_features - len(weights)))


CONTESTANTS = (
    Contestant(
        key="sgd",
        title="scikit-learn script, SGDClassifier",
        group="scikit-learn",
        ladder=_EPOCHS,
        unit="epochs",
        file="own",
        weights=_of_scikit_learn,
    ),
    Contestant(
        key="linearsvc",
        title="scikit-learn script, LinearSVC",
        group="scikit-learn",
        ladder=_EPOCHS,
        unit="epochs",
        file="own",
        weights=_of_scikit_learn,
    ),
    Contestant(
        key="liblinear",
        title="liblinear's Python package",
        group="liblinear",
        ladder=_TOLERANCES,
        unit="eps",
        file="svm",
        weights=_of_liblinear,
        needs="liblinear",
    ),
    Contestant(
        key="vw",
        title="VW --sgd",
        group="vw",
        ladder=_EPOCHS,
        unit="passes",
        file="vw",
        weights=_of_vw,
        needs="vowpalwabbit",
    ),
    Contestant(
        key="pegasos",
        title="pegasos fit",
        group="pegasos",
        ladder=(0.03, 0.02, 0.01),
        unit="tol",
        file="own",
        weights=_of_ours,
        ours=True,
        needs="pegasos",
    ),
)
