"""The folder of a study: results.parquet, the only state, whole at every moment.

After each task it is written anew beside the old one, brought to the disk, and put in its place by
one rename. Whoever kills the program leaves the old file or the new one, and never half of one.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pegasos.studies._errors import StudyError
from pegasos.studies._fingerprint import Prints
from pegasos.studies._tasks import COLUMNS, Row

__all__ = ["RESULTS", "Saved", "locked", "new_table", "read", "with_rows", "write"]

RESULTS = "results.parquet"
STUDY = "study.toml"
_LOCK = ".lock"
_FORMAT = 1
_KEY = b"pegasos"


@dataclass
class Saved:
    """What results.parquet holds.

    Attributes
    ----------
    text, name, folder : str
        The study file as it was run, its name, and the folder it was in.
    prints : dict
        Fingerprints of all that the results depend on.
    table : pyarrow.Table
        The results.
    done : list of str
        Keys of the tasks whose rows are in the table, in the same order: that of the study.
    facts : dict
        Where and with what it was computed.
    """

    text: str
    name: str
    folder: str
    prints: Prints
    table: Any
    done: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=lambda: {"runs": [], "warnings": []})

    @property
    def words(self) -> tuple[str, ...]:
        """What may change from one run to the next."""
        return self.text, self.name, self.folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if need be, and keep other runs out of it; the lock ends with the program."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("a")
    except OSError as error:
        raise StudyError(
            f"cannot write to {folder}: {error.strerror}", "choose another folder for the results"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StudyError(
                f"another run is writing to {folder}",
                "wait until it has ended, or choose another folder",
            ) from None
        yield


def read(folder: Path) -> Saved | None:
    """Return what a folder holds; None if there are no results yet."""
    parquet = _pyarrow_parquet()
    import pyarrow as pa

    path = folder / RESULTS
    try:
        # On this thread alone: one of pyarrow's that still holds Python's bytes when the program
        # ends would abort it. (read_table always takes threads.)
        file = parquet.ParquetFile(pa.BufferReader(path.read_bytes()), pre_buffer=False)
        table = file.read(use_threads=False)
        record = json.loads((table.schema.metadata or {})[_KEY])
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        _refuse(path, f"cannot be read as results of a study ({_first_line(error)})")
    table = table.replace_schema_metadata()
    if record.pop("format") != _FORMAT or table.schema != new_table().schema:
        _refuse(path, "was written by another version of pegasos")
    return Saved(table=table, **record)


def write(folder: Path, saved: Saved) -> None:
    """Put the new results in the place of the old, at once."""
    record = {name: value for name, value in vars(saved).items() if name != "table"}
    metadata = {_KEY: json.dumps({"format": _FORMAT, **record})}
    parquet = _pyarrow_parquet()
    import pyarrow as pa

    buffer = pa.BufferOutputStream()
    parquet.write_table(saved.table.replace_schema_metadata(metadata), buffer)
    _put(folder / RESULTS, buffer.getvalue().to_pybytes())


def write_study(folder: Path, text: str) -> None:
    """Leave the study file beside its results, for people to read."""
    _put(folder / STUDY, text.encode("utf-8"))


def new_table(rows: list[Row] | None = None) -> Any:
    """Return a table of results."""
    _pyarrow_parquet()
    import pyarrow as pa

    types = {str: pa.string(), float: pa.float64(), int: pa.int64()}
    schema = pa.schema([(name, types[column.type]) for name, column in COLUMNS.items()])
    return pa.Table.from_pylist(rows or [], schema=schema)


def with_rows(table: Any, rows: list[Row], at: int) -> Any:
    """Return the table with some more rows, before the row that was number ``at``."""
    import pyarrow as pa

    parts = [table.slice(0, at), new_table(rows), table.slice(at)]
    return pa.concat_tables(parts).combine_chunks()


def _put(path: Path, content: bytes) -> None:
    """Replace a file by another content, at once: also if the power goes off."""
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)  # noqa: PTH105 - a name that tests can get hold of
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StudyError(
            f"cannot write {path}: {error.strerror}",
            "make room, and run it again: it goes on where it was",
        ) from None


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise StudyError(
            "results are stored with pyarrow, which is not installed", "pip install 'pegasos[io]'"
        ) from None
    return pyarrow.parquet


def _refuse(path: Path, what: str) -> NoReturn:
    raise StudyError(
        f"{path} {what}", "choose another folder, or run the study anew with fresh=True (--fresh)"
    ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
