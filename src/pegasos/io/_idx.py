"""IDX files, the format of MNIST: a header of sizes, then numbers. Labels are in another file."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data, converted, labels_of
from pegasos.io._errors import DataError
from pegasos.io._open import STDIN, open_bytes, reading

__all__ = ["read_idx"]

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str, target: str | int | None, dtype: npt.DTypeLike) -> Data:
    """Return pictures as rows of pixels, and the labels of the file that goes with them.

    Parameters
    ----------
    path : str
        The file of features.
    target : str, int or None
        The file of labels; an int: the one whose name has "labels-idx1" in place of "images-idx3".
    dtype : dtype
        Of the features; numbers are left as they are.

    Returns
    -------
    Data
    """
    values = _array(path)
    if values.ndim < 2:
        raise DataError(
            f"{path}: the features have {values.ndim} dimension; rows and columns are needed",
            "is this the file of labels? name the file of images",
        )
    rows = values.reshape(len(values), -1)
    X = converted(rows, dtype, lambda i, j: f"{path}, row {i + 1}, column {j + 1}")
    if target is None:
        return Data(X, None, None)
    labels = target if isinstance(target, str) else _labels_beside(path)
    y = labels_of(labels, _array(labels))
    if len(y) != len(X):
        raise DataError(
            f"{labels}: there are {len(y)} labels for the {len(X)} rows of {path}",
            "name the file that belongs to it with target=",
        )
    return Data(X, y, None)


def _labels_beside(path: str) -> str:
    name = Path(path).name
    other = name.replace("images", "labels").replace("idx3", "idx1")
    found = Path(path).with_name(other)
    if path == STDIN or other == name or not found.exists():
        raise DataError(
            f"{path}: there is no file of labels beside it",
            "name it with target=, or read without labels: target=None",
        )
    return str(found)


def _array(path: str) -> npt.NDArray[Any]:
    with reading(path), open_bytes(path) as file:
        magic = file.read(4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or not magic[3]:
            raise DataError(
                f"{path}: this is no IDX file; it begins with {magic!r}",
                "name another format with format=, or download the file again",
            )
        kind, n_dimensions = np.dtype(_TYPES[magic[2]]), magic[3]
        header = file.read(4 * n_dimensions)
        shape = [int.from_bytes(header[k : k + 4], "big") for k in range(0, len(header), 4)]
        expected = math.prod(shape) * kind.itemsize
        content = file.read()  # not as much as the header says: it may be wrong
    if len(header) < 4 * n_dimensions or len(content) != expected or not expected:
        raise DataError(
            f"{path}: there are {len(content)} bytes of numbers, but the header says {expected}",
            "the file is cut off or damaged: download or copy it again",
        )
    return np.frombuffer(content, dtype=kind).reshape(shape)
