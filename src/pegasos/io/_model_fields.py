"""The entries and arrays of a model file, handed out one by one and checked on the way."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.io._model_errors import damaged

__all__ = ["Entries", "Sheets"]

_LARGEST_COUNT = 2**63 - 1
_SPARSE = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_INDICES = (np.dtype(np.int32), np.dtype(np.int64))

Array = npt.NDArray[Any]


class Sheets:
    """Collects arrays under the names they have in the file."""

    def __init__(self, prefix: str = "", arrays: dict[str, Array] | None = None) -> None:
        self.arrays = {} if arrays is None else arrays
        self._prefix = prefix

    def within(self, name: str) -> "Sheets":
        """Return what collects into the same file, under names that begin with this one."""
        return Sheets(f"{self._prefix}{name}.", self.arrays)

    def put(self, name: str, array: Any) -> None:
        """Keep an array: little-endian and in C order, as the file has it."""
        array = np.asarray(array)
        kept = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        self.arrays[self._prefix + name] = kept.reshape(array.shape)

    def put_matrix(self, name: str, matrix: Any) -> str:
        """Keep a dense or CSR matrix; return the word for its kind."""
        if not sp.issparse(matrix):
            self.put(name, matrix)
            return "dense"
        for part in ("data", "indices", "indptr"):
            self.put(f"{name}.{part}", getattr(matrix, part))
        return "csr_array" if isinstance(matrix, sp.sparray) else "csr_matrix"


class Entries:
    """One object of the header and its arrays. What is taken is gone; ``finish`` finds the rest."""

    def __init__(self, record: Any, arrays: dict[str, Array], prefix: str = "") -> None:
        if not isinstance(record, dict):
            raise damaged(f"{prefix or 'the header'} is not an object")
        self._record = dict(record)
        self._arrays = arrays
        self._prefix = prefix

    def take(self, name: str) -> Any:
        """Return an entry as it is."""
        if name not in self._record:
            raise damaged(f"{self._prefix}{name} is missing")
        return self._record.pop(name)

    def has(self, name: str) -> bool:
        """Tell whether an entry that may be null is not."""
        if name in self._record and self._record[name] is None:
            del self._record[name]
            return False
        return True

    def within(self, name: str) -> "Entries":
        """Return the entry of this name, an object with arrays of its own."""
        return Entries(self.take(name), self._arrays, f"{self._prefix}{name}.")

    def finish(self) -> None:
        """Refuse what nobody has asked for."""
        if self._record:
            raise damaged(f"{self._prefix}{min(self._record)} is unknown")

    def text(self, name: str, choices: Any = None) -> str:
        """Return a text, one of ``choices`` if there are any."""
        value = self.take(name)
        if not isinstance(value, str) or (choices is not None and value not in choices):
            raise damaged(f"{self._prefix}{name} is {str(value)[:60]!r}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise damaged(f"{self._prefix}{name} is neither true nor false")
        return value

    def whole(self, name: str, at_least: int = 0) -> int:
        """Return a whole number."""
        value = self.take(name)
        if type(value) is not int or not at_least <= value <= _LARGEST_COUNT:
            raise damaged(f"{self._prefix}{name} is not a whole number, at least {at_least}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self.take(name)
        if type(value) is not float or not math.isfinite(value):
            raise damaged(f"{self._prefix}{name} is not a finite number")
        return value

    def array(
        self, name: str, shape: tuple[int, ...], *, dtypes: Any = _FLOATS[:1], finite: bool = True
    ) -> Array:
        """Return an array of this shape (-1: any length)."""
        full = self._prefix + name
        if full not in self._arrays:
            raise damaged(f"array {full} is missing")
        array = self._arrays.pop(full)
        fits = len(array.shape) == len(shape) and all(
            n in (-1, have) for n, have in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype not in dtypes:
            expected = " or ".join(str(dtype) for dtype in dtypes)
            raise damaged(
                f"array {full} is {array.dtype} of shape {array.shape}, not {expected} of shape "
                f"{tuple('any' if n == -1 else n for n in shape)}"
            )
        if finite and not np.all(np.isfinite(array)):
            raise damaged(f"array {full} holds values that are not finite")
        return array

    def matrix(self, name: str, kind: str, shape: tuple[int, int]) -> Any:
        """Return a dense or CSR matrix of floats; its number of rows may be -1, any."""
        if kind == "dense":
            return self.array(name, shape, dtypes=_FLOATS)
        data = self.array(f"{name}.data", (-1,), dtypes=_FLOATS)
        indices = self.array(f"{name}.indices", (len(data),), dtypes=_INDICES)
        length = shape[0] + 1 if shape[0] >= 0 else -1
        indptr = self.array(f"{name}.indptr", (length,), dtypes=(indices.dtype,))
        in_order = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == len(data)
        if not in_order or np.any(indptr[:-1] > indptr[1:]):
            raise damaged(f"the rows of {self._prefix}{name} do not follow each other")
        if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
            raise damaged(f"{self._prefix}{name} has columns outside 0..{shape[1] - 1}")
        matrix = _SPARSE[kind]((len(indptr) - 1, shape[1]), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return matrix
