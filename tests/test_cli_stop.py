"""A study that is stopped keeps what is finished, and the same command goes on."""

import signal
import subprocess
import sys

import pytest

from pegasos import studies

from .cli_helpers import N_TASKS, SLOW, pegasos, pegasos_after, stopped_with

pytest.importorskip("pyarrow", reason="studies need the extra io")


RUN_SLOW = ("study", "run", "slow.toml", "-o", "out", "--no-report")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_after_ctrl_c_the_same_command_goes_on(tmp_path, stop):
    (tmp_path / "slow.toml").write_text(SLOW)
    code, said = stopped_with(stop, tmp_path, *RUN_SLOW)
    assert code == 130
    *_, note, hint = said.splitlines()
    assert note == "note: stopped; what was finished is in out"
    assert hint == "hint: the same command goes on from there"
    kept = studies.open_results(tmp_path / "out")
    before = kept.table.to_pylist()
    assert 0 < len(before) < N_TASKS
    assert not kept.is_complete

    done = pegasos(*RUN_SLOW, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("going on: ")
    after = studies.open_results(tmp_path / "out")
    assert after.is_complete
    rows = after.table.to_pylist()
    assert len(rows) == N_TASKS
    # Seconds are never the same twice: these rows were not computed again.
    assert {row["seconds"] for row in before} <= {row["seconds"] for row in rows}


# Ctrl-C at the first import of the program, when nothing of it is there yet to handle it.
AT_ONCE = """
import builtins, sys
from pegasos.cli import main
real = builtins.__import__
def stop(name, *rest):
    if name == "typer":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = stop
main()
"""


def test_ctrl_c_during_the_imports_leaves_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 130
    assert done.stderr == "note: stopped\n"


# Ctrl-C where Python only reports it: importing a module ends with such a callback.
UNHEARD = """
import builtins, time
class Unheard:
    def __del__(self):
        raise KeyboardInterrupt
real = builtins.__import__
def stop(name, *rest):
    if name == "pegasos.io":
        builtins.__import__ = real
        Unheard()
        time.sleep(0.3)  # the work that would go on
    return real(name, *rest)
builtins.__import__ = stop
"""


def test_ctrl_c_is_heard_where_python_does_not_pass_it_on(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    done = pegasos_after(UNHEARD, "fit", "rows.svm", "-o", "model", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == "note: stopped; nothing was written\n"
    assert not (tmp_path / "model").exists()


def test_what_was_finished_when_it_was_killed_gives_a_report_that_says_so(tmp_path):
    pytest.importorskip("matplotlib", reason="reports need the extra report")
    (tmp_path / "slow.toml").write_text(SLOW)
    code, _ = stopped_with(signal.SIGKILL, tmp_path, *RUN_SLOW)
    assert code == -signal.SIGKILL
    assert 0 < len(studies.open_results(tmp_path / "out").table) < N_TASKS
    done = pegasos("report", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "out/report.html\n"
    assert done.stderr.startswith("note: the study is not finished")
    assert (tmp_path / "out/report.html").is_file()
