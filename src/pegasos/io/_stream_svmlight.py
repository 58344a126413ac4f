"""Chunks of svmlight text."""

import re
from collections.abc import Iterator
from typing import Any

from pegasos.io._data import Data, labels_of
from pegasos.io._errors import DataError
from pegasos.io._stream_chunks import LabelCounts, StreamOptions
from pegasos.io._stream_files import SourceFile
from pegasos.io._stream_text import LineEnds, TextPiece, compressed_refusal, text_pieces
from pegasos.io._svmlight import SvmlightText, check_features, csr_of

__all__ = ["SvmlightChunks"]

_ENDS = LineEnds(re.compile(rb"\n"), longest=10**9)


class SvmlightChunks:
    """Chunks of svmlight text; what counts for all is where indices begin, and the largest.

    Parameters
    ----------
    files : list of SourceFile
        The files.
    options : StreamOptions
        What was asked for.
    """

    names: list[str] | None = None

    def __init__(self, files: list[SourceFile], options: StreamOptions) -> None:
        self.files = files
        self.options = options
        self.zero_based = options.zero_based
        self.begin()

    def refusal(self) -> DataError | None:
        return compressed_refusal(self.files)

    def pieces(self) -> Iterator[TextPiece]:
        for file in self.files:
            yield from text_pieces(file, _ENDS, self.options.chunk_bytes)

    def begin(self) -> None:
        self.labels = None if self.options.target is None else LabelCounts()
        self.n_features = 0
        self._widest = self.files[0].path
        self._has_zero = self._has_entries = False

    def look(self, piece: TextPiece) -> int:
        # If it is not known where indices begin: they are taken as they are, so that a 0 is seen.
        y, _, columns, _, found = self._rows(piece, self.zero_based is not False)
        if found > self.n_features:
            self.n_features, self._widest = found, piece.path
        self._has_entries |= len(columns) > 0
        self._has_zero |= len(columns) > 0 and int(columns.min()) == 0
        if self.labels is not None:
            self.labels.add(y)
        return len(y)

    def conclude(self) -> bool:
        found = self.n_features
        if self.zero_based is None:
            self.zero_based = self._has_zero
            found = (found if self._has_zero else found - 1) if self._has_entries else 0
        self.n_features = check_features(self._widest, found, self.options.n_features)
        return True

    def data(self, piece: TextPiece, n_rows: int) -> Data:
        y, values, columns, ends, _ = self._rows(piece, bool(self.zero_based))
        X = csr_of(values, columns, ends, self.n_features)
        return Data(X, None if self.labels is None else y, None)

    def _rows(self, piece: TextPiece, zero_based: bool) -> tuple[Any, ...]:
        """Return labels, values, columns, ends of the rows and the number of features."""
        text = SvmlightText(
            piece.path,
            self.options.dtype,
            zero_based,
            self.options.n_threads,
            lines_before=piece.lines_before,
        )
        text.read_piece(piece.read(), is_first=piece.start == 0)
        labels, values, columns, ends, _, found = text.finish()
        return labels_of(piece.path, labels), values, columns, ends, found
