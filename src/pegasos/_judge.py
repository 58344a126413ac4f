"""How good the cells of a grid are: zero-one errors, and the user's scoring."""

from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring

from pegasos._certified import CertifiedClassifier
from pegasos._fold import Fold, RowNumbers
from pegasos._grid import Judged
from pegasos._validation import Floats, Target
from pegasos.kernels._rows import count, pick


class Judge:
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
        best = scores[0] > 0 if len(scores) == 1 else _first_best(scores)
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


def _first_best(scores: Floats) -> npt.NDArray[Any]:
    """Return ``scores.argmax(axis=0)`` of scores without NaN.

    NumPy's own goes down column by column and takes seven times as long.
    """
    n_classes = len(scores)
    number = np.arange(n_classes, dtype=np.min_scalar_type(2 * n_classes))
    behind = (scores != scores.max(axis=0)) * number.dtype.type(n_classes)
    best: npt.NDArray[Any] = (number[:, np.newaxis] + behind).min(axis=0)
    return best


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
