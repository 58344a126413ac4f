"""What all classifiers share, and all linear ones: scores, predictions, coefficients."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from pegasos import _core
from pegasos._notebook import ShownInNotebooks
from pegasos._validation import (
    Floats,
    float_dtypes,
    is_sparse,
    make_rows,
    n_threads,
    refuse_non_finite,
)


class ScoringClassifier(ShownInNotebooks, ClassifierMixin, BaseEstimator):
    """A classifier that decides by scores: one for two classes, else one per class."""

    n_jobs: int | None
    classes_: npt.NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row."""
        raise NotImplementedError

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row: the one with the largest score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels as they were given to fit.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def _data_rules(self, X: Any) -> dict[str, Any]:
        return {
            "accept_sparse": "csr",
            "accept_large_sparse": True,
            "dtype": float_dtypes(X),
            "order": "C",
            "ensure_all_finite": False,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearModel(ScoringClassifier):
    """A classifier with ``coef_`` and ``intercept_``; one row per class, a single one for two."""

    fit_intercept: bool
    intercept_scaling: float
    coef_: Any
    intercept_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: ``<w, x> + b``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score; float32 and CSR are used as they are.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: one score, positive for ``classes_[1]``. More: one score per class.
        """
        check_is_fitted(self)
        X = self._check_data(X, reset=False)
        if is_sparse(self.coef_):
            assert_all_finite(X, input_name="X")  # a zero coefficient would hide what is not finite
            scores = np.asarray((X @ self.coef_.T).todense() if is_sparse(X) else X @ self.coef_.T)
            scores = scores + self.intercept_
        else:
            weights = np.column_stack([self.coef_, self.intercept_]).astype(np.float64)
            threads = n_threads(self.n_jobs)
            scores = np.empty((X.shape[0], len(weights)))
            rows = make_rows(X, 1.0, threads)
            _core.scores(rows, weights, n_threads=threads, scores=scores)
        if not np.all(np.isfinite(scores)):
            refuse_non_finite(X, "the score of a row")
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def sparsify(self) -> Self:
        """Turn ``coef_`` into a CSR matrix: smaller where most coefficients are zero.

        Returns
        -------
        self
            Predictions stay the same; ``densify`` undoes it.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn ``coef_`` back into a dense array.

        Returns
        -------
        self
            Predictions stay the same.
        """
        check_is_fitted(self)
        if is_sparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _check_data(self, X: Any, reset: bool) -> Any:
        # Values are not looked at here: a score or objective that is not finite tells.
        return validate_data(self, X, reset=reset, **self._data_rules(X))

    def _check_data_and_labels(self, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
        checked: tuple[Any, Any] = validate_data(self, X, y, **{**self._data_rules(X), **rules})
        return checked

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _set_weights(self, weights: Floats) -> None:
        self.coef_ = np.ascontiguousarray(weights[:, :-1])
        self.intercept_ = weights[:, -1] * self._bias
