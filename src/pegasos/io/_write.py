"""The way back: `write` puts rows and labels into a file."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from pegasos.io._errors import DataError, needs
from pegasos.io._formats import format_of
from pegasos.io._model_write import new_file
from pegasos.io._open import STDIN
from pegasos.io._writable import writable_labels, writable_names, writable_rows
from pegasos.io._writers import WRITERS, Rows

__all__ = ["write", "written_format"]

_STDOUT = STDIN
_PACKED = re.compile(r"\.(gz|bz2|zst)$")


def write(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - as in read
    target: str = "label",
    zero_based: bool = False,
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
        The labels, numbers or texts; svmlight and npy need numbers. True and False become 1 and 0.
    names : list of str or None, default=None
        Names of the features, all different, for tables. None: x1, x2 and so on.
    format : str or None, default=None
        "svmlight", "csv", "tsv", "parquet", "arrow", "npz", "npy" or "hdf5". None: the ending
        decides.
    target : str, default="label"
        Name of the column of labels, for tables. It is the last.
    zero_based : bool, default=False
        svmlight: whether indices begin with 0.

    Raises
    ------
    DataError
        If X, y and names do not belong together, the format does not suit them, or the file
        cannot be written.
    """
    path = os.fspath(path)
    kind = written_format(path, format)
    X = writable_rows(path, X)
    y = writable_labels(path, y, X.shape[0])
    names = writable_names(path, names, X.shape[1])
    rows = Rows(path, X, y, names, target, zero_based)
    with _opened(path, kind) as file:
        WRITERS[kind](file, rows)


def written_format(path: str, given: str | None) -> str:
    """Return the format that a file will have; refuse one that is only read."""
    kind = format_of(path, given)
    if kind not in WRITERS:
        raise DataError(
            f"{path}: {kind} files are not written: labels would need a file of their own",
            f"choose one of {', '.join(WRITERS)}",
        )
    return kind


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
