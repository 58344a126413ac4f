"""All commands together, and the one place where errors end."""

from typing import Annotated

import typer

from pegasos.cli import convert, evaluate, export, fit, inspect, predict, report, study
from pegasos.cli._errors import explain
from pegasos.cli._help import examples
from pegasos.cli._output import end_output, write

__all__ = ["app", "run"]

# Plain help texts: the same on a terminal, in a pipe and in a log, with examples line by line.
app = typer.Typer(
    name="pegasos",
    help="Support vector machines that say how close to optimal they are.",
    epilog=examples(
        "pegasos fit train.csv -o model.safetensors --target income --test-size 0.25",
        "pegasos predict model.safetensors new.csv > answers.csv",
        "pegasos study run digits -o results/digits",
    ),
    rich_markup_mode=None,
)
app.command(epilog=fit.EXAMPLES)(fit.fit)
app.command(epilog=predict.EXAMPLES)(predict.predict)
app.command(epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command(epilog=inspect.EXAMPLES)(inspect.inspect)
app.command(epilog=convert.EXAMPLES)(convert.convert)
app.command(epilog=export.EXAMPLES)(export.export)
app.add_typer(study.app, name="study")
app.command(epilog=report.EXAMPLES)(report.report)


def _say_version(wanted: bool) -> None:
    if wanted:
        from pegasos import __version__

        write(f"pegasos {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run the program and return its exit code.

    Parameters
    ----------
    arguments : list of str or None, default=None
        Those of the command line, unless given.

    Returns
    -------
    int
        0, or 2 for what the user can mend, 1 for a bug, 130 after Ctrl-C.
    """
    try:
        try:
            code = typer.main.get_command(app).main(
                arguments, prog_name="pegasos", standalone_mode=False
            )
        finally:
            end_output()
    except Exception as error:  # noqa: BLE001 - the last door: no traceback gets out
        code = explain(error)
    return code if isinstance(code, int) else 0
