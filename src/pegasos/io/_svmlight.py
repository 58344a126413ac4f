"""Reading svmlight (libsvm) text. The work is done in C++; here are files, blocks and words."""

import re
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.io import _mapped
from pegasos.io._data import Data, RankedData, labels_of
from pegasos.io._errors import DataError
from pegasos.io._open import (
    STDIN,
    checked_path,
    compression_of,
    fill,
    open_bytes,
    reading,
    refuse_utf16,
)

__all__ = ["SvmlightText", "check_features", "csr_of", "read_svmlight"]

_UTF8_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

# What is wrong, and what to do about it, by the names that C++ has for it.
_FAULTS = {
    "label": (
        "the label {text} is not a number",
        "svmlight labels are numbers: write 1 and -1, or 1, 2, 3 for the classes",
    ),
    "no_label": (
        "the line begins with {text}, so it has no label",
        "begin every line with a label, for instance 0",
    ),
    "several_labels": (
        "{text} is more than one label; rows with several labels are not supported",
        "keep one label for each row; if this is a table, read it with format='csv'",
    ),
    "qid": ("{text} is not a query number", "write whole numbers, as in qid:3"),
    "no_qid": ("the line has no qid: after its label", "read the file without query_id=True"),
    "index": (
        "{text} does not begin with the number of a feature",
        "after the label there are only entries such as 7:0.25, with blanks between them",
    ),
    "index_zero": (
        "{text} has the index 0, but indices are said to begin with 1",
        "read the file with zero_based=True",
    ),
    "index_range": (
        "{text} has an index beyond 2147483647",
        "number the features with smaller indices, for instance by hashing",
    ),
    "index_order": (
        "{text} comes after an entry with a larger index",
        "sort the entries of each line by index",
    ),
    "index_twice": (
        "{text} has the same index as the entry before it",
        "keep one entry for each feature of a line",
    ),
    "no_value": (
        "the entry {text} has no value",
        "write index:value, as in 7:0.25; was the file cut off?",
    ),
    "value": (
        "the value of {text} is not a number",
        "write values such as 3, -0.25 or 1e-5; was the file cut off?",
    ),
}
_NOT_FINITE = ("the value of {text} is not finite", "leave the entry out, or write a number")
_TOO_LARGE = ("{text} is too large for {dtype}", "scale the feature, or read with dtype='float64'")
_NUL = (
    "there is a NUL byte",
    "the file is damaged, or not text: download or copy it again",
)
_NOT_ASCII = (
    "{text} is not plain text",
    "is this svmlight text? name another format with format=",
)


def read_svmlight(
    path: str,
    *,
    dtype: npt.DTypeLike,
    n_features: int | None,
    zero_based: bool | None,
    query_id: bool,
    n_threads: int,
    has_labels: bool,
) -> Data | RankedData:
    """Return the rows as a CSR matrix.

    Parameters
    ----------
    path : str
        A file, compressed or not, or "-".
    dtype : dtype
        float32 or float64.
    n_features : int or None
        None: the largest index decides.
    zero_based : bool or None
        Whether indices begin with 0; None: if there is an index 0.
    query_id : bool
        Whether to return the numbers after ``qid:``.
    n_threads : int
        Makes no difference to the result.
    has_labels : bool
        Whether to return them.

    Returns
    -------
    Data or RankedData
    """
    text = SvmlightText(path, dtype, zero_based, n_threads, query_id=query_id)
    with reading(path):
        text.read()
    labels, values, columns, ends, qids, found = text.finish()
    if not len(labels):
        raise DataError(f"{path}: there are no rows", "check how the file was made or copied")
    n_features = check_features(path, found, n_features)
    X = csr_of(values, columns, ends, n_features)
    y = labels_of(path, labels) if has_labels else None
    data = RankedData(X, y, None, qids) if query_id else Data(X, y, None)
    data.zero_based = text.core.counts_from_zero()
    return data


def check_features(path: str, found: int, n_features: int | None) -> int:
    """Return the number of columns: as asked for, or as many as the indices say."""
    if n_features is None:
        if not found:
            raise DataError(
                f"{path}: no line has a feature",
                "after the label write entries such as 7:0.25, or say n_features=",
            )
        return found
    if found > n_features:
        raise DataError(
            f"{path}: there are {found} features, and n_features={n_features} was asked for",
            f"read with n_features={found}, or check zero_based=",
        )
    return n_features


def csr_of(
    values: npt.NDArray[Any],
    columns: npt.NDArray[np.int32],
    ends: npt.NDArray[Any],
    n_features: int,
) -> Any:
    """Return the entries as a matrix, without a copy of them."""
    import scipy.sparse as sp

    narrow = len(values) < 2**31
    indptr: Any = np.zeros(len(ends) + 1, dtype=np.int32 if narrow else np.int64)
    indptr[1:] = ends
    X: Any = sp.csr_matrix((values, columns, indptr), shape=(len(ends), n_features), copy=False)
    X.has_canonical_format = True  # C++ has refused all else: nobody has to check it again
    return X


class SvmlightText:
    """Text on its way to C++: all of a file, block by block, or a piece of one.

    Parameters
    ----------
    path, dtype, zero_based, n_threads, query_id
        As in `read_svmlight`.
    lines_before : callable
        Returns how many lines of the file are before the first; asked for if there is a fault.
    """

    def __init__(
        self,
        path: str,
        dtype: npt.DTypeLike,
        zero_based: bool | None,
        n_threads: int,
        *,
        query_id: bool = False,
        lines_before: Callable[[], int] = int,
    ) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.n_threads = n_threads
        self.lines_before = lines_before
        self.core = _core.svmlight_reader(
            in_double=self.dtype == np.float64, zero_based=zero_based, with_qid=query_id
        )

    def finish(self) -> tuple[Any, ...]:
        """Return labels, values, columns, ends of the rows, queries and the number of features."""
        return self.core.finish(n_threads=self.n_threads)

    def read_piece(self, text: bytes, *, is_first: bool) -> None:
        """Feed whole lines that are in memory; the first of a file may begin with a mark."""
        array = np.frombuffer(text, dtype=np.uint8)
        self._feed(array[self._skip_mark(array) if is_first else 0 :], is_last=True)

    def read(self) -> None:
        """Feed all of the file: from memory if it can be mapped, else through a buffer."""
        if self.path != STDIN and (file := checked_path(self.path)).is_file():
            with file.open("rb") as opened:
                if not compression_of(opened.read(4)):
                    return _mapped.feed_mapped(opened, self._skip_mark, self._feed)
        with open_bytes(self.path) as stream:
            return self._read_stream(stream)

    def _read_stream(self, stream: IO[bytes]) -> None:
        buffer = np.empty(_mapped.BLOCK, dtype=np.uint8)
        held, is_first, is_last = 0, True, False
        while not is_last:
            got = fill(stream, buffer[held:])
            is_last = held + got < len(buffer)
            text = buffer[: held + got]
            if is_first:
                text = text[self._skip_mark(text) :]
                is_first = False
            used = self._feed(text, is_last)
            rest = text[used:]
            if not used and not is_last:  # a line is longer than that
                buffer = np.concatenate([rest, np.empty(2 * len(buffer), dtype=np.uint8)])
            else:
                buffer[: len(rest)] = rest
            held = len(rest)

    def _skip_mark(self, text: npt.NDArray[np.uint8]) -> int:
        """Return the length of a byte order mark; only that of UTF-8 is allowed."""
        beginning = text[:3].tobytes()
        refuse_utf16(self.path, beginning)
        return len(_UTF8_MARK) if beginning == _UTF8_MARK else 0

    def _feed(self, text: npt.NDArray[np.uint8], is_last: bool) -> int:
        used: int = self.core.feed(text, is_last=is_last, n_threads=self.n_threads)
        name, line, column, found = self.core.fault()
        if name:
            message, hint = _words(name, found)
            shown = f"'{found.decode('ascii', 'backslashreplace')}'"
            message = message.format(text=shown, dtype=self.dtype)
            line += self.lines_before()
            raise DataError(f"{self.path}, line {line}, column {column}: {message}", hint)
        return used


def _words(name: str, found: bytes) -> tuple[str, str]:
    """Return what is wrong and the remedy; some faults have a more telling reason."""
    if b"\0" in found:
        return _NUL
    if not found.isascii():
        return _NOT_ASCII
    number = found.partition(b":")[2] if name == "value" else found
    if name in ("value", "label") and _NUMBER.fullmatch(number):
        return _TOO_LARGE
    if name == "value" and number.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
        return _NOT_FINITE
    return _FAULTS[name]
