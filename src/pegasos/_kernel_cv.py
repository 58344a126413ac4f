"""KernelPegasosCV: kernel machines over a whole grid of kernel x lam x T on one kernel matrix."""

from contextlib import ExitStack
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np

from pegasos._cv import GRID_PARAMETERS, GridClassifier
from pegasos._fold import Fold, RowNumbers
from pegasos._grid import Grid
from pegasos._kernel import KernelPegasosClassifier
from pegasos._kernel_base import Kernel, KernelModel
from pegasos._kernel_problem import KernelProblem, refuse_not_finite
from pegasos._kernel_steps import KernelState, KernelSteps, fill_if_worth_it, mean_or_last
from pegasos._validation import (
    PARAMETERS,
    Floats,
    Target,
    fit_method,
    n_threads,
)
from pegasos.kernels import CachedRows, KernelRows, VectorKernel
from pegasos.kernels._blas import blas_on_one_thread
from pegasos.kernels._functions import scale_gamma
from pegasos.kernels._rows import VectorRows

# Parameters that every cell has in common.
_SHARED = (
    "kernel",
    "coef0",
    "sampling",
    "average",
    "class_weight",
    "n_jobs",
    "memory",
    "verbose",
)


# A run keeps scores and masses, and perhaps both for the mean: a third of what a fit needs.
_RUNS_IN_THE_ROOM_OF_A_FIT = 3


class KernelPegasosCV(GridClassifier, KernelModel):
    """Kernel Pegasos for a grid of kernels, lam and T, cross-validated on one kernel matrix.

    For each kernel the kernel matrix of all rows is computed once. On every fold all values of
    ``lam`` and all classes advance together over the same draws, so that a kernel row is read once
    for all of them; every T is a snapshot of that run, and held-out rows have their scores at once,
    for scores are kept for all rows. Each cell equals ``KernelPegasosClassifier(lam, gamma=...,
    max_steps=T, tol=None, ...)`` fitted to the rows of the fold. The best cell is then fitted to
    all rows, with its certificate.

    Parameters
    ----------
    lams : sequence of float, default=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
        Strengths of the regularisation.
    steps : sequence of int or None, default=None
        Values of T, the number of steps. None: 1, 4 and 16 times the number of rows.
    losses : sequence of {"hinge", "log"}, default=("hinge",)
        The SVM, logistic regression, or both.
    kernel : {"rbf", "poly", "linear", "precomputed"} or callable, default="rbf"
        As in KernelPegasosClassifier.
    gammas : sequence of {"scale", "auto"} or float, default=("scale",)
        Values of gamma, for "rbf" and "poly". "scale" goes by all rows of X, not by each fold's:
        all folds share one kernel matrix. A report that writes ``exp(-||a - b||^2/(2 g))`` means
        ``gamma = 1/(2 g)``.
    degrees : sequence of int, default=(3,)
        Degrees of "poly".
    coef0 : float, default=0.0
        Constant in the kernel: "rbf" and "linear" add it, which acts as a bias that is regularised
        like the rest; "poly" raises it to a power with the rest.
    cv : int, splitter or iterable of (train, test), default=5
        Folds as in GridSearchCV; a number means stratified folds without shuffling.
    scoring : str, callable or None, default=None
        What to choose the best cell by; None: accuracy. A callable gets a stand-in for the
        estimator that knows the scores of the rows it is judged on, and of no others.
    refit : bool, default=True
        Fit the best cell to all rows. Without it there are results but no predictions.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or draws with replacement as in the paper.
    average : {None, "uniform", "weighted"}, default="weighted"
        Which function is the model: the last, the mean of all, or their mean weighted by t.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of each row by its class; "balanced" goes by the training rows of
        each fold.
    random_state : int, Generator, RandomState or None, default=None
        Every fold draws from ``numpy.random.default_rng(random_state)``, started anew. Anything but
        an integer gives one seed for all folds and the last fit.
    n_jobs : int or None, default=None
        Threads. No result depends on their number.
        Under ``joblib.parallel_config(backend="dask")`` the folds of each kernel are tasks of the
        cluster, one thread each, and this counts for the last fit alone.
    memory : int or str, default="2GB"
        Limit for kernel rows and scores. If the kernel matrix does not fit, rows are made when they
        are needed, and kept as long as there is room.
    verbose : bool or int, default=0
        Show progress with the time left on stderr.

    Attributes
    ----------
    cv_results_ : dict
        As GridSearchCV has it, with train scores; ``fit_time`` is the time of the lockstep run
        until the snapshot, divided by the number of lam.
    test_error_, train_error_ : ndarray
        Zero-one errors on the held-out and on the training rows of each fold, of shape (n_losses,
        n_gammas, n_degrees, n_lams, n_steps, n_folds); axes that the kernel has not have length 1.
    fit_seconds_ : ndarray of the same shape
        What ``fit_time`` is made of.
    best_params_, best_index_, best_score_ : dict, int, float
        The cell with the best mean test score: the first of them if several are.
    best_estimator_ : KernelPegasosClassifier
        The best cell fitted to all rows, with ``refit``. All its fitted attributes (``support_``,
        ``dual_coef_``, ``objective_``, ``duality_gap_``, ``n_steps_``, ...) are here too.
    n_splits_ : int
        How many folds there were.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features seen during fit.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pegasos import KernelPegasosCV
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = KernelPegasosCV((1e-4, 1e-2), steps=(500, 5000), gammas=(0.01, 0.05), random_state=0)
    >>> grid.fit(X / 16, y).test_error_.shape
    (1, 2, 1, 2, 2, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GRID_PARAMETERS,
        **{name: PARAMETERS[name] for name in (*_SHARED, "random_state")},
        "gammas": ["array-like"],
        "degrees": ["array-like"],
    }

    def __init__(
        self,
        lams: Any = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        *,
        steps: Any = None,
        losses: Any = ("hinge",),
        kernel: Any = "rbf",
        gammas: Any = ("scale",),
        degrees: Any = (3,),
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        sampling: str = "permutation",
        average: str | None = "weighted",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: int | str = "2GB",
        verbose: int | bool = 0,
    ) -> None:
        self.lams = lams
        self.steps = steps
        self.losses = losses
        self.kernel = kernel
        self.gammas = gammas
        self.degrees = degrees
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.sampling = sampling
        self.average = average
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Judge all cells on all folds, then fit the best one to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows. With ``kernel="precomputed"`` the kernel matrix of shape (n_samples,
            n_samples), with a callable whatever it takes.
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
        return self._check_rows_and_labels(X, y)

    def _own_axes(self, X: Any) -> dict[str, tuple[Any, ...]]:
        gammas, degrees = self._values("gammas"), self._values("degrees")
        if self.kernel in ("rbf", "poly"):
            gammas = tuple(scale_gamma(gamma, X) for gamma in gammas)
        else:
            self._refuse_choice("gammas", gammas)
        if self.kernel != "poly":
            self._refuse_choice("degrees", degrees)
        return {"gamma": gammas, "degree": degrees}

    def _refuse_choice(self, name: str, values: tuple[Any, ...]) -> None:
        if len(values) > 1:
            kernel = "a callable" if callable(self.kernel) else repr(self.kernel)
            raise ValueError(
                f"kernel={kernel} has no use for {name}={values}: every value would give the same "
                f"cells again; leave {name} as it is"
            )

    def _lockstep(self, X: Any, target: Target, grid: Grid) -> "_KernelLockstep":
        return _KernelLockstep(self, X, target, grid)

    def _cell(self, params: dict[str, Any], seed: int | None) -> KernelPegasosClassifier:
        shared = {name: getattr(self, name) for name in _SHARED}
        return KernelPegasosClassifier(**params, **shared, random_state=seed, tol=None)


class _KernelLockstep:
    """Starts runs on the kernel matrix of all rows, made once for each kernel."""

    def __init__(self, model: KernelPegasosCV, X: Any, target: Target, grid: Grid) -> None:
        self.model = model
        self.X = X
        self.target = target
        self.lams = np.repeat(grid.lams, len(target.positive))
        self.positive = np.tile(target.positive, len(grid.lams))
        self.most_steps = grid.steps[-1]
        self.threads = n_threads(model.n_jobs)
        self._kernel: Kernel | None = None
        self._source: KernelRows | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(blas_on_one_thread())  # as in a fit of one cell
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def prepare(self, params: dict[str, Any]) -> bool:
        source = self._rows_of(params)
        return not isinstance(source, CachedRows) or source.is_full

    def start(self, params: dict[str, Any], fold: Fold, threads: int) -> "_KernelRun":
        problem = KernelProblem(
            self._rows_of(params),
            self.target.code,
            self.positive,
            fold.weight,
            lams=self.lams,
            loss=params["loss"],
            threads=threads,
        )
        return _KernelRun(problem, self.model.average, len(self.target.positive))

    def _rows_of(self, params: dict[str, Any]) -> KernelRows:
        cell = self.model._cell({"gamma": params["gamma"], "degree": params["degree"]}, None)
        kernel = cell._kernel_by_name(self.X)
        if self._source is None:
            beside = len(self.positive) * ceil(self.threads / _RUNS_IN_THE_ROOM_OF_A_FIT)
            self._source = cell._source(self.X, kernel, beside, self.threads)
        elif kernel == self._kernel:
            return self._source
        elif isinstance(self._source, CachedRows) and isinstance(kernel, VectorKernel):
            self._source.change_maker(VectorRows(self.X, kernel, self.threads))
        self._kernel = kernel
        fill_if_worth_it(self._source, self.most_steps)
        return self._source


class _KernelRun:
    """The steps of one fold for all lam and classes; scores are kept for held-out rows, too."""

    batch_size = 1

    def __init__(self, problem: KernelProblem, average: str | None, n_classes: int) -> None:
        self.problem = problem
        self.n_classes = n_classes
        self.state = KernelState(problem, average)
        self._steps = KernelSteps(problem, self.state, solver="pegasos", average=average)
        self.work_per_draw = problem.work_per_draw()

    def advance(self, draws: RowNumbers) -> None:
        self._steps.make(draws)

    def scores(self, k: int) -> Floats:
        mine = slice(k * self.n_classes, (k + 1) * self.n_classes)
        state = self.state
        mean = None if state.mean_scores is None else state.mean_scores[mine]
        scores = mean_or_last(state.scores[mine], mean, state.tally[mine], self.problem.lams[mine])
        refuse_not_finite(scores)
        return scores
