"""The commands, each imported when it is asked for, and the one place where errors end."""

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer

from pegasos.cli._errors import STOPPED, Stopped, explain
from pegasos.cli._help import examples
from pegasos.cli._output import end_output, refuse_closed_output, write

__all__ = ["app_of", "run"]

# In the order of the help.
_COMMANDS = ("fit", "predict", "evaluate", "inspect", "convert", "export", "study", "report")


def _says_when_stopped(command: Callable[..., None]) -> Callable[..., None]:
    """Say after Ctrl-C what has become of the output: files take their place when all is done."""

    @wraps(command)
    def run_command(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except KeyboardInterrupt:
            writes_a_file = options.get("output") not in (None, "-")
            raise Stopped("; nothing was written" if writes_a_file else "") from None

    return run_command


def app_of(arguments: list[str]) -> typer.Typer:
    """Return the program, with no more than the command of the arguments if they begin with one."""
    wanted = arguments[:1] if arguments and arguments[0] in _COMMANDS else _COMMANDS
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
        callback=_options,
    )
    for name in wanted:
        home = import_module(f"pegasos.cli.{name}")
        if hasattr(home, "app"):  # commands of its own
            app.add_typer(home.app, name=name)
        else:
            app.command(epilog=home.EXAMPLES)(_says_when_stopped(getattr(home, name)))
    return app


def _say_version(wanted: bool) -> None:
    if wanted:
        from pegasos import __version__

        write(f"pegasos {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    pass


def _in_its_place(error: Exception, arguments: list[str]) -> Exception:
    """Give wrong usage the command it belongs to, where typer does not say which."""
    if getattr(error, "ctx", error) is None:
        program = typer.main.get_command(app_of(arguments))
        context = typer.Context(program, info_name="pegasos")
        for word in arguments:
            command = getattr(context.command, "commands", {}).get(word)
            if command is None:
                break
            context = typer.Context(command, parent=context, info_name=word)
        error.ctx = context  # type: ignore[attr-defined]
    return error


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
    words = sys.argv[1:] if arguments is None else arguments
    try:
        refuse_closed_output()
        try:
            program = typer.main.get_command(app_of(words))
            code = program.main(arguments, prog_name="pegasos", standalone_mode=False)
        finally:
            end_output()
        if code == STOPPED:  # by typer's hand, before a command began
            raise Stopped
    except Exception as error:  # noqa: BLE001 - the last door: no traceback gets out
        code = explain(_in_its_place(error, words))
    return code if isinstance(code, int) else 0
