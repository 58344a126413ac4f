"""A look at the first line of a table in text, before all of it is read."""

import re

from pegasos.io._errors import DataError
from pegasos.io._open import open_bytes, reading, refuse_utf16

__all__ = ["check_table_text"]

# Each column costs about 40 microseconds and some kilobytes, however few rows there are.
_MOST_COLUMNS = 1_000_000
_LONGEST_LINE = 16 << 20
_QUOTED = re.compile(rb'"[^"]*"')


def check_table_text(path: str, delimiter: str) -> None:
    """Refuse what could be read only as nonsense, or not in reasonable time.

    Parameters
    ----------
    path : str
        The file, compressed or not.
    delimiter : str
        Between two cells.
    """
    with reading(path), open_bytes(path) as file:
        line = file.readline(_LONGEST_LINE)
        refuse_utf16(path, line)
        while line and not line.strip():
            line = file.readline(_LONGEST_LINE)
    first = line.lstrip(b"\r\n").partition(b"\r")[0]
    if first.count(delimiter.encode()) < _MOST_COLUMNS:
        return
    n_columns = 1 + _QUOTED.sub(b"", first).count(delimiter.encode())
    if n_columns > _MOST_COLUMNS:
        raise DataError(
            f"{path}: the first line has {n_columns:,} columns; a table has at most "
            f"{_MOST_COLUMNS:,}",
            "write one row in a line; svmlight is the format for so many features",
        )
