"""``pegasos study``: grids of models on a data set, written down in a file."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pegasos.cli._errors import Stopped, need
from pegasos.cli._help import Jobs, examples
from pegasos.cli._output import say, write, write_json, write_table

__all__ = ["app"]

app = typer.Typer(help="Whole grids of models, written down in a file.")

NameOrFile = Annotated[
    str,
    typer.Argument(metavar="NAME|FILE", help="A built-in study, or a TOML file of your own."),
]


@app.command(
    epilog=examples(
        "pegasos study run digits",
        "pegasos study run mine.toml -o results/mine --jobs 4",
        "pegasos study run usps-grid --json > summary.json",
        "pegasos study run usps-grid --scheduler tcp://host:8786",
    )
)
def run(
    study: NameOrFile = "digits",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            show_default="results/NAME",
            help="Folder for the results and the report.",
        ),
    ] = None,
    jobs: Jobs = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Have the workers of a Dask cluster do it: tcp://host:8786.",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Throw away what is in the folder, and begin anew."),
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Compute the results, and draw nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary for other programs to read.")
    ] = False,
) -> None:
    """Run a study, or go on with one, and write its report.

    Every finished part is stored at once. Whatever ends the program, the same command goes on from
    there; a study that is finished is not computed again.
    """
    need("a study", "pyarrow")
    if scheduler is not None:
        need("--scheduler", "distributed", instead=", or run the study without it")
        _silence_dask()
    if not no_report:
        packages = ("matplotlib", "jinja2", "plotly")
        need("the report", *packages, instead=", or run the study with --no-report")
    from pegasos import report, studies
    from pegasos.cli._progress import StudyProgress
    from pegasos.cli._summary import as_json as summary_json
    from pegasos.cli._summary import write_summary

    wanted = studies.load(study)
    folder = Path("results", wanted.name) if output is None else output
    with _going_on_is_possible(folder):
        with StudyProgress() as progress:
            results = studies.run(
                wanted,
                folder,
                n_jobs=jobs or -1,
                scheduler=scheduler,
                fresh=fresh,
                progress=progress,
            )
        page = None
        if not no_report:
            say("note", "writing the report")
            page = report.write(results)
    if as_json:
        write_json(summary_json(results, page))
        return
    write_summary(results)
    write(f"Results: {folder / 'results.parquet'}")
    if page is not None:
        write(f"Report:  {page}")


@app.command("list", epilog=examples("pegasos study list", "pegasos study list --json"))
def list_(
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the list for other programs to read.")
    ] = False,
) -> None:
    """List the built-in studies, and whether the data is there that they need."""
    from pegasos.cli._catalogue import catalogue, data_text

    rows = catalogue()
    if as_json:
        write_json(rows)
        return
    cells = [(row["name"], data_text(row["data"]), row["title"]) for row in rows]
    write_table(("name", "data", "title"), cells)
    if any(not data["found"] for row in rows for data in row["data"]):
        say("hint", "'pegasos study run NAME' says which file is not found, and where it should be")


@app.command(epilog=examples("pegasos study show digits", "pegasos study show digits > mine.toml"))
def show(study: NameOrFile) -> None:
    """Print the file of a study: to read it, or to begin one of your own with it."""
    from pegasos import studies

    write(studies.text_of(study).removesuffix("\n"))


def _silence_dask() -> None:
    """Leave out what Dask logs and warns of: what matters comes as an error that says more."""
    logging.disable()
    warnings.filterwarnings("ignore", "Mismatched versions found")


@contextmanager
def _going_on_is_possible(folder: Path) -> Iterator[None]:
    """Say after Ctrl-C what is left, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        outcome = f"; what was finished is in {folder}"
        raise Stopped(outcome, "the same command goes on from there") from None
