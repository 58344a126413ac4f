"""What may be written: rows, labels and names that belong together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pegasos.io._data import is_sparse, repeated
from pegasos.io._errors import DataError

__all__ = ["writable_labels", "writable_names", "writable_rows"]


def writable_rows(path: str, X: Any) -> Any:
    """Return an array or a CSR matrix."""
    X = X.tocsr() if is_sparse(X) else np.asarray(X)
    if len(X.shape) != 2:
        raise DataError(
            f"{path}: rows and columns are needed; got X of shape {X.shape}",
            "give one row and one column at least",
        )
    return X


def writable_labels(path: str, y: Any, n_rows: int) -> Any:
    """Return the labels as an array."""
    if y is None:
        return None
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise DataError(
            f"{path}: each row needs one label; got y of shape {y.shape} for {n_rows} rows",
            "give as many labels as rows, or none",
        )
    return y


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
