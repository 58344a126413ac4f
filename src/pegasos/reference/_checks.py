"""Checks of the input, and the types of the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Weights = Floats | None  # None: every row weighs 1


def check_problem(
    X: ArrayLike, y: ArrayLike, lam: float = 1.0, sample_weight: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """X, y and the sample weights as float64 arrays that fit together."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1] or len(y) == 0:
        raise ValueError(f"Need X (n_rows, n_features) and y (n_rows,); got {X.shape}, {y.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("X holds NaN or infinity; remove or impute these rows first.")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"Labels must be -1 or +1; got {np.unique(y)[:5]}. Recode y first.")
    if not (lam > 0 and np.isfinite(lam)):
        raise ValueError(f"lam must be positive and finite; got {lam}.")
    return X, y, check_weights(sample_weight, len(y))


def check_gram_problem(
    K: ArrayLike, y: ArrayLike, lam: float = 1.0, sample_weight: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """As `check_problem`, with the Gram matrix of the rows in place of X."""
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"Need a square Gram matrix, K(x_i, x_j) of all rows; got {K.shape}.")
    K, y, s = check_problem(K, y, lam, sample_weight)
    if not np.allclose(K, K.T):
        raise ValueError("A Gram matrix is symmetric, and this one is not.")
    if (K.diagonal() < 0).any():
        raise ValueError("A Gram matrix holds squared norms, never negative, on its diagonal.")
    return K, y, s


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """The sample weights as a float64 array; all ones if not given."""
    s = np.asarray(np.ones(n_rows) if sample_weight is None else sample_weight, dtype=np.float64)
    if s.shape != (n_rows,) or not (np.isfinite(s) & (s > 0)).all():
        raise ValueError(f"Need {n_rows} positive sample weights; drop rows of weight zero first.")
    return s


def check_dual_point(a: ArrayLike, s: Floats) -> Floats:
    """The dual point as a float64 array within its bounds."""
    a = np.asarray(a, dtype=np.float64)
    if a.shape != s.shape or not ((a >= 0) & (a <= s)).all():
        raise ValueError(f"A dual point holds {len(s)} values in [0, sample_weight]; clip it.")
    return a


def check_masses(b: ArrayLike, n_rows: int) -> Floats:
    """The masses `b_i = a_i/s_i` of a dual point as a float64 array within its bounds."""
    b = np.asarray(b, dtype=np.float64)
    if b.shape != (n_rows,) or not ((b >= 0) & (b <= 1)).all():
        raise ValueError(f"The masses of a dual point are {n_rows} values in [0, 1]; clip them.")
    return b


def check_draws(draws: ArrayLike, n_rows: int) -> Ints:
    """The draws as an int64 array of row numbers."""
    rows: NDArray[Any] = np.asarray(draws)
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(f"Draws are a 1-d int array, not empty; got {rows.dtype}, {rows.shape}.")
    if rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(f"Draws must lie in 0..{n_rows - 1}; got {rows.min()}..{rows.max()}.")
    return rows.astype(np.int64)


def check_average(average: str | None) -> None:
    """Refuse an unknown kind of average."""
    if average not in (None, "uniform", "weighted"):
        raise ValueError(f'average must be None, "uniform" or "weighted"; got {average!r}.')


def check_perceptron_average(average: str | None) -> None:
    """Refuse an average that the perceptron, which has no step size, does not know."""
    if average not in (None, "uniform"):
        raise ValueError(f'average must be None or "uniform" for the perceptron; got {average!r}.')


def check_relaxation(relaxation: float) -> None:
    """Refuse a factor that could make a step of dual ascent go down."""
    if not 0 < relaxation < 2:
        raise ValueError(f"relaxation must lie between 0 and 2; got {relaxation}.")
