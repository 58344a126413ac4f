"""Writes a file at once: whoever looks finds the old one or the new one, and never half of one."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from pegasos.io._model_errors import ModelError

__all__ = ["replace_file"]


def replace_file(path: Path, content: bytes) -> None:
    """Put the content in the place of a file, also if the program or the machine stops midway."""
    try:
        path = path.resolve()  # a link stays a link
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        try:
            _write(beside, content, path)
            os.replace(beside, path)  # noqa: PTH105 - a name that tests can get hold of
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _bring_to_disk(path.parent)
    except OSError as error:
        raise ModelError(
            f"cannot write {path}: {error.strerror}",
            "choose a folder that exists, may be written to, and has room",
        ) from None


def _write(beside: Path, content: bytes, old: Path) -> None:
    with beside.open("xb") as file:
        with suppress(FileNotFoundError):
            os.fchmod(file.fileno(), old.stat().st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _bring_to_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
