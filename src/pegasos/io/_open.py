"""Opening files, whatever they are compressed with, and what can go wrong with that."""

import contextlib
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pegasos.io._errors import DataError, needs

__all__ = [
    "STDIN",
    "as_file",
    "checked_path",
    "compression_of",
    "fill",
    "open_bytes",
    "reading",
    "refuse_utf16",
]

STDIN = "-"
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
_LONGEST_MAGIC = 4
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BUFFER = 1 << 20
_PACKED = 1 << 16  # bytes that are decompressed at once


def checked_path(path: str) -> Path:
    """Return the path of a file that is there and not empty."""
    file = Path(path)
    with reading(path):
        if file.is_dir():
            raise DataError(f"{path}: this is a directory", "name a file in it")
        if not file.exists():
            raise DataError(f"{path}: there is no such file", "check the name and the folder")
        if file.is_file() and file.stat().st_size == 0:
            raise DataError(f"{path}: the file is empty", "check how it was made or copied")
    return file


@contextlib.contextmanager
def as_file(path: str) -> Iterator[str]:
    """Yield the name of a file that can be read in any order and several times.

    What is none (standard input, a pipe) is copied to one that is there for as long as this lasts;
    errors name the original.
    """
    if path != STDIN and checked_path(path).is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="pegasos-") as folder:
        copy = Path(folder, "data")
        with reading(path), _opened(path) as source, copy.open("wb") as file:
            shutil.copyfileobj(source, file, _BUFFER)
        try:
            yield str(copy)
        except DataError as error:
            message = error.message.replace(str(copy), path)
            raise DataError(message, error.hint) from None


def compression_of(beginning: bytes) -> str:
    """Return "gz", "bz2" or "zst" by the first bytes of a file, or "" if it is not compressed."""
    return next((name for magic, name in _MAGIC.items() if beginning.startswith(magic)), "")


@contextlib.contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input ("-") to be read from beginning to end, decompressed."""
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(_opened(path))
        kind = compression_of(raw.peek(_LONGEST_MAGIC))
        yield stack.enter_context(_decompressed(path, raw, kind)) if kind else raw


def fill(stream: IO[bytes], array: npt.NDArray[Any]) -> int:
    """Read until the array is full or the stream ends; return how many bytes there were."""
    view, got = array.view(np.uint8).data, 0
    while got < len(view):
        n = stream.readinto(view[got:])  # type: ignore[attr-defined]
        if not n:
            break
        got += n
    return got


def refuse_utf16(path: str, beginning: bytes) -> None:
    """Refuse text that begins with a byte order mark of UTF-16."""
    if beginning.startswith(_UTF16_MARKS):
        raise DataError(
            f"{path}, line 1, column 1: the text is UTF-16", "convert the file to UTF-8"
        )


def _opened(path: str) -> contextlib.AbstractContextManager[Any]:
    """Open the bytes as they are; standard input is not closed afterwards."""
    if path == STDIN:
        if sys.stdin is None:
            raise DataError("standard input is closed", "send data to it, or name a file")
        return contextlib.nullcontext(sys.stdin.buffer)
    return checked_path(path).open("rb", buffering=_BUFFER)


def _decompressed(path: str, raw: IO[bytes], kind: str) -> Any:
    if kind == "gz":
        import gzip

        return gzip.GzipFile(fileobj=raw)
    if kind == "bz2":
        import bz2

        return bz2.BZ2File(raw)
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(raw)
    try:
        import zstandard
    except ImportError:
        raise needs(path, "zstandard") from None
    return io.BufferedReader(_Zstandard(raw, zstandard.ZstdDecompressor()), _BUFFER)


class _Zstandard(io.RawIOBase):
    """The stream of the package zstandard takes a file that is cut off for one that ends."""

    def __init__(self, raw: IO[bytes], decompressor: Any) -> None:
        super().__init__()
        self._raw = raw
        self._decompressor = decompressor
        self._frame: Any = None  # under way
        self._packed = b""
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked:
            self._packed = self._packed or self._raw.read(_PACKED)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the last frame is not complete")
                return 0
            if self._frame is None:
                self._frame = self._decompressor.decompressobj()
            self._unpacked = memoryview(self._frame.decompress(self._packed))
            self._packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        n = min(len(buffer), len(self._unpacked))
        buffer[:n] = self._unpacked[:n]
        self._unpacked = self._unpacked[n:]
        return n


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what may go wrong below into a `DataError` that names the file."""
    try:
        yield
    except DataError:
        raise
    except (EOFError, zlib.error) as error:
        raise _broken(path, error) from None
    except OSError as error:
        if error.errno is None:  # what bz2, gzip and pyarrow say of a file that is not theirs
            raise _broken(path, error) from None
        raise DataError(f"{path}: {error.strerror}", "check the file and its permissions") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # of a package that need not be there
            raise
        raise _broken(path, error) from None


def _broken(path: str, error: Exception) -> DataError:
    reason = str(error).partition("\n")[0].rstrip(".")
    if _is_compressed(path):
        return DataError(
            f"{path}: the compressed data is damaged or ends too early ({reason})",
            "download or copy the file again",
        )
    return DataError(
        f"{path}: the file is not of its format, or it is damaged ({reason})",
        "download or copy the file again, or name another format with format=",
    )


def _is_compressed(path: str) -> bool:
    """Tell whether a file is; what is no file is only read this way if it is."""
    file = Path(path)
    if path == STDIN or not file.is_file():
        return True
    with file.open("rb") as opened:
        return bool(compression_of(opened.read(_LONGEST_MAGIC)))
