"""Which files a stream is of, and whether they are still as they were."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pegasos.io._errors import DataError
from pegasos.io._formats import format_of
from pegasos.io._open import STDIN, checked_path, compression_of, reading

__all__ = ["STREAMED", "Paths", "SourceFile", "source_files"]

STREAMED = ("svmlight", "csv", "tsv", "parquet")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class SourceFile:
    """A file as it was when the stream was made."""

    path: str
    size: int
    mtime_ns: int

    def check(self) -> None:
        """Refuse a file that has changed: what was counted in it is no longer true."""
        with reading(self.path):
            now = checked_path(self.path).stat()
        if (now.st_size, now.st_mtime_ns) != (self.size, self.mtime_ns):
            raise DataError(
                f"{self.path}: the file has changed since the stream was made",
                "make the stream anew when the file is complete",
            )

    def is_compressed(self) -> bool:
        with reading(self.path), Path(self.path).open("rb") as file:
            return bool(compression_of(file.read(4)))


def source_files(
    path: Paths, given: str | None, cache: Path | None
) -> tuple[list[SourceFile], str]:
    """Return the files, in order, and their format.

    Parameters
    ----------
    path : path or list of paths
        A file, files, or a folder.
    given : str or None
        The format, if the caller knows it.
    cache : Path or None
        A folder that may be in the folder of the files, and is not one of them.

    Returns
    -------
    files : list of SourceFile
    kind : str
        One of `STREAMED`.
    """
    paths = _paths(path, cache)
    kinds = [_kind(name, given) for name in paths]
    for name, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0]:
            raise DataError(
                f"{name}: this is {kind}, but {paths[0]} is {kinds[0]}",
                "stream files of one format, or name it with format=",
            )
    return [_source(name) for name in paths], kinds[0]


def _paths(path: Paths, cache: Path | None) -> list[str]:
    if not isinstance(path, str | os.PathLike):
        paths = [os.fspath(one) for one in path]
        if not paths:
            raise DataError("the list of files is empty", "name one file at least")
        return paths
    path = os.fspath(path)
    if not Path(path).is_dir():
        return [path]
    if Path(path).resolve() == cache:
        raise DataError(
            f"{path}: this folder holds the data, and cannot be the cache as well",
            "choose another folder for the cache",
        )
    with reading(path):
        inside = sorted(
            one
            for one in Path(path).iterdir()
            if not one.name.startswith((".", "_")) and one.resolve() != cache
        )
    for one in inside:
        if one.is_dir():
            raise DataError(
                f"{one}: this is a folder in the folder of the data", "name a list of files"
            )
    if not inside:
        raise DataError(f"{path}: there are no files in the folder", "check its name")
    return [str(one) for one in inside]


def _kind(path: str, given: str | None) -> str:
    if path == STDIN:
        raise DataError(
            "standard input cannot be read several times", "write it to a file, and stream that"
        )
    if not checked_path(path).is_file():
        raise DataError(
            f"{path}: this is no file, and cannot be read several times",
            "write it to a file, and stream that",
        )
    kind = format_of(path, given)
    if kind not in STREAMED:
        raise DataError(
            f"{path}: {kind} files are not read in chunks",
            f"convert it to one of {', '.join(STREAMED)}, or read all of it with pegasos.io.read",
        )
    return kind


def _source(path: str) -> SourceFile:
    with reading(path):
        status = Path(path).stat()
    return SourceFile(path, status.st_size, status.st_mtime_ns)
