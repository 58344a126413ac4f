"""What went wrong, in two lines: ``error:`` says what, ``hint:`` what to do about it."""

import errno
import os
import traceback
from typing import Any

from pegasos._errors import MendableError
from pegasos.cli._output import say

__all__ = ["BUG", "MENDABLE", "STOPPED", "MissingExtra", "Stopped", "explain", "need"]

BUG = 1
MENDABLE = 2
STOPPED = 130
_TRACEBACK = "PEGASOS_TRACEBACK"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Packages that come with an extra, for the remedy when one is not there.
_EXTRAS = {
    **dict.fromkeys(("h5py", "pyarrow"), "io"),
    **dict.fromkeys(("jinja2", "matplotlib", "plotly"), "report"),
    "distributed": "dask",
    "onnx": "onnx",
}


class MissingExtra(MendableError):  # noqa: N818 - reads like what it says
    """A package that is only needed here is not installed."""

    def __init__(self, package: str, work: str, instead: str = "") -> None:
        super().__init__(
            f"{work} needs {package}, which is not installed",
            f"pip install 'pegasos[{_EXTRAS[package]}]'{instead}",
        )


class Stopped(Exception):  # noqa: N818 - reads like what it says
    """Ctrl-C: what has become of the output, and how to go on."""

    def __init__(self, outcome: str = "", hint: str = "") -> None:
        super().__init__(f"stopped{outcome}")
        self.way_on = hint


def need(work: str, *packages: str, instead: str = "") -> None:
    """Refuse to begin when a package is not there that the work will need in the end."""
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(package, work, instead)


def explain(error: Exception) -> int:
    """Say on stderr what an error means to the user, and return the exit code."""
    if os.environ.get(_TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, Stopped):
        say("note", str(error))
        if error.way_on:
            say("hint", error.way_on)
        return STOPPED
    message, hint = _mendable(error)
    if message:
        say("error", message)
        say("hint", hint)
        return MENDABLE
    say("error", f"pegasos failed unexpectedly: {type(error).__name__}: {error}")
    say("hint", f"this is a bug; please report it, with what {_TRACEBACK}=1 shows")
    return BUG


def _mendable(error: Exception) -> tuple[str, str]:
    """Return what is wrong and the remedy; two empty texts if it is no fault of the user."""
    message, hint = getattr(error, "message", None), getattr(error, "hint", None)
    if isinstance(message, str) and isinstance(hint, str):
        return message, hint
    # typer has no public name for wrong usage; this is what all its versions agree on.
    if hasattr(error, "format_message"):
        return _wrong_usage(error)
    if isinstance(error, ImportError) and error.name in _EXTRAS:
        return f"this needs {error.name}", f"pip install 'pegasos[{_EXTRAS[error.name]}]'"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}", "take fewer rows, or fewer jobs"
    if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
        return f"the output could not be written ({error.strerror})", _remedy(error.errno)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", _remedy(error.errno)
    return "", ""


def _wrong_usage(error: Exception) -> tuple[str, str]:
    usage: Any = error
    possible = getattr(error, "possibilities", None)  # options much like the one that is not known
    message = usage.message if possible else usage.format_message()
    message, _, suggestion = message.partition(" Did you mean ")
    message = message.removesuffix(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "pegasos"
    option = getattr(error, "option_name", None)
    if possible:
        hint = f"did you mean {' or '.join(sorted(possible))}?"
    elif suggestion:
        hint = f"did you mean {suggestion}"
    elif "requires an argument" in message and option is not None:
        hint = f"write {option} {_metavar(context, option)}; '{command} --help' says more"
    else:
        hint = f"'{command} --help' shows how it is used"
    return f"{message[:1].lower()}{message[1:]}", hint


def _metavar(context: Any, option: str) -> str:
    """Return what belongs behind an option, as the help has it."""
    found = [p for p in context.command.params if option in p.opts] if context is not None else []
    return (found[0].metavar if found else None) or "VALUE"


def _remedy(number: int | None) -> str:
    if number in _NO_ROOM:
        return "make room on the disk"
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "name another place, or get permission to use this one"
    return "check the name"
