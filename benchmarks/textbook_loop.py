"""Kernel Pegasos for several classes as one would write it in an afternoon, and ours beside it.

Both are given the kernel matrix and make the same draws.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import contestants
import datasets
import numpy as np
import numpy.typing as npt
from datasets import Labels

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """What both are told: rows are drawn one by one by ``default_rng(seed).integers``."""

    lam: float
    n_steps: int
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """``f_p(x) = sum_j coef[p, j] K(x_j, x)``; a row of ``coef`` and a count for each class."""

    coef: Floats
    violations: Counts
    loop_seconds: float | None = None  # of the training loop alone, where it is told


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    fit: Callable[[Floats, Labels, Settings], Fitted]


def textbook(K: Floats, y: Labels, settings: Settings) -> Fitted:
    """Train with Fig. 3 of the Pegasos paper: a sum over all rows for every draw and class."""
    signs = datasets.one_vs_rest(y)
    alpha = np.zeros(signs.shape)
    draws = np.random.default_rng(settings.seed).integers(len(y), size=settings.n_steps)
    for t, i in enumerate(draws, start=1):
        for c in range(len(signs)):
            if signs[c, i] * ((alpha[c] * signs[c]) @ K[i]) / (settings.lam * t) < 1:
                alpha[c, i] += 1
    coef = alpha * signs / (settings.lam * settings.n_steps)
    return Fitted(coef, alpha.sum(axis=1).astype(np.int64))


def estimator(settings: Settings, threads: int, **kernel: Any) -> Any:
    """Return ours, to be trained just so."""
    from pegasos import KernelPegasosClassifier

    return KernelPegasosClassifier(
        settings.lam,
        **kernel,
        solver="pegasos",
        average=None,
        sampling="uniform",
        max_steps=settings.n_steps,
        tol=None,
        random_state=settings.seed,
        n_jobs=threads,
    )


def _ours(threads: int) -> Callable[[Floats, Labels, Settings], Fitted]:
    def fit(K: Floats, y: Labels, settings: Settings) -> Fitted:
        model = estimator(settings, threads, kernel="precomputed").fit(K, y)
        violations = np.atleast_1d(model.n_violations_).astype(np.int64)
        coef = np.zeros((len(violations), len(y)))
        coef[:, model.support_] = model.dual_coef_
        return Fitted(coef, violations, model.history_[-1]["seconds"])

    return fit


CONTESTANTS = (
    Contestant(
        key="textbook", title="textbook loop", group="textbook", fit=textbook, needs="numpy"
    ),
    *(
        Contestant(
            key=key,
            title=f"KernelPegasosClassifier, {threads}",
            group="pegasos",
            fit=_ours(n_jobs),
            ours=True,
            needs="pegasos",
        )
        for key, threads, n_jobs in (
            ("pegasos-1", "1 thread", 1),
            ("pegasos-all", "all cores", -1),
        )
    ),
)
BY_KEY = {contestant.key: contestant for contestant in CONTESTANTS}
