"""What the cross-validated grids share: folds, lockstep runs, scores, the best cell refitted."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from threading import Event
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv

from pegasos._certified import CertifiedClassifier
from pegasos._draws import DrawStream, as_generator
from pegasos._grid import Grid, Judged, Table
from pegasos._progress import FitProgress
from pegasos._side_by_side import side_by_side
from pegasos._training import draws_per_call
from pegasos._validation import (
    Floats,
    StrOptions,
    Target,
    class_totals,
    encode,
    grid_values,
    n_threads,
)
from pegasos.kernels._rows import count, pick

RowNumbers = npt.NDArray[np.int64]

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


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, rows to judge by, and the weights of all rows while learning."""

    n_rows: int  # of the data
    train: RowNumbers
    test: RowNumbers
    drawn: RowNumbers  # the training rows of positive weight, in order
    weight: Floats | None
    absent: RowNumbers  # classes that the drawn rows do not have


class LockstepRun(Protocol):
    """One fold under way, for all values of lam."""

    work_per_draw: float
    batch_size: int

    def advance(self, draws: RowNumbers) -> None:
        """Make the steps of these draws."""

    def scores(self, k: int) -> Floats:
        """Return the scores of all rows for the k-th lam: a row per class, one for two classes."""


class Lockstep(AbstractContextManager["Lockstep"], Protocol):
    """Starts the runs of a grid."""

    def prepare(self, params: dict[str, Any]) -> bool:
        """Get ready for runs with these parameters; tell whether several may run at once."""

    def start(self, params: dict[str, Any], fold: Fold, threads: int) -> LockstepRun:
        """Return a run before its first step."""


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
        judge = _Judge(self.scoring, rows, labels, target, weight)
        table = Table(grid, len(folds))
        total = len(grid.runs()) * len(folds) * grid.steps[-1]
        with (
            FitProgress(type(self).__name__, total, self.verbose) as progress,
            self._lockstep(rows, target, grid) as lockstep,
        ):
            search = _Search(lockstep, folds, judge, table, self.sampling, seed, progress)
            search.run(n_threads(self.n_jobs))
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
        return folds

    def _seed(self) -> int:
        """Return the seed of every fold's draws: random_state itself if it is a number."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(as_generator(self.random_state).integers(_SEEDS))

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _own_axes(self, X: Any) -> dict[str, tuple[Any, ...]]:
        raise NotImplementedError

    def _lockstep(self, X: Any, target: Target, grid: Grid) -> Lockstep:
        raise NotImplementedError

    def _cell(self, params: dict[str, Any], seed: int) -> CertifiedClassifier:
        """Return the estimator of a cell, not fitted."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Search:
    """Fills the table: kernel by kernel, the folds of each side by side."""

    lockstep: Lockstep
    folds: list[Fold]
    judge: "_Judge"
    table: Table
    sampling: str
    seed: int
    progress: FitProgress

    def run(self, threads: int) -> None:
        for place, params in self.table.grid.runs():
            at_once = self.lockstep.prepare(params) and self.judge.may_be_asked_at_once
            work = partial(self._fold, place, params)
            side_by_side(work, len(self.folds), threads, at_once)

    def _fold(
        self, place: tuple[int, ...], params: dict[str, Any], f: int, threads: int, stop: Event
    ) -> None:
        fold, grid = self.folds[f], self.table.grid
        run = self.lockstep.start(params, fold, threads)
        rng = np.random.default_rng(self.seed)
        stream = DrawStream(rng, fold.n_rows, self.sampling, fold.drawn)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found by its scores
            snapshots = _snapshots(run, stream, grid.steps, self.progress, stop)
            for t, seconds in enumerate(snapshots):
                for k in range(len(grid.lams)):
                    judged = self.judge(run.scores(k), fold, params["loss"])
                    self.table.put((*place, k, t, f), seconds / len(grid.lams), judged)
        self.progress.say(f"smallest error {np.nanmin(self.table.test_error):.4g}")


def _snapshots(
    run: LockstepRun,
    stream: DrawStream,
    steps: tuple[int, ...],
    progress: FitProgress,
    stop: Event,
) -> Iterator[float]:
    """Advance to each number of steps; yield the seconds of training until then."""
    per_call = draws_per_call(run.work_per_draw, run.batch_size)
    seconds = 0.0
    done = 0
    for T in steps:
        started = perf_counter()
        n_draws = (T - done) * run.batch_size
        while n_draws > 0:
            if stop.is_set():
                return
            draws = stream.take(min(n_draws, per_call))
            run.advance(draws)
            n_draws -= len(draws)
            progress.advance(len(draws) // run.batch_size)
        done = T
        seconds += perf_counter() - started
        yield seconds


class _Judge:
    """Judges the scores of a cell on one fold: zero-one errors, and the user's scoring."""

    def __init__(self, scoring: Any, X: Any, y: Any, target: Target, weight: Floats | None) -> None:
        self._scorer = None if scoring is None else check_scoring(_Scored(), scoring=scoring)
        # A scorer by name never looks at X: row numbers save a copy of the rows.
        self._X = np.arange(len(target.code))[:, np.newaxis] if isinstance(scoring, str) else X
        self._y = y
        self._target = target
        self._weight = weight

    @property
    def may_be_asked_at_once(self) -> bool:
        """Whether folds may be judged at the same time: who knows what a user's scoring does."""
        return self._scorer is None

    def __call__(self, scores: Floats, fold: Fold, loss: str) -> Judged:
        started = perf_counter()
        scores[fold.absent] = -np.inf  # as if these classes were unknown
        best = scores[0] > 0 if len(scores) == 1 else scores.argmax(axis=0)
        wrong = best != self._target.code
        test, train = self._error(wrong, fold.test), self._error(wrong, fold.drawn)
        if self._scorer is None:
            return Judged(test, train, 1 - test, 1 - train, perf_counter() - started)
        test_score = self._score(scores, fold.test, loss)
        train_score = self._score(scores, fold.drawn, loss)
        return Judged(test, train, test_score, train_score, perf_counter() - started)

    def _error(self, wrong: npt.NDArray[np.bool_], rows: RowNumbers) -> float:
        weight = None if self._weight is None else self._weight[rows]
        return float(np.average(wrong[rows], weights=weight))

    def _score(self, scores: Floats, rows: RowNumbers, loss: str) -> float:
        assert self._scorer is not None
        model = _Scored(self._target.classes, scores[:, rows].T, loss)
        options = {} if self._weight is None else {"sample_weight": self._weight[rows]}
        return float(self._scorer(model, pick(self._X, rows), self._y[rows], **options))


class _Scored(CertifiedClassifier):
    """A stand-in for a cell's estimator whose scores are known already."""

    def __init__(self, classes: Any = None, scores: Any = None, loss: str = "hinge") -> None:
        self.classes = classes
        self.scores = scores
        self.loss = loss
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: scikit-learn asks for it."""
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores that are known."""
        if count(X) != len(self.scores):
            raise ValueError(
                f"scoring asked for {count(X)} rows, but only the scores of the fold's "
                f"{len(self.scores)} are known; judge the rows it is given, or use GridSearchCV"
            )
        scores: Floats = self.scores
        return scores[:, 0] if scores.shape[1] == 1 else scores
