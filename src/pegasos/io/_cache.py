"""The binary cache of a stream: a folder with the arrays of all chunks, and an index of them.

The index is written last. What it says of itself and of the file of arrays (its size, when it was
written) must be true, or the cache is made anew.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data, is_sparse
from pegasos.io._errors import DataError
from pegasos.io._model_write import new_file
from pegasos.io._open import fill, reading
from pegasos.io._stream_chunks import Whole

__all__ = ["Cache", "locked", "make_cache", "open_cache"]

_VERSION = 2
_INDEX = "index.json"
_ALIGNED = 64
_NARROW = 2**31  # entries whose number fits 32 bits


@dataclass(frozen=True)
class _Layout:
    """Where the arrays of a chunk are."""

    offset: int
    n_rows: int
    n_entries: int  # of sparse rows, else of all

    def arrays(
        self, is_sparse: bool, dtype: npt.DTypeLike, codes: npt.DTypeLike | None
    ) -> list[tuple[int, int, np.dtype[Any]]]:
        """Return the place, length and type of each array, and last of all where they end."""
        kinds: list[tuple[int, npt.DTypeLike]] = [(self.n_entries, dtype)]
        if is_sparse:
            wide = np.int32 if self.n_entries < _NARROW else np.int64
            kinds += [(self.n_entries, np.int32), (self.n_rows + 1, wide)]
        if codes is not None:
            kinds.append((self.n_rows, codes))
        place, arrays = self.offset, []
        for length, kind in kinds:
            arrays.append((place, length, np.dtype(kind)))
            place += -(-length * np.dtype(kind).itemsize // _ALIGNED) * _ALIGNED
        return [*arrays, (place, 0, np.dtype(np.uint8))]


class Cache:
    """A cache that is complete.

    Parameters
    ----------
    folder : Path
        Where it is.
    index : dict
        What its index says.
    """

    def __init__(self, folder: Path, index: dict[str, Any]) -> None:
        self.path = folder / index["data"]
        self.status = (index["size"], index["mtime_ns"])
        self.is_sparse: bool = index["is_sparse"]
        self.dtype = np.dtype(index["dtype"])
        self.layouts = [_Layout(*chunk) for chunk in index["chunks"]]
        labels = index["labels"]
        self.whole = Whole(
            np.array([layout.n_rows for layout in self.layouts], dtype=np.int64),
            index["n_features"],
            index["names"],
            None if labels is None else np.array(labels, dtype=index["label_type"]),
            None if labels is None else np.array(index["label_counts"], dtype=np.int64),
            index["zero_based"],
        )
        self.codes = None if labels is None else _code_type(len(labels))

    def is_sound(self) -> bool:
        """Tell whether the file of arrays is the one that the index was written for."""
        ends = [self._arrays(layout)[-1][0] for layout in self.layouts]
        begins = [layout.offset for layout in self.layouts]
        status = self.path.stat()
        return [0, *ends] == [*begins, self.status[0]] and (
            status.st_size,
            status.st_mtime_ns,
        ) == self.status

    def chunk(self, k: int) -> Data:
        """Read a chunk."""
        import scipy.sparse as sp

        layout = self.layouts[k]
        arrays = self._read(self._arrays(layout)[:-1])
        y = None
        if self.whole.labels is not None:
            y = self.whole.labels[arrays.pop()]
        shape = (layout.n_rows, self.whole.n_features)
        if not self.is_sparse:
            return self.whole.chunk(arrays[0].reshape(shape), y)
        values, columns, indptr = arrays
        X: Any = sp.csr_matrix((values, columns, indptr), shape=shape, copy=False)
        X.has_canonical_format = True  # as it had when it was written
        return self.whole.chunk(X, y)

    def _arrays(self, layout: _Layout) -> list[tuple[int, int, np.dtype[Any]]]:
        return layout.arrays(self.is_sparse, self.dtype, self.codes)

    def _read(self, places: list[tuple[int, int, np.dtype[Any]]]) -> list[npt.NDArray[Any]]:
        # An array each: SciPy copies those that are a small part of another.
        arrays = [np.empty(length, dtype=kind) for _, length, kind in places]
        with reading(str(self.path)), self.path.open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != self.status:
                raise DataError(
                    f"{self.path}: the cache has changed since the stream was made",
                    "make the stream anew",
                )
            for array, (place, _, _) in zip(arrays, places, strict=True):
                file.seek(place)
                fill(file, array)
        return arrays


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if need be, and keep others from making the same cache meanwhile."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("wb")
    with file:
        with _writing(folder):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"cannot write the cache to {folder}: {error.strerror}",
            "choose a folder that may be written to",
        ) from None


def open_cache(folder: Path, fingerprint: str) -> Cache | None:
    """Return the cache of this fingerprint; None if there is none, or it is not as it should be."""
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        check = index.pop("check")
        if check != _check(index) or index["made_for"] != _made_for(fingerprint):
            return None
        cache = Cache(folder, index)
        return cache if cache.is_sound() else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def make_cache(
    folder: Path, fingerprint: str, whole: Whole, dtype: np.dtype[Any], chunks: Iterable[Data]
) -> Cache:
    """Write a cache; the folder is locked.

    Parameters
    ----------
    folder : Path
        Where to.
    fingerprint : str
        Of the files and options that it is made for.
    whole : Whole
        What is known of all chunks.
    dtype : dtype
        Of the features.
    chunks : iterable of Data
        All chunks in order.

    Returns
    -------
    Cache
    """
    _remove_old(folder)
    data = folder / f"chunks-{secrets.token_hex(8)}.bin"
    codes = None if whole.labels is None else _code_type(len(whole.labels))
    layouts: list[_Layout] = []
    sparse, place = False, 0
    with new_file(data, DataError) as file:
        for X, y, _ in chunks:
            sparse = is_sparse(X)
            layout = _Layout(place, X.shape[0], X.nnz if sparse else X.size)
            *places, (place, _, _) = layout.arrays(sparse, dtype, codes)
            arrays = [X.data, X.indices, X.indptr] if sparse else [X]
            if whole.labels is not None and codes is not None and y is not None:
                arrays.append(np.searchsorted(whole.labels, y).astype(codes))
            for array, (_, _, kind) in zip(arrays, places, strict=True):
                plain = np.ascontiguousarray(array, dtype=kind)
                file.write(plain.data)
                file.write(bytes(-plain.nbytes % _ALIGNED))
            layouts.append(layout)
    status = data.stat()
    index = {
        "made_for": _made_for(fingerprint),
        "data": data.name,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "is_sparse": sparse,
        "dtype": str(dtype),
        "n_features": whole.n_features,
        "names": whole.names,
        "labels": None if whole.labels is None else whole.labels.tolist(),
        "label_type": None if whole.labels is None else whole.labels.dtype.str,
        "label_counts": None if whole.label_counts is None else whole.label_counts.tolist(),
        "zero_based": whole.zero_based,
        "chunks": [[layout.offset, layout.n_rows, layout.n_entries] for layout in layouts],
    }
    with new_file(folder / _INDEX, DataError) as file:
        file.write(json.dumps({**index, "check": _check(index)}).encode())
    return Cache(folder, index)


def _remove_old(folder: Path) -> None:
    """Remove an earlier cache, for room may be short, and what a killed program has left."""
    token = "[0-9a-f]" * 16
    for pattern in (f"chunks-{token}.bin", f".chunks-{token}.bin.*.new", f".{_INDEX}.*.new"):
        for old in folder.glob(pattern):
            old.unlink(missing_ok=True)


def _made_for(fingerprint: str) -> list[Any]:
    return [_VERSION, sys.byteorder, fingerprint]


def _check(index: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()


def _code_type(n_labels: int) -> np.dtype[Any]:
    return np.min_scalar_type(max(0, n_labels - 1))
