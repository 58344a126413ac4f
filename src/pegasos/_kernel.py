"""KernelPegasosClassifier: kernel SVM and kernel logistic regression, certified."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from pegasos._certified import CertifiedClassifier, goes_on_by_pegasos
from pegasos._kernel_base import KernelModel, KernelSetup
from pegasos._kernel_pegasos_run import KernelPegasosRun
from pegasos._kernel_problem import KernelProblem
from pegasos._kernel_sdca_run import KernelSdcaRun
from pegasos._kernel_steps import KernelState, KernelSteps, fill_if_worth_it, mean_or_last
from pegasos._training import Schedule, Trained, one_or_all, train
from pegasos._validation import (
    PARAMETERS,
    Floats,
    Target,
    class_totals,
    encode,
    encode_known,
    fit_method,
    known_classes,
)
from pegasos.kernels._blas import blas_on_one_thread

_USED = (
    "lam",
    "kernel",
    "gamma",
    "degree",
    "coef0",
    "loss",
    "solver",
    "max_iter",
    "max_steps",
    "sampling",
    "average",
    "class_weight",
    "tol",
    "warm_start",
    "random_state",
    "n_jobs",
    "memory",
    "verbose",
)


class KernelPegasosClassifier(CertifiedClassifier, KernelModel):
    """Kernel SVM or kernel logistic regression by Pegasos, with a bound on how optimal it is.

    Minimises ``lam/2 ||f||^2 + (1/S) sum_i s_i loss(y_i f(x_i))`` over functions ``f = sum_i coef_i
    K(x_i, .)``, with sample weights s_i of sum S and without a bias. Several classes: one problem
    each against the rest, all on the same draws, so that a kernel row is read once for all.

    Parameters
    ----------
    lam : float, default=1e-3
        Strength of the regularisation, > 0. ``lam = 1/(C n_samples)`` gives SVC's ``C``.
    kernel : {"rbf", "poly", "linear", "precomputed"} or callable, default="rbf"
        "rbf": ``exp(-gamma ||a - b||^2) + coef0``; "poly": ``(gamma <a, b> + coef0)^degree``;
        "linear": ``<a, b> + coef0``; "precomputed": X is the kernel matrix (dense, memory-mapped or
        sparse). A callable gets two sequences of rows, or of any objects (strings, graphs), and
        returns the matrix of their kernel values.
    gamma : {"scale", "auto"} or float, default="scale"
        As in SVC: "scale" is ``1/(n_features X.var())``, "auto" ``1/n_features``. A report that
        writes ``exp(-||a - b||^2/(2 g))`` means ``gamma = 1/(2 g)``.
    degree : int, default=3
        Degree of "poly", at least 1.
    coef0 : float, default=0.0
        Constant in the kernel: "rbf" and "linear" add it, which acts as a bias that is regularised
        like the rest; "poly" raises it to a power with the rest. Below 0 the
        kernel may be indefinite, and then there is no bound.
    loss : {"hinge", "log"}, default="hinge"
        ``max(0, 1 - z)``, the SVM, or ``log(1 + exp(-z))``, logistic regression.
    solver : {"pegasos", "sdca"}, default="pegasos"
        "pegasos": the published steps, which test against ``1/(lam t)``. "sdca": dual coordinate
        ascent on working sets, far quicker to a small gap.
    max_iter : int, default=1000
        Epochs (visits of every row) at most.
    max_steps : int or None, default=None
        Steps at most, the paper's T; overrides ``max_iter`` and may be less than an epoch.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or draws with replacement as in the paper.
    average : {None, "uniform", "weighted"}, default="weighted"
        Which function is the model: the last, the mean of all, or their mean weighted by t. "sdca"
        keeps no mean, but the best of the functions that were certified during the fit.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of each row by its class. "balanced" lets all classes weigh the same.
    tol : float or None, default=1e-2
        Stop when ``(objective - bound) / objective`` is at most this, for every class. None, or a
        kernel that gives no bound, runs all steps.
    warm_start : bool, default=False
        Let ``fit`` go on from the last one, on the same rows, with the same sequence of draws.
    random_state : int, Generator, RandomState or None, default=None
        An integer draws from ``numpy.random.default_rng(random_state)``, so that a run can be
        replayed with :mod:`pegasos.reference`.
    n_jobs : int or None, default=None
        Threads (-1: all). No result depends on it.
    memory : int or str, default="2GB"
        Most bytes for kernel rows and scores during a fit, as a number or text such as "500MB";
        some 140 MB for working sets come on top. Rows that do not fit are made again when needed:
        slower, but the same model.
    verbose : bool or int, default=0
        Show progress with objective, gap and time left on stderr.

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
        Steps made so far, over all warm starts and calls to ``partial_fit``.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_classes,)
        The certificate: the objective, a lower bound on the optimum, and their difference. One
        number for two classes, one per class for more. Not set by ``partial_fit``.
    n_violations_ : int or ndarray of shape (n_classes,)
        Visits so far with a margin below 1.
    history_ : list of dict
        A record (step, seconds, objective, dual, gap, violations) for each certificate computed
        during the fit. Not set by ``partial_fit``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    sklearn.svm.SVC : The same with a bias and one-vs-one, without a bound.
    PegasosClassifier : Linear, for many rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import KernelPegasosClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelPegasosClassifier(lam=0.01, solver="sdca", random_state=0).fit(X, y)
    >>> bool((model.duality_gap_ <= 0.01 * model.objective_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: PARAMETERS[name] for name in _USED
    }

    n_steps_: int
    _class_totals: Floats
    _earlier: "_Earlier"
    _function: "_Function"

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: str = "hinge",
        solver: str = "pegasos",
        max_iter: int = 1000,
        max_steps: int | None = None,
        sampling: str = "permutation",
        average: str | None = "weighted",
        class_weight: Any = None,
        tol: float | None = 1e-2,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: int | str = "2GB",
        verbose: int | bool = 0,
    ) -> None:
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.solver = solver
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.sampling = sampling
        self.average = average
        self.class_weight = class_weight
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows, used in place. With ``kernel="precomputed"`` the kernel matrix of shape
            (n_samples, n_samples), with a callable whatever it takes.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0. A weight of 2 stands for the row given twice, 0 for leaving it out.
            Only their ratios matter.

        Returns
        -------
        self
            The fitted model.
        """
        X, y = self._check_rows_and_labels(X, y)
        goes_on = self.warm_start and hasattr(self, "_earlier")
        weight, unit = self._row_weights(sample_weight, X, goes_on=goes_on)
        target = encode(y, weight, type(self).__name__)
        totals = class_totals(target, weight)
        weight = self._combined_weight(weight, target, totals)
        with blas_on_one_thread():  # its threads would go on spinning, in the way of ours
            setup = self._set_up(X, target, weight, lam=float(self.lam), loss=self.loss)
            problem = setup.problem
            active = None if weight is None else np.flatnonzero(weight > 0)
            earlier = self._earlier_state(problem, target)
            stream = self._stream(problem.n_rows, active, continued=earlier is not None)
            schedule = Schedule(
                n_steps=self.max_steps or self.max_iter * stream.n_rows,
                batch_size=1,
                n_active=stream.n_rows,
                tol=self.tol
                if setup.is_bounded
                else None,  # without a bound there is no gap to go by
                work_per_draw=problem.work_per_draw(),
            )
            run = self._run(problem, earlier, schedule)
            trained = train(
                run,
                stream,
                schedule,
                threads=problem.threads,
                name=type(self).__name__,
                verbose=self.verbose,
            )
        self.n_steps_ = trained.n_steps + (0 if earlier is None else self._earlier.n_steps)
        self._keep(trained, run, setup, target, X)
        self._class_totals, self._weight_unit = totals, unit
        self.__dict__.pop("_draw_stream", None)
        if self.warm_start:
            self._draw_stream = stream
        if not trained.converged:
            self._warn(trained)
        return self

    @available_if(goes_on_by_pegasos)
    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over new rows, in the order given, going on with the same sequence.

        The rows join those of earlier calls: each is tested once against the function so far, and
        becomes a support vector if it violates the margin; the clock t goes on. Passing rows in
        several calls is the same as in one (``gamma="scale"`` goes by the rows of the first call,
        and the kernel may not change afterwards). Old rows are not visited again, and those without
        coefficients are forgotten. There is no certificate, for the objective is over all rows ever
        seen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0. ``class_weight="balanced"`` goes by the rows seen so far.

        Returns
        -------
        self
            The model so far.
        """
        self._refuse_to_go_on()
        first = not hasattr(self, "classes_")
        X, y = self._check_rows_and_labels(X, y, reset=first)
        known = known_classes(self, classes)
        weight, unit = self._row_weights(sample_weight, X, goes_on=not first)
        target = encode_known(y, known)
        totals = class_totals(target, weight) + (0 if first else self._class_totals)
        weight = self._combined_weight(weight, target, totals)
        old = None if first else self._function_so_far()
        setup = self._set_up(
            X,
            target,
            weight,
            lam=float(self.lam),
            loss=self.loss,
            kernel=None if first else self._kernel,
            needs_bound=False,
        )
        problem = setup.problem
        state = KernelState(problem, self.average)
        if old is not None:
            state.tally = old.tally
            state.scores = self._support_scores(X, old.signed)
            if old.mean is not None:
                state.mean_scores = self._support_scores(X, old.mean)
        draws = np.arange(problem.n_rows) if weight is None else np.flatnonzero(weight > 0)
        KernelSteps(problem, state, solver="pegasos", average=self.average).make(draws)
        used = np.flatnonzero(state.masses.any(axis=0))
        new = _Function(
            problem.as_signed(state.masses)[:, used],
            None if state.mean_masses is None else state.mean_masses[:, used],
            state.tally,
            problem.lams,
        )
        if old is None:
            self._keep_support(X, used)
        else:
            self._join_support(X, used)
            new = old.joined_by(new)
        self.classes_ = known
        self._keep_kernel(setup.kernel)
        self._class_totals, self._weight_unit = totals, unit
        self._keep_function(new)
        self.n_steps_ = (0 if first else self.n_steps_) + len(draws)
        self.n_iter_ = 1
        self.n_violations_ = one_or_all(state.tally["violations"].astype(np.int64))
        self._forget_certificate()
        return self

    def _run(
        self, problem: KernelProblem, earlier: KernelState | None, schedule: Schedule
    ) -> KernelPegasosRun | KernelSdcaRun:
        if self.solver == "sdca":
            state = earlier or KernelState(problem, None)
            best = None if earlier is None else self._earlier.best
            return KernelSdcaRun(
                problem, state, n_active=schedule.n_active, tol=self.tol, best=best
            )
        fill_if_worth_it(problem.source, schedule.n_steps)
        state = earlier or KernelState(problem, self.average)
        return KernelPegasosRun(problem, state, n_active=schedule.n_active, average=self.average)

    def _earlier_state(self, problem: KernelProblem, target: Target) -> KernelState | None:
        """Return what a warm start goes on from; its scores are computed anew, for these rows."""
        if not self.warm_start or not hasattr(self, "_earlier"):
            return None
        earlier = self._earlier
        fits = (
            earlier.solver == self.solver
            and np.array_equal(self.classes_, target.classes)
            and earlier.masses.shape == (problem.n_problems, problem.n_rows)
        )
        if not fits:
            raise ValueError(
                "warm_start=True goes on with an earlier fit, but solver, classes or the number of "
                "rows differ from then; use warm_start=False or clone the estimator to start anew"
            )
        state = KernelState(problem, None)
        state.tally = earlier.tally.copy()
        state.masses = earlier.masses.copy()
        if self.solver == "sdca":
            state.scores = problem.scores_of(problem.as_coefficients(state.masses))
            return state
        mean = earlier.mean_masses
        if earlier.lam != self.lam:  # keep the function; its mean begins anew
            state.masses *= self.lam / earlier.lam
            mean = None
        state.scores = problem.scores_of(problem.as_signed(state.masses))
        if mean is not None:
            state.mean_masses, state.mean_scores = mean.copy(), problem.scores_of(mean)
        state.keep_mean(problem, self.average)
        return state

    def _function_so_far(self) -> "_Function":
        """Return what partial_fit goes on from."""
        if not hasattr(self, "_function"):
            raise ValueError(
                "partial_fit goes on with the steps of solver='pegasos', but this model was fitted "
                "with solver='sdca'; clone it to start anew"
            )
        return self._function.going_on(self.lam, self.average)

    def _keep(
        self,
        trained: Trained,
        run: KernelPegasosRun | KernelSdcaRun,
        setup: KernelSetup,
        target: Target,
        X: Any,
    ) -> None:
        state, coef = run.state, trained.certificate.weights
        used = np.flatnonzero(coef.any(axis=0))
        self.classes_ = target.classes
        self._keep_kernel(setup.kernel)
        self._keep_support(X, used)
        self.dual_coef_ = np.ascontiguousarray(coef[:, used])
        self._keep_certificate(trained, run.violations)
        if not setup.is_bounded:
            self._no_bound()
        for name in ("_earlier", "_function"):
            self.__dict__.pop(name, None)
        if self.warm_start:
            self._earlier = _Earlier(
                self.solver,
                self.lam,
                self.n_steps_,
                coef,
                state.masses,
                state.mean_masses,
                state.tally,
            )
        if self.solver == "pegasos":
            mean = None if state.mean_masses is None else state.mean_masses[:, used]
            signed = setup.problem.as_signed(state.masses)[:, used]
            self._function = _Function(signed, mean, state.tally.copy(), setup.problem.lams)

    def _no_bound(self) -> None:
        nothing = np.full(np.shape(self.objective_), np.inf)
        self.dual_objective_ = one_or_all(np.atleast_1d(-nothing))
        self.duality_gap_ = one_or_all(np.atleast_1d(nothing))
        for record in self.history_:
            record["dual"], record["gap"] = self.dual_objective_, self.duality_gap_

    def _keep_function(self, function: "_Function") -> None:
        self._function = function
        self.dual_coef_ = np.ascontiguousarray(
            mean_or_last(function.signed, function.mean, function.tally, function.lams)
        )


@dataclass(frozen=True)
class _Earlier:
    """What a warm start goes on from."""

    solver: str
    lam: float
    n_steps: int
    best: Floats
    masses: Floats
    mean_masses: Floats | None
    tally: npt.NDArray[Any]


@dataclass(frozen=True)
class _Function:
    """What partial_fit goes on from: coefficients of the support vectors, and the counts."""

    signed: Floats
    mean: Floats | None
    tally: npt.NDArray[Any]
    lams: Floats

    def going_on(self, lam: float, average: str | None) -> "_Function":
        """Return a copy for these parameters; a mean not kept so far begins now."""
        ratio = lam / self.lams[0]
        tally, mean = self.tally.copy(), self.mean
        if average is None:
            mean = None
        elif mean is None or ratio != 1:
            mean = np.zeros_like(self.signed)
            tally["mean_clock"] = tally["mean_weight"] = 0
        return _Function(self.signed * ratio, mean, tally, self.lams * ratio)

    def joined_by(self, new: "_Function") -> "_Function":
        """Return the function with the coefficients of new support vectors."""
        signed = np.hstack([self.signed, new.signed])
        if self.mean is None or new.mean is None:
            return _Function(signed, None, new.tally, new.lams)
        return _Function(signed, np.hstack([self.mean, new.mean]), new.tally, new.lams)
