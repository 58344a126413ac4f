"""How help texts are written, and an option that means the same everywhere."""

from typing import Annotated

import typer

from pegasos.cli._numbers import whole_of

__all__ = ["Jobs", "examples"]

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        parser=whole_of("--jobs", example=2),
        show_default="all cores",
        help="Threads. No result depends on their number.",
    ),
]


def examples(*lines: str) -> str:
    """Return the end of a help text, with examples of how a command is called."""
    # \b keeps the lines that follow as they are.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
