"""The program ``pegasos``: one file per command, and what they share in files that begin with _.

A command's function is its interface: typer makes options and help from the signature. Whatever
takes time to import is imported inside the function, so that help is there at once.
"""

import gc
import sys

__all__ = ["main"]

# Made before garbage is looked for. Modules make many objects, and all of them stay.
_OBJECTS = 100_000


def main() -> None:
    """Run the program with the arguments of the command line, and exit with its code."""
    gc.set_threshold(_OBJECTS)
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
    gc.freeze()  # the end of the program does not look for garbage either
    sys.exit(code)
