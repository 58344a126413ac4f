"""PegasosClassifier on a Dask cluster."""

from typing import Any, ClassVar, Self

import pegasos
from pegasos._pegasos_run import PegasosState
from pegasos._training import Schedule
from pegasos._validation import PARAMETERS, Floats, fit_method, n_threads
from pegasos.dask._cluster import Cluster
from pegasos.dask._collections import check_features
from pegasos.dask._lazy import LazyProbabilities, local_twin
from pegasos.dask._load import Loaded, load
from pegasos.dask._methods import Ascending, Stepping
from pegasos.dask._refusals import refuse_options
from pegasos.dask._rounds import Method, epochs_a_round, run_rounds
from pegasos.dask._shard import Setting, entropy_of


class PegasosClassifier(LazyProbabilities):
    """Linear SVM or logistic regression on a Dask cluster, with a bound over all rows.

    The same problem as :class:`pegasos.PegasosClassifier`. Each *shard*, one partition of the data
    or several, is trained on by the worker that holds it. After a round of one or a few epochs the
    weights of all shards are combined. Rows and dual variables never leave the workers, and the
    same seed and partitions give the same model, whatever the number of workers.

    Parameters
    ----------
    lam : float, default=1e-3
        Strength of the regularisation, > 0.
    loss : {"hinge", "log"}, default="hinge"
        ``max(0, 1 - z)``, the SVM, or ``log(1 + exp(-z))``, logistic regression.
    solver : {"pegasos", "sdca"}, default="pegasos"
        "pegasos": steps of size ``1/(lam t)`` on every shard, weights averaged after each round.
        "sdca": dual coordinate ascent on every shard, updates added (CoCoA+); far quicker to a
        small gap.
    max_iter : int, default=5000
        Epochs (visits of every row) at most.
    max_steps : int or None, default=None
        Steps at most, over all shards; overrides ``max_iter`` and may be less than an epoch.
    batch_size : int, default=1
        Only 1.
    sampling : {"permutation", "uniform"}, default="permutation"
        Only "permutation": each shard takes its rows in a new random order each epoch.
    average : {None, "uniform", "weighted"}, default="weighted"
        Which weights become ``coef_``: the last, the mean of all, or their mean weighted by t. With
        "sdca" the mean is over the latest epoch, and the best weights certified are kept.
    project : bool, default=False
        Only False.
    fit_intercept : bool, default=True
        Add a constant feature. Its weight is regularised like all others.
    intercept_scaling : float, default=1.0
        Value of that feature, > 0; larger regularises the intercept less.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of each row by its class. "balanced" lets all classes weigh the same.
    tol : float or None, default=1e-2
        Stop when ``(objective - bound) / objective`` is at most this, for every class. None runs
        all steps.
    warm_start : bool, default=False
        Only False.
    random_state : int, Generator, RandomState or None, default=None
        An integer makes the fit repeatable: round r of shard k draws from
        ``numpy.random.SeedSequence(random_state, spawn_key=(k, r))``.
    n_jobs : int or None, default=None
        Threads of one task (-1: all of the machine it runs on). No result depends on it. One is
        best where there are as many shards as threads of workers.
    verbose : bool or int, default=0
        Show progress with objective, gap and time left on stderr.
    shards : int or None, default=None
        Join consecutive partitions into so many shards. None: every partition is one. The fewer
        there are, the fewer rounds it takes; best is as many as the workers have threads.
    client : distributed.Client or None, default=None
        The connection to the cluster; None takes the one that is in use.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; see ``sparsify``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    n_iter_ : int
        Epochs run, the last one perhaps in part.
    n_steps_ : int
        Steps made, over all shards.
    n_shards_ : int
        Shards that had rows of positive weight.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_classes,)
        The certificate, over all rows: P at ``coef_``, a lower bound on the optimum, and their
        difference.
    n_violations_ : int or ndarray of shape (n_classes,)
        Visits with a margin below 1.
    history_ : list of dict
        A record (step, seconds, objective, dual, gap, violations) for each certificate computed
        during the fit.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    pegasos.PegasosClassifier : The same for rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pegasos.dask import PegasosClassifier
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
    >>> model = PegasosClassifier(lam=0.01, solver="sdca", random_state=0).fit(X, X[:, 0] > 0)
    >>> bool(model.duality_gap_ <= 0.01 * model.objective_)
    True
    >>> client.close()
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS

    n_steps_: int
    n_shards_: int
    _class_totals: Floats
    _state: PegasosState

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
        shards: int | None = None,
        client: Any = None,
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
        self.shards = shards
        self.client = client

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training rows; the blocks of an array may be CSR matrices. Sizes of chunks need not be
            known. Columns cut into several chunks are brought together.
        y : Dask array or series of shape (n_samples,)
            Labels of any kind, in the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Weights, at least 0, in the partitions of X. A weight of 2 stands for the row given
            twice.

        Returns
        -------
        self
            The fitted model.
        """
        refuse_options(self)
        n_threads(self.n_jobs)  # refuses 0
        with Cluster.of(self.client) as cluster:
            check_features(self, X, reset=True)
            # Bad values show in the objective.
            loaded = load(
                cluster, self, X, y, sample_weight, self.class_weight, look_at_values=False
            )
            kind = Ascending if self.solver == "sdca" else Stepping
            method: Method = kind(loaded, self._setting(loaded))
            work = float(loaded.typical_row[-1])
            n_active = sum(loaded.n_active)
            schedule = Schedule(
                n_steps=self.max_steps or self.max_iter * n_active,
                batch_size=1,
                n_active=n_active,
                tol=self.tol,
                work_per_draw=work,
            )
            outcome = run_rounds(
                method,
                loaded,
                schedule,
                epochs_a_round(loaded.n_active, work),
                name=type(self).__name__,
                verbose=self.verbose,
            )
            self.__dict__.pop("_state", None)
            if isinstance(method, Stepping):
                self._state = cluster.result(method.local_state)
                self._state_lam, self._state_bias = self.lam, self._bias
        self.classes_ = loaded.everyone.classes
        self.n_shards_ = len(loaded.parts)
        self._class_totals, self._weight_unit = loaded.everyone.totals, loaded.everyone.unit
        self._set_weights(outcome.trained.certificate.weights)
        self._keep_certificate(outcome.trained, outcome.violations)
        self.n_steps_ = outcome.trained.n_steps
        if not outcome.trained.converged:
            self._warn(outcome.trained)
        return self

    def to_local(self) -> "pegasos.PegasosClassifier":
        """Return the same model as a :class:`pegasos.PegasosClassifier`, without Dask.

        Returns
        -------
        pegasos.PegasosClassifier
            With the same parameters, weights and certificate. Of ``solver="pegasos"``,
            ``partial_fit`` goes on with the same sums.
        """
        twin: pegasos.PegasosClassifier = local_twin(self, pegasos.PegasosClassifier)
        return twin

    def _setting(self, loaded: Loaded) -> Setting:
        return Setting(
            lam=float(self.lam),
            loss=self.loss,
            bias=self._bias,
            average=self.average,
            n_jobs=self.n_jobs,
            entropy=entropy_of(self.random_state),
            n_shards=len(loaded.parts),
            total_weight=loaded.total_weight,
        )
