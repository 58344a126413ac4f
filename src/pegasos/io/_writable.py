"""What may be written: rows, labels and names that belong together and that `read` takes."""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import is_sparse, labels_of, repeated
from pegasos.io._errors import DataError

__all__ = ["writable_labels", "writable_names", "writable_rows"]


def writable_rows(path: str, X: Any) -> Any:
    """Return an array of numbers, or a CSR matrix whose columns are in order and distinct."""
    X = X if is_sparse(X) else np.asarray(X)
    if len(X.shape) != 2 or 0 in X.shape:
        raise DataError(
            f"{path}: rows and columns are needed; got X of shape {X.shape}",
            "give one row and one column at least",
        )
    if X.dtype in (np.bool_, np.float16):  # which not every format has
        X = X.astype(np.float32)
    if X.dtype.kind not in "iuf" or X.dtype.itemsize > 8:
        raise DataError(
            f"{path}: features of type {X.dtype} are not written",
            "give numbers: X.astype('float64')",
        )
    if not is_sparse(X):
        return X
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()  # the caller's stays as it is
        X.sum_duplicates()
    return X


def writable_labels(path: str, y: Any, n_rows: int) -> npt.NDArray[Any] | None:
    """Return the labels in the form that `read` gives them: int64, float64 or str."""
    if y is None:
        return None
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise DataError(
            f"{path}: each row needs one label; got y of shape {y.shape} for {n_rows} rows",
            "give as many labels as rows, or none",
        )
    return labels_of(path, _plain(path, y) if y.dtype.kind == "O" else y)


def _plain(path: str, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels that were objects as numbers if all are numbers; refuse other objects."""
    for row, label in enumerate(y, 1):
        if not isinstance(label, str | bytes | Number | np.bool_):
            raise DataError(
                f"{path}: the label of row {row} is {label!r}, neither a text nor a number",
                "give every row a label, or leave such rows out",
            )
    has_texts = any(isinstance(label, str | bytes) for label in y)
    return y if has_texts else np.array(y.tolist())


def writable_names(path: str, names: Sequence[str] | None, n_columns: int) -> list[str] | None:
    """Return the names of the features as a list."""
    if names is None:
        return None
    names = list(names)
    if len(names) != n_columns:
        raise DataError(
            f"{path}: each feature needs one name; got {len(names)} names for {n_columns} features",
            "give as many names as X has columns, or none",
        )
    if (twice := repeated(names)) is not None:
        raise DataError(f"{path}: two features have the name {twice!r}", "rename one of them")
    return names
