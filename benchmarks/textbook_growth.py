"""How our seconds grow with rows, features, steps and violations: one of them at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from statistics import median
from typing import Any

import measure
import numpy as np
import numpy.typing as npt
from datasets import Labels
from textbook_loop import BY_KEY, Settings, estimator

_GROWN = {
    "rows": (1000, 2000, 4000, 8000),
    "features": (32, 64, 128, 256),
    "steps": (12_500, 25_000, 50_000, 100_000, 200_000),
    "violations": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),  # by way of lam
}
WHAT = tuple(_GROWN)


@dataclass(frozen=True)
class Base:
    """What stays as it is while something else grows."""

    X: npt.NDArray[np.float64]
    y: Labels
    settings: Settings
    gamma: float
    repeats: int
    limit: float


def points(what: str, base: Base) -> Iterator[dict[str, Any]]:
    """Measure one point after the other; values beyond the data are cut to it, once."""
    n_rows, n_features = base.X.shape
    most = {"rows": n_rows, "features": n_features}.get(what, inf)
    for value in sorted({min(value, most) for value in _GROWN[what]}):
        yield _point(what, value, _grown(what, value, base))


def _grown(what: str, value: Any, base: Base) -> Base:
    rng = np.random.default_rng(0)  # larger subsets contain the smaller ones
    if what == "rows":
        some = rng.permutation(len(base.y))[:value]
        return replace(base, X=base.X[some], y=base.y[some])
    if what == "features":
        return replace(base, X=base.X[:, rng.permutation(base.X.shape[1])[:value]])
    change = {"n_steps": value} if what == "steps" else {"lam": value}
    return replace(base, settings=replace(base.settings, **change))


def _point(what: str, value: float, base: Base) -> dict[str, Any]:
    """Return the seconds of the matrix and of the loop apart, and of a fit that makes its own."""
    from sklearn.metrics.pairwise import rbf_kernel

    time = partial(measure.repeated, repeats=base.repeats, limit=base.limit)
    matrix_seconds, K = time(lambda _: rbf_kernel(base.X, gamma=base.gamma))
    loop_seconds: list[float] = []

    def fit(_seed: int) -> Any:
        fitted = BY_KEY["pegasos-1"].fit(K, base.y, base.settings)
        loop_seconds.append(fitted.loop_seconds or 0.0)
        return fitted

    fit_seconds, fitted = time(fit)
    kernel_fit_seconds, _ = time(
        lambda _: estimator(base.settings, 1, kernel="rbf", gamma=base.gamma).fit(base.X, base.y)
    )
    violations = int(fitted.violations.sum())
    return {
        "value": violations if what == "violations" else value,
        "violations": violations,
        "loop": median(loop_seconds),
        "fit": median(fit_seconds),
        "kernel_fit": median(kernel_fit_seconds),
        "matrix": median(matrix_seconds),
    }


def slope(values: list[float], seconds: list[float]) -> float | None:
    """Return e of ``seconds = c * value^e``, by least squares of the logarithms."""
    if len(values) < 2 or min(*values, *seconds) <= 0:
        return None
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
