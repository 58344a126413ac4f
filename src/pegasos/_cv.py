"""What the cross-validated grids share: folds, the table of all cells, the best cell refitted."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv

from pegasos._backend import chosen_cluster
from pegasos._certified import CertifiedClassifier
from pegasos._draws import as_generator
from pegasos._fold import Fold
from pegasos._grid import Grid, Table
from pegasos._judge import Judge
from pegasos._progress import FitProgress
from pegasos._search import Lockstep, Search
from pegasos._validation import (
    Floats,
    StrOptions,
    Target,
    class_totals,
    encode,
    grid_values,
    n_threads,
)

# Epochs of a grid whose steps are not given.
_EPOCHS = (1, 4, 16)
_SEEDS = 2**31

GRID_PARAMETERS: dict[str, list[Any]] = {
    "lams": ["array-like"],
    "steps": ["array-like", None],
    "losses": ["array-like"],
    "cv": ["cv_object"],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "refit": ["boolean"],
}
# What looking at X sets, before there are results.
_NAMES = ("n_features_in_", "feature_names_in_")


class GridClassifier(CertifiedClassifier):
    """Fits all cells of a grid on all folds, and then the best cell on all rows.

    A subclass names the axes of its grid, starts lockstep runs, and makes the estimator of a cell.
    """

    lams: Any
    steps: Any
    losses: Any
    cv: Any
    scoring: Any
    refit: bool
    verbose: int | bool

    @property
    def loss(self) -> str:  # type: ignore[override]  # not a parameter here, but a result
        """The loss of the best cell; before fit "log" if there may be probabilities."""
        if hasattr(self, "best_params_"):
            best: str = self.best_params_["loss"]
            return best
        return "log" if "log" in self.losses else "hinge"

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row, by the best cell.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: one score, positive for ``classes_[1]``. More: one score per class.
        """
        if hasattr(self, "cv_results_") and not self.refit:
            raise AttributeError(
                f"this {type(self).__name__} was fitted with refit=False and cannot predict; use "
                "refit=True, or fit an estimator with best_params_"
            )
        return super().decision_function(X)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        rows, labels = self._checked(X, y)
        names = {name: vars(self)[name] for name in _NAMES if name in vars(self)}
        weight, _ = self._row_weights(sample_weight, rows)
        target = encode(labels, weight, type(self).__name__)
        grid = self._grid(rows, len(labels))
        folds = self._folds(rows, labels, groups, target, weight)
        seed = self._seed()
        judge = Judge(self.scoring, rows, labels, target, weight)
        table = Table(grid, len(folds))
        threads = n_threads(self.n_jobs)
        total = len(grid.runs()) * len(folds) * grid.steps[-1]
        with FitProgress(type(self).__name__, total, self.verbose) as progress:
            search = Search(self, rows, target, grid, folds, judge, seed)
            with chosen_cluster() as cluster:
                if cluster is None:
                    search.here(table, progress, threads)
                else:
                    replace(search, model=self._for_a_task()).elsewhere(table, progress, cluster)
        results = table.cv_results()
        best = int(results["rank_test_score"].argmin())
        estimator = self._cell(results["params"][best], seed)
        if self.refit:
            estimator.fit(X, y, sample_weight=sample_weight)
        self._forget()
        self.__dict__.update(names)
        self.classes_ = target.classes
        self.test_error_ = table.test_error
        self.train_error_ = table.train_error
        self.fit_seconds_ = table.fit_seconds
        self.cv_results_ = results
        self.n_splits_ = len(folds)
        self.best_index_ = best
        self.best_params_ = results["params"][best]
        self.best_score_ = float(results["mean_test_score"][best])
        if self.refit:
            self.best_estimator_ = estimator
            own = set(estimator.get_params()) | set(vars(self))
            self.__dict__.update({k: v for k, v in vars(estimator).items() if k not in own})
        return self

    def _forget(self) -> None:
        """Remove what an earlier fit has set; scikit-learn keeps things here during a fit."""
        shared = vars(self.best_estimator_) if hasattr(self, "best_estimator_") else {}
        for name in set(vars(self)) - set(self.get_params(deep=False)):
            if name.endswith("_") or name in shared:
                delattr(self, name)

    def _grid(self, X: Any, n_rows: int) -> Grid:
        steps = [n_rows * e for e in _EPOCHS] if self.steps is None else self._values("steps")
        return Grid(
            {
                "loss": self._values("losses"),
                **self._own_axes(X),
                "lam": self._values("lams"),
                "max_steps": tuple(sorted(int(T) for T in steps)),
            }
        )

    def _values(self, name: str) -> tuple[Any, ...]:
        return grid_values(type(self).__name__, name, getattr(self, name))

    def _folds(
        self, X: Any, y: Any, groups: Any, target: Target, weight: Floats | None
    ) -> list[Fold]:
        numbers = np.arange(len(target.code))
        folds: list[Fold] = []
        for train, test in check_cv(self.cv, y, classifier=True).split(X, y, groups):
            train, test = numbers[train], numbers[test]
            drawn = train if weight is None else train[weight[train] > 0]
            part = Target(target.classes, target.code[drawn])
            totals = class_totals(part, None if weight is None else weight[drawn])
            absent = np.flatnonzero(totals == 0)
            n_classes = len(target.classes) - len(absent)
            n_test = len(test) if weight is None else np.count_nonzero(weight[test])
            if n_classes < 2 or n_test == 0:
                raise ValueError(
                    f"{type(self).__name__}: fold {len(folds)} has {n_classes} classes to learn "
                    f"and {n_test} rows to judge by; every fold needs two classes and one row. Use "
                    "fewer folds, or cv=StratifiedKFold(...)"
                )
            combined = self._combined_weight(weight, target, totals)
            folds.append(Fold(len(numbers), train, test, drawn, combined, absent))
        if not folds:
            raise ValueError(f"cv={self.cv!r} gives no folds; use a number such as cv=5")
        return folds

    def _seed(self) -> int:
        """Return the seed of every fold's draws: random_state itself if it is a number."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(as_generator(self.random_state).integers(_SEEDS))

    def _for_a_task(self) -> Self:
        """Return what a worker needs to know of this grid: nothing that it cannot be sent."""
        here = {"cv": None, "scoring": None, "random_state": None, "n_jobs": 1, "verbose": 0}
        return type(self)(**{**self.get_params(deep=False), **here})

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _own_axes(self, X: Any) -> dict[str, tuple[Any, ...]]:
        raise NotImplementedError

    def _lockstep(self, X: Any, target: Target, grid: Grid) -> Lockstep:
        raise NotImplementedError

    def _cell(self, params: dict[str, Any], seed: int) -> CertifiedClassifier:
        """Return the estimator of a cell, not fitted."""
        raise NotImplementedError
