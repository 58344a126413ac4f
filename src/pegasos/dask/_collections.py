"""Dask arrays and dataframes as lists of partitions, one list entry per block of rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

__all__ = ["check_features", "is_dask", "is_frame", "one_column_chunk", "partitions"]


def is_dask(data: Any) -> bool:
    """Tell whether this is a Dask array, dataframe or series."""
    from dask.base import is_dask_collection

    return bool(is_dask_collection(data)) and hasattr(data, "to_delayed")


def is_frame(data: Any) -> bool:
    """Tell whether this is a Dask dataframe or series, rather than an array."""
    return hasattr(data, "npartitions") and not hasattr(data, "chunks")


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember, or compare, the number of features and their names."""
    if not is_dask(X) or getattr(X, "ndim", None) != 2:
        raise TypeError(
            f"{type(estimator).__name__} of pegasos.dask takes a Dask array or dataframe of two "
            f"dimensions; got {_kind(X)}. Data in memory: use pegasos.{type(estimator).__name__}, "
            "or dask.array.from_array(X, chunks=(rows, -1))"
        )
    if is_frame(X):
        stand_in = X._meta
    elif np.isnan(X.shape[1]):
        raise ValueError(
            "the number of columns of X is not known; call X.compute_chunk_sizes() first"
        )
    else:
        stand_in = np.empty((0, X.shape[1]))
    validate_data(estimator, stand_in, reset=reset, skip_check_array=True)


def one_column_chunk(X: Any) -> Any:
    """Bring an array's columns together, so that a block holds whole rows."""
    if is_frame(X) or X.ndim < 2 or len(X.chunks[1]) == 1:
        return X
    return X.rechunk({1: -1})


def partitions(X: Any, **others: Any) -> dict[str, list[Any]]:
    """Return the delayed partitions of X and of what has an entry per row, block by block.

    Arrays whose sizes are known may be cut differently: they are cut like X. What is None is left
    out.
    """
    X = one_column_chunk(X)
    parts = {"X": _delayed(X)}
    for name, rows in others.items():
        if rows is None:
            continue
        if not is_dask(rows):
            raise TypeError(
                f"{name} must be a Dask array or series like X; got {_kind(rows)}. Data in "
                f"memory: dask.array.from_array({name}, chunks=X.chunks[0])"
            )
        parts[name] = _delayed(_cut_like(X, rows, name))
        if len(parts[name]) != len(parts["X"]):
            raise ValueError(
                f"X has {len(parts['X'])} partitions, {name} has {len(parts[name])}; cut both "
                f"alike, for example with {name}.repartition(...), or "
                "X.compute_chunk_sizes() and rechunk"
            )
    return parts


def _cut_like(X: Any, rows: Any, name: str) -> Any:
    if is_frame(X) or is_frame(rows) or np.isnan(X.shape[0]) or np.isnan(rows.shape[0]):
        return rows  # the lengths are compared partition by partition, where they are known
    if rows.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, {name} has {rows.shape[0]}")
    rows = one_column_chunk(rows)
    return rows if rows.chunks[0] == X.chunks[0] else rows.rechunk({0: X.chunks[0]})


def _delayed(collection: Any) -> list[Any]:
    return list(np.ravel(collection.to_delayed()))


def _kind(data: Any) -> str:
    if is_dask(data):
        return f"{type(data).__name__} of {getattr(data, 'ndim', '?')} dimension(s)"
    return type(data).__name__
