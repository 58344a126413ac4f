"""Scores and predictions of Dask collections: Dask collections again, computed when asked for."""

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pegasos._base import LinearModel
from pegasos._certified import CertifiedClassifier, is_log
from pegasos.dask._collections import (
    check_features,
    is_dask,
    is_frame,
    one_column_chunk,
    partitions,
)
from pegasos.dask._lazy_parts import accuracy, call, scored_frame


class LazyScores(LinearModel):
    """A linear model that takes Dask collections; what is in memory it treats as others do."""

    client: Any
    shards: int | None

    def to_local(self) -> Any:
        """Return the same model as an estimator of this name in :mod:`pegasos`."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Any:
        """Return the score of each row: ``<w, x> + b``.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: one score, positive for ``classes_[1]``. More: one score per class.
        """
        if not is_dask(X):
            return super().decision_function(X)
        check_is_fitted(self)
        k = 1 if len(self.classes_) == 2 else len(self.classes_)
        return self._lazily(X, "decision_function", np.dtype(np.float64), None if k == 1 else k)

    def predict(self, X: Any) -> Any:
        """Return the class of each row: the one with the largest score.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Labels as they were given to fit.
        """
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self)
        return self._lazily(X, "predict", self.classes_.dtype, None)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return the accuracy, the part of the rows that are classified right.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            The rows to classify.
        y : Dask array or series, or array-like, of shape (n_samples,)
            Their labels.
        sample_weight : Dask array or series, or array-like, of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        Dask array without dimensions, or float
            ``float(...)`` computes it.
        """
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        check_is_fitted(self)
        check_features(self, X, reset=False)
        return accuracy(self._scorer(), partitions(X, y=y, sample_weight=sample_weight))

    def _scorer(self) -> Any:
        """Return the local model, once for the graph and not once per partition."""
        from dask.delayed import delayed

        local = self.to_local().set_params(n_jobs=None)  # tasks have a thread each
        vars(local).pop("_state", None)  # scores need but the weights
        return delayed(local, pure=False)

    def _lazily(self, X: Any, method: str, dtype: Any, n_columns: int | None) -> Any:
        """Call a method of the local model on every partition."""
        check_features(self, X, reset=False)
        columns = () if n_columns is None else (n_columns,)
        meta = np.empty((0, *columns), dtype=dtype)
        if is_frame(X):
            return scored_frame(self._scorer(), X, method, meta)
        X = one_column_chunk(X)
        rows = {"drop_axis": 1} if n_columns is None else {"chunks": (X.chunks[0], columns)}
        return X.map_blocks(
            call, model=self._scorer(), method=method, dtype=dtype, meta=meta, **rows
        )

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy: a client cannot be copied, it is shared."""
        from sklearn.base import clone

        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        parameters = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**parameters, client=client)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return state | {"client": None}  # it belongs to this process


class LazyProbabilities(LazyScores, CertifiedClassifier):
    """Lazy probabilities, too."""

    @available_if(is_log)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, for ``loss="log"``.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. With more than two classes the one-vs-rest
            probabilities, scaled to sum to 1.
        """
        if not is_dask(X):
            return super().predict_proba(X)
        return self._lazy_probabilities(X, "predict_proba")

    @available_if(is_log)
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class, for ``loss="log"``.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; exact where probabilities would round to 0.
        """
        if not is_dask(X):
            return super().predict_log_proba(X)
        return self._lazy_probabilities(X, "predict_log_proba")

    def _lazy_probabilities(self, X: Any, method: str) -> Any:
        check_is_fitted(self)
        return self._lazily(X, method, np.dtype(np.float64), len(self.classes_))


def local_twin(model: Any, kind: type) -> Any:
    """Return a fitted estimator of this kind with the parameters and attributes of the model."""
    check_is_fitted(model)
    own = ("client", "shards", "n_shards_")
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in own}
    twin = kind(**parameters)
    fitted = {k: v for k, v in vars(model).items() if k not in parameters and k not in own}
    vars(twin).update(deepcopy(fitted))
    return twin
