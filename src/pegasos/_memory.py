"""Limits of memory, written as people write them."""

import re
from numbers import Integral
from typing import Any

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def memory_bytes(memory: Any, name: str = "memory") -> int:
    """Return the bytes that ``memory`` stands for: a number, or text such as "500MB" or "4 GiB".

    The name is that of the parameter, for messages.
    """
    if isinstance(memory, Integral):
        size = int(memory)
    else:
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(memory))
        unit = _UNITS.get(match[2].upper()) if match else None
        if match is None or unit is None:
            raise ValueError(
                f"{name}={memory!r} is not a size; write bytes as a whole number, or a text such "
                "as '500MB', '4GB' or '2GiB'"
            )
        size = int(float(match[1]) * unit)
    if size < 1:
        raise ValueError(f"{name}={memory!r} leaves no room at all; it must be at least one byte")
    return size


def size_text(size: float) -> str:
    """Write a number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"
