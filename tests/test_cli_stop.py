"""A study that is stopped keeps what is finished, and the same command goes on."""

import signal
import subprocess
import sys

import pytest

from pegasos import studies

from .cli_helpers import LISTENING, N_TASKS, SLOW, environment, pegasos

pytest.importorskip("pyarrow", reason="studies need the extra io")


def stopped_with(number, folder):
    """Run the slow study, stop it once it says that something is done; return code and messages."""
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, "study", "run", "slow.toml", "-o", "out", "--no-report"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as program:
        for line in program.stderr:
            if "% done" in line:
                break
        program.send_signal(number)
        data, said = program.communicate(timeout=60)
    assert data == ""
    return program.returncode, said


def test_after_ctrl_c_the_same_command_goes_on(tmp_path):
    (tmp_path / "slow.toml").write_text(SLOW)
    code, said = stopped_with(signal.SIGINT, tmp_path)
    assert code == 130
    *_, note, hint = said.splitlines()
    assert note == "note: stopped; what was finished is in out"
    assert hint == "hint: the same command goes on from there"
    kept = studies.open_results(tmp_path / "out")
    before = kept.table.to_pylist()
    assert 0 < len(before) < N_TASKS
    assert not kept.is_complete

    done = pegasos("study", "run", "slow.toml", "-o", "out", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("going on: ")
    after = studies.open_results(tmp_path / "out")
    assert after.is_complete
    rows = after.table.to_pylist()
    assert len(rows) == N_TASKS
    # Seconds are never the same twice: these rows were not computed again.
    assert {row["seconds"] for row in before} <= {row["seconds"] for row in rows}


def test_what_was_finished_when_it_was_killed_gives_a_report_that_says_so(tmp_path):
    pytest.importorskip("matplotlib", reason="reports need the extra report")
    (tmp_path / "slow.toml").write_text(SLOW)
    code, _ = stopped_with(signal.SIGKILL, tmp_path)
    assert code == -signal.SIGKILL
    assert 0 < len(studies.open_results(tmp_path / "out").table) < N_TASKS
    done = pegasos("report", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "out/report.html\n"
    assert done.stderr.startswith("note: the study is not finished")
    assert (tmp_path / "out/report.html").is_file()
