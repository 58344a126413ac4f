"""docs/cli.md and the examples of the help texts are those of the program."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest
import typer

from pegasos.cli._app import app_of

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
if not PAGE.is_file():
    pytest.skip("the source distribution has no docs", allow_module_level=True)

PROGRAM = typer.main.get_command(app_of([]))


def commands(command, name="pegasos"):
    """Yield the names of all commands and what they are; groups only if they have options."""
    children = getattr(command, "commands", {})
    if not children or options_of(command):
        yield name, command
    for child in children.values():
        yield from commands(child, f"{name} {child.name}")


def options_of(command):
    """Return what a command takes, as a user writes it."""
    found = set()
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            found.add(parameter.metavar)
        else:
            found.update((*parameter.opts, *parameter.secondary_opts))
    return found - {"--help"}


COMMANDS = dict(commands(PROGRAM))


def sections(text):
    """Return the text under each heading that names a command."""
    parts = re.split(r"^## `(pegasos[^`]*)`$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(section):
    """Return the options in the first column of the tables of a section."""
    found = set()
    for line in section.splitlines():
        if line.startswith("| `"):
            first = re.split(r"(?<!\\)\|", line)[1].replace("\\|", "|")
            found.update(re.findall(r"`([^`]+)`", first))
    return found


def test_the_page_has_an_entry_for_every_command_and_for_no_other():
    assert set(sections(PAGE.read_text(encoding="utf-8"))) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_entry_lists_every_option_and_no_other(name):
    section = sections(PAGE.read_text(encoding="utf-8"))[name]
    assert documented(section) == options_of(COMMANDS[name])


def test_a_missing_command_and_a_missing_option_are_found():
    text = PAGE.read_text(encoding="utf-8")
    assert "pegasos report" not in sections(text.replace("## `pegasos report`", "## Report"))
    section = sections(text)["pegasos study run"]
    shorter = section.replace("| `--fresh` |", "| |")
    assert documented(section) - documented(shorter) == {"--fresh"}


def examples():
    yield from re.findall(r"^pegasos .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    groups = [PROGRAM, *PROGRAM.commands.values()]
    for command in {id(c): c for c in [*groups, *COMMANDS.values()]}.values():
        yield from re.findall(r"^\s+(pegasos .*)$", command.epilog or "", re.MULTILINE)


@pytest.mark.parametrize("line", sorted(set(examples())))
def test_examples_are_lines_that_the_program_understands(line):
    words = shlex.split(line, comments=True)[1:]
    words = list(takewhile(lambda word: word not in ("|", "<", ">"), words))
    command = PROGRAM
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, words)  # raises what wrong usage raises


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_text_and_an_example(name):
    assert COMMANDS[name].help
    assert "Examples:" in COMMANDS[name].epilog
