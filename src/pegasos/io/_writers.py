"""Rows and labels on their way into a file: one function for each format."""

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np

from pegasos.io._data import is_sparse
from pegasos.io._errors import DataError, needs

__all__ = ["WRITERS", "Rows"]

_ROWS_AT_ONCE = 8192
_MOST_COLUMNS = 20_000  # of a sparse matrix that becomes a table


@dataclass(frozen=True)
class Rows:
    """What is to be written, as `write` was given it; the path is for messages."""

    path: str
    X: Any
    y: Any
    names: Sequence[str] | None
    target: str
    zero_based: bool

    def parts(self) -> Iterator[tuple[Any, Any]]:
        """Yield some rows at a time, with their labels."""
        for start in range(0, self.X.shape[0], _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield self.X[rows], None if self.y is None else self.y[rows]

    def refuse_texts(self, kind: str) -> None:
        """Refuse labels that are texts, for a format of numbers."""
        if self.y is not None and self.y.dtype.kind == "U":
            raise DataError(
                f"{self.path}: {kind} labels are numbers; these are texts, such as "
                f"{str(self.y[0])!r}",
                "number the classes, or choose another format",
            )

    def refuse_sparse(self, kind: str) -> None:
        """Refuse sparse rows, for a format of dense ones."""
        if is_sparse(self.X):
            raise DataError(
                f"{self.path}: {kind} has no agreed form for sparse rows",
                "choose a format that has: svmlight or npz",
            )


def _svmlight(file: IO[bytes], rows: Rows) -> None:
    import scipy.sparse as sp

    rows.refuse_texts("svmlight")
    first = 0 if rows.zero_based else 1
    for some, labels in rows.parts():
        part = sp.csr_matrix(some)
        # NumPy writes the shortest text that reads back as the same number.
        texts = part.data.astype(np.str_).tolist()
        columns = (part.indices.astype(np.int64) + first).tolist()
        entries = [f"{j}:{text}" for j, text in zip(columns, texts, strict=True)]
        begins = ["0"] * part.shape[0] if labels is None else [f"{label}" for label in labels]
        ends = part.indptr.tolist()
        lines = (
            " ".join([begin, *entries[i:j]])
            for begin, i, j in zip(begins, ends[:-1], ends[1:], strict=True)
        )
        file.write("".join(f"{line}\n" for line in lines).encode())


def _table(writer: Callable[[Any, Any], Any], file: IO[bytes], rows: Rows) -> None:
    """Write a table part by part, in memory of pyarrow's own: see `_table_files`."""
    import pyarrow as pa

    X, y, target = rows.X, rows.y, rows.target
    if is_sparse(X) and X.shape[1] > _MOST_COLUMNS:
        raise DataError(
            f"{rows.path}: a table of {X.shape[1]} columns would be mostly zeros",
            "choose a format for sparse rows: svmlight or npz",
        )
    columns = [f"x{j + 1}" for j in range(X.shape[1])] if rows.names is None else list(rows.names)
    if y is not None:
        if target in columns:
            raise DataError(
                f"{rows.path}: a feature is called {target!r}, as the labels would be",
                "name the labels otherwise, with target=",
            )
        columns.append(target)
    out = pa.BufferOutputStream()
    opened = None
    for some, labels in rows.parts():
        dense = some.toarray() if is_sparse(some) else some
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
    def write_text(file: IO[bytes], rows: Rows) -> None:
        with _pyarrow(rows.path):
            import pyarrow.csv

            options = pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            _table(partial(pyarrow.csv.CSVWriter, write_options=options), file, rows)

    return write_text


def _parquet(file: IO[bytes], rows: Rows) -> None:
    with _pyarrow(rows.path):
        import pyarrow.parquet

        _table(pyarrow.parquet.ParquetWriter, file, rows)


def _arrow(file: IO[bytes], rows: Rows) -> None:
    with _pyarrow(rows.path):
        import pyarrow as pa

        _table(pa.ipc.new_file, file, rows)


@contextlib.contextmanager
def _pyarrow(path: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        if error.name != "pyarrow":
            raise
        raise needs(path, "pyarrow", work="writing") from None


def _npz(file: IO[bytes], rows: Rows) -> None:
    X, y = rows.X, rows.y
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


def _npy(file: IO[bytes], rows: Rows) -> None:
    """Write one array, the labels as its last column."""
    rows.refuse_sparse("npy")
    rows.refuse_texts("npy")
    X, y = rows.X, rows.y
    if y is None:
        np.save(file, X)
        return
    array = np.column_stack([X, y])
    if not _holds(array[:, :-1], X) or not _holds(array[:, -1], y):
        raise DataError(
            f"{rows.path}: one array cannot hold numbers as large as these, some of them whole",
            "choose another format, such as npz",
        )
    np.save(file, array)


def _holds(written: Any, given: Any) -> bool:
    """Tell whether whole numbers are still the same where they may have become floats."""
    with np.errstate(invalid="ignore"):
        return given.dtype.kind == "f" or np.array_equal(written.astype(given.dtype), given)


def _hdf5(file: IO[bytes], rows: Rows) -> None:
    rows.refuse_sparse("HDF5")
    try:
        import h5py
    except ImportError:
        raise needs(rows.path, "h5py", work="writing") from None
    content = io.BytesIO()
    with h5py.File(content, "w") as out:
        out["data"] = rows.X
        y = rows.y
        if y is not None:
            out["target"] = y.astype(h5py.string_dtype()) if y.dtype.kind == "U" else y
    file.write(content.getbuffer())


WRITERS: dict[str, Callable[[IO[bytes], Rows], None]] = {
    "svmlight": _svmlight,
    "csv": _text_table(","),
    "tsv": _text_table("\t"),
    "parquet": _parquet,
    "arrow": _arrow,
    "npz": _npz,
    "npy": _npy,
    "hdf5": _hdf5,
}
