"""PerceptronClassifier: learns from its mistakes alone."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from pegasos import _core
from pegasos._base import LinearModel
from pegasos._draws import DrawStream, Rows, as_generator
from pegasos._perceptron_epochs import EpochPlace, run_epochs, warn_of_mistakes
from pegasos._problem import Objectives, Problem, as_floats, new_tally
from pegasos._stream_fit import (
    checkpoint_of,
    chunk_draws,
    chunked_problem,
    refuse_what_needs_all_rows,
)
from pegasos._training import draws_per_call, one_or_all
from pegasos._validation import (
    PARAMETERS,
    Floats,
    StrOptions,
    Target,
    encode,
    encode_known,
    fit_method,
    known_classes,
    n_threads,
    refuse_non_finite,
)

_USED = (
    "max_iter",
    "max_steps",
    "sampling",
    "fit_intercept",
    "intercept_scaling",
    "warm_start",
    "random_state",
    "n_jobs",
    "verbose",
)


class PerceptronClassifier(LinearModel):
    """The perceptron: add ``y x`` to the weights whenever ``y <w, x> <= 0``.

    Rosenblatt's rule, over epochs in random order, until an epoch passes without a mistake: the
    weights then separate the classes. Several classes: one perceptron each against the rest, on the
    same draws, each stopping by itself. There is no objective, hence no certificate and no sample
    weights: give a row twice to let it count twice.

    Parameters
    ----------
    max_iter : int, default=100
        Epochs at most.
    max_steps : int or None, default=None
        Rows visited at most; overrides ``max_iter`` and may be less than an epoch.
    sampling : {"permutation", "uniform"}, default="permutation"
        A new random order each epoch, or n_samples draws with replacement.
    average : {None, "uniform"}, default=None
        Keep the last weights, or the mean of the weights after every step (the averaged
        perceptron), better where the classes overlap.
    fit_intercept : bool, default=True
        Add a constant feature.
    intercept_scaling : float, default=1.0
        Value of that feature, > 0.
    warm_start : bool, default=False
        Let ``fit`` go on from the weights of the last one.
    random_state : int, Generator, RandomState or None, default=None
        An integer draws from ``numpy.random.default_rng(random_state)``.
    n_jobs : int or None, default=None
        Threads (-1: all) over the classes. No result depends on it.
    verbose : bool or int, default=0
        Show progress with the mistakes per epoch on stderr.

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
    PegasosClassifier : Minimises an objective and says how close to the optimum it came.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import PerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronClassifier(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: PARAMETERS[name] for name in _USED},
        "average": [StrOptions({"uniform"}), None],
    }

    _rng: np.random.Generator

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

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn until an epoch passes without a mistake, or ``max_iter`` epochs are done.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows, used in place.
        y : array-like of shape (n_samples,)
            Labels of any kind.

        Returns
        -------
        self
            The fitted model.
        """
        X, y = self._check_data_and_labels(X, y, ensure_all_finite=True)
        target = encode(y, None, type(self).__name__)
        state = self._earlier_state(X, target)
        rng = as_generator(self.random_state)
        if state is not None and hasattr(self, "_rng"):
            rng = deepcopy(self._rng)
        stream = DrawStream(rng, X.shape[0], self.sampling)
        state = state or PerceptronState(len(target.positive), X.shape[1])
        state.resume(self.average)
        learn = partial(perceptron_steps, self._problem(X, target), state)
        history = run_epochs(self, learn, state.tally, stream)
        self._keep(target.classes, state, partial(refuse_non_finite, X))
        self._rng = rng
        self.n_iter_ = len(history)
        self.history_ = history
        warn_of_mistakes(self, separable="separable", instead="PegasosClassifier")
        return self

    @fit_method
    def fit_stream(self, stream: Any, *, checkpoint: Any = None, shuffle: bool = True) -> Self:
        """Learn from data larger than memory, chunk by chunk.

        Each epoch draws an order of the chunks, and within each an order of its rows; while one is
        learnt, the next is read. Needs ``sampling="permutation"`` and ``warm_start=False``.

        Parameters
        ----------
        stream : Stream
            What :func:`pegasos.io.stream` returns.
        checkpoint : path or None, default=None
            A file that is written now and then (for 5% of the time at most), and removed at the
            end. If it is there, the fit goes on from it, and ends with the same model as one that
            was never stopped.
        shuffle : bool, default=True
            Without, rows come in the order of the files: the model is then the same for any size
            of the chunks. Only for files whose rows are in random order.

        Returns
        -------
        self
            The fitted model.
        """
        refuse_what_needs_all_rows(self)
        problem = chunked_problem(self, stream, looks_at_values=True, lams=np.ones(1), loss="hinge")
        draws = chunk_draws(self, problem, shuffle=shuffle)
        state = PerceptronState(problem.n_problems, problem.n_features)
        state.resume(self.average)
        kept = checkpoint_of(self, stream, checkpoint, shuffle=shuffle)
        place = None
        if kept is not None and (saved := kept.load()) is not None:
            vars(state).update(saved["state"])
            draws.restore(saved["draws"])
            place = EpochPlace(**saved["place"])

        def keep(place: EpochPlace) -> None:
            if kept is not None:
                kept.keep_now_and_then(
                    lambda: {"state": vars(state), "draws": draws.saved(), "place": vars(place)}
                )

        learn = partial(perceptron_steps, problem, state)
        history = run_epochs(self, learn, state.tally, draws, place, keep)
        self._keep(problem.classes, state, problem.refuse_overflow)
        self.n_iter_ = len(history)
        self.history_ = history
        if kept is not None:
            kept.remove()
        warn_of_mistakes(self, separable="separable", instead="PegasosClassifier")
        return self

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one pass over these rows, in the order given, going on with the same weights.

        Passing the rows in several calls is the same as in one.

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
        first = not hasattr(self, "classes_")
        X, y = self._check_data_and_labels(X, y, reset=first, ensure_all_finite=True)
        target = encode_known(y, known_classes(self, classes))
        state = PerceptronState(len(target.positive), X.shape[1]) if first else self._state.copy()
        state.resume(self.average)
        everyone = np.arange(state.n_problems)
        perceptron_steps(self._problem(X, target), state, everyone, np.arange(X.shape[0]))
        self._keep(target.classes, state, partial(refuse_non_finite, X))
        self.n_iter_ = 1
        self.__dict__.pop("history_", None)
        return self

    def _problem(self, X: Any, target: Target) -> Problem:
        # lam and loss play no part; what is shared with Pegasos is the data and its labels.
        return Problem(
            X,
            target,
            None,
            lams=np.ones(1),
            loss="hinge",
            bias=self._bias,
            threads=n_threads(self.n_jobs),
        )

    def _earlier_state(self, X: Any, target: Target) -> "PerceptronState | None":
        if not self.warm_start or not hasattr(self, "_state"):
            return None
        if not np.array_equal(self.classes_, target.classes):
            raise ValueError(
                f"warm_start=True goes on with classes {self.classes_.tolist()}; "
                f"y holds {target.classes.tolist()}. Use warm_start=False to start anew"
            )
        if self._state.w.shape[1] != X.shape[1] + 1:
            raise ValueError(
                f"warm_start=True goes on with {self._state.w.shape[1] - 1} features; "
                f"X has {X.shape[1]}. Use warm_start=False to start anew"
            )
        return self._state.copy()

    def _keep(
        self, classes: Any, state: "PerceptronState", refuse_overflow: Callable[[str], None]
    ) -> None:
        if not state.is_finite():
            refuse_overflow("the margin of a row")
        self._state = state
        self.classes_ = classes
        self.n_steps_ = int(state.tally["clock"].max())
        self.n_violations_ = one_or_all(state.tally["violations"].astype(np.int64))
        self._set_weights(state.weights())


class PerceptronState:
    """Weights, what their running mean subtracts, and counts."""

    def __init__(self, n_problems: int, n_features: int) -> None:
        self.n_problems = n_problems
        self.w = np.zeros((n_problems, n_features + 1))
        self.u: Floats | None = None
        self.tally = new_tally(n_problems)

    def copy(self) -> "PerceptronState":
        """Return an independent copy."""
        twin = PerceptronState(self.n_problems, self.w.shape[1] - 1)
        twin.w = self.w.copy()
        twin.u = None if self.u is None else self.u.copy()
        twin.tally = self.tally.copy()
        return twin

    def resume(self, average: str | None) -> None:
        """Begin a running mean, or end it."""
        if average is None:
            self.u = None
        elif self.u is None:  # as if all steps so far had been made with the present weights
            self.u = np.zeros_like(self.w)

    def weights(self) -> Floats:
        """Return the running mean of the weights if one is kept, else the last weights."""
        if self.u is None:
            return self.w.copy()
        mean: Floats = self.w - self.u / self.tally["clock"][:, np.newaxis]
        return mean

    def is_finite(self) -> bool:
        """Tell whether weights are finite, and margins: the weights are sums of rows."""
        with np.errstate(over="ignore"):
            squares = np.vdot(self.w, self.w)
        return bool(np.isfinite(squares) and np.all(np.isfinite(self.weights())))


def perceptron_steps(
    problem: Objectives, state: PerceptronState, learning: Rows, draws: Rows
) -> None:
    """Advance the problems in ``learning`` over the draws, a part at a time."""
    part = draws_per_call(problem.work_per_draw())
    w, tally = state.w[learning], state.tally[learning]
    u = None if state.u is None else state.u[learning]
    for first in range(0, len(draws), part):
        _core.perceptron_steps(
            problem.data,
            problem.positive[learning],
            w,
            u,
            as_floats(tally),
            draws[first : first + part],
            n_threads=problem.threads,
        )
    state.w[learning], state.tally[learning] = w, tally
    if u is not None and state.u is not None:
        state.u[learning] = u
