"""Kernel functions of vectors: what they are, and matrices of their values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from pegasos import _core
from pegasos._validation import (
    Floats,
    float_dtypes,
    is_sparse,
    make_rows,
    n_threads,
    refuse_non_finite,
)
from pegasos.kernels._blas import blas_on_one_thread

# A squared distance is the difference of numbers as large as the squared norms. Above this product
# of gamma and norm, float32 would leave an rbf kernel fewer than four digits; so would a constant
# beside a kernel so many times smaller.
_LARGEST_FOR_FLOAT32 = 256.0
# The same for float64, and six digits.
_LARGEST_FOR_FLOAT64 = 1e9
# Sparse panels took half the time of BLAS on MNIST, where 19% of the pixels are not zero.
_FEW_ENTRIES = 0.3
_FEWEST_FEATURES = 64
# Sums of kernel values, times coefficients, must stay finite too.
_ROOM_FOR_SUMS = 1e6


@dataclass(frozen=True)
class VectorKernel:
    """A kernel function: ``name`` is "linear", "poly" or "rbf".

    ``coef0`` is what "poly" raises to a power with the rest, and what the others add.
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1

    @property
    def added(self) -> float:
        """What is added to every value: times the sum of the coefficients, a bias."""
        return 0.0 if self.name == "poly" else self.coef0

    @property
    def is_positive(self) -> bool:
        """Whether every matrix of it is positive semi-definite, so that the dual is a bound."""
        return self.coef0 >= 0

    def options(self) -> dict[str, Any]:
        """Return it as the core wants it."""
        return {
            "kernel": self.name,
            "gamma": self.gamma,
            "coef0": self.coef0,
            "degree": self.degree,
        }

    def diagonal(self, squares: Floats) -> Floats:
        """Return ``K(x, x)`` for rows of these squared norms."""
        if self.name == "rbf":
            return np.full_like(squares, 1 + self.coef0)
        if self.name == "linear":
            return squares + self.coef0
        with np.errstate(over="ignore"):
            diagonal: Floats = (self.gamma * squares + self.coef0) ** self.degree
        return diagonal

    def largest(self, square: float) -> float:
        """Return a bound on the values of the kernel for rows of at most this squared norm."""
        if self.name == "rbf":
            return 1 + abs(self.coef0)
        if self.name == "linear":
            return square + abs(self.coef0)
        with np.errstate(over="ignore"):
            return float(np.float64(self.gamma * square + abs(self.coef0)) ** self.degree)


class Vectors:
    """Rows to compute kernels of: a view of validated data, and their squared norms.

    ``like`` are rows that they will meet: if their values are whole multiples of one number, those
    of these rows probably are.
    """

    def __init__(self, X: Any, threads: int, like: "Vectors | None" = None) -> None:
        self.X = X
        self.rows = make_rows(X, 0.0, threads)
        self.squares: Floats = np.empty(X.shape[0])
        _core.squared_norms(self.rows, self.squares, n_threads=threads)
        if not np.all(np.isfinite(self.squares)):
            refuse_non_finite(X, "the norm of a row")
        self.grid: float = _core.find_grid(self.rows, like.grid if like else 0.0, n_threads=threads)

    @property
    def largest_square(self) -> float:
        """The largest squared norm."""
        return float(self.squares.max(initial=0))


def without_zeros(X: Any, threads: int) -> Any:
    """Return dense rows of mostly zeros as CSR: inner products then skip what adds nothing.

    Pixels of digits, say, are zero four times in five; the products of sparse panels are then
    quicker than BLAS, if not than a matrix unit. The copy takes less room than the rows.
    """
    if is_sparse(X) or X.shape[1] < _FEWEST_FEATURES:
        return X
    if X.dtype == np.float32 and _core.has_matrix_unit():
        return X
    some = X[:: max(1, len(X) // 1000)]
    if np.count_nonzero(some) > _FEW_ENTRIES * some.size:
        return X
    return _compressed(X, threads)


def _compressed(X: npt.NDArray[Any], threads: int) -> Any:
    """Return dense rows as CSR: many times as fast as SciPy, and with no memory beside."""
    X = np.ascontiguousarray(X)
    counts = np.empty(len(X), dtype=np.int64)
    _core.count_nonzero(X, counts, n_threads=threads)
    starts = np.concatenate([[0], np.cumsum(counts)])
    index = np.int32 if starts[-1] < 2**31 else np.int64
    starts = starts.astype(index)
    values, columns = np.empty(starts[-1], X.dtype), np.empty(starts[-1], index)
    _core.compress(X, starts, values, columns, n_threads=threads)
    return sp.csr_array((values, columns, starts), shape=X.shape)


def needs_float64(kernel: VectorKernel, *sides: Vectors) -> bool:
    """Tell whether float32 would spoil the kernel of these rows."""
    if kernel.name != "rbf":
        return False
    largest = max(side.largest_square for side in sides)
    beyond = max(largest, kernel.gamma) > float(np.finfo(np.float32).max) / _ROOM_FOR_SUMS
    return beyond or kernel.gamma * largest > _LARGEST_FOR_FLOAT32


def refuse_far_away(kernel: VectorKernel, *sides: Vectors) -> None:
    """Refuse rows so far from the origin that not even float64 can tell their distances."""
    square = max(side.largest_square for side in sides)
    too_large = square > np.finfo(np.float64).max / _ROOM_FOR_SUMS
    if kernel.name == "rbf" and (too_large or kernel.gamma * square > _LARGEST_FOR_FLOAT64):
        raise ValueError(
            f"rows of norm {np.sqrt(square):.3g} are too far from the origin for an rbf kernel of "
            f"gamma {kernel.gamma:.3g}: their distances would be lost in rounding. Subtract the "
            "mean of each feature, for example with sklearn.preprocessing.StandardScaler, or "
            "lower gamma"
        )


def refuse_overflow(kernel: VectorKernel, dtype: Any, *sides: Vectors) -> None:
    """Say so, with the remedy, when values of the kernel would not fit their type."""
    square = max(side.largest_square for side in sides)
    largest = kernel.largest(square)
    if largest <= float(np.finfo(dtype).max) / _ROOM_FOR_SUMS:
        return
    degree = f" of degree {kernel.degree}" if kernel.name == "poly" else ""
    lower = ", lower the degree or gamma" if kernel.name == "poly" else ""
    wider = " or pass X as float64" if np.dtype(dtype) == np.float32 else ""
    raise ValueError(
        f"the {kernel.name} kernel{degree} overflows {np.dtype(dtype).name}: rows of norm "
        f"{np.sqrt(square):.3g} give values of about {largest:.2g}. Scale the features, for "
        f"example with sklearn.preprocessing.StandardScaler or MinMaxScaler{lower}{wider}"
    )


def refuse_swamped(kernel: VectorKernel, dtype: Any, rows: Vectors) -> None:
    """Refuse a constant beside which float32 has few digits left for the rest of the kernel."""
    rest = kernel.largest(rows.largest_square) - abs(kernel.added)
    if np.dtype(dtype) == np.float32 and abs(kernel.added) > _LARGEST_FOR_FLOAT32 * rest > 0:
        raise ValueError(
            f"coef0={kernel.coef0:g} leaves float32 too few digits for the rest of the "
            f"{kernel.name} kernel, which is {rest:.3g} at most. Lower coef0, or pass X as float64"
        )


def linear(A: Any, B: Any, *, coef0: float = 0.0, n_jobs: int | None = None) -> npt.NDArray[Any]:
    """Return the matrix of ``<a, b> + coef0`` of the rows of A and B."""
    return _matrix(A, B, VectorKernel("linear", coef0=float(coef0)), n_jobs)


def poly(
    A: Any,
    B: Any,
    *,
    degree: int = 3,
    gamma: float = 1.0,
    coef0: float = 0.0,
    n_jobs: int | None = None,
) -> npt.NDArray[Any]:
    """Return the matrix of ``(gamma <a, b> + coef0)^degree`` of the rows of A and B."""
    if degree < 1 or int(degree) != degree:
        raise ValueError(f"degree must be a whole number, at least 1; got {degree!r}")
    _refuse_gamma(gamma)
    return _matrix(A, B, VectorKernel("poly", float(gamma), float(coef0), int(degree)), n_jobs)


def rbf(
    A: Any, B: Any, *, gamma: float, coef0: float = 0.0, n_jobs: int | None = None
) -> npt.NDArray[Any]:
    """Return the matrix of ``exp(-gamma ||a - b||^2) + coef0`` of the rows of A and B."""
    _refuse_gamma(gamma)
    return _matrix(A, B, VectorKernel("rbf", float(gamma), float(coef0)), n_jobs)


def _refuse_gamma(gamma: float) -> None:
    if not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be positive and finite; got {gamma!r}")


def _matrix(A: Any, B: Any, kernel: VectorKernel, n_jobs: int | None) -> npt.NDArray[Any]:
    threads = n_threads(n_jobs)
    A, B = _checked(A), _checked(B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A has {A.shape[1]} features, B has {B.shape[1]}; they must be the same")
    left = Vectors(A, threads)
    right = Vectors(B, threads, like=left)
    dtype = np.result_type(A.dtype, B.dtype)
    refuse_overflow(kernel, dtype, left, right)
    refuse_far_away(kernel, left, right)
    K = np.empty((A.shape[0], B.shape[0]), dtype=dtype)
    rows = np.arange(A.shape[0])
    with blas_on_one_thread():
        _core.kernel_rows(
            left.rows,
            left.squares,
            rows,
            right.rows,
            right.squares,
            None,
            K,
            rows,
            **kernel.options(),
            same_matrix=False,
            in_double=needs_float64(kernel, left, right),
            n_threads=threads,
        )
    return K


def _checked(X: Any) -> Any:
    return check_array(X, accept_sparse="csr", dtype=float_dtypes(X), order="C")


def scale_gamma(gamma: float | str, X: Any) -> float:
    """Return gamma as a number: "scale" is ``1/(n_features var(X))``, "auto" ``1/n_features``."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(X):
            mean = float(X.mean(dtype=np.float64))
            variance = float(X.multiply(X).mean(dtype=np.float64)) - mean**2
        else:
            variance = float(X.var(dtype=np.float64))
    if not np.isfinite(variance):
        refuse_non_finite(X, "the variance")
    return 1.0 / (int(X.shape[1]) * variance) if variance > 0 else 1.0
