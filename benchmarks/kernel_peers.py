"""Who takes part with a Gaussian kernel: an estimator each, and the function it has fitted.

``lam = 1/(C m)`` links ours to the others' C. They have a bias that costs nothing; ours has none,
or a constant in the kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import contestants
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

# The same for all: the default tolerance of the peers, and as much memory for rows of the kernel.
_TOL = 1e-3
MEMORY_MIB = 4096


@dataclass(frozen=True)
class Problem:
    """What an estimator is told, beside the data."""

    lam: float
    gamma: float
    n_rows: int
    coef0: float = 0.0  # of ours

    @property
    def C(self) -> float:  # noqa: N802 - the name it has everywhere
        return 1 / (self.lam * self.n_rows)


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    make: Callable[[Problem, int], Any]  # a new estimator, for a problem and a seed


@dataclass(frozen=True)
class Function:
    """``f_p(x) = bias + sum_j coef[p, j] K(support[j], x)``, with rows of the data as support."""

    support: npt.NDArray[np.intp]
    coef: npt.NDArray[np.float64]
    bias: float = 0.0


def function_of(model: Any, *, ours: bool) -> Function:
    """Return what was fitted. Of the peers, only for two classes."""
    # Sparse data gives scikit-learn sparse coefficients.
    coef = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    bias = 0.0 if ours else float(np.ravel(model.intercept_)[0])
    return Function(np.asarray(model.support_), np.asarray(coef, dtype=np.float64), bias)


def _svc(module: str) -> Callable[[Problem, int], Any]:
    def make(problem: Problem, _seed: int) -> Any:
        SVC = import_module(module).SVC
        return SVC(C=problem.C, gamma=problem.gamma, tol=_TOL, cache_size=MEMORY_MIB)

    return make


def _ours(threads: int) -> Callable[[Problem, int], Any]:
    def make(problem: Problem, seed: int) -> Any:
        from pegasos import KernelPegasosClassifier

        return KernelPegasosClassifier(
            problem.lam,
            gamma=problem.gamma,
            coef0=problem.coef0,
            solver="sdca",
            tol=_TOL,
            memory=MEMORY_MIB << 20,
            random_state=seed,
            n_jobs=threads,
        )

    return make


CONTESTANTS = (
    Contestant(key="svc", title="SVC", group="svc", make=_svc("sklearn.svm")),
    Contestant(
        key="intelex",
        title="scikit-learn-intelex, all cores",
        group="intelex",
        make=_svc("sklearnex.svm"),
        needs="sklearnex",
    ),
    Contestant(
        key="pegasos-1",
        title="KernelPegasosClassifier, 1 thread",
        group="pegasos",
        make=_ours(1),
        ours=True,
        needs="pegasos",
    ),
    Contestant(
        key="pegasos-all",
        title="KernelPegasosClassifier, all cores",
        group="pegasos",
        make=_ours(-1),
        ours=True,
        needs="pegasos",
    ),
)
BY_KEY = {contestant.key: contestant for contestant in CONTESTANTS}
