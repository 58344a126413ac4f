"""Files of tables (csv, tsv, parquet, arrow) become tables of pyarrow.

It is given names of files as bytes: of a text it makes UTF-8, which not every name is.
"""

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import IO, Any

from pegasos.io._data import repeated
from pegasos.io._errors import DataError, needs
from pegasos.io._open import checked_path, compression_of, open_bytes, reading

__all__ = [
    "DELIMITERS",
    "LONGEST_LINE",
    "Lines",
    "TableText",
    "is_number",
    "no_rows",
    "open_table",
    "reading_table",
]

LONGEST_LINE = 16 << 20  # of csv, in bytes
_BLOCK = 1 << 20  # what threads take at once stays in the cache, unless a line is longer
_LONG_LINE = "straddling"  # a word of pyarrow's message
_PIECE = 1 << 20  # what is copied at once
_MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"]
DELIMITERS = {"csv": ",", "tsv": "\t"}

# Returns the place of a row in a file for messages, ", line 7" or ", row 7".
Lines = Callable[[int], str]


def open_table(path: str, kind: str, header: bool) -> tuple[Any, Lines]:
    """Read a file as a table.

    Parameters
    ----------
    path : str
        A file, or "-".
    kind : str
        "csv", "tsv", "parquet" or "arrow".
    header : bool
        Of csv and tsv, whether the first line holds names.

    Returns
    -------
    table : pyarrow.Table
        Its columns are numbers, texts, or whatever else the file holds.
    lines : callable
        Where in the file the row of this number is, in words.
    """
    with reading_table(path, kind):
        if kind in DELIMITERS:
            return TableText(path, DELIMITERS[kind], header).read()
        table = _parquet(path) if kind == "parquet" else _arrow(path)
        table.validate(full=True)  # wrong offsets would lead out of the file; texts are UTF-8
        _ = table.column_names  # decoded here: they need not be
    if not table.num_rows:
        raise no_rows(path)
    return table, lambda row: f", row {row + 1}"


@contextlib.contextmanager
def reading_table(path: str, kind: str) -> Iterator[None]:
    """Turn what may go wrong with pyarrow below into a `DataError` that names the file."""
    try:
        import pyarrow as pa
    except ImportError:
        raise needs(path, "pyarrow") from None
    try:
        with reading(path):
            yield
    except (pa.ArrowException, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise DataError(
            f"{path}: this is no {kind} file, or it is damaged ({_first_line(error)})",
            "download or copy the file again, or name another format",
        ) from None


def _parquet(path: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet

    return pyarrow.parquet.read_table(pa.OSFile(os.fsencode(checked_path(path))))


def _arrow(path: str) -> Any:
    """Read a file of Arrow, which is what feather is, or a stream of Arrow."""
    import pyarrow as pa

    file = pa.memory_map(os.fsencode(checked_path(path)))
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)).read_all()


class TableText:
    """A file of text with delimiters."""

    threads = True  # whether pyarrow starts some
    skips_empty_lines = True

    def __init__(self, path: str, delimiter: str, header: bool) -> None:
        self.path = path
        self.delimiter = delimiter
        self.header = header

    def read(self) -> tuple[Any, Lines]:
        """Return the table, and where its rows are in the file."""
        table = self.parsed()
        self.check_names(table.column_names)
        if not table.num_rows:
            raise no_rows(self.path)
        return table, self.line

    def parsed(
        self, names: list[str] | None = None, convert: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the table, or an error that says where the text is not one."""
        import pyarrow as pa

        try:
            return self.raw(names, convert or {})
        except pa.ArrowInvalid as error:
            raise self._explained(error, None if names is None else len(names)) from None
        except UnicodeDecodeError:
            raise DataError(
                f"{self.path}, line 1: the names of the columns are not UTF-8",
                "convert the file to UTF-8",
            ) from None

    def raw(self, names: list[str] | None, convert: Mapping[str, Any]) -> Any:
        """Return the table, or an error of pyarrow's.

        Parameters
        ----------
        names : list of str or None
            Of the columns, if the text does not begin with them.
        convert : dict
            What else is known of the columns: options of ``pyarrow.csv.ConvertOptions``.
        """
        import pyarrow as pa

        try:
            return self.in_blocks(_BLOCK, names, convert)
        except pa.ArrowInvalid as error:
            if _LONG_LINE not in str(error):
                raise
        return self.in_blocks(LONGEST_LINE, names, convert)

    def in_blocks(self, block: int, names: list[str] | None, convert: Mapping[str, Any]) -> Any:
        """Return the table, read in blocks of so many bytes, or an error of pyarrow's."""
        import pyarrow as pa
        import pyarrow.csv

        table = pyarrow.csv.read_csv(
            self._source(),  # its own each time: a thread may still read ahead in an earlier one
            memory_pool=pa.system_memory_pool(),  # pyarrow's own keeps much of what was freed
            read_options=pyarrow.csv.ReadOptions(
                use_threads=self.threads,
                block_size=block,
                column_names=names,
                autogenerate_column_names=names is None and not self.header,
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self.delimiter, ignore_empty_lines=self.skips_empty_lines
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=_MISSING, strings_can_be_null=True, **convert
            ),
        )
        _ = table.column_names  # decoded here: they need not be UTF-8
        return table

    def _source(self) -> Any:
        """Return the text, in files and memory of pyarrow's own.

        A thread of pyarrow may still hold some of the text when the program ends. If that were
        Python's, giving it back would abort the program.
        """
        import pyarrow as pa

        plain = checked_path(self.path)
        with plain.open("rb") as opened:
            if not compression_of(opened.read(4)):
                return pa.OSFile(os.fsencode(plain))
        with open_bytes(self.path) as file:
            text = pa.BufferOutputStream()
            while block := file.read(_PIECE):
                text.write(block)
            return pa.BufferReader(text.getvalue())

    def check_names(self, names: list[str]) -> None:
        """Refuse names that are none, or not different."""
        if not self.header:
            return
        if all(is_number(name) for name in names):
            raise DataError(
                f"{self.path}, line 1: there are only numbers where names should be",
                "if the file has no names, read it with header=False",
            )
        if (twice := repeated(names)) is not None:
            raise DataError(
                f"{self.path}, line 1: two columns have the name {twice!r}", "rename one of them"
            )

    def _explained(self, error: Exception, expected: int | None) -> DataError:
        """Say in which line the fault is: pyarrow, which reads with many threads, does not."""
        if _LONG_LINE in str(error):
            return DataError(
                f"{self.path}: a line is longer than {LONGEST_LINE >> 20} MiB",
                "is this a table in text? name another format with format=",
            )
        if "Empty CSV" in str(error):
            return no_rows(self.path)
        for number, cells in self._cells():
            expected = expected if expected is not None else len(cells)
            if len(cells) != expected:
                column = min(len(cells), expected) + 1
                return DataError(
                    f"{self.path}, line {number}, column {column}: there are {len(cells)} values, "
                    f"but {expected} in the first line",
                    "give every line the same number of values; was the file cut off?",
                )
        return DataError(
            f"{self.path}: this is no table in text ({_first_line(error)})",
            "check the delimiter, or name another format with format=",
        )

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not empty, with its number."""
        for number, line in self._lines():
            yield number, self._split(line)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are not empty, with their numbers."""
        with self._opened() as (file, n_before):
            lines = io.TextIOWrapper(file, "utf-8", "replace")
            for number, line in enumerate(lines, n_before + 1):
                if text := line.rstrip("\n").replace("\0", "\ufffd"):
                    yield number, text

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], int]]:
        """Open the text; say how many lines of the file are before it."""
        with open_bytes(self.path) as file:
            yield file, 0

    def _split(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self.delimiter)
        try:  # quoted cells may hold delimiters, though no ends of lines
            return next(csv.reader([line], delimiter=self.delimiter), [])
        except csv.Error:  # a cell is very long
            return line.split(self.delimiter)

    def line(self, row: int) -> str:
        """Return the place of a row, in words."""
        with reading(self.path):
            number, _ = next(islice(self._lines(), row + self.header, None), (None, None))
        return f", line {number}" if number else f", row {row + 1}"


def no_rows(path: str) -> DataError:
    return DataError(f"{path}: there are no rows", "check how the file was made")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200].rstrip(".")
