"""Who takes part: a function each, from (X, y, lam, budget, seed) to weights.

All minimise ``lam/2 ||w||^2 + mean hinge`` without intercept. A budget is a number of epochs, or a
tolerance where a package offers nothing else; a contestant climbs its ladder of budgets upward.
Everything a package does to the data it is given counts as its own time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import contestants
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from datasets import Labels, Matrix

_WHOLE_EPOCHS = (
    *(1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 320),
    *(400, 500, 650, 800, 1000, 1300, 1600, 2000, 2500, 3200, 4000, 5000),
)
_EPOCHS = tuple(sorted((0.1, 0.2, 0.3, 0.5, 0.75, 1.5, *_WHOLE_EPOCHS)))
_TOLERANCES = (
    *(4, 3, 2, 1.5, 1, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.015, 0.01),
    *(0.007, 0.005, 0.003, 0.002, 0.001, 0.0005, 0.0002, 0.0001),
)
# Group, name, solver, average: like SGDClassifier, Pegasos takes part with and without averaging.
_OURS = (
    ("pegasos", "pegasos", "pegasos", None),
    ("pegasos-mean", "pegasos, averaged", "pegasos", "weighted"),
    ("sdca", "sdca", "sdca", "weighted"),
)
# Small enough that the number of epochs decides.
_NO_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Fitted:
    """Weights, and how many of the seconds went into the package's own format of the data."""

    w: npt.NDArray[Any]
    conversion: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    """A way to fit, and the budgets it tries."""

    fit: Callable[[Matrix, Labels, float, float, int], Fitted]
    ladder: tuple[float, ...]
    unit: str = "epochs"

    def warm_up(self, X: Matrix, y: Labels) -> None:
        """Fit a few rows, so that loading the package is not part of the first measurement."""
        some = np.concatenate([np.flatnonzero(y == label)[:100] for label in (-1, 1)])
        self.fit(X[some], y[some], 0.01, self.ladder[0] if self.unit == "eps" else 2, 0)


def _ours(solver: str, average: str | None, threads: int) -> Callable[..., Fitted]:
    def fit(X: Matrix, y: Labels, lam: float, budget: float, seed: int) -> Fitted:
        from pegasos import PegasosClassifier

        model = PegasosClassifier(
            lam,
            solver=solver,
            average=average,
            max_steps=max(1, round(budget * len(y))),
            tol=None,
            fit_intercept=False,
            random_state=seed,
            n_jobs=threads,
        )
        return Fitted(model.fit(X, y).coef_)

    return fit


def _sgd_classifier(average: bool) -> Callable[..., Fitted]:
    def fit(X: Matrix, y: Labels, lam: float, budget: float, seed: int) -> Fitted:
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(
            loss="hinge",
            alpha=lam,
            average=average,
            max_iter=int(budget),
            tol=None,
            fit_intercept=False,
            random_state=seed,
        )
        return Fitted(model.fit(X, y).coef_)

    return fit


def _linear_svc(X: Matrix, y: Labels, lam: float, budget: float, seed: int) -> Fitted:
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        loss="hinge",
        C=1 / (lam * len(y)),
        max_iter=int(budget),
        tol=_NO_TOLERANCE,
        fit_intercept=False,
        random_state=seed,
    )
    return Fitted(model.fit(X, y).coef_)


def _snapml(threads: int) -> Callable[..., Fitted]:
    def fit(X: Matrix, y: Labels, lam: float, budget: float, seed: int) -> Fitted:
        from snapml import SupportVectorMachine

        # Its objective is regularizer/2 ||w||^2 + the sum of the losses.
        model = SupportVectorMachine(
            regularizer=lam * len(y),
            max_iter=int(budget),
            tol=_NO_TOLERANCE,
            fit_intercept=False,
            random_state=seed,
            n_jobs=threads,
        )
        return Fitted(model.fit(X, y).coef_)

    return fit


def _liblinear(X: Matrix, y: Labels, lam: float, budget: float, _seed: int) -> Fitted:
    from liblinear import liblinear
    from liblinear.liblinearutil import train

    # Its own loop over the rows in Python takes several times as long, unless numba is installed.
    liblinear.csr_to_problem = _fill_problem
    started = perf_counter()
    problem = liblinear.problem(y, sp.csr_matrix(X))
    conversion = perf_counter() - started
    model = train(problem, f"-s 3 -c {1 / (lam * len(y)):.17g} -B -1 -e {budget:.17g} -q")
    w = np.ctypeslib.as_array(model.w, (X.shape[1],)).copy()
    # Its positive class is the label it met first.
    return Fitted(w if model.get_labels()[0] == 1 else -w, conversion)


def _fill_problem(X: sp.csr_matrix, problem: Any) -> None:
    """Write the nodes of all rows: (index from 1, value), and after each row two with index -1."""
    from liblinear.liblinear import feature_node

    ends = X.indptr[1:] + 2 * np.arange(1, X.shape[0] + 1, dtype=np.int64)
    nodes = np.empty(X.nnz + 2 * X.shape[0], dtype=feature_node)
    is_entry = np.ones(len(nodes), dtype=bool)
    is_entry[ends - 1] = is_entry[ends - 2] = False
    nodes["index"] = -1
    nodes["index"][is_entry] = X.indices + 1
    nodes["value"][is_entry] = X.data
    problem.rowptr = np.concatenate([[0], ends])
    problem.x_space = nodes


CONTESTANTS = (
    Contestant(
        key="sgd",
        title="SGDClassifier",
        group="sgd",
        fit=_sgd_classifier(False),
        ladder=_WHOLE_EPOCHS,
    ),
    Contestant(
        key="sgd-mean",
        title="SGDClassifier, averaged",
        group="sgd",
        fit=_sgd_classifier(True),
        ladder=_WHOLE_EPOCHS,
    ),
    Contestant(
        key="linearsvc",
        title="LinearSVC",
        group="linearsvc",
        fit=_linear_svc,
        ladder=_WHOLE_EPOCHS,
    ),
    Contestant(
        key="liblinear",
        title="liblinear",
        group="liblinear",
        fit=_liblinear,
        ladder=_TOLERANCES,
        unit="eps",
        needs="liblinear",
    ),
    *(
        Contestant(
            key=f"snapml-{threads}",
            title=f"snapml, {threads} thread{'s'[: threads - 1]}",
            group="snapml",
            fit=_snapml(threads),
            ladder=_WHOLE_EPOCHS,
            threads=threads,
            needs="snapml",
        )
        for threads in (1, 2)
    ),
    *(
        Contestant(
            key=f"{group}-{threads}",
            title=f"PegasosClassifier {name}, {threads} thread{'s'[: threads - 1]}",
            group=group,
            fit=_ours(solver, average, threads),
            ladder=_EPOCHS,
            threads=threads,
            ours=True,
            needs="pegasos",
        )
        for group, name, solver, average in _OURS
        for threads in (1, 2)
    ),
)
BY_KEY = {contestant.key: contestant for contestant in CONTESTANTS}
# Whose seconds per epoch are compared: one of ours, and its like among the peers.
EPOCH_RIVALS = {
    "pegasos-1": "sgd",
    "pegasos-2": "sgd",
    "pegasos-mean-1": "sgd-mean",
    "pegasos-mean-2": "sgd-mean",
}
