"""``pegasos report``: the page and the figures of a study that was run."""

from pathlib import Path
from typing import Annotated

import typer

from pegasos.cli._errors import need
from pegasos.cli._help import examples
from pegasos.cli._output import say, write

__all__ = ["EXAMPLES", "report"]

EXAMPLES = examples("pegasos report results/digits")


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that 'pegasos study run' wrote to.")
    ],
) -> None:
    """Write the report of a study, and say where.

    It is made of the results in the folder. 'pegasos study run' does this at its end; here it is
    done for a study that is not finished yet, or with another version of this package.
    """
    need("a report", "pyarrow", "matplotlib", "jinja2")
    from pegasos import report as pages
    from pegasos import studies

    results = studies.open_results(folder)
    if not results.is_complete:
        say("note", "the study is not finished; the report shows what is there")
    write(str(pages.write(results)))
