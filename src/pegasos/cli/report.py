"""``pegasos report``: the pages and the figures of studies that were run."""

import os
from pathlib import Path
from typing import Annotated

import typer

from pegasos._errors import MendableError
from pegasos.cli._errors import need
from pegasos.cli._help import examples
from pegasos.cli._output import say, write

__all__ = ["EXAMPLES", "report"]

EXAMPLES = examples(
    "pegasos report results/digits",
    "pegasos report results/digits results/moons",
    "pegasos report results",
)


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folders that 'pegasos study run' wrote to, or a folder of such folders.",
        ),
    ],
) -> None:
    """Write the report of a study, and say where; of several studies with an index of them.

    It is made of the results in the folder. 'pegasos study run' does this at its end; here it is
    done for a study that is not finished yet, with another version of this package, or for several
    studies: index.html, in the folder that has them all, then shows their answers side by side.
    """
    need("a report", "pyarrow", "matplotlib", "jinja2", "plotly")
    from pegasos import report as pages
    from pegasos import studies

    studied = [folder for given in folders for folder in _with_results(given)]
    several = [studies.open_results(folder) for folder in dict.fromkeys(studied)]
    for results in several:
        if not results.is_complete:
            of_which = f" in {results.folder}" if len(several) > 1 else ""
            say("note", f"the study{of_which} is not finished; the report shows what is there")
    if studied == folders and len(several) == 1:
        write(str(pages.write(several[0])))
        return
    write(str(pages.write_all(several, _that_has_all(folders))))


def _with_results(folder: Path) -> list[Path]:
    """Return the folder, or those in it that have results if it has none itself."""
    if folder.is_file():
        raise MendableError(
            f"{folder}: this is a file, not a folder with the results of a study",
            "name a folder that 'pegasos study run' wrote to",
        )
    if (folder / "results.parquet").exists():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/results.parquet")) or [folder]


def _that_has_all(folders: list[Path]) -> Path:
    """Return the one folder that was named, or the nearest one that all of them are in."""
    if len(folders) == 1:
        return folders[0]
    common = Path(os.path.commonpath([folder.absolute() for folder in folders]))
    if common == common.parent:
        raise MendableError(
            f"the folders have only {common} in common, which is no place for index.html",
            "have the studies in one folder, or write the report of each by itself",
        )
    is_relative = not any(folder.is_absolute() for folder in folders)
    return Path(os.path.relpath(common) if is_relative else common)
