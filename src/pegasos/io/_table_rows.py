"""Columns become rows: an array, or a CSR matrix if some are one-hot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Feature", "dense_rows", "rows_of_numbers", "sparse_rows"]

_ROWS_AT_ONCE = 16_384  # at most: they are written and looked through while they are in the cache


@dataclass(frozen=True)
class Feature:
    """A column: its values; or, one-hot, the numbers of its categories (-1: none of them)."""

    values: npt.NDArray[Any]
    names: list[str]
    categories: list[str] | None = None


def rows_of_numbers(table: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
    """Return the columns as a matrix, if they are numbers that it can hold and all are there.

    Parameters
    ----------
    table : pyarrow.Table
        The columns of features.
    dtype : dtype
        float32 or float64.

    Returns
    -------
    ndarray or None
        None if a value is missing, no number, or too large: whoever asked can say where.
    """
    import pyarrow as pa

    for column in table.itercolumns():
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not is_number or column.null_count:
            return None
    X = np.empty((table.num_rows, table.num_columns), dtype=dtype)
    start = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
            rows = X[start : start + batch.num_rows]
            for j, column in enumerate(batch.columns):
                rows[:, j] = column.to_numpy()
            if not np.isfinite(rows).all():
                return None
            start += batch.num_rows
    return X


def dense_rows(n_rows: int, features: list[Feature], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array."""
    X = np.empty((n_rows, len(features)), dtype=dtype)
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        for j, feature in enumerate(features):
            X[rows, j] = feature.values[rows]
    return X


def sparse_rows(n_rows: int, features: list[Feature], dtype: npt.DTypeLike) -> Any:
    """Return a CSR matrix without the zeros."""
    import scipy.sparse as sp

    blocks = []
    for feature in features:
        if feature.categories is None:
            blocks.append(sp.csc_matrix(feature.values[:, np.newaxis]))
            continue
        rows = np.flatnonzero(feature.values >= 0)
        places = (rows, feature.values[rows])
        shape = (n_rows, len(feature.categories))
        blocks.append(sp.csc_matrix((np.ones(len(rows), dtype=dtype), places), shape=shape))
    X = sp.csr_matrix(sp.hstack(blocks, format="csc"))
    X.sort_indices()
    return X
