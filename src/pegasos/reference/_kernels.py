"""Kernels: inner products of rows in another space, `K(a, b) = <phi(a), phi(b)>`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pegasos.reference._checks import Floats


def linear_kernel(A: Floats, B: Floats, coef0: float = 0.0) -> Floats:
    """`K(a, b) = <a, b> + coef0` of every row of A with every row of B.

    The matrix has as many rows as A and as many columns as B.
    """
    A, B = _check_rows(A, B)
    return np.asarray(A @ B.T + coef0)


def gaussian_kernel(A: Floats, B: Floats, gamma: float, coef0: float = 0.0) -> Floats:
    """`K(a, b) = exp(-gamma ||a - b||^2) + coef0`, with the squared Euclidean norm; `gamma > 0`.

    This is scikit-learn's `gamma`. A report that writes `exp(-||a - b||^2/(2 g))` means
    `gamma = 1/(2 g)`.
    """
    A, B = _check_rows(A, B)
    _check_gamma(gamma)
    squared_distances = np.array([np.sum((B - a) ** 2, axis=1) for a in A])
    return np.exp(-gamma * squared_distances) + coef0


def polynomial_kernel(
    A: Floats, B: Floats, degree: int, gamma: float = 1.0, coef0: float = 0.0
) -> Floats:
    """`K(a, b) = (gamma <a, b> + coef0)^degree`, with `degree` 1, 2, ... and `gamma > 0`."""
    A, B = _check_rows(A, B)
    _check_gamma(gamma)
    if degree < 1 or degree != int(degree):
        raise ValueError(f"degree must be a whole number, at least 1; got {degree}.")
    return np.asarray((gamma * (A @ B.T) + coef0) ** degree)


def _check_rows(A: ArrayLike, B: ArrayLike) -> tuple[Floats, Floats]:
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1] or len(A) == 0 or len(B) == 0:
        raise ValueError(f"Need two matrices with the same columns; got {A.shape}, {B.shape}.")
    return A, B


def _check_gamma(gamma: float) -> None:
    if not (gamma > 0 and np.isfinite(gamma)):
        raise ValueError(f"gamma must be positive and finite; got {gamma}.")
