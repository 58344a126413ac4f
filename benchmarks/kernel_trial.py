"""One contestant on one task with a Gaussian kernel, in a process that does nothing else."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import datasets
import measure
import numpy as np
import numpy.typing as npt
from datasets import DataSet, Labels, Matrix
from kernel_peers import BY_KEY, Contestant, Problem, function_of

_WARM_UP_ROWS = 50  # of each class


@dataclass(frozen=True)
class Task:
    """A data set and its parameters: either lam or C. ``positive``: this class against the rest.

    ``coef0`` is added to our kernel, in place of the bias that the peers have.
    """

    title: str
    dataset: str
    gamma: float
    lam: float | None = None
    C: float | None = None
    positive: int | None = None
    coef0: float = 0.0

    def problem(self, n_rows: int) -> Problem:
        lam = self.lam
        if lam is None:
            assert self.C is not None
            lam = 1 / (self.C * n_rows)
        return Problem(lam, self.gamma, n_rows, self.coef0)

    def load(self, dataset: DataSet, n_rows: int | None = None) -> tuple[Matrix, Labels]:
        """Return the first rows of a part of the data, or all; labels as this task has them."""
        X, y = dataset.load()
        if n_rows is not None:
            X, y = X[:n_rows].copy(), y[:n_rows].copy()
        if self.positive is not None:
            y = np.where(y == self.positive, 1, -1).astype(np.int8)
        return X, y


@dataclass(frozen=True)
class Trial:
    """All that the process needs; ``n_rows`` cuts both parts of the data."""

    key: str
    task: Task
    train: DataSet
    test: DataSet
    n_rows: int | None
    repeats: int
    limit: float

    def run(self) -> dict[str, Any]:
        """Return what was measured, as the results keep it."""
        contestant = BY_KEY[self.key]
        X, y = self.task.load(self.train, self.n_rows)
        problem = self.task.problem(len(y))
        measure.timed(lambda: _warm_up(contestant, problem, X, y))

        def fit(seed: int) -> Any:
            return contestant.make(problem, seed).fit(X, y)

        memory, (fit_seconds, model) = measure.peak_beyond(
            lambda: measure.repeated(fit, self.repeats, self.limit)
        )
        X_test, y_test = self.task.load(self.test, self.n_rows)
        predict_seconds, predicted = measure.repeated(
            lambda _: model.predict(X_test), self.repeats, self.limit
        )
        return {
            "fit_seconds": fit_seconds,
            "predict_seconds": predict_seconds,
            "error": float(np.mean(predicted != y_test)),
            "n_support": len(model.support_),
            "memory_bytes": memory,
            **judge(contestant, model, problem, X, y),
        }


def _warm_up(contestant: Contestant, problem: Problem, X: Matrix, y: Labels) -> None:
    """Fit and predict a few rows: loading the package is no part of the first measurement."""
    some = np.concatenate([np.flatnonzero(y == label)[:_WARM_UP_ROWS] for label in np.unique(y)])
    contestant.make(problem, 0).fit(X[some], y[some]).predict(X[some])


def judge(
    contestant: Contestant, model: Any, problem: Problem, X: Matrix, y: Labels
) -> dict[str, list[float]]:
    """Return the objectives of the fitted function and what it claims as bounds, one per problem.

    Peers with more than two classes have none: one against one, they solve other problems.
    """
    signs = datasets.one_vs_rest(y)
    if len(signs) > 1 and not contestant.ours:
        return {}
    function = function_of(model, ours=contestant.ours)
    objectives = measure.kernel_hinge_objectives(
        partial(_kernel, gamma=problem.gamma, coef0=problem.coef0 if contestant.ours else 0.0),
        X,
        signs,
        function.support,
        function.coef,
        problem.lam,
        function.bias,
    )
    judged = {"objectives": objectives.tolist()}
    if contestant.ours:
        judged["bounds"] = np.atleast_1d(model.dual_objective_).astype(float).tolist()
    return judged


def _kernel(A: Matrix, B: Matrix, *, gamma: float, coef0: float) -> npt.NDArray[np.float64]:
    from sklearn.metrics.pairwise import rbf_kernel

    values: npt.NDArray[np.float64] = rbf_kernel(A, B, gamma=gamma) + coef0
    return values
