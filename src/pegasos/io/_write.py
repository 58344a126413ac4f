"""The way back: `write` puts rows and labels into a file."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from pegasos.io._data import is_sparse
from pegasos.io._errors import DataError, needs
from pegasos.io._formats import format_of
from pegasos.io._model_write import new_file
from pegasos.io._open import STDIN
from pegasos.io._writable import writable_labels, writable_names, writable_rows

__all__ = ["WRITABLE", "write"]

_STDOUT = STDIN
_ROWS_AT_ONCE = 8192
_MOST_COLUMNS = 20_000  # of a sparse matrix that becomes a table
_PACKED = re.compile(r"\.(gz|bz2|zst)$")


def write(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - as in read
    target: str = "label",
) -> None:
    """Write features and labels to a file, such that `read` gives them back.

    Text has no types: labels in csv and tsv come back as numbers if all look like numbers ("01" is
    1) or like truth values ("true" is 1); labels that look like missing values ("NA", "?", "nan"),
    or all like dates, are refused by `read`. Other formats keep texts as they are. In svmlight,
    last columns that are all zeros leave no trace.

    Parameters
    ----------
    path : str or path
        A file, or "-" for standard output. It takes the place of an old one at once, when all is
        written. Text is compressed if the name ends in ``.gz``, ``.bz2`` or ``.zst``.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        The features. Each number is written so that it reads back exactly.
    y : ndarray of shape (n_rows,) or None, default=None
        The labels, numbers or texts; svmlight needs numbers. True and False become 1 and 0.
    names : list of str or None, default=None
        Names of the features, all different, for tables. None: x1, x2 and so on.
    format : str or None, default=None
        "svmlight", "csv", "tsv", "parquet", "arrow", "npz" or "hdf5". None: the ending decides.
    target : str, default="label"
        Name of the column of labels, for tables. It is the last.

    Raises
    ------
    DataError
        If X, y and names do not belong together, the format does not suit them, or the file
        cannot be written.
    """
    path = os.fspath(path)
    kind = format_of(path, format)
    if kind not in WRITABLE:
        raise DataError(
            f"{path}: {kind} files are not written", f"choose one of {', '.join(WRITABLE)}"
        )
    X = writable_rows(path, X)
    y = writable_labels(path, y, X.shape[0])
    names = writable_names(path, names, X.shape[1])
    with _opened(path, kind) as file:
        WRITABLE[kind](file, path, X, y, names, target)


@contextlib.contextmanager
def _opened(path: str, kind: str) -> Iterator[IO[bytes]]:
    if path == _STDOUT:
        with _standard_output() as file:
            yield file
        return
    packed = _PACKED.search(path.lower())
    if packed and kind not in ("svmlight", "csv", "tsv"):
        raise DataError(
            f"{path}: {kind} files are compressed inside", f"leave {packed.group()} out of the name"
        )
    with new_file(Path(path), DataError) as file:
        if packed is None:
            yield file
        else:
            with _compressing(path, file, packed.group(1)) as outer:
                yield outer


@contextlib.contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    out: Any = sys.stdout.buffer
    if isinstance(out, io.RawIOBase):  # Python is unbuffered: one write may write a part only
        with open(out.fileno(), "wb", closefd=False) as whole:
            yield whole
    else:
        yield out
        out.flush()


def _compressing(path: str, file: IO[bytes], kind: str) -> Any:
    if kind == "gz":
        import gzip

        return gzip.GzipFile(fileobj=file, mode="wb", mtime=0)
    if kind == "bz2":
        import bz2

        return bz2.BZ2File(file, "wb")
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file, "wb")
    try:
        import zstandard
    except ImportError:
        raise needs(path, "zstandard", work="writing") from None
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


def _parts(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Yield some rows at a time, with their labels."""
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        yield X[rows], None if y is None else y[rows]


def _svmlight(
    file: IO[bytes], path: str, X: Any, y: Any, names: Sequence[str] | None, target: str
) -> None:
    import scipy.sparse as sp

    if y is not None and y.dtype.kind == "U":
        raise DataError(
            f"{path}: svmlight labels are numbers; these are texts, such as {str(y[0])!r}",
            "number the classes, or choose another format",
        )
    for rows, labels in _parts(X, y):
        part = sp.csr_matrix(rows)
        # NumPy writes the shortest text that reads back as the same number.
        texts = part.data.astype(np.str_).tolist()
        columns = (part.indices.astype(np.int64) + 1).tolist()
        entries = [f"{j}:{text}" for j, text in zip(columns, texts, strict=True)]
        begins = ["0"] * part.shape[0] if labels is None else [f"{label}" for label in labels]
        ends = part.indptr.tolist()
        lines = (
            " ".join([begin, *entries[i:j]])
            for begin, i, j in zip(begins, ends[:-1], ends[1:], strict=True)
        )
        file.write("".join(f"{line}\n" for line in lines).encode())


def _table(
    writer: Callable[[Any, Any], Any],
    file: IO[bytes],
    path: str,
    X: Any,
    y: Any,
    names: Sequence[str] | None,
    target: str,
) -> None:
    """Write a table part by part, in memory of pyarrow's own: see `_table_files`."""
    import pyarrow as pa

    if is_sparse(X) and X.shape[1] > _MOST_COLUMNS:
        raise DataError(
            f"{path}: a table of {X.shape[1]} columns would be mostly zeros",
            "choose a format for sparse rows: svmlight or npz",
        )
    columns = [f"x{j + 1}" for j in range(X.shape[1])] if names is None else list(names)
    if y is not None:
        if target in columns:
            raise DataError(
                f"{path}: a feature is called {target!r}, as the labels would be",
                "name the labels otherwise, with target=",
            )
        columns.append(target)
    out = pa.BufferOutputStream()
    opened = None
    for rows, labels in _parts(X, y):
        dense = rows.toarray() if is_sparse(rows) else rows
        arrays = [pa.array(np.ascontiguousarray(dense[:, j])) for j in range(dense.shape[1])]
        if labels is not None:
            arrays.append(pa.array(labels.tolist() if labels.dtype.kind == "U" else labels))
        table = pa.table(arrays, names=columns)
        opened = opened or writer(out, table.schema)
        opened.write_table(table)
    if opened is not None:
        opened.close()
    file.write(memoryview(out.getvalue()))


def _text_table(delimiter: str) -> Callable[..., None]:
    def write_text(file: IO[bytes], path: str, *rest: Any) -> None:
        with _pyarrow(path):
            import pyarrow.csv

            options = pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            _table(partial(pyarrow.csv.CSVWriter, write_options=options), file, path, *rest)

    return write_text


def _parquet(file: IO[bytes], path: str, *rest: Any) -> None:
    with _pyarrow(path):
        import pyarrow.parquet

        _table(pyarrow.parquet.ParquetWriter, file, path, *rest)


def _arrow(file: IO[bytes], path: str, *rest: Any) -> None:
    with _pyarrow(path):
        import pyarrow as pa

        _table(pa.ipc.new_file, file, path, *rest)


@contextlib.contextmanager
def _pyarrow(path: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        if error.name != "pyarrow":
            raise
        raise needs(path, "pyarrow", work="writing") from None


def _npz(
    file: IO[bytes], path: str, X: Any, y: Any, names: Sequence[str] | None, target: str
) -> None:
    arrays: dict[str, Any] = {} if y is None else {"y": y}
    if is_sparse(X):  # the arrays that scipy.sparse.load_npz looks for, and the labels
        arrays |= {
            "format": np.array("csr"),
            "shape": np.array(X.shape),
            **{name: getattr(X, name) for name in ("data", "indices", "indptr")},
        }
    else:
        arrays["X"] = X
    np.savez(file, **arrays)


def _hdf5(
    file: IO[bytes], path: str, X: Any, y: Any, names: Sequence[str] | None, target: str
) -> None:
    if is_sparse(X):
        raise DataError(
            f"{path}: HDF5 has no agreed form for sparse rows",
            "choose a format that has: svmlight or npz",
        )
    try:
        import h5py
    except ImportError:
        raise needs(path, "h5py", work="writing") from None
    content = io.BytesIO()
    with h5py.File(content, "w") as out:
        out["data"] = X
        if y is not None:
            out["target"] = y.astype(h5py.string_dtype()) if y.dtype.kind == "U" else y
    file.write(content.getbuffer())


WRITABLE: dict[str, Callable[..., None]] = {
    "svmlight": _svmlight,
    "csv": _text_table(","),
    "tsv": _text_table("\t"),
    "parquet": _parquet,
    "arrow": _arrow,
    "npz": _npz,
    "hdf5": _hdf5,
}
