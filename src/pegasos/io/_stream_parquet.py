"""Chunks of parquet files: runs of row groups."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pegasos._memory import size_text
from pegasos.io._errors import DataError
from pegasos.io._stream_chunks import StreamOptions
from pegasos.io._stream_files import SourceFile
from pegasos.io._stream_table import TableChunks
from pegasos.io._table_files import Lines, reading_table

__all__ = ["ParquetChunks"]

_BUFFER = 1 << 16  # read at once of a column


@dataclass(frozen=True)
class _RowGroups:
    """Row groups that follow each other in a file."""

    file: SourceFile
    groups: tuple[int, ...]
    first_row: int
    size: int  # in memory

    @property
    def path(self) -> str:
        return self.file.path

    def table(self) -> Any:
        with reading_table(self.path, "parquet"):
            self.file.check()
            return _opened(self.path).read_row_groups(list(self.groups))


@dataclass(frozen=True)
class _Batch:
    """Some rows of a row group that is too large; they are in memory."""

    file: SourceFile
    rows: Any
    first_row: int
    size: int

    @property
    def path(self) -> str:
        return self.file.path

    def table(self) -> Any:
        return self.rows


class _Header(NamedTuple):
    """What a file says of itself."""

    metadata: Any
    schema_arrow: Any

    @classmethod
    def of(cls, source: SourceFile) -> "_Header":
        with reading_table(source.path, "parquet"):
            source.check()
            file = _opened(source.path)
            _ = file.schema_arrow.names  # decoded here: they need not be UTF-8
            return cls(file.metadata, file.schema_arrow)


class ParquetChunks(TableChunks):
    """Chunks of parquet files; the types of the columns are those of the files together."""

    def __init__(self, files: list[SourceFile], options: StreamOptions) -> None:
        self.as_float: set[int] = set()
        super().__init__(files, options)

    @cached_property
    def metas(self) -> list[Any]:
        """What the files say of their row groups."""
        return [file.metadata for file in self._headers]

    @cached_property
    def schema(self) -> Any:
        """The columns of all files: their names must be the same, their types go together."""
        import pyarrow as pa

        schema, first = self._headers[0].schema_arrow.remove_metadata(), self.files[0].path
        for file, header in zip(self.files, self._headers, strict=True):
            other = header.schema_arrow.remove_metadata()
            try:
                if other.names != schema.names:
                    raise pa.ArrowTypeError("their names differ")
                schema = pa.unify_schemas([schema, other], promote_options="permissive")
            except pa.ArrowException as error:
                raise DataError(
                    f"{file.path}: the columns are not those of {first} ({error})",
                    "stream files with the same columns, or write them anew",
                ) from None
        return schema

    @cached_property
    def _headers(self) -> list["_Header"]:
        return [_Header.of(file) for file in self.files]

    def refusal(self) -> DataError | None:
        limit = self.options.chunk_bytes
        for file, meta in zip(self.files, self.metas, strict=True):
            for group in range(meta.num_row_groups):
                if (size := self._size(meta, group)) > limit:
                    return DataError(
                        f"{file.path}: row group {group + 1} takes {size_text(size)}, more than "
                        f"chunk_bytes={size_text(limit)}",
                        f"give a folder for a cache (cache=), or chunk_bytes={size}",
                    )
        return None

    def pieces(self) -> Iterator[_RowGroups | _Batch]:
        for file, meta in zip(self.files, self.metas, strict=True):
            first_row, size = 0, 0
            run: list[int] = []
            for group in range(meta.num_row_groups):
                more = self._size(meta, group)
                if run and size + more > self.options.chunk_bytes:
                    yield _RowGroups(file, tuple(run), first_row, size)
                    first_row += sum(meta.row_group(k).num_rows for k in run)
                    run, size = [], 0
                if more > self.options.chunk_bytes:
                    yield from self._batches(file, meta, group, first_row)
                    first_row += meta.row_group(group).num_rows
                else:
                    run.append(group)
                    size += more
            if run:
                yield _RowGroups(file, tuple(run), first_row, size)

    def _batches(self, file: SourceFile, meta: Any, group: int, first_row: int) -> Iterator[_Batch]:
        """Yield the rows of a large row group, from beginning to end."""
        import pyarrow as pa

        n_rows = meta.row_group(group).num_rows
        row_size = max(1, self._size(meta, group) // max(1, n_rows))
        n_at_once = max(1, self.options.chunk_bytes // row_size)
        with reading_table(file.path, "parquet"):
            file.check()
            batches = _opened(file.path).iter_batches(n_at_once, row_groups=[group])
            for batch in batches:
                rows = pa.Table.from_batches([batch])
                yield _Batch(file, rows, first_row, row_size * len(batch))
                first_row += len(batch)

    def _size(self, meta: Any, group: int) -> int:
        """Return about how many bytes a row group takes as a table, or as features if larger."""
        row_group, width = meta.row_group(group), self.options.dtype.itemsize
        values = 0
        for kind in self.schema.types:
            try:
                values += max(width, kind.bit_width // 8)
            except ValueError:  # texts and the like
                values += width
        return int(max(row_group.total_byte_size, row_group.num_rows * values))

    def tables(self, piece: _RowGroups | _Batch) -> Iterator[tuple[Any, Lines]]:
        with reading_table(piece.path, "parquet"):
            table = piece.table()
            table.validate(full=True)  # wrong offsets would lead out of the file
            table = table.cast(self.settled, safe=False)
        first = piece.first_row
        if table.num_rows:
            yield table, lambda row: f", row {first + row + 1}"

    @property
    def settled(self) -> Any:
        import pyarrow as pa

        schema = self.schema
        for j in self.as_float:
            schema = schema.set(j, schema.field(j).with_type(pa.float64()))
        return schema

    def settle(self, exact: set[int], with_missing: set[int]) -> bool:
        import pyarrow as pa

        # Numbers that lack some are decimals.
        self.as_float = {
            j for j in with_missing - exact if pa.types.is_integer(self.schema.field(j).type)
        }
        return True

    def empty(self) -> Any:
        return self.settled.empty_table()


def _opened(path: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet

    file = pa.OSFile(os.fsencode(path))
    return pyarrow.parquet.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
