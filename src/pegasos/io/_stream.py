"""The other door: `stream`, for files that are larger than memory."""

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos._memory import memory_bytes
from pegasos._read_ahead import read_ahead
from pegasos.io._cache import Cache, locked, make_cache, open_cache
from pegasos.io._data import Data
from pegasos.io._errors import DataError
from pegasos.io._stream_chunks import Chunks, Progress, StreamOptions, Whole
from pegasos.io._stream_files import Paths, SourceFile, source_files
from pegasos.io._stream_survey import LookedThrough, survey

__all__ = ["Stream", "stream"]


def stream(
    path: Paths,
    *,
    chunk_bytes: int | str = "32MB",
    cache: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - as in read
    target: str | int | None = -1,
    dtype: npt.DTypeLike = np.float32,
    header: bool = True,
    one_hot: bool | Sequence[str] = False,
    missing: str | float = "error",
    names: Sequence[str] | None = None,
    n_features: int | None = None,
    zero_based: bool | None = None,
    n_jobs: int | None = -1,
) -> "Stream":
    r"""Read files that are larger than memory in chunks of rows, as often as needed.

    All chunks together are what `read` would return: the types of labels and columns, the
    categories, what stands for missing values and the number of features are those of all rows.
    To know them, the files are looked through once, when a chunk or a count is first asked for.

    Parameters
    ----------
    path : str or path, or list of them
        A file (svmlight, csv, tsv or parquet), a list of files, or a folder: all files in it,
        sorted by name, which must be of one format. Names that begin with "." or "_" are left out.
    chunk_bytes : int or str, default="32MB"
        How large a chunk is, such as 10_000_000, "10MB" or "1GiB". Of text: bytes of the file. Of
        parquet: about the bytes that its rows take as a table; row groups stay whole. At most two
        chunks are in memory, which take up to 6 times as many bytes.
    cache : str, path or None, default=None
        A folder for a binary copy of the chunks, which is read many times faster than text. It is
        made when a chunk or a count is first asked for, and made anew if files or options are not
        the same any more. Compressed text, and parquet with row groups larger than
        ``chunk_bytes``, need it. Do not let several streams that differ share a folder.
    format, target, dtype, header, one_hot, names, n_features, zero_based, n_jobs
        As in `read`.
    missing : str or float, default="error"
        As in `read`, without "median".

    Returns
    -------
    Stream

    Raises
    ------
    DataError
        If a file is not there, or not as it should be; says where, and what to do. What is in the
        files is seen when they are looked through.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pegasos.io import stream
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "three.svm"
    ...     _ = path.write_text("+1 1:0.5 4:2\n-1 2:1.25\n+1 1:3\n")
    ...     chunks = stream(path, chunk_bytes=20)
    ...     print(chunks.n_rows, chunks.n_features, chunks.chunk_rows)
    ...     for X, y, names in chunks:
    ...         print(X.shape, y)
    3 4 [2 1]
    (2, 4) [ 1 -1]
    (1, 4) [1]
    """
    from joblib import effective_n_jobs

    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise DataError(f"dtype={dtype} is not supported", "use float32 or float64")
    if missing == "median":
        raise DataError("missing='median' needs all rows at once", "use missing='mean' or a number")
    try:
        size = memory_bytes(chunk_bytes, "chunk_bytes")
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        raise DataError(message, hint) from None
    folder = None if cache is None else Path(cache).resolve()
    files, kind = source_files(path, format, folder)
    options = StreamOptions(
        kind=kind,
        chunk_bytes=size,
        target=target,
        dtype=dtype,
        header=header,
        one_hot=one_hot if isinstance(one_hot, bool) else tuple(one_hot),
        missing=missing,
        names=None if names is None else tuple(names),
        n_features=n_features,
        zero_based=zero_based,
        n_threads=int(effective_n_jobs(n_jobs)),
    )
    return Stream(files, options, folder)


class Stream:
    """Rows of files in chunks, as `stream` returns them.

    It can be gone through any number of times, by several threads as well, and sent to another
    process. ``for X, y, names in stream`` gives all chunks in order.

    Parameters
    ----------
    files : list
        The files.
    options
        What was asked for.
    cache : Path or None
        The folder of the cache.
    """

    def __init__(self, files: list[SourceFile], options: StreamOptions, cache: Path | None) -> None:
        self._files = files
        self._options = options
        self._folder = cache
        self._chunks = _chunks_of(files, options)
        self._opened: LookedThrough | Cache | None = None
        self._lock = threading.Lock()
        if cache is None and (refusal := self._chunks.refusal()):
            raise refusal

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        n = len(self._files)
        what = self._files[0].path if n == 1 else f"{n} files"
        return f"<Stream of {what}>"

    def __len__(self) -> int:
        return len(self._whole.chunk_rows)

    def __iter__(self) -> Iterator[Data]:
        return self.read_ahead(range(len(self)))

    @property
    def n_rows(self) -> int:
        """Rows of all chunks."""
        return int(self._whole.chunk_rows.sum())

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return self._whole.n_features

    @property
    def names(self) -> list[str] | None:
        """Names of the features, if the files have names."""
        return self._whole.names

    @property
    def zero_based(self) -> bool | None:
        """svmlight: whether indices begin with 0, as said or found; None for other formats."""
        return self._whole.zero_based

    @property
    def chunk_rows(self) -> npt.NDArray[np.int64]:
        """Rows of each chunk."""
        return self._whole.chunk_rows

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """The different labels, in order; None if ``target`` is None."""
        return self._whole.labels

    @property
    def label_counts(self) -> npt.NDArray[np.int64] | None:
        """How often each of the labels is there."""
        return self._whole.label_counts

    @property
    def fingerprint(self) -> str:
        """Changes with the files (path, size, time) and with every option but ``n_jobs``."""
        options = {k: v for k, v in vars(self._options).items() if k != "n_threads"}
        options["dtype"] = str(self._options.dtype)
        files = [(str(Path(f.path).absolute()), f.size, f.mtime_ns) for f in self._files]
        return hashlib.sha256(json.dumps([options, files], sort_keys=True).encode()).hexdigest()

    def chunk(self, k: int) -> Data:
        """Read a chunk.

        Parameters
        ----------
        k : int
            Its number, from 0 to ``len(stream) - 1``.

        Returns
        -------
        Data
            A named tuple ``(X, y, names)``, as `read` returns it, but for ``unseen``.
        """
        opened = self._prepare()
        n_chunks = len(opened.whole.chunk_rows)
        if not 0 <= k < n_chunks:
            raise IndexError(f"there is no chunk {k}, as there are {n_chunks}")
        return opened.chunk(k)

    def read_ahead(self, order: Iterable[int]) -> Iterator[Data]:
        """Give chunks in any order; while one is used, a thread reads the next.

        Parameters
        ----------
        order : iterable of int
            Numbers of chunks.

        Yields
        ------
        Data
            As `chunk` returns it.
        """
        self._prepare()
        yield from read_ahead(self.chunk, order)

    @property
    def _whole(self) -> Whole:
        return self._prepare().whole

    def _prepare(self, progress: Progress | None = None) -> LookedThrough | Cache:
        """Look through the files, or make or open the cache, if that has not been done."""
        with self._lock:
            if self._opened is None:
                if self._folder is None:
                    self._opened = self._looked_through(progress)
                else:
                    self._opened = self._cached(self._folder, progress)
            return self._opened

    def _looked_through(self, progress: Progress | None) -> LookedThrough:
        return LookedThrough(self._chunks, survey(self._chunks, self._files, progress))

    def _cached(self, folder: Path, progress: Progress | None) -> Cache:
        if (cache := open_cache(folder, self.fingerprint)) is not None:
            return cache
        with locked(folder):
            if (cache := open_cache(folder, self.fingerprint)) is not None:
                return cache  # somebody else has made it meanwhile
            files = self._looked_through(progress)
            data = files.all(progress)
            return make_cache(folder, self.fingerprint, files.whole, self._options.dtype, data)


def _chunks_of(files: list[SourceFile], options: StreamOptions) -> Chunks:
    if options.kind == "svmlight":
        from pegasos.io._stream_svmlight import SvmlightChunks

        return SvmlightChunks(files, options)
    if options.kind == "parquet":
        from pegasos.io._stream_parquet import ParquetChunks

        return ParquetChunks(files, options)
    from pegasos.io._stream_table_text import TableTextChunks

    return TableTextChunks(files, options)
