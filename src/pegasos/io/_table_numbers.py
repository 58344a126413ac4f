"""Text of nothing but numbers becomes an array piece by piece, with many threads.

The table of all columns, which takes several times the room of the array, is never there. Whatever
is no plain number is left to `data_of_table`, which has words for it.
"""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data
from pegasos.io._errors import DataError
from pegasos.io._open import compression_of
from pegasos.io._table_columns import Columns, Wishes
from pegasos.io._table_files import LONGEST_LINE, TableText
from pegasos.io._table_learned import Learned

__all__ = ["read_numbers"]

_PIECE = 1 << 20  # bytes: text and columns of a piece stay in the cache
_SPARE = 1.05  # of the rows that the first piece lets expect

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_numbers(text: TableText, wishes: Wishes, n_threads: int) -> Data | None:
    """Return features and labels if all features are plain numbers and none is missing.

    Parameters
    ----------
    text : TableText
        The file.
    wishes : Wishes
        What was asked for.
    n_threads : int
        How many pieces are read at once.

    Returns
    -------
    Data or None
        None if this is not the way to read the file, for whatever reason.
    """
    import pyarrow as pa

    pieces = [] if wishes.one_hot is not False else _pieces(text)
    if len(pieces) < 2:
        return None
    try:
        return _Reader(text, pieces, wishes).read(n_threads)
    except (_NotPlain, DataError, pa.ArrowInvalid, UnicodeDecodeError):
        return None


class _NotPlain(Exception):  # noqa: N818 - no error: there is another way to read
    """There is something else than numbers."""


class _Rows(NamedTuple):
    X: npt.NDArray[Any]
    y: npt.NDArray[Any] | None
    names: list[str]


class _Reader:
    """Reads pieces as columns of the types that the first of them shows."""

    def __init__(self, text: TableText, pieces: list["_Piece"], wishes: Wishes) -> None:
        import pyarrow as pa

        first = pieces[0].table()
        text.check_names(first.column_names)
        self.text = text
        self.pieces = pieces
        self.wishes = wishes
        self.columns: list[str] = first.column_names
        self.whole = {f.name for f in first.schema if pa.types.is_integer(f.type)}
        target = Columns(text.path, first, text.line, wishes, Learned()).target
        self.types = {
            name: kind if j == target else pa.float64()
            for j, (name, kind) in enumerate(zip(self.columns, first.schema.types, strict=True))
        }

    def read(self, n_threads: int) -> Data:
        first = self._rows(self.pieces[0])
        expected = _SPARE * len(first.X) * sum(p.size for p in self.pieces) / self.pieces[0].size
        X = np.empty((int(expected), first.X.shape[1]), first.X.dtype)
        n_rows, labels = 0, list[npt.NDArray[Any]]()
        for rows in itertools.chain([first], _in_order(self._rows, self.pieces[1:], n_threads)):
            end = n_rows + len(rows.X)
            if end > len(X):
                X.resize((end + len(X) // 4, X.shape[1]), refcheck=False)
            X[n_rows:end] = rows.X
            if rows.y is not None:
                labels.append(rows.y)
            n_rows = end
        X.resize((n_rows, X.shape[1]), refcheck=False)  # gives back what was not needed
        has_names = self.text.header or self.wishes.names is not None
        y = np.concatenate(labels) if labels else None
        return Data(X, y, first.names if has_names else None)

    def _rows(self, piece: "_Piece") -> _Rows:
        is_first = piece is self.pieces[0]
        table = piece.table(None if is_first and self.text.header else self.columns, self.types)
        columns = Columns(self.text.path, table, self.text.line, self.wishes, Learned())
        X, names = columns.numbers()
        if X is None or self._may_read_otherwise(X, names):
            raise _NotPlain
        return _Rows(X, columns.labels(), names)

    def _may_read_otherwise(self, X: npt.NDArray[Any], names: list[str]) -> bool:
        """Tell whether there is a -0 where all numbers may be whole: these have one 0 only."""
        minus_zero = np.array(-0.0, X.dtype).view(f"u{X.itemsize}")
        found = X.view(minus_zero.dtype) == minus_zero
        return bool(found.any()) and any(
            name in self.whole for name, has in zip(names, found.any(axis=0), strict=True) if has
        )


class _Piece(TableText):
    """Some lines of a file, read by one thread."""

    threads = False

    def __init__(self, text: TableText, start: int, end: int) -> None:
        super().__init__(text.path, text.delimiter, text.header)
        # All but the first begin with the end of the line before: as an empty line it is skipped,
        # and a byte order mark behind it is not taken for the beginning of a file.
        self.start = max(0, start - 1)
        self.size = end - self.start

    def table(self, names: list[str] | None = None, types: dict[str, Any] | None = None) -> Any:
        return self.in_blocks(self.size + 1, names, {"column_types": types or {}})

    def _source(self) -> Any:
        import pyarrow as pa

        with pa.OSFile(os.fsencode(self.path), memory_pool=pa.system_memory_pool()) as file:
            file.seek(self.start)
            return pa.BufferReader(file.read_buffer(self.size))


def _pieces(text: TableText) -> list[_Piece]:
    """Return the text in pieces of whole lines; none if it is compressed or has endless lines."""
    places = [0]
    with Path(text.path).open("rb") as file:
        if compression_of(file.read(4)):
            return []
        size = file.seek(0, os.SEEK_END)
        while places[-1] < size:
            file.seek(places[-1] + _PIECE)
            if not file.readline(LONGEST_LINE).endswith(b"\n"):
                file.seek(size)
            places.append(min(file.tell(), size))
    if any(end - start > LONGEST_LINE for start, end in itertools.pairwise(places)):
        return []
    return [_Piece(text, start, end) for start, end in itertools.pairwise(places)]


def _in_order(work: Callable[[Key], Value], keys: Iterable[Key], n_threads: int) -> Iterator[Value]:
    """Yield ``work(key)`` for each key; threads are ahead by a few keys, not by all."""
    with ThreadPoolExecutor(n_threads, thread_name_prefix="pegasos-read") as pool:
        ahead: deque[Future[Value]] = deque()
        try:
            for key in keys:
                ahead.append(pool.submit(work, key))
                if len(ahead) > n_threads + 1:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
