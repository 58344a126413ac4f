"""The program ``pegasos``: one file per command, and what they share in files that begin with _.

A command's function is its interface: typer makes options and help from the signature. Whatever
takes time to import is imported inside the function, so that help is there at once.
"""

import atexit
import gc
import os
import sys
from contextlib import suppress

__all__ = ["main"]

# Made before garbage is looked for. Modules make many objects, and all of them stay.
_OBJECTS = 250_000


def main() -> None:
    """Run the program with the arguments of the command line, and exit with its code."""
    gc.set_threshold(_OBJECTS)
    codes: list[int] = []
    atexit.register(_leave, codes)  # the first to be registered is the last to be called
    try:
        from pegasos.cli._stop import hear_every_stop

        hear_every_stop()
        from pegasos.cli._app import run
        from pegasos.cli._imports import spare_imports

        spare_imports()
        code = run()
    except KeyboardInterrupt:  # while modules were being imported
        sys.stderr.write("note: stopped\n")
        code = 130
    codes.append(code)
    sys.exit(code)


def _leave(codes: list[int]) -> None:
    """End the program at once, if it has come to its end.

    Python would stop threads that still import or read, within the C++ of other packages: that now
    and then aborts the program after all is done.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or broken: that was spoken of before
            stream.flush()
    if codes:
        os._exit(codes[0])
