"""Looking through all files once: what has to be known before a chunk can be read."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pegasos.io._data import Data
from pegasos.io._stream_chunks import Chunks, Progress, Whole
from pegasos.io._stream_files import SourceFile
from pegasos.io._table_files import no_rows

__all__ = ["LookedThrough", "Survey", "survey"]


class Survey(NamedTuple):
    """What was found by looking at all pieces."""

    whole: Whole
    pieces: list[Any] | None  # those with rows, if they can be read in any order
    rows: list[int]  # of every piece


def survey(chunks: Chunks, files: Iterable[SourceFile], progress: Progress | None) -> Survey:
    """Look at all pieces, from beginning to end.

    Parameters
    ----------
    chunks : Chunks
        Of the files.
    files : list of SourceFile
        None may be without rows.
    progress : callable or None
        Told of every piece.

    Returns
    -------
    Survey
    """
    pieces = None if chunks.refusal() else list(chunks.pieces())
    n_pieces = None if pieces is None else len(pieces)
    while True:
        chunks.begin()
        rows: list[int] = []
        in_file: Counter[str] = Counter()
        for piece in chunks.pieces() if pieces is None else pieces:
            rows.append(chunks.look(piece))
            in_file[piece.path] += rows[-1]
            if progress is not None:
                progress("looking through the data", len(rows), n_pieces)
        for file in files:
            if not in_file[file.path]:
                raise no_rows(file.path)
        if chunks.conclude():
            break
    labels, counts = (None, None) if chunks.labels is None else chunks.labels.all()
    whole = Whole(
        np.array([n for n in rows if n], dtype=np.int64),
        chunks.n_features,
        chunks.names,
        labels,
        counts,
        chunks.zero_based,
    )
    if pieces is not None:
        pieces = [piece for piece, n in zip(pieces, rows, strict=True) if n]
    return Survey(whole, pieces, rows)


class LookedThrough:
    """Chunks as they are in the files, of which enough is known.

    Parameters
    ----------
    chunks : Chunks
        Of the files.
    found : Survey
        What `survey` has found.
    """

    def __init__(self, chunks: Chunks, found: Survey) -> None:
        self.whole = found.whole
        self._chunks = chunks
        self._found = found

    def chunk(self, k: int) -> Data:
        """Read a chunk."""
        assert self._found.pieces is not None  # else there is a cache
        return self._data(self._found.pieces[k], int(self.whole.chunk_rows[k]))

    def all(self, progress: Progress | None) -> Iterator[Data]:
        """Yield all chunks in order, which is always possible."""
        n_done = 0
        for piece, n_rows in zip(self._chunks.pieces(), self._found.rows, strict=True):
            if n_rows:
                yield self._data(piece, n_rows)
                n_done += 1
                if progress is not None:
                    progress("writing the cache", n_done, len(self.whole.chunk_rows))

    def _data(self, piece: Any, n_rows: int) -> Data:
        X, y, _ = self._chunks.data(piece, n_rows)
        if y is not None and self.whole.labels is not None:
            y = y.astype(self.whole.labels.dtype, copy=False)
        return self.whole.chunk(X, y)
