"""The program ``pegasos``: one file per command, and what they share in files that begin with _.

A command's function is its interface: typer makes options and help from the signature. Whatever
takes time to import is imported inside the function, so that help is there at once.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the program with the arguments of the command line, and exit with its code."""
    try:
        from pegasos.cli._app import run
        from pegasos.cli._imports import spare_imports

        spare_imports()
        code = run()
    except KeyboardInterrupt:  # while modules were being imported
        sys.stderr.write("note: stopped\n")
        code = 130
    sys.exit(code)
