"""Pegasos as reports and courses write it, in plain NumPy: what the clocks of studies compare with.

Every loop takes rows, labels -1 and +1, the rows to draw, and lam; it makes the published steps,
one after the other, and returns the weights or (kernels) the coefficients of the last step. All
are right: what differs is how much work they do for it. ``pegasos.reference`` explains the steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from pegasos._validation import is_sparse

__all__ = ["LOOPS", "LaplaceSquared", "Loop"]

Floats = npt.NDArray[np.float64]
Draws = npt.NDArray[np.int64]


def dense(X: Any, y: Floats, draws: Draws, lam: float) -> Floats:
    """``w = (1 - eta lam) w + eta y x``: every step goes through all features, twice."""
    w = np.zeros(X.shape[1])
    for t, i in enumerate(draws, start=1):
        eta = 1 / (lam * t)
        if y[i] * (w @ X[i]) < 1:
            w = (1 - eta * lam) * w + (eta * y[i]) * X[i]
        else:
            w = (1 - eta * lam) * w
    return w


def sparse(X: Any, y: Floats, draws: Draws, lam: float) -> Floats:
    """Return the same with sparse rows: only shrinking w still goes through all features."""
    w = np.zeros(X.shape[1])
    for t, i in enumerate(draws, start=1):
        eta = 1 / (lam * t)
        columns, values = _row(X, i)
        violates = y[i] * (w[columns] @ values) < 1
        w *= 1 - eta * lam
        if violates:
            w[columns] += (eta * y[i]) * values
    return w


def scaling_trick(X: Any, y: Floats, draws: Draws, lam: float) -> Floats:
    """Return the same with ``w = a v``: shrinking multiplies the number a (Pegasos paper, 2.4).

    The first factor, 1 - 1/1, would make a zero and the next division by it infinite. Nothing has
    been added yet, so there is nothing to shrink: it is left out. From then on a is 1/t.
    """
    v, a = np.zeros(X.shape[1]), 1.0
    for t, i in enumerate(draws, start=1):
        eta = 1 / (lam * t)
        columns, values = _row(X, i)
        violates = y[i] * a * (v[columns] @ values) < 1
        if t > 1:
            a *= 1 - eta * lam
        if violates:
            v[columns] += (eta * y[i] / a) * values
    return a * v


def naive(X: Any, y: Floats, draws: Draws, lam: float, gamma: float) -> Floats:
    """Kernel Pegasos that computes kernel values one by one, whenever it needs them."""
    alpha = np.zeros(len(y))
    for t, i in enumerate(draws, start=1):
        score = sum(
            alpha[j] * y[j] * np.exp(-gamma * np.sum((X[j] - X[i]) ** 2))
            for j in np.flatnonzero(alpha)
        )
        if y[i] * score / (lam * t) < 1:
            alpha[i] += 1
    return alpha * y / (lam * len(draws))


def optimised(X: Any, y: Floats, draws: Draws, lam: float, gamma: float) -> Floats:
    """Kernel Pegasos with the kernel matrix made beforehand: every draw is a sum over all rows."""
    K = np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    alpha = np.zeros(len(y))
    for t, i in enumerate(draws, start=1):
        if y[i] * ((alpha * y) @ K[i]) / (lam * t) < 1:
            alpha[i] += 1
    return alpha * y / (lam * len(draws))


def _row(X: Any, i: int) -> tuple[Any, Any]:
    """Return columns and values of what is not zero in a row of a CSR matrix."""
    part = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[part], X.data[part]


@dataclass(frozen=True)
class Loop:
    """One of the loops above, and what it works on."""

    train: Callable[..., Floats]
    has_kernel: bool = False
    wants_sparse: bool = False

    def rows(self, X: Any) -> Any:
        """Return rows as the loop wants them, in NumPy's own precision."""
        if self.wants_sparse:
            return sp.csr_matrix(X, dtype=np.float64)
        return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


LOOPS = {
    "dense": Loop(dense),
    "sparse": Loop(sparse, wants_sparse=True),
    "scaling-trick": Loop(scaling_trick, wants_sparse=True),
    "naive": Loop(naive, has_kernel=True),
    "optimised": Loop(optimised, has_kernel=True),
}


@dataclass(frozen=True)
class LaplaceSquared:
    """``exp(-gamma ||a - b||_1^2)``: a Gaussian kernel with the wrong norm, as a report had it.

    It is not positive semi-definite for all data, hence no kernel in the strict sense.
    """

    gamma: float

    def __call__(self, A: Any, B: Any) -> Floats:
        distances = cdist(A, B, "cityblock")
        return np.asarray(np.exp(-self.gamma * distances**2))
