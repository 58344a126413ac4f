"""Text of nothing but numbers becomes an array in C++, by many threads and without pyarrow.

The table of all columns, which takes several times the room of the array, is never there. Whatever
is no plain number is left to `data_of_table`, which has words for it. Labels may be texts.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.io._data import Data, labels_of
from pegasos.io._errors import DataError
from pegasos.io._mapped import feed_mapped
from pegasos.io._open import compression_of
from pegasos.io._table_files import LONGEST_LINE, TableText, is_number
from pegasos.io._table_layout import Layout, Wishes

__all__ = ["read_numbers"]

_UTF8_MARK = b"\xef\xbb\xbf"
_SKIPPED, _LABEL, _LABEL_TEXT = -1, -2, -3  # as in number_table.hpp


def read_numbers(text: TableText, wishes: Wishes, n_threads: int) -> Data | None:
    """Return features and labels if all features are plain numbers and none is missing.

    Parameters
    ----------
    text : TableText
        The file.
    wishes : Wishes
        What was asked for.
    n_threads : int
        Makes no difference to the result.

    Returns
    -------
    Data or None
        None if this is not the way to read the file, for whatever reason.
    """
    with Path(text.path).open("rb") as file:
        if compression_of(file.read(4)):
            return None
        reader = _Reader(text, wishes, n_threads)
        try:
            feed_mapped(file, reader.begin, reader.feed)
            return reader.data()
        except (_NotPlain, DataError):
            return None


class _NotPlain(Exception):  # noqa: N818 - no error: there is another way to read
    """There is something else than numbers."""


class _Reader:
    """Learns from the first lines which columns there are, and has the others read."""

    layout: Layout
    wanted: list[int]
    core: _core.NumberTable

    def __init__(self, text: TableText, wishes: Wishes, n_threads: int) -> None:
        self.text = text
        self.wishes = wishes
        self.n_threads = n_threads

    def begin(self, text: npt.NDArray[np.uint8]) -> int:
        """Look at the names and the first row; return where the rows begin."""
        start = len(_UTF8_MARK) if text[:3].tobytes() == _UTF8_MARK else 0
        first = _line_at(text, start)
        if not first.endswith(b"\n"):  # to pyarrow this is no row
            raise _NotPlain
        names = self._names(first)
        if self.text.header:
            self.text.check_names(names)
            start += len(first)
        self.layout = Layout(self.text.path, names, self.wishes)
        wanted = self.layout.wanted_as_numbers()
        if wanted is None:
            raise _NotPlain
        self.wanted = wanted
        places = [_SKIPPED] * len(names)
        for place, j in enumerate(wanted):
            places[j] = place
        if (target := self.layout.target) is not None:
            cells = _cells(_line_at(text, start + _n_blank(text, start)), self.text.delimiter)
            if len(cells) != len(names):
                raise _NotPlain
            places[target] = _LABEL if is_number(cells[target]) else _LABEL_TEXT
        in_double = self.wishes.dtype == np.float64
        delimiter = self.text.delimiter
        self.core = _core.number_table(delimiter=delimiter, places=places, in_double=in_double)
        return start

    def _names(self, first: bytes) -> list[str]:
        if not self.text.header:
            return [f"f{j}" for j in range(len(_cells(first, self.text.delimiter)))]  # as pyarrow
        names = []
        for cell in _cells(first, self.text.delimiter):
            quoted = re.fullmatch(r'"([^"]*)"', cell)
            if quoted is None and '"' in cell:
                raise _NotPlain
            names.append(cell if quoted is None else quoted[1])
        return names

    def feed(self, text: npt.NDArray[np.uint8], is_last: bool) -> int:
        """Read a block; return how much of it is done."""
        used = self.core.feed(text, is_last=is_last, n_threads=self.n_threads)
        if not self.core.is_plain():
            raise _NotPlain
        return used

    def data(self) -> Data:
        """Return what was read."""
        X, numbers, texts = self.core.finish()
        if not len(X):
            raise _NotPlain
        y: Any = None
        if texts:
            y = _labels_of_texts(self.text, self.wishes, texts)
        elif self.layout.target is not None:
            y = labels_of(self.text.path, numbers)
        has_names = self.text.header or self.wishes.names is not None
        data = Data(X, y, [self.layout.names[j] for j in self.wanted] if has_names else None)
        data.unseen = {}
        return data


def _line_at(text: npt.NDArray[np.uint8], start: int) -> bytes:
    """Return a line with its end, if it has one; empty and endless lines are not for us."""
    size = 1 << 12
    while True:
        line, end, _ = text[start : start + size].tobytes().partition(b"\n")
        if end or start + size >= len(text):
            break
        if size > LONGEST_LINE:
            raise _NotPlain
        size *= 8
    if not line.strip(b"\r"):
        raise _NotPlain
    return line + end


def _n_blank(text: npt.NDArray[np.uint8], start: int) -> int:
    """Return how many ends of lines there are, one after the other; at most a few thousand."""
    some = text[start : start + (1 << 12)].tobytes()
    return len(some) - len(some.lstrip(b"\r\n"))


def _cells(line: bytes, delimiter: str) -> list[str]:
    try:
        text = line.rstrip(b"\n").removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        raise _NotPlain from None
    if "\r" in text or "\0" in text:
        raise _NotPlain
    return text.split(delimiter)


class _LabelTexts(TableText):
    """A column of its own, with a label in every line: it is of the type that it has in a table."""

    threads = False
    skips_empty_lines = False

    def __init__(self, text: TableText, labels: bytes) -> None:
        super().__init__(text.path, text.delimiter, header=False)
        self.labels = labels

    def _source(self) -> Any:
        import pyarrow as pa

        return pa.BufferReader(self.labels)


def _labels_of_texts(text: TableText, wishes: Wishes, labels: bytes) -> Any:
    """Return labels that are no numbers."""
    import pyarrow as pa

    from pegasos.io._table_columns import Columns
    from pegasos.io._table_learned import Learned

    try:
        table = _LabelTexts(text, labels).raw(["label"], {})
    except pa.ArrowInvalid:
        raise _NotPlain from None
    wishes = replace(wishes, target=0, names=None, one_hot=False)
    return Columns(text.path, table, text.line, wishes, Learned()).labels()
