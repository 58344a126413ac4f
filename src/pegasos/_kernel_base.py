"""What the kernel machines share: kernels by name, support vectors, scores."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from pegasos import _core
from pegasos._base import ScoringClassifier
from pegasos._kernel_problem import KernelProblem, RowNumbers
from pegasos._validation import Floats, Target, is_sparse, n_threads
from pegasos.kernels import CachedRows, KernelRows, StoredMatrix, VectorKernel, memory_bytes
from pegasos.kernels._blas import blas_on_one_thread
from pegasos.kernels._checks import looks_indefinite, refuse_asymmetric
from pegasos.kernels._functions import (
    Vectors,
    needs_float64,
    refuse_far_away,
    refuse_overflow,
    scale_gamma,
    without_zeros,
)
from pegasos.kernels._rows import (
    CallableRows,
    RowMaker,
    SparseMatrixRows,
    VectorRows,
    call_kernel,
    count,
    pick,
)

# Arrays of problems x rows that a fit keeps beside the kernel rows: scores, masses, both for the
# mean, marks of earlier epochs, and what computing a certificate takes.
_ARRAYS_BESIDE = 12
# Few enough that what is made of them stays small.
_ROWS_SCORED_AT_ONCE = 16384


# Those of a kernel by its name.
_PARAMETERS_OF = {
    "rbf": ("gamma", "coef0"),
    "poly": ("gamma", "degree", "coef0"),
    "linear": ("coef0",),
}

# As it was fitted: a kernel of vectors, "precomputed", or the user's own.
KernelFunction = Callable[[Any, Any], Any]
Kernel = VectorKernel | str | KernelFunction


@dataclass(frozen=True)
class KernelSetup:
    """The problem of a fit, and what there is to know about its kernel."""

    problem: KernelProblem
    kernel: Kernel
    is_bounded: bool  # whether the dual is a bound


class KernelModel(ScoringClassifier):
    """A classifier ``sum_i dual_coef_i K(support_i, x)``; one row of coefficients per problem.

    There is no bias to learn; only a model imported from elsewhere has an ``intercept_`` to add.
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    memory: int | str

    support_: RowNumbers
    support_vectors_: Any
    dual_coef_: Floats
    intercept_: Floats
    _kernel: Kernel
    _kernel_asked_for: dict[str, Any]
    _rows_seen: int

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: ``sum_i dual_coef_i K(support_i, x)``.

        Works in tiles over rows and support vectors: no kernel matrix is kept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score. With ``kernel="precomputed"`` their kernel with all training rows, of
            shape (n_samples, n_training_rows); with a callable whatever it takes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: one score, positive for ``classes_[1]``. More: one score per class.
        """
        check_is_fitted(self)
        scores = self._support_scores(self._check_rows(X, reset=False), self.dual_coef_).T
        if hasattr(self, "intercept_"):
            scores = scores + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else np.ascontiguousarray(scores)

    def _support_scores(self, X: Any, coef: Floats) -> Floats:
        """Return ``sum_i coef[p, i] K(support_i, x)`` for each problem and row."""
        kernel = self._kernel
        if isinstance(kernel, str):
            return self._precomputed_scores(X, coef)
        if not isinstance(kernel, VectorKernel):
            return self._callable_scores(X, coef, kernel)
        threads = n_threads(self.n_jobs)
        support = Vectors(self.support_vectors_, threads)
        scores = np.zeros((len(coef), X.shape[0]))
        for first in range(0, X.shape[0], _ROWS_SCORED_AT_ONCE):
            part = slice(first, first + _ROWS_SCORED_AT_ONCE)
            rows = Vectors(without_zeros(X[part], threads), threads, like=support)
            scores[:, part] = _vector_scores(kernel, support, coef, rows, threads)
        return scores

    def _precomputed_scores(self, X: Any, coef: Floats) -> Floats:
        scores = np.empty((len(coef), X.shape[0]))
        for tile in self._tiles(X.shape[0]):
            scores[:, tile] = (X[tile][:, self.support_] @ coef.T).T
        if not np.all(np.isfinite(scores)):
            check_array(X, accept_sparse="csr", input_name="X")
        return scores

    def _callable_scores(self, X: Any, coef: Floats, kernel: KernelFunction) -> Floats:
        scores = np.empty((len(coef), count(X)))
        for tile in self._tiles(count(X)):
            K = call_kernel(kernel, pick(X, np.r_[tile]), self.support_vectors_)
            scores[:, tile] = coef @ K.T
        return scores

    def _tiles(self, n_rows: int) -> list[slice]:
        size = max(1, memory_bytes(self.memory) // (16 * max(1, len(self.support_))))
        return [slice(first, min(n_rows, first + size)) for first in range(0, n_rows, size)]

    def _check_rows(self, X: Any, reset: bool) -> Any:
        if callable(self._kernel) and _is_objects(X):
            return list(X)
        return validate_data(self, X, reset=reset, **self._data_rules(X))

    def _check_rows_and_labels(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, Any]:
        if callable(self.kernel) and _is_objects(X):
            y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
            check_consistent_length(X, y)
            return list(X), y
        X, y = validate_data(self, X, y, reset=reset, **self._data_rules(X))
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"{type(self).__name__}(kernel='precomputed') needs a square matrix to fit, "
                    f"the kernel of all training rows with each other; got shape {X.shape}"
                )
            refuse_asymmetric(X)
        return X, y

    def _set_up(
        self,
        X: Any,
        target: Target,
        weight: Floats | None,
        *,
        lam: float,
        loss: str,
        kernel: Kernel | None = None,
        needs_bound: bool = True,
    ) -> KernelSetup:
        """Pose the problem; with the kernel of an earlier call, or by the parameters."""
        threads = n_threads(self.n_jobs)
        kernel = kernel or self._kernel_by_name(X)
        source = self._source(X, kernel, len(target.positive), threads)
        if isinstance(kernel, VectorKernel):
            is_bounded = kernel.is_positive
        else:
            is_bounded = not (needs_bound and looks_indefinite(source))
        if needs_bound and not is_bounded:
            warnings.warn(
                f"{type(self).__name__}: the kernel is indefinite (it may have negative "
                "eigenvalues), so the objective is not convex and the dual no bound: "
                "dual_objective_ and duality_gap_ are set to -inf and inf. Use a positive "
                "semi-definite kernel for a certificate.",
                UserWarning,
                stacklevel=5,  # _set_up, fit, its two wrappers, the caller
            )
        problem = KernelProblem(
            source,
            target.code,
            target.positive,
            weight,
            lams=np.full(len(target.positive), lam),
            loss=loss,
            threads=threads,
        )
        return KernelSetup(problem, kernel, is_bounded)

    def _kernel_by_name(self, X: Any) -> Kernel:
        if callable(self.kernel) or self.kernel == "precomputed":
            own: Kernel = self.kernel
            return own
        coef0 = float(self.coef0)
        if self.kernel == "linear":
            return VectorKernel("linear", coef0=coef0)
        gamma = scale_gamma(self.gamma, X)
        if self.kernel == "rbf":
            return VectorKernel("rbf", gamma, coef0)
        return VectorKernel("poly", gamma, coef0, int(self.degree))

    def _kernel_parameters(self) -> dict[str, Any]:
        """Return the parameters that say which kernel is meant."""
        names = _PARAMETERS_OF.get(self.kernel, ()) if isinstance(self.kernel, str) else ()
        return {name: getattr(self, name) for name in ("kernel", *names)}

    def _keep_kernel(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._kernel_asked_for = self._kernel_parameters()

    def _source(self, X: Any, kernel: Kernel, n_problems: int, threads: int) -> KernelRows:
        maker: RowMaker
        if isinstance(kernel, VectorKernel):
            maker = VectorRows(X, kernel, threads)
        elif not isinstance(kernel, str):
            maker = CallableRows(X, kernel)
        elif is_sparse(X):
            maker = SparseMatrixRows(X)
        else:
            return StoredMatrix(X)
        beside = 8 * _ARRAYS_BESIDE * n_problems * maker.n_rows
        return CachedRows(maker, memory_bytes(self.memory), beside)

    def _keep_support(self, X: Any, used: RowNumbers) -> None:
        """Keep the rows that have coefficients; all others are no longer needed."""
        self.__dict__.pop("intercept_", None)
        self.support_ = used
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else pick(X, used)
        self._rows_seen = count(X)

    def _join_support(self, X: Any, used: RowNumbers) -> None:
        """Add rows to the support vectors; they are numbered in the order in which they came."""
        self.support_ = np.concatenate([self.support_, self._rows_seen + used])
        new = pick(X, used)
        if isinstance(new, list):
            self.support_vectors_ = [*self.support_vectors_, *new]
        elif is_sparse(new) or is_sparse(self.support_vectors_):
            self.support_vectors_ = sp.vstack([self.support_vectors_, new], format="csr")
        else:
            self.support_vectors_ = np.concatenate([self.support_vectors_, new])
        self._rows_seen += count(X)

    def _refuse_to_go_on(self) -> None:
        """Refuse to add rows where there is no kernel between old and new ones."""
        if self.kernel == "precomputed":
            raise ValueError(
                "partial_fit needs the kernel of new rows with old ones, which a precomputed "
                "matrix does not hold; use a kernel by name or a callable, or fit all rows at once"
            )
        asked_for = self._kernel_parameters()
        if hasattr(self, "classes_") and asked_for != self._kernel_asked_for:
            earlier = _text(self._kernel_asked_for)
            raise ValueError(
                f"partial_fit goes on with the kernel of earlier calls, {earlier}; got "
                f"{_text(asked_for)}. Set it back with set_params, or clone the estimator to start "
                "anew"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _vector_scores(
    kernel: VectorKernel, support: Vectors, coef: Floats, rows: Vectors, threads: int
) -> Floats:
    refuse_overflow(kernel, np.result_type(support.X.dtype, rows.X.dtype), support, rows)
    refuse_far_away(kernel, support, rows)
    scores = np.zeros((len(coef), rows.X.shape[0]))
    with blas_on_one_thread():
        _core.kernel_scores(
            support.rows,
            support.squares,
            None,
            np.ascontiguousarray(coef),
            rows.rows,
            rows.squares,
            scores,
            **kernel.options(),
            same_matrix=False,
            in_double=needs_float64(kernel, support, rows),
            n_threads=threads,
        )
    return scores


def _text(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def _is_objects(X: Any) -> bool:
    """Tell whether X is a sequence of objects that only the user's kernel understands."""
    if hasattr(X, "shape"):
        return len(X.shape) == 1
    try:
        values = np.asarray(X)
    except ValueError:  # of different lengths
        return True
    return values.ndim != 2 or values.dtype.kind not in "biuf"
