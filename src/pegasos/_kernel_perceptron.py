"""KernelPerceptronClassifier: learns from its mistakes alone, in the space of a kernel."""

from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pegasos._draws import DrawStream, as_generator
from pegasos._kernel_base import KernelModel
from pegasos._kernel_problem import KernelProblem, RowNumbers, refuse_not_finite
from pegasos._kernel_steps import KernelState, KernelSteps, fill_if_worth_it
from pegasos._perceptron_epochs import run_epochs, warn_of_mistakes
from pegasos._training import one_or_all
from pegasos._validation import (
    PARAMETERS,
    Floats,
    StrOptions,
    encode,
    encode_known,
    fit_method,
    known_classes,
)
from pegasos.kernels._blas import blas_on_one_thread

_USED = (
    "kernel",
    "gamma",
    "degree",
    "coef0",
    "max_iter",
    "max_steps",
    "sampling",
    "warm_start",
    "random_state",
    "n_jobs",
    "memory",
    "verbose",
)


class KernelPerceptronClassifier(KernelModel):
    """The kernel perceptron: a row joins with its label whenever ``y f(x) <= 0``.

    Rosenblatt's rule for ``f = sum_i alpha_i y_i K(x_i, .)``, over epochs in random order, until an
    epoch passes without a mistake. Several classes: one perceptron each against the rest, on the
    same draws, each stopping by itself. There is no objective, hence no certificate and no sample
    weights.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "precomputed"} or callable, default="rbf"
        As in KernelPegasosClassifier.
    gamma : {"scale", "auto"} or float, default="scale"
        As in SVC; a report that writes ``exp(-||a - b||^2/(2 g))`` means ``gamma = 1/(2 g)``.
    degree : int, default=3
        Degree of "poly", at least 1.
    coef0 : float, default=0.0
        Constant in the kernel: "rbf" and "linear" add it, which acts as a bias that is regularised
        like the rest; "poly" raises it to a power with the rest.
    max_iter : int, default=100
        Epochs at most.
    max_steps : int or None, default=None
        Rows visited at most; overrides ``max_iter`` and may be less than an epoch.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or n_samples draws with replacement.
    average : {None, "uniform"}, default=None
        Keep the last function, or the mean of the functions after every step.
    warm_start : bool, default=False
        Let ``fit`` go on from the last one, on the same rows.
    random_state : int, Generator, RandomState or None, default=None
        An integer draws from ``numpy.random.default_rng(random_state)``.
    n_jobs : int or None, default=None
        Threads (-1: all). No result depends on it.
    memory : int or str, default="2GB"
        Most bytes for kernel rows and scores during a fit, as a number or text such as "500MB".
    verbose : bool or int, default=0
        Show progress with the mistakes per epoch on stderr.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Numbers of the training rows that have coefficients.
    support_vectors_ : ndarray, sparse matrix or list
        Those rows. Empty for ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients, signs of the labels included.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    n_iter_ : int
        Epochs run by the last fit, the last one perhaps in part.
    n_steps_ : int
        Rows visited so far, over all warm starts and calls to ``partial_fit``.
    n_violations_ : int or ndarray of shape (n_classes,)
        Mistakes so far.
    history_ : list of dict
        A record (step, seconds, violations: the mistakes of this epoch) per epoch. Not set by
        ``partial_fit``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    KernelPegasosClassifier : Minimises an objective and says how close to the optimum it came.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import KernelPerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelPerceptronClassifier(gamma=1.0, random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: PARAMETERS[name] for name in _USED},
        "average": [StrOptions({"uniform"}), None],
    }

    n_steps_: int
    _rng: np.random.Generator
    _earlier: KernelState
    _signed: Floats
    _mean: Floats | None
    _tally: npt.NDArray[Any]

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        max_iter: int = 100,
        max_steps: int | None = None,
        sampling: str = "permutation",
        average: str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: int | str = "2GB",
        verbose: int | bool = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.sampling = sampling
        self.average = average
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn until an epoch passes without a mistake, or ``max_iter`` epochs are done.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows, used in place. With ``kernel="precomputed"`` the kernel matrix of shape
            (n_samples, n_samples), with a callable whatever it takes.
        y : array-like of shape (n_samples,)
            Labels of any kind.

        Returns
        -------
        self
            The fitted model.
        """
        X, y = self._check_rows_and_labels(X, y)
        target = encode(y, None, type(self).__name__)
        with blas_on_one_thread():  # its threads would go on spinning, in the way of ours
            setup = self._set_up(X, target, None, lam=1.0, loss="hinge", needs_bound=False)
            problem = setup.problem
            state = self._earlier_state(problem, target.classes)
            rng = as_generator(self.random_state)
            if state is not None and hasattr(self, "_rng"):
                rng = deepcopy(self._rng)
            state = state or KernelState(problem, self.average)
            fill_if_worth_it(problem.source, self.max_steps or self.max_iter * problem.n_rows)
            stream = DrawStream(rng, problem.n_rows, self.sampling)
            learn = partial(_steps, problem, state, self.average)
            history = run_epochs(self, learn, state.tally, stream)
            refuse_not_finite(state.scores)
        used = np.flatnonzero(state.masses.any(axis=0))
        self._keep_kernel(setup.kernel)
        self._keep_support(X, used)
        self.__dict__.pop("_earlier", None)
        if self.warm_start:
            self._earlier = state
            self._rng = rng
        mean = None if state.mean_masses is None else state.mean_masses[:, used]
        self._keep(target.classes, problem.as_signed(state.masses)[:, used], mean, state.tally)
        self.n_iter_ = len(history)
        self.history_ = history
        separable = "separable with this kernel"
        warn_of_mistakes(self, separable=separable, instead="KernelPegasosClassifier")
        return self

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one pass over new rows, in the order given, going on with the same function.

        The rows join those of earlier calls; a row becomes a support vector if it is a mistake.
        Passing rows in several calls is the same as in one (``gamma="scale"`` goes by the rows of
        the first call, and the kernel may not change afterwards).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.

        Returns
        -------
        self
            The model so far.
        """
        self._refuse_to_go_on()
        first = not hasattr(self, "classes_")
        X, y = self._check_rows_and_labels(X, y, reset=first)
        target = encode_known(y, known_classes(self, classes))
        kernel = None if first else self._kernel
        setup = self._set_up(
            X, target, None, lam=1.0, loss="hinge", kernel=kernel, needs_bound=False
        )
        problem = setup.problem
        state = KernelState(problem, self.average)
        if not first:
            self._go_on(state, X)
        KernelSteps(problem, state, solver="perceptron", average=self.average).make(
            np.arange(problem.n_rows)
        )
        used = np.flatnonzero(state.masses.any(axis=0))
        signed = problem.as_signed(state.masses)[:, used]
        mean = None if state.mean_masses is None else state.mean_masses[:, used]
        if first:
            self._keep_support(X, used)
        else:
            self._join_support(X, used)
            signed = np.hstack([self._signed, signed])
            if mean is not None:
                old = np.zeros_like(self._signed) if self._mean is None else self._mean
                mean = np.hstack([old, mean])
        self._keep_kernel(setup.kernel)
        self._keep(target.classes, signed, mean, state.tally)
        self.n_iter_ = 1
        self.__dict__.pop("history_", None)
        return self

    def _earlier_state(
        self, problem: KernelProblem, classes: npt.NDArray[Any]
    ) -> KernelState | None:
        if not self.warm_start or not hasattr(self, "_earlier"):
            return None
        earlier = self._earlier
        shape = (problem.n_problems, problem.n_rows)
        if not np.array_equal(self.classes_, classes) or earlier.masses.shape != shape:
            raise ValueError(
                "warm_start=True goes on with an earlier fit, but classes or the number of rows "
                "differ from then; use warm_start=False or clone the estimator to start anew"
            )
        state = KernelState(problem, None)
        state.tally = earlier.tally.copy()
        state.masses = earlier.masses.copy()
        state.scores = problem.scores_of(problem.as_signed(state.masses))
        if earlier.mean_masses is not None:
            state.mean_masses = earlier.mean_masses.copy()
            state.mean_scores = problem.scores_of(state.mean_masses)
        state.keep_mean(problem, self.average)
        return state

    def _go_on(self, state: KernelState, X: Any) -> None:
        state.tally = self._tally.copy()
        state.scores = self._support_scores(X, self._signed)
        if state.mean_scores is not None and self._mean is not None:
            state.mean_scores = self._support_scores(X, self._mean)

    def _keep(
        self,
        classes: npt.NDArray[Any],
        signed: Floats,
        mean: Floats | None,
        tally: npt.NDArray[Any],
    ) -> None:
        self.classes_ = classes
        self._signed, self._mean, self._tally = signed, mean, tally
        clock = tally["clock"][:, np.newaxis]
        self.dual_coef_ = np.ascontiguousarray(signed if mean is None else signed - mean / clock)
        self.n_steps_ = int(tally["clock"].max())
        self.n_violations_ = one_or_all(tally["violations"].astype(np.int64))


def _steps(
    problem: KernelProblem,
    state: KernelState,
    average: str | None,
    learning: RowNumbers,
    draws: RowNumbers,
) -> None:
    """Advance the problems in ``learning`` over the draws."""
    theirs = state.only(learning)
    KernelSteps(problem.only(learning), theirs, solver="perceptron", average=average).make(draws)
    state.put_back(learning, theirs)
