"""What reading gives: features, labels, names."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.io._errors import DataError

__all__ = ["Data", "RankedData", "converted", "is_sparse", "labels_of", "repeated"]

_WHOLE = 2.0**53  # up to here a double tells one whole number from the next


class _Three(NamedTuple):
    X: Any
    y: npt.NDArray[Any] | None
    names: list[str] | None


class _Four(NamedTuple):
    X: Any
    y: npt.NDArray[Any] | None
    names: list[str] | None
    query_id: npt.NDArray[np.int64]


class Data(_Three):
    """Features, labels and names of the features, as `read` returns them.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
        The features.
    y : ndarray of shape (n_rows,) or None
        The labels: int64 if all are whole numbers, float64 if all are numbers, else str.
    names : list of str or None
        The names of the features, if the file has names.

    Attributes
    ----------
    zero_based : bool or None
        svmlight: whether the indices were taken to begin with 0. Pass it on to `read` with the
        test file, whose own indices may not tell. None: the format has no indices.
    unseen : dict of str to ndarray, or None
        Tables: for each column of texts, the rows (from 0) whose text is not among those that
        ``names`` asked for: nothing is 1 there. None: the format has no texts, or the rows are
        a chunk of a stream.
    """

    # Not of the tuple: ``X, y, names = read(path)``.
    zero_based: bool | None = None
    unseen: dict[str, npt.NDArray[np.intp]] | None = None


class RankedData(_Four):
    """`Data` with the query that each row belongs to, if `read` was asked for ``query_id``.

    Parameters
    ----------
    X, y, names : as in `Data`
        Features, labels, names.
    query_id : ndarray of int64 of shape (n_rows,)
        The number after ``qid:``.

    Attributes
    ----------
    zero_based : bool or None
        As in `Data`.
    """

    zero_based: bool | None = None


def is_sparse(X: Any) -> bool:
    """Tell whether a matrix is one of SciPy's sparse ones."""
    import scipy.sparse as sp

    return bool(sp.issparse(X))


def repeated(names: Sequence[str]) -> str | None:
    """Return the first name that is there more than once, if any is."""
    times = Counter(names)
    return next((name for name in names if times[name] > 1), None)


def labels_of(path: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as the estimators and people like them: 1 and not 1.0, texts as texts.

    Parameters
    ----------
    path : str
        For messages.
    values : ndarray
        Whatever the file has: numbers, booleans, texts, bytes.

    Returns
    -------
    ndarray
        int64, float64 or str.
    """
    if values.ndim == 2 and 1 in values.shape:
        values = values.reshape(-1)
    if values.ndim != 1:
        raise DataError(
            f"{path}: labels have shape {values.shape}; several labels for a row are not supported",
            "keep one label for each row: one column",
        )
    if values.dtype.kind in "biu":
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        return _numbers(path, values.astype(np.float64))
    return np.array([_text(path, i, value) for i, value in enumerate(values)], dtype=np.str_)


def converted(
    values: npt.NDArray[Any], dtype: npt.DTypeLike, place: Callable[[int, int], str]
) -> npt.NDArray[Any]:
    """Return the values as float32 or float64; refuse those that are too large for it.

    Parameters
    ----------
    values : ndarray
        Numbers; a column or a matrix.
    dtype : dtype
        float32 or float64.
    place : callable
        The file, and where in it the value of this row and column is, in words.

    Returns
    -------
    ndarray
        In C order.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a NaN may be of the signalling kind
        result = np.ascontiguousarray(values, dtype=dtype)
    if values.dtype == result.dtype or values.dtype.kind != "f" or np.isfinite(result).all():
        return result
    beyond = np.argwhere(np.isinf(result) & np.isfinite(values))
    if len(beyond):
        row, column = (*beyond[0].tolist(), 0)[:2]
        raise DataError(
            f"{place(row, column)}: {float(values[tuple(beyond[0])])!r} is too large for "
            f"{result.dtype}",
            "scale the feature, or read with dtype='float64'",
        )
    return result


def _numbers(path: str, values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise DataError(
            f"{path}: the label of row {bad[0] + 1} is {values[bad[0]]}",
            "give every row a label, or leave such rows out",
        )
    if np.all(np.abs(values) <= _WHOLE) and np.array_equal(values, np.rint(values)):
        return values.astype(np.int64)
    return values


def _text(path: str, row: int, value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise DataError(
                f"{path}: the label of row {row + 1} is not UTF-8: {value!r}",
                "convert the labels to UTF-8",
            ) from None
    if value is None or value != value:  # NaN, whatever its type
        raise DataError(
            f"{path}: row {row + 1} has no label", "give every row a label, or leave such rows out"
        )
    return str(value)
