"""Chunks of tables in text, csv and tsv."""

import contextlib
import io
import re
from collections.abc import Iterator
from functools import cached_property
from typing import IO, Any

from pegasos.io._errors import DataError
from pegasos.io._open import open_bytes, reading
from pegasos.io._stream_files import SourceFile
from pegasos.io._stream_table import TableChunks
from pegasos.io._stream_text import LineEnds, TextPiece, compressed_refusal, text_pieces
from pegasos.io._stream_types import ColumnTypes
from pegasos.io._table_files import (
    DELIMITERS,
    LONGEST_LINE,
    Lines,
    TableText,
    reading_table,
)
from pegasos.io._table_text import check_table_text

__all__ = ["TableTextChunks"]

_ENDS = LineEnds(re.compile(rb"\r\n|\r|\n"), longest=LONGEST_LINE)
_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?+[\r\n]*[^\r\n]+(?:\r\n|\r|\n)?")
_MARK = b"\xef\xbb\xbf"
# Text that is read at once. Its table may take many times the room; each column of it takes time.
_AT_ONCE, _AT_ONCE_PER_COLUMN = 1 << 19, 1 << 13


class TableTextChunks(TableChunks):
    """Chunks of csv or tsv; the types of the columns are those of all rows."""

    def __init__(self, files: list[SourceFile], options: Any) -> None:
        self.delimiter = DELIMITERS[options.kind]
        self.has_names = options.header
        self.types: list[Any] | None = None
        self.as_float: set[int] = set()
        super().__init__(files, options)

    def refusal(self) -> DataError | None:
        return compressed_refusal(self.files)

    @cached_property
    def heads(self) -> list["_Head"]:
        """The first lines of all files, which must be the same."""
        heads = [self._head(file) for file in self.files]
        for file, head in zip(self.files, heads, strict=True):
            if head.columns != heads[0].columns:
                raise _other_columns(file.path, self.files[0].path)
        return heads

    def _head(self, file: SourceFile) -> "_Head":
        file.check()
        check_table_text(file.path, self.delimiter)
        return _Head(file.path, self.delimiter, self.options.header)

    @property
    def columns(self) -> list[str]:
        return self.heads[0].columns

    @property
    def at_once(self) -> int:
        return max(_AT_ONCE, _AT_ONCE_PER_COLUMN * len(self.columns))

    @cached_property
    def _seen(self) -> ColumnTypes:
        return ColumnTypes(self.columns, self._suits)

    def pieces(self) -> Iterator[TextPiece]:
        for file, head in zip(self.files, self.heads, strict=True):
            yield from text_pieces(file, _ENDS, self.options.chunk_bytes, head.end)

    def tables(self, piece: TextPiece) -> Iterator[tuple[Any, Lines]]:
        for part in piece.split(self.at_once):
            text = _Part(part, self.delimiter)
            table = text.table(self.columns, self.types)
            if not table.num_rows:
                continue  # only empty lines
            if self.types is None:
                self._seen.see(table, text.text)
            yield self._with_decimals(table), text.line

    def _with_decimals(self, table: Any) -> Any:
        """Make decimals of whole numbers: as such their text might read otherwise (-0, 0x1F)."""
        import pyarrow as pa

        for j in self.as_float:
            numbers = table.column(j).cast(pa.float64(), safe=False)
            table = table.set_column(j, self.columns[j], numbers)
        return table

    def settle(self, exact: set[int], with_missing: set[int]) -> bool:
        import pyarrow as pa

        if self.types is None:  # else they were known before the rows were looked at
            self.types = self._seen.of_all()
            if self._seen.unlike(self.types, exact):
                return False
        # Numbers that lack some are decimals.
        self.as_float = {j for j in with_missing - exact if self.types[j] == pa.int64()}
        return True

    def empty(self) -> Any:
        import pyarrow as pa

        types = self.types or [pa.null()] * len(self.columns)
        return pa.schema(list(zip(self.columns, types, strict=True))).empty_table()

    def _suits(self, j: int, kind: Any) -> bool:
        """Tell whether all values of a column can be of this type."""
        import pyarrow as pa

        for piece in self.pieces():
            for part in piece.split(self.at_once):
                try:
                    _Part(part, self.delimiter).column(self.columns, j, kind)
                except pa.ArrowInvalid:
                    return False
        return True


class _Head:
    """The names of the columns of a file, and where its rows begin."""

    def __init__(self, path: str, delimiter: str, header: bool) -> None:
        text = b""
        with reading(path), open_bytes(path) as file:
            while not (match := _HEAD.match(text)) and (line := file.readline(LONGEST_LINE)):
                text += line
        line = match[0] if match else text  # nothing but empty lines
        if len(line) >= LONGEST_LINE:
            raise _ENDS.too_long(path)
        self.end = len(line) if header else 0
        with reading_table(path, "csv"):
            head = _Lines(path, delimiter, header, line)
            table = head.parsed()
            head.check_names(table.column_names)
        self.columns: list[str] = table.column_names


class _Lines(TableText):
    """Some lines of a file."""

    is_first = True  # of the file

    def __init__(self, path: str, delimiter: str, header: bool, text: bytes) -> None:
        super().__init__(path, delimiter, header)
        self.text = text

    def _source(self) -> Any:
        import pyarrow as pa

        out = pa.BufferOutputStream(pa.system_memory_pool())
        if not self.is_first and self.text.startswith(_MARK):
            out.write(b"\n")  # else pyarrow would take it for the beginning of a file
        out.write(self.text)
        return pa.BufferReader(out.getvalue())

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], int]]:
        yield io.BytesIO(self.text), self._n_before()

    def _n_before(self) -> int:
        return 0


class _Part(_Lines):
    """The lines of a piece, or of a part of one."""

    def __init__(self, piece: TextPiece, delimiter: str) -> None:
        super().__init__(piece.path, delimiter, False, piece.read())
        self.is_first = piece.start == 0
        self.piece = piece

    def table(self, columns: list[str], types: list[Any] | None) -> Any:
        known = {} if types is None else dict(zip(columns, types, strict=True))
        with reading_table(self.path, "csv"):
            return self.parsed(columns, {"column_types": known})

    def column(self, columns: list[str], j: int, kind: Any) -> Any:
        """Read one column as a type; pyarrow's error if it does not suit."""
        name = columns[j]
        return self.raw(columns, {"column_types": {name: kind}, "include_columns": [name]})

    def _n_before(self) -> int:
        return self.piece.lines_before()


def _other_columns(path: str, first: str) -> DataError:
    return DataError(
        f"{path}: the columns are not those of {first}",
        "stream files whose first lines are the same, or write them anew",
    )
