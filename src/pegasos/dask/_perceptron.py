"""PerceptronClassifier on a Dask cluster."""

from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np

from pegasos._perceptron import PerceptronClassifier as LocalPerceptron
from pegasos._perceptron import PerceptronState
from pegasos._perceptron_epochs import warn_of_mistakes
from pegasos._progress import FitProgress
from pegasos._training import one_or_all
from pegasos._validation import PARAMETERS, fit_method, n_threads
from pegasos.dask import _perceptron_tasks as tasks
from pegasos.dask._cluster import Cluster
from pegasos.dask._collections import check_features
from pegasos.dask._lazy import LazyScores, local_twin
from pegasos.dask._load import Loaded, load
from pegasos.dask._refusals import refuse_options
from pegasos.dask._shard import Setting, entropy_of


class PerceptronClassifier(LazyScores):
    """The perceptron on a Dask cluster: shards learn by themselves, their weights are mixed.

    The same rule as :class:`pegasos.PerceptronClassifier`. Each *shard*, one partition of the data
    or several, is passed over by the worker that holds it; after each epoch the weights of the
    shards are mixed, each counting by its mistakes. Where the classes are separable this ends with
    an epoch without a mistake, as for one perceptron.

    Parameters
    ----------
    max_iter : int, default=100
        Epochs at most.
    max_steps : int or None, default=None
        Rows visited at most, over all shards; overrides ``max_iter``.
    sampling : {"permutation", "uniform"}, default="permutation"
        Only "permutation": each shard takes its rows in a new random order each epoch.
    average : {None, "uniform"}, default=None
        Keep the last weights, or the mean of the weights after every step of every shard.
    fit_intercept : bool, default=True
        Add a constant feature.
    intercept_scaling : float, default=1.0
        Value of that feature, > 0.
    warm_start : bool, default=False
        Only False.
    random_state : int, Generator, RandomState or None, default=None
        An integer makes the fit repeatable.
    n_jobs : int or None, default=None
        Threads of one task over the classes (-1: all of the machine it runs on). No result depends
        on it.
    verbose : bool or int, default=0
        Show progress with the mistakes per epoch on stderr.
    shards : int or None, default=None
        Join consecutive partitions into so many shards. None: every partition is one.
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
        Rows visited, over all shards.
    n_shards_ : int
        Shards that had rows.
    n_violations_ : int or ndarray of shape (n_classes,)
        Mistakes.
    history_ : list of dict
        A record (step, seconds, violations: the mistakes of this epoch) per epoch.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    pegasos.PerceptronClassifier : The same for rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pegasos.dask import PerceptronClassifier
    >>> client = Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
    >>> X, y = X + 2 * da.sign(X[:, :1]), X[:, 0] > 0
    >>> float(PerceptronClassifier(random_state=0).fit(X, y).score(X, y))
    1.0
    >>> client.close()
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LocalPerceptron._parameter_constraints,
        **{name: PARAMETERS[name] for name in ("shards", "client")},
    }

    def __init__(
        self,
        *,
        max_iter: int = 100,
        max_steps: int | None = None,
        sampling: str = "permutation",
        average: str | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        shards: int | None = None,
        client: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.sampling = sampling
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.shards = shards
        self.client = client

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn until an epoch passes without a mistake, or ``max_iter`` epochs are done.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training rows; the blocks of an array may be CSR matrices.
        y : Dask array or series of shape (n_samples,)
            Labels of any kind, in the partitions of X.

        Returns
        -------
        self
            The fitted model.
        """
        refuse_options(self)
        n_threads(self.n_jobs)  # refuses 0
        with Cluster.of(self.client) as cluster:
            check_features(self, X, reset=True)
            loaded = load(cluster, self, X, y, look_at_values=True)
            history, mixed = self._epochs(cluster, loaded)
            state: PerceptronState = cluster.result(
                cluster.submit(tasks.state_of, mixed, self.average)
            )
            if not state.is_finite():
                loaded.explain_overflow("the margin of a row")
        self._state = state
        self.classes_ = loaded.everyone.classes
        self.n_shards_ = len(loaded.parts)
        self.n_iter_ = len(history)
        self.history_ = history
        self.n_steps_ = int(state.tally["clock"].max())
        self.n_violations_ = one_or_all(state.tally["violations"].astype(np.int64))
        self._set_weights(state.weights())
        warn_of_mistakes(self, separable="separable", instead="PegasosClassifier")
        return self

    def to_local(self) -> LocalPerceptron:
        """Return the same model as a :class:`pegasos.PerceptronClassifier`, without Dask.

        Returns
        -------
        pegasos.PerceptronClassifier
            With the same parameters and weights; ``partial_fit`` goes on with them.
        """
        twin: LocalPerceptron = local_twin(self, LocalPerceptron)
        return twin

    def _epochs(self, cluster: Cluster, loaded: Loaded) -> tuple[list[dict[str, Any]], Any]:
        setting = Setting(
            lam=1.0,  # lam and loss play no part
            loss="hinge",
            bias=self._bias,
            average=self.average,
            n_jobs=self.n_jobs,
            entropy=entropy_of(self.random_state),
            n_shards=len(loaded.parts),
            total_weight=loaded.total_weight,
        )
        mixed = cluster.submit(tasks.begin_mixing, loaded.n_problems, loaded.n_features)
        history: list[dict[str, Any]] = []
        started = perf_counter()
        n_rows = sum(loaded.n_active)
        left = self.max_steps or self.max_iter * n_rows
        with FitProgress(type(self).__name__, left, self.verbose) as progress:
            n_learning = loaded.n_problems
            while left > 0 and n_learning > 0:
                n_draws = min(left, n_rows)
                left -= n_draws
                turns = loaded.turns(len(history), n_draws)
                updates = loaded.each(tasks.learn, mixed, setting, own=[turns])
                mixed = cluster.fold(tasks.mix, updates, mixed, n_draws == n_rows)
                seen: tasks.Count = cluster.result(cluster.submit(tasks.count, mixed))
                n_learning = seen.n_learning
                history.append(
                    {
                        "step": int(seen.clock),
                        "seconds": perf_counter() - started,
                        "violations": one_or_all(seen.mistakes),
                    }
                )
                progress.advance(n_draws)
                progress.say(f"{seen.mistakes.sum()} mistakes")
        return history, mixed
