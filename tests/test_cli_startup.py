"""The program answers before anything slow is imported; the package imports what is asked for."""

import importlib.metadata
import subprocess
import sys

import pytest

import pegasos
from pegasos.cli._progress import TimeLeft

from .cli_helpers import pegasos as program
from .cli_helpers import pegasos_after

SLOW = ("numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "pegasos._core", "pegasos.studies")
# Written when Python ends, whatever ended it.
TELL = f"""
import atexit, sys
atexit.register(lambda: print([n for n in {SLOW} if n in sys.modules], file=sys.stderr))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("study", "--help"),
        ("study", "run", "--help"),
        ("study", "list", "--help"),
        ("report", "--help"),
        ("stduy",),
    ],
    ids=" ".join,
)
def test_help_imports_nothing_slow(arguments):
    done = pegasos_after(TELL, *arguments)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_lists_the_commands_and_ends_with_examples():
    done = program("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("study", "report", "--version", "--install-completion", "Examples:"):
        assert word in done.stdout
    assert "\n    pegasos study run digits -o results/digits\n" in done.stdout


def test_version_is_that_of_the_package():
    version = importlib.metadata.version("pegasos")
    assert program("--version").stdout == f"pegasos {version}\n"
    assert pegasos.__version__ == version


def test_the_shell_is_told_how_to_complete():
    env = {"_PEGASOS_COMPLETE": "complete_bash", "COMP_WORDS": "pegasos study r", "COMP_CWORD": "2"}
    assert program(env=env).stdout.split() == ["run"]


def test_importing_the_package_imports_nothing_slow():
    code = f"import pegasos, sys; print([n for n in {SLOW} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", pegasos.__all__)
def test_every_public_name_is_there_when_asked_for(name):
    assert name in dir(pegasos)
    item = getattr(pegasos, name)
    assert getattr(item, "__name__", "").rpartition(".")[2] == name


def test_a_star_gives_all_public_names():
    namespace = {}
    exec("from pegasos import *", namespace)
    assert set(pegasos.__all__) <= namespace.keys()


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'PegasosClasifier'"):
        pegasos.PegasosClasifier  # noqa: B018
    with pytest.raises(ImportError):
        exec("from pegasos import PegasosClasifier")


def test_time_left_goes_by_the_pace_of_this_run_and_runs_down():
    now = [100.0]
    left = TimeLeft(work=100, done=40, clock=lambda: now[0])
    assert str(left) == ""  # nothing to judge by
    now[0] += 30
    left.finish(10)  # 3 s for each unit, and 50 units left
    assert str(left) == "2:30 left"
    assert left.fraction == 0.5
    now[0] += 31
    assert str(left) == "1:59 left"
    now[0] += 1000
    assert str(left) == "0:00 left"
    left.finish(1)  # 1061 s for 11 units, and 49 units left: 4726 s
    assert str(left) == "1:18:46 left"
