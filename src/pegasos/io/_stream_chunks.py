"""What the chunks of any format have in common."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data
from pegasos.io._errors import DataError

__all__ = ["Chunks", "LabelCounts", "Progress", "StreamOptions", "Whole"]


@dataclass(frozen=True)
class StreamOptions:
    """What the caller of `stream` asked for."""

    kind: str
    chunk_bytes: int
    target: str | int | None
    dtype: np.dtype[Any]
    header: bool
    one_hot: bool | tuple[str, ...]
    missing: str | float
    names: tuple[str, ...] | None
    n_features: int | None
    zero_based: bool | None
    n_threads: int


@dataclass(frozen=True)
class Whole:
    """What is known of all chunks together."""

    chunk_rows: npt.NDArray[np.int64]
    n_features: int
    names: list[str] | None
    labels: npt.NDArray[Any] | None
    label_counts: npt.NDArray[np.int64] | None
    zero_based: bool | None

    def chunk(self, X: Any, y: npt.NDArray[Any] | None) -> Data:
        """Return the rows of a chunk, with what is true of all."""
        data = Data(X, y, self.names)
        data.zero_based = self.zero_based
        return data


class LabelCounts:
    """The labels of all rows, and how often each is there."""

    def __init__(self) -> None:
        self._times: Counter[Any] = Counter()
        self._dtype: np.dtype[Any] = np.dtype(np.int64)

    def add(self, y: npt.NDArray[Any]) -> None:
        labels, counts = np.unique(y, return_counts=True)
        self._times.update(dict(zip(labels.tolist(), counts.tolist(), strict=True)))
        # Labels of a part are whole numbers if all of the part are.
        self._dtype = y.dtype if y.dtype.kind == "U" else np.result_type(self._dtype, y.dtype)

    def all(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return the labels in order, of the type that they have all together, and their counts."""
        labels = sorted(self._times)
        counts = np.array([self._times[label] for label in labels], dtype=np.int64)
        kind = np.str_ if self._dtype.kind == "U" else self._dtype
        return np.array(labels, dtype=kind), counts


# Told what is being done, how many chunks are done, and of how many, if that is known.
Progress = Callable[[str, int, int | None], None]


class Chunks(Protocol):
    """The chunks of files of one format.

    First all pieces are looked at, from beginning to end, as often as `conclude` asks for. From
    then on the data of any piece can be had.
    """

    labels: LabelCounts | None
    n_features: int
    names: list[str] | None
    zero_based: bool | None

    def refusal(self) -> DataError | None:
        """Return why the pieces cannot be read in any order, if so."""

    def pieces(self) -> Iterator[Any]:
        """Yield all pieces in order."""

    def begin(self) -> None:
        """Forget what has been counted."""

    def look(self, piece: Any) -> int:
        """Take note of the rows of a piece; return how many there are."""

    def conclude(self) -> bool:
        """Tell whether enough is known of all rows; if not, they are looked at again."""

    def data(self, piece: Any, n_rows: int) -> Data:
        """Return the rows of a piece."""
