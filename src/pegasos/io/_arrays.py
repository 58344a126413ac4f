"""Files of arrays (HDF5, npz, npy): which array holds the features, which the labels."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data, converted, labels_of
from pegasos.io._errors import DataError

__all__ = ["Arrays", "read_arrays"]

# Names of features and labels that belong together.
_FEATURES = ("data", "X", "x", "features", "images")
_LABELS = ("target", "y", "Y", "labels", "label", "targets")
_GROUPS = ("", "train", "training")

# The arrays of a file by name ("train/data"); each is read when it is asked for.
Arrays = Mapping[str, Callable[[], Any]]


def read_arrays(
    path: str, kind: str, key: str | None, target: str | int | None, dtype: npt.DTypeLike
) -> Data:
    """Return features and labels of a file of arrays.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        "hdf5", "npz" or "npy".
    key, target, dtype
        As in `read`.

    Returns
    -------
    Data
    """
    if kind == "hdf5":
        from pegasos.io._hdf5 import hdf5_arrays

        with hdf5_arrays(path) as arrays:
            return _chosen(path, arrays, key, target, dtype)
    from pegasos.io._numpy import npy_array, npz_arrays

    if kind == "npz":
        with npz_arrays(path) as arrays:
            return _chosen(path, arrays, key, target, dtype)
    return _data(path, npy_array(path), None, target, dtype)


def _chosen(
    path: str, arrays: Arrays, key: str | None, target: str | int | None, dtype: npt.DTypeLike
) -> Data:
    features = _features(path, arrays, None if key is None else key.strip("/"))
    group = features.rpartition("/")[0]
    if isinstance(target, str):
        places = [target.strip("/"), _join(group, target)]
    else:
        places = [_join(group, name) for name in _LABELS] if target is not None else []
    labels = next((place for place in places if place in arrays and place != features), None)
    if isinstance(target, str) and labels is None:
        raise DataError(f"{path}: there is no array {target!r}", _what_there_is(arrays))
    y = arrays[labels]() if labels else None
    return _data(path, arrays[features](), y, target, dtype)


def _features(path: str, arrays: Arrays, key: str | None) -> str:
    """Return the name of the array of features."""
    if key is not None and key in arrays:
        return key
    for group in _GROUPS if key is None else (key,):
        found = [name for name in _FEATURES if _join(group, name) in arrays]
        if found:
            return _join(group, found[0])
    if key is None and len(arrays) == 1:
        return next(iter(arrays))
    what = "array of features" if key is None else f"array or group {key!r}"
    raise DataError(f"{path}: there is no {what}", _what_there_is(arrays))


def _what_there_is(arrays: Arrays) -> str:
    some = ", ".join(list(arrays)[:8]) + (", ..." if len(arrays) > 8 else "")
    return f"choose with key= and target= among: {some}" if arrays else "the file has no arrays"


def _join(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name


def _data(path: str, X: Any, y: Any, target: str | int | None, dtype: npt.DTypeLike) -> Data:
    """Return features in the form that estimators take; without labels apart, a column is them."""
    import scipy.sparse as sp

    if sp.issparse(X):
        sparse: Any = X
        X = sparse.astype(dtype)
    else:
        X = _matrix(path, X)
        if y is None and isinstance(target, int):
            if not -X.shape[1] <= target < X.shape[1] or X.shape[1] < 2:
                raise DataError(
                    f"{path}: there is no column {target} for the labels beside features; the "
                    f"array has shape {X.shape}",
                    "choose another column, or target=None if there are no labels",
                )
            y = X[:, target]
            X = np.delete(X, target, axis=1)
        X = converted(X, dtype, lambda i, j: f"{path}, row {i + 1}, column {j + 1}")
    if not X.shape[0]:
        raise DataError(f"{path}: there are no rows", "check how the file was made")
    if y is None:
        return Data(X, None, None)
    labels = labels_of(path, np.asarray(y))
    if len(labels) != X.shape[0]:
        raise DataError(
            f"{path}: there are {X.shape[0]} rows and {len(labels)} labels",
            "choose arrays that belong together with key= and target=",
        )
    return Data(X, labels, None)


def _matrix(path: str, values: Any) -> npt.NDArray[Any]:
    """Return rows of numbers; pictures become rows of pixels."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{path}: the features are {array.dtype}, not numbers", "choose another array with key="
        )
    if array.ndim < 2:
        raise DataError(
            f"{path}: the features have shape {array.shape}; rows and columns are needed",
            "choose another array with key=",
        )
    return array.reshape(len(array), -1) if array.size else array.reshape(len(array), 0)
