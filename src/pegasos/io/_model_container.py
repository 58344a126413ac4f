"""The file itself: safetensors with a JSON text in its metadata, and checksums of everything.

The checksums find accidents, not malice: whoever edits a file can compute them anew. So all that
is read is checked on its own, too (``_model_fields``), and nothing read is ever run.
"""

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from pegasos.io._model_errors import ModelError, damaged

__all__ = ["FORMAT", "VERSION", "from_bytes", "read_file", "to_bytes"]

FORMAT = "pegasos-model"
VERSION = 1
_LONGEST_HEADER = 100_000_000  # as the safetensors library has it
_DTYPES = {"F64": "float64", "F32": "float32", "I64": "int64", "I32": "int32"}
_SAVE_ANEW = "get the file again, or save it anew"

Array = npt.NDArray[Any]


def to_bytes(record: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Return the content of a model file."""
    text = json.dumps({**record, "arrays": _table(arrays)}, allow_nan=False)
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "model": text,
        "sha256": _sha256(text.encode()),
    }
    return safetensors.numpy.save(arrays, metadata)


def read_file(path: Path) -> bytes:
    """Return the content of a file, if it can be a model file at all."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device might never end
            raise ModelError("this is not a file", "name a file that pegasos.save has written")
        with path.open("rb") as file:
            start = file.read(8)
            _refuse_other_formats(start, status.st_size)
            return start + file.read()
    except OSError as error:
        raise ModelError(
            f"cannot read the file: {error.strerror}", "check the name and the permissions"
        ) from None


def from_bytes(content: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header of a model file and its arrays, none of which anybody has altered."""
    _refuse_other_formats(content[:8], len(content))
    length = int.from_bytes(content[:8], "little")
    header = _json(content[8 : 8 + length])
    metadata = header.pop("__metadata__", None)
    record = _record(metadata)
    table = record.pop("arrays", None)
    _refuse_other_types(header)
    try:
        arrays = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, ValueError, OverflowError) as error:
        raise damaged(str(error)) from None
    if table != _table(arrays):
        raise damaged("the arrays are not those that were saved")
    return record, {name: _writable(array) for name, array in arrays.items()}


def _refuse_other_formats(start: bytes, size: int) -> None:
    if start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise ModelError(
            "this is a pickle, which may run any program when it is opened",
            "have the model saved with pegasos.save",
        )
    length = int.from_bytes(start, "little")
    if len(start) == 8 and 2 <= length <= min(size - 8, _LONGEST_HEADER):
        return
    if len(start) == 8 and length <= _LONGEST_HEADER:
        raise ModelError(
            f"the file is cut off, or no model file: it has {size} bytes, and a header of {length} "
            "was announced",
            _SAVE_ANEW,
        )
    _refuse_as_unknown()


def _refuse_as_unknown() -> NoReturn:
    raise ModelError(
        "this is not a model file of pegasos",
        "name a file that pegasos.save has written; for text models see pegasos.io.from_liblinear "
        "and pegasos.io.from_libsvm",
    ) from None


def _record(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        _refuse_as_unknown()
    version = metadata.get("version")
    if version != str(VERSION):
        if isinstance(version, str) and version.isdecimal() and int(version[:9]) > VERSION:
            raise ModelError(
                f"the file has format version {version[:9]}; this pegasos knows version {VERSION}",
                "update it: pip install --upgrade pegasos",
            )
        raise damaged(f"{str(version)[:20]!r} is no format version")
    text = metadata.get("model")
    if set(metadata) != {"format", "version", "model", "sha256"} or not isinstance(text, str):
        raise damaged("its metadata has other entries")
    try:
        encoded = text.encode("ascii")
    except UnicodeEncodeError:
        raise damaged("its header is not ASCII") from None
    if metadata["sha256"] != _sha256(encoded):
        raise damaged("the header has another checksum")
    return _json(encoded)


def _refuse_other_types(header: dict[str, Any]) -> None:
    for name, entry in header.items():
        dtype = entry.get("dtype") if isinstance(entry, dict) else None
        if not isinstance(dtype, str) or dtype not in _DTYPES:
            raise damaged(f"array {name[:60]} is of type {str(dtype)[:20]}")


def _json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # among others what is not UTF-8, and endless numbers
        raise damaged("the header is not JSON") from None
    if not isinstance(value, dict):
        raise damaged("the header is not an object")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("an entry is there twice")
    return entries


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _table(arrays: dict[str, Array]) -> dict[str, Any]:
    names = {numpy_name: name for name, numpy_name in _DTYPES.items()}
    return {
        name: {
            "dtype": names[array.dtype.name],
            "shape": list(array.shape),
            "sha256": _sha256(array.reshape(-1).view(np.uint8)),
        }
        for name, array in sorted(arrays.items())
    }


def _sha256(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()


def _writable(array: Array) -> Array:
    return array if array.flags.writeable else array.copy()
