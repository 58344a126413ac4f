"""Writes a file at once: whoever looks finds the old one or the new one, and never half of one."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pegasos.io._model_errors import ModelError

__all__ = ["new_file", "replace_file"]


def replace_file(path: Path, content: bytes) -> None:
    """Put the content in the place of a file, also if the program or the machine stops midway."""
    with new_file(path) as file:
        file.write(content)


@contextmanager
def new_file(
    path: Path, failure: Callable[[str, str], Exception] = ModelError
) -> Iterator[IO[bytes]]:
    """Open a file to write to; it takes the place of the old one once all has gone well.

    Parameters
    ----------
    path : Path
        Where it belongs.
    failure : callable
        Makes an error of what is wrong and the remedy, if the disk does not let it be.
    """
    try:
        path = path.resolve()  # a link stays a link
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if path.exists() and not path.is_file():  # a pipe or a device stays what it is
            with path.open("wb") as file:
                yield file
            return
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        try:
            with beside.open("xb") as file:
                with suppress(FileNotFoundError):
                    os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)  # noqa: PTH105 - a name that tests can get hold of
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _bring_to_disk(path.parent)
    except OSError as error:
        raise failure(
            f"cannot write {path}: {error.strerror}",
            "choose a folder that exists, may be written to, and has room",
        ) from None


def _bring_to_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
