"""Finds the line of a key in a TOML text, which tomllib does not tell.

The text is parsed up to some line, with whatever the last line leaves open closed again: a key is
on the first line up to which the parser finds it. So there is one grammar, the parser's, and
arrays or texts of many lines, dotted keys, inline tables and tables out of order need no rules.
"""

import tomllib
from typing import Any

from pegasos.studies._fields import Path

__all__ = ["line_of"]

_TEXTS = ("", '"""', "'''")
_ARRAYS = ("", "]", "]]", "]]]")
# What may be open at the end of a line. An inline table is not among it: it ends on its line.
_CLOSINGS = [f"\n{text}\n{arrays}" for text in _TEXTS for arrays in _ARRAYS]


def line_of(path: Path, text: str) -> int:
    """Return the line (from 1) where the value at ``path`` begins; the text must be valid TOML.

    Parameters
    ----------
    path : tuple of str and int
        Names of keys and positions in arrays, from the outside in. What is not there, such as a
        key that is missing, is on the line of the innermost table that is.
    text : str
        The whole file.

    Returns
    -------
    int
        The line; 1 for the table that is the whole file.
    """
    lines = text.split("\n")
    document = tomllib.loads(text)
    while path and not _holds(document, path):
        path = path[:-1]
    if not path:
        return 1
    before, at = 0, len(lines)  # it is not there yet; it is there
    while at - before > 1:
        middle = (before + at) // 2
        until, document = _parsed(lines, middle)
        if until > before and _holds(document, path):
            at = until
        else:
            before = middle
    until, _ = _parsed(lines, at - 1)
    return until + 1


def _parsed(lines: list[str], n_lines: int) -> tuple[int, dict[str, Any]]:
    """Parse the first lines, as many of ``n_lines`` as end where they can be closed."""
    for n in range(n_lines, 0, -1):
        start = "\n".join(lines[:n])
        for closing in _CLOSINGS:
            try:
                return n, tomllib.loads(start + closing)
            except tomllib.TOMLDecodeError:
                pass
    return 0, {}


def _holds(document: Any, path: Path) -> bool:
    for step in path:
        if isinstance(document, list) and isinstance(step, int):
            if not 0 <= step < len(document):
                return False
        elif not (isinstance(document, dict) and step in document):
            return False
        document = document[step]
    return True
