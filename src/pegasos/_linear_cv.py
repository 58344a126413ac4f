"""PegasosCV: the linear machine over a whole grid of lam x T in one run."""

from typing import Any, ClassVar, Self

import numpy as np

from pegasos import _core
from pegasos._base import LinearModel
from pegasos._cv import GRID_PARAMETERS, GridClassifier
from pegasos._fold import Fold, RowNumbers
from pegasos._grid import Grid
from pegasos._linear import PegasosClassifier
from pegasos._pegasos_run import new_pegasos_state, pegasos_steps
from pegasos._problem import Problem
from pegasos._validation import (
    PARAMETERS,
    Floats,
    Target,
    fit_method,
    make_rows,
    n_threads,
    refuse_non_finite,
)

# Parameters that every cell has in common.
_SHARED = (
    "batch_size",
    "sampling",
    "average",
    "project",
    "fit_intercept",
    "intercept_scaling",
    "class_weight",
    "n_jobs",
    "verbose",
)


class PegasosCV(GridClassifier, LinearModel):
    """Linear SVMs or logistic regressions by Pegasos for a grid of lam and T, cross-validated.

    All values of ``lam`` and all classes advance together over the same draws, and every T is a
    snapshot of that one run: all T of a lam together cost what the longest costs. Each cell
    equals ``PegasosClassifier(lam, max_steps=T, tol=None, ...)`` fitted to the rows of the fold.
    The best cell is then fitted to all rows, with its certificate.

    Parameters
    ----------
    lams : sequence of float, default=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
        Strengths of the regularisation.
    steps : sequence of int or None, default=None
        Values of T, the number of steps. None: 1, 4 and 16 times the number of rows.
    losses : sequence of {"hinge", "log"}, default=("hinge",)
        The SVM, logistic regression, or both.
    cv : int, splitter or iterable of (train, test), default=5
        Folds as in GridSearchCV; a number means stratified folds without shuffling.
    scoring : str, callable or None, default=None
        What to choose the best cell by; None: accuracy. A callable gets a stand-in for the
        estimator that knows the scores of the rows it is judged on, and of no others.
    refit : bool, default=True
        Fit the best cell to all rows. Without it there are results but no predictions.
    batch_size : int, default=1
        Rows per step, at least 1.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or draws with replacement as in the paper.
    average : {None, "uniform", "weighted"}, default="weighted"
        Which weights are the model: the last, the mean of all, or their mean weighted by t.
    project : bool, default=False
        The paper's optional projection onto the ball of radius ``1/sqrt(lam)``.
    fit_intercept : bool, default=True
        Add a constant feature, regularised like all others.
    intercept_scaling : float, default=1.0
        Value of the constant feature, > 0.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of each row by its class; "balanced" goes by the training rows of
        each fold.
    random_state : int, Generator, RandomState or None, default=None
        Every fold draws from ``numpy.random.default_rng(random_state)``, started anew. Anything but
        an integer gives one seed for all folds and the last fit.
    n_jobs : int or None, default=None
        Threads; lam and classes are spread over them. No result depends on their number.
        Under ``joblib.parallel_config(backend="dask")`` the folds of each loss are tasks of the
        cluster, one thread each, and this counts for the last fit alone.
    verbose : bool or int, default=0
        Show progress with the time left on stderr.

    Attributes
    ----------
    cv_results_ : dict
        As GridSearchCV has it, with train scores; ``fit_time`` is the time of the lockstep run
        until the snapshot, divided by the number of lam.
    test_error_, train_error_ : ndarray of shape (n_losses, n_lams, n_steps, n_folds)
        Zero-one errors, on the held-out and on the training rows of each fold.
    fit_seconds_ : ndarray of the same shape
        What ``fit_time`` is made of.
    best_params_, best_index_, best_score_ : dict, int, float
        The cell with the best mean test score: the first of them if several are.
    best_estimator_ : PegasosClassifier
        The best cell fitted to all rows, with ``refit``. All its fitted attributes (``coef_``,
        ``intercept_``, ``objective_``, ``duality_gap_``, ``n_steps_``, ...) are here too.
    n_splits_ : int
        How many folds there were.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features seen during fit.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = PegasosCV(steps=(1000, 10000), random_state=0).fit(scale(X), y)
    >>> grid.test_error_.shape
    (1, 6, 2, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GRID_PARAMETERS,
        **{name: PARAMETERS[name] for name in (*_SHARED, "random_state")},
    }

    def __init__(
        self,
        lams: Any = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        *,
        steps: Any = None,
        losses: Any = ("hinge",),
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        batch_size: int = 1,
        sampling: str = "permutation",
        average: str | None = "weighted",
        project: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.lams = lams
        self.steps = steps
        self.losses = losses
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.batch_size = batch_size
        self.sampling = sampling
        self.average = average
        self.project = project
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Judge all cells on all folds, then fit the best one to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; used in place, folds are lists of row numbers.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0, for learning and for judging.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups together.

        Returns
        -------
        self
            The fitted grid.
        """
        return self._fit(X, y, sample_weight, groups)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._check_data_and_labels(X, y)

    def _own_axes(self, X: Any) -> dict[str, tuple[Any, ...]]:
        return {}

    def _lockstep(self, X: Any, target: Target, grid: Grid) -> "_LinearLockstep":
        return _LinearLockstep(self, X, target, grid)

    def _cell(self, params: dict[str, Any], seed: int) -> PegasosClassifier:
        shared = {name: getattr(self, name) for name in _SHARED}
        return PegasosClassifier(**params, **shared, random_state=seed, tol=None)


class _LinearLockstep:
    """Starts runs over the rows of X, none of which is copied."""

    def __init__(self, model: PegasosCV, X: Any, target: Target, grid: Grid) -> None:
        self.model = model
        self.X = X
        self.target = target
        self.lams = grid.lams
        self.rows = make_rows(X, 1.0, n_threads(model.n_jobs))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def prepare(self, params: dict[str, Any]) -> bool:
        return True

    def start(self, params: dict[str, Any], fold: Fold, threads: int) -> "_LinearRun":
        return _LinearRun(self, params["loss"], fold, threads)


class _LinearRun:
    """The steps of one fold for all lam and classes."""

    def __init__(self, lockstep: _LinearLockstep, loss: str, fold: Fold, threads: int) -> None:
        model = lockstep.model
        self.lockstep = lockstep
        self.problem = Problem(
            lockstep.X,
            lockstep.target,
            fold.weight,
            lams=lockstep.lams,
            loss=loss,
            bias=model._bias,
            threads=threads,
        )
        self.state = new_pegasos_state(self.problem)
        self.batch_size = min(model.batch_size, len(fold.drawn))
        self.work_per_draw = self.problem.work_per_draw()

    def advance(self, draws: RowNumbers) -> None:
        model = self.lockstep.model
        pegasos_steps(
            self.problem,
            self.state,
            draws,
            batch_size=self.batch_size,
            project=model.project,
            average=model.average,
        )

    def scores(self, k: int) -> Floats:
        n_classes = self.problem.n_problems // len(self.lockstep.lams)
        mine = slice(k * n_classes, (k + 1) * n_classes)
        weights = self.state.weights(self.problem.lams)[mine]
        weights[:, -1] *= self.problem.bias
        scores = np.empty((self.problem.n_rows, n_classes))
        _core.scores(self.lockstep.rows, weights, n_threads=self.problem.threads, scores=scores)
        if not np.all(np.isfinite(scores)):
            refuse_non_finite(self.lockstep.X, "the score of a row")
        return np.ascontiguousarray(scores.T)
