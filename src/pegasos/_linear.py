"""PegasosClassifier: linear SVM and logistic regression, certified."""

from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pegasos._base import LinearModel
from pegasos._certified import CertifiedClassifier, goes_on_by_pegasos
from pegasos._chunk_draws import ChunkDraws
from pegasos._draws import DrawStream
from pegasos._pegasos_run import PegasosRun, PegasosState, new_pegasos_state, pegasos_steps
from pegasos._problem import Objectives, Problem
from pegasos._sdca_run import SdcaRun, SdcaState
from pegasos._stream_fit import (
    checkpoint_of,
    chunk_draws,
    chunked_problem,
    refuse_what_needs_all_rows,
)
from pegasos._training import Place, Schedule, Trained, draws_per_call, one_or_all, train
from pegasos._validation import (
    PARAMETERS,
    Floats,
    Target,
    class_totals,
    encode,
    encode_known,
    fit_method,
    known_classes,
    n_threads,
    refuse_non_finite,
)


class PegasosClassifier(CertifiedClassifier, LinearModel):
    """Linear SVM or logistic regression by Pegasos, with a bound on how far from optimal it is.

    Minimises ``P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)``, with sample weights
    s_i of sum S. Several classes: one problem each against the rest, all on the same draws.

    Parameters
    ----------
    lam : float, default=1e-3
        Strength of the regularisation, > 0. Smaller fits the training data closer and takes more
        steps. SGDClassifier calls it ``alpha``; ``lam = 1/(C n_samples)`` gives LinearSVC's ``C``.
    loss : {"hinge", "log"}, default="hinge"
        ``max(0, 1 - z)``, the SVM, or ``log(1 + exp(-z))``, logistic regression.
    solver : {"pegasos", "sdca"}, default="pegasos"
        "pegasos": the published steps of size ``1/(lam t)``. "sdca": dual coordinate ascent on the
        same draws, far quicker to a small gap; for tight ``tol`` or small ``lam``.
    max_iter : int, default=5000
        Epochs (visits of every row) at most.
    max_steps : int or None, default=None
        Steps at most, the paper's T; overrides ``max_iter`` and may be less than an epoch.
    batch_size : int, default=1
        Rows per step, the paper's k; at most n_samples are used. "pegasos" only.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or draws with replacement as in the paper. Permutations
        converge faster and make the bound cheaper and tighter.
    average : {None, "uniform", "weighted"}, default="weighted"
        Which weights become ``coef_``: the last, the mean of all, or their mean weighted by t, the
        least noisy. With "sdca" the mean is over the latest epoch (or 2,048 visits, if more), and
        of all weights that were certified during the fit the best are kept.
    project : bool, default=False
        The paper's optional projection onto the ball of radius ``1/sqrt(lam)``. "pegasos" only.
    fit_intercept : bool, default=True
        Add a constant feature. Its weight is regularised like all others: dense and sparse data
        mean the same model, and the bound stays true.
    intercept_scaling : float, default=1.0
        Value of that feature, > 0; larger regularises the intercept less.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of each row by its class. "balanced" lets all classes weigh the same.
    tol : float or None, default=1e-2
        Stop when ``(objective - bound) / objective`` is at most this, for every class: the
        objective is then certified to be within ``tol`` of the optimum. None runs all steps.
    warm_start : bool, default=False
        Let ``fit`` go on from the last one, with the same sequence of draws: with "pegasos", two
        fits of T steps make the steps of one fit of 2 T; "sdca" goes on from its dual point.
    random_state : int, Generator, RandomState or None, default=None
        An integer draws from ``numpy.random.default_rng(random_state)``, so that a run can be
        replayed with :mod:`pegasos.reference`.
    n_jobs : int or None, default=None
        Threads (-1: all). No result depends on it.
    verbose : bool or int, default=0
        Show progress with objective, gap and time left on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; see ``sparsify``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    n_iter_ : int
        Epochs run by the last fit, the last one perhaps in part.
    n_steps_ : int
        Steps made so far, over all warm starts and calls to ``partial_fit``.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_classes,)
        The certificate: P at ``coef_``, a lower bound on the optimum, and their difference. One
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
    sklearn.svm.LinearSVC : The same objective, without a bound.
    PerceptronClassifier : Mistake-driven, without an objective.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import PegasosClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PegasosClassifier(lam=0.01, solver="sdca", random_state=0).fit(X, y == 0)
    >>> bool(model.duality_gap_ <= 0.01 * model.objective_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS

    n_steps_: int
    _class_totals: Floats
    _state: Any

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        loss: str = "hinge",
        solver: str = "pegasos",
        max_iter: int = 5000,
        max_steps: int | None = None,
        batch_size: int = 1,
        sampling: str = "permutation",
        average: str | None = "weighted",
        project: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float | None = 1e-2,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.solver = solver
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.sampling = sampling
        self.average = average
        self.project = project
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows. C-contiguous float32 or float64 arrays and CSR matrices (int32 or int64
            indices) are used in place.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0. A weight of 2 stands for the row given twice, 0 for leaving it out
            (its values must be finite all the same). Only their ratios matter. Weighted and
            repeated rows pose the same problem but draw other rows: their models agree as closely
            as both are certified.

        Returns
        -------
        self
            The fitted model.
        """
        self._refuse_options_of_the_other_solver()
        X, y = self._check_data_and_labels(X, y)
        goes_on = self.warm_start and hasattr(self, "_state")
        weight, unit = self._row_weights(sample_weight, X, goes_on=goes_on)
        target = encode(y, weight, type(self).__name__)
        totals = class_totals(target, weight)
        weight = self._combined_weight(weight, target, totals)
        problem = self._problem(X, target, weight)
        active = None if weight is None else np.flatnonzero(weight > 0)
        earlier = self._earlier_state(problem, target)
        stream = self._stream(X.shape[0], active, continued=earlier is not None)
        n_active = stream.n_rows
        batch_size = min(self.batch_size, n_active)
        run = self._run(problem, earlier, stream, batch_size)
        schedule = self._schedule(n_active, batch_size, work_per_draw=problem.work_per_draw())
        trained = train(
            run,
            stream,
            schedule,
            threads=problem.threads,
            name=type(self).__name__,
            verbose=self.verbose,
        )
        self._keep(trained, run, target.classes, stream)
        self._class_totals, self._weight_unit = totals, unit
        self.n_steps_ = trained.n_steps + (0 if earlier is None else self.n_steps_)
        if not trained.converged:
            self._warn(trained)
        return self

    @fit_method
    def fit_stream(self, stream: Any, *, checkpoint: Any = None, shuffle: bool = True) -> Self:
        """Fit the model to data larger than memory, chunk by chunk, and certify it.

        The same steps as in ``fit``, but the rows come in chunks: each epoch draws an order of the
        chunks, and within each an order of its rows; while one trains, the next is read. Every
        certificate takes a pass over the data. Needs ``batch_size=1``, ``sampling="permutation"``
        and ``warm_start=False``.

        Parameters
        ----------
        stream : Stream
            What :func:`pegasos.io.stream` returns. "sdca" holds 9 bytes for each row and class in
            memory; "pegasos" nothing that grows with the rows.
        checkpoint : path or None, default=None
            A file that is written now and then (for 5% of the time at most), and removed at the
            end. If it is there, the fit goes on from it, and ends with the same model as one that
            was never stopped.
        shuffle : bool, default=True
            Without, rows come in the order of the files: the model is then the same for any size
            of the chunks ("sdca": but for rounding). Only for rows that are in random order.

        Returns
        -------
        self
            The fitted model.
        """
        self._refuse_options_of_the_other_solver()
        refuse_what_needs_all_rows(self)
        problem = chunked_problem(
            self,
            stream,
            class_weight=self.class_weight,
            lams=np.array([self.lam], dtype=np.float64),
            loss=self.loss,
        )
        draws = chunk_draws(self, problem, shuffle=shuffle)
        run = self._run(problem, None, draws, batch_size=1)
        schedule = self._schedule(problem.n_rows, 1, work_per_draw=1)
        kept = checkpoint_of(self, stream, checkpoint, shuffle=shuffle)
        place = None
        if kept is not None and (saved := kept.load()) is not None:
            run.restore(saved["run"])
            draws.restore(saved["draws"])
            place = Place(**saved["place"])

        def keep(place: Place) -> None:
            if kept is not None:
                kept.keep_now_and_then(
                    lambda: {"run": run.saved(), "draws": draws.saved(), "place": vars(place)}
                )

        trained = train(
            run,
            draws,
            schedule,
            threads=problem.threads,
            name=type(self).__name__,
            verbose=self.verbose,
            place=place,
            after_each_part=keep,
        )
        self._keep(trained, run, problem.classes, None)
        self._class_totals, self._weight_unit = problem.class_totals, 1.0
        self.n_steps_ = trained.n_steps
        if kept is not None:
            kept.remove()
        if not trained.converged:
            self._warn(trained)
        return self

    @available_if(goes_on_by_pegasos)
    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over these rows, in the order given, going on with the same sequence.

        Passing the rows in several calls is the same as in one (with ``batch_size`` k: if all calls
        but the last have a multiple of k rows). Shuffle them beforehand: the order is yours. There
        is no certificate, for the objective is over all rows ever seen: none of ``objective_``,
        ``dual_objective_``, ``duality_gap_`` and ``history_`` is set afterwards.

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
        self._refuse_options_of_the_other_solver()
        first = not hasattr(self, "classes_")
        X, y = self._check_data_and_labels(X, y, reset=first, ensure_all_finite=True)
        known = known_classes(self, classes)
        weight, unit = self._row_weights(sample_weight, X, goes_on=not first)
        target = encode_known(y, known)
        totals = class_totals(target, weight) + (0 if first else self._class_totals)
        weight = self._combined_weight(weight, target, totals)
        problem = self._problem(X, target, weight)
        draws = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
        state = new_pegasos_state(problem) if first else self._pegasos_state()
        batch_size = min(self.batch_size, max(1, len(draws)))
        part = draws_per_call(problem.work_per_draw(), batch_size)
        for first_draw in range(0, len(draws), part):
            pegasos_steps(
                problem,
                state,
                draws[first_draw : first_draw + part],
                batch_size=batch_size,
                project=self.project,
                average=self.average,
            )
        weights = state.weights(problem.lams)
        if not np.all(np.isfinite(weights)):
            refuse_non_finite(X, "the sum of the rows")
        self.classes_ = known
        self._class_totals, self._weight_unit = totals, unit
        self._state = state
        self._state_lam, self._state_bias = self.lam, self._bias
        self._set_weights(weights)
        self.n_steps_ = (0 if first else self.n_steps_) + ceil(len(draws) / self.batch_size)
        self.n_iter_ = 1
        self.n_violations_ = one_or_all(state.tally["violations"].astype(np.int64))
        self._forget_certificate()
        return self

    def _refuse_options_of_the_other_solver(self) -> None:
        if self.solver == "sdca" and (self.batch_size != 1 or self.project):
            raise ValueError(
                "solver='sdca' takes one row at a time and needs no projection; got "
                f"batch_size={self.batch_size}, project={self.project}. Use batch_size=1 and "
                "project=False, or solver='pegasos'"
            )

    def _problem(self, X: Any, target: Target, weight: Floats | None) -> Problem:
        return Problem(
            X,
            target,
            weight,
            lams=np.array([self.lam], dtype=np.float64),
            loss=self.loss,
            bias=self._bias,
            threads=n_threads(self.n_jobs),
        )

    def _schedule(self, n_active: int, batch_size: int, *, work_per_draw: float) -> Schedule:
        return Schedule(
            n_steps=self.max_steps or ceil(self.max_iter * n_active / batch_size),
            batch_size=batch_size,
            n_active=n_active,
            tol=self.tol,
            work_per_draw=work_per_draw,
        )

    def _run(
        self, problem: Objectives, earlier: Any, stream: DrawStream | ChunkDraws, batch_size: int
    ) -> PegasosRun | SdcaRun:
        n_active = stream.n_rows
        if self.solver == "sdca":
            return SdcaRun(problem, earlier, n_active=n_active, average=self.average)
        return PegasosRun(
            problem,
            earlier,
            n_active=n_active,
            batch_size=batch_size,
            whole_epochs=stream.at_epoch_start and n_active % batch_size == 0,
            project=self.project,
            average=self.average,
        )

    def _earlier_state(self, problem: Problem, target: Target) -> PegasosState | SdcaState | None:
        """Return what a warm start goes on from: a copy, so that a failing fit changes nothing."""
        if not self.warm_start or not hasattr(self, "_state"):
            return None
        state: PegasosState | SdcaState = self._state.copy()
        fits = (
            isinstance(state, SdcaState) == (self.solver == "sdca")
            and np.array_equal(self.classes_, target.classes)
            and state.fits(problem)
        )
        if not fits:
            raise ValueError(
                "warm_start=True goes on with an earlier fit, but solver, classes or the shape of "
                "X differ from then; use warm_start=False or clone the estimator to start anew"
            )
        self._adapt(state)
        return state

    def _adapt(self, state: PegasosState | SdcaState) -> None:
        """Fit an earlier state to what lam and the constant feature are now."""
        if self._state_bias != self._bias:
            raise ValueError(
                "fit_intercept and intercept_scaling may not change between calls that go on with "
                "one another; clone the estimator to start anew"
            )
        if self._state_lam != self.lam:
            state.change_lam(self.lam / self._state_lam)

    def _pegasos_state(self) -> PegasosState:
        """Return a copy of what partial_fit goes on from."""
        state = getattr(self, "_state", None)
        if not isinstance(state, PegasosState):
            raise ValueError(
                "partial_fit goes on with the steps of solver='pegasos', but this model was fitted "
                "with solver='sdca'; clone it to start anew"
            )
        state = state.copy()
        self._adapt(state)
        return state

    def _keep(
        self, trained: Trained, run: PegasosRun | SdcaRun, classes: Any, stream: DrawStream | None
    ) -> None:
        certificate = trained.certificate
        self.classes_ = classes
        self._set_weights(certificate.weights)
        self._keep_certificate(trained, run.violations)
        self.__dict__.pop("_state", None)
        self.__dict__.pop("_draw_stream", None)
        # Per-row state is kept only if asked for; Pegasos' own is O(features), for partial_fit.
        if self.warm_start or self.solver == "pegasos":
            self._state = run.state
            self._state_lam, self._state_bias = self.lam, self._bias
        if self.warm_start:
            self._draw_stream = stream
