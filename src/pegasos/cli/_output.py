"""Two ways out: data goes to stdout, and what is said about it to stderr."""

import contextlib
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Literal

from pegasos._errors import MendableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

__all__ = [
    "end_output",
    "messages",
    "refuse_closed_output",
    "say",
    "to_stdout",
    "write",
    "write_json",
    "write_table",
]

_PIPE_CLOSED = 141  # what the shell says of a program that SIGPIPE ended
_NO_LIMIT = 10_000  # columns, where there is no terminal to fit into


def write(text: str) -> None:
    """Write data to stdout, as it is."""
    with to_stdout():
        print(_encodable(text), flush=True)  # noqa: T201


def write_json(value: Any) -> None:
    """Write a value to stdout for other programs."""
    write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def write_table(columns: "Iterable[str]", rows: "Iterable[Iterable[str]]", title: str = "") -> None:
    """Write a table to stdout without its empty columns; one with a title has a line below."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    kept = [(i, name) for i, name in enumerate(columns) if any(row[i] for row in cells)]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for _, name in kept:
        table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(*(Text(row[i]) for i, _ in kept))
    width = None if sys.stdout.isatty() else _NO_LIMIT
    console = Console(color_system=_colours(), highlight=False, width=width)
    with to_stdout(), console.capture() as captured:
        if title:
            console.print(Text(title, style="bold"))
        console.print(table)
        if title:
            console.print()
    write("\n".join(line.rstrip() for line in captured.get().splitlines()))


def messages() -> "Console":
    """Return the console on stderr."""
    from rich.console import Console

    return Console(
        stderr=True,
        color_system=_colours(),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def say(kind: Literal["error", "hint", "note"], text: str) -> None:
    """Say something on stderr, in a line that begins with its kind."""
    from rich.text import Text

    style = {"error": "bold red", "hint": "bold cyan", "note": "bold"}[kind]
    with contextlib.suppress(OSError):  # who cannot hear it is told by the exit code
        messages().print(Text.assemble((f"{kind}:", style), " ", text))


def refuse_closed_output() -> None:
    """Refuse to begin if there is no standard output: the work would be for nobody."""
    if sys.stdout is None:  # type: ignore[redundant-expr, unused-ignore]
        raise MendableError(
            "standard output is closed", "send it to a file, or to /dev/null if nobody reads it"
        )


def end_output() -> None:
    """Write what is still held back, while something can be done if that fails."""
    with to_stdout():
        sys.stdout.flush()


@contextlib.contextmanager
def to_stdout() -> "Iterator[None]":
    """Write to stdout within: all that can go wrong with it ends here.

    The program ends quietly once nobody reads its output, as ``head`` stops reading. Any other
    error gets the name of what could not be written.
    """
    try:
        yield
    except BrokenPipeError:
        _drop_the_rest()
        raise SystemExit(_PIPE_CLOSED) from None
    except OSError as error:
        _drop_the_rest()
        reason = f"could not be written ({error.strerror})"
        raise OSError(error.errno, reason, "standard output") from error


def _drop_the_rest() -> None:
    """Lead what is still held back nowhere: Python would write it at its end, and complain."""
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _colours() -> Literal["auto"] | None:
    return None if os.environ.get("NO_COLOR") else "auto"


def _encodable(text: str) -> str:
    """Replace what the encoding of stdout lacks: a question mark is better than no answer."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
