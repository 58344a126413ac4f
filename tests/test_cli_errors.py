"""What goes wrong is said in two lines with the remedy, and never with a traceback."""

import errno
import shlex
import subprocess
from pathlib import Path

import pytest

from pegasos.cli._app import run

from .cli_helpers import (
    PROGRAM,
    TINY,
    complaint,
    environment,
    pegasos,
    pegasos_after,
    said_on_a_terminal,
)

USAGE = [
    ((), "missing command", "'pegasos --help' shows how it is used"),
    (("stduy",), "no such command 'stduy'", "did you mean 'study'?"),
    (("study", "rum"), "no such command 'rum'", "did you mean 'run'?"),
    (("study",), "missing command", "'pegasos study --help' shows how it is used"),
    (("study", "run", "--job", "3"), "no such option: --job", "did you mean --jobs or --json?"),
    (("study", "run", "digits", "more"), "more", "'pegasos study run --help'"),
    (("study", "run", "--jobs", "two"), "--jobs two: this is not a whole number", "--jobs 2"),
    (("study", "run", "--jobs", "0"), "not a whole number from 1 on", "--jobs 2"),
    (("study", "run", "-o"), "'-o' requires an argument", "write -o DIR; 'pegasos study run"),
    (("fit", "x.svm", "-o"), "'-o' requires an argument", "write -o MODEL; 'pegasos fit --help'"),
    (("inspect", "m", "--top", "-1"), "--top -1: this is not a whole number from 0", "--top 30"),
    (("study", "show"), "NAME|FILE", "'pegasos study show --help'"),
    (("report",), "DIR", "'pegasos report --help'"),
    (("fit", "x.csv"), "missing option '--output' / '-o'", "'pegasos fit --help'"),
    (("fit", "x.csv", "-o", "m", "--kernel", "rbv"), "'rbv' is not one of 'rbf'", "fit --help'"),
    (("fit", "x.csv", "-o", "m", "--cv", "1"), "--cv 1: this is not a whole number", "--cv 5"),
    (("fit", "x.csv", "-o", "m", "--kernels", "rbf"), "no such option", "did you mean --kernel"),
    (("predict", "model"), "DATA", "'pegasos predict --help'"),
    (("evalute", "model"), "no such command 'evalute'", "did you mean 'evaluate'?"),
]


@pytest.mark.parametrize(("arguments", "what", "remedy"), USAGE, ids=lambda value: str(value))
def test_wrong_usage_is_said_with_its_remedy(arguments, what, remedy):
    error, hint = complaint(pegasos(*arguments))
    assert what in error
    assert remedy in hint


def test_an_unknown_study_suggests_the_closest():
    error, _ = complaint(pegasos("study", "run", "digit"))
    assert "no study is called 'digit'" in error
    assert "did you mean 'digits'?" in error


def test_missing_data_is_named_with_the_place_it_belongs(tmp_path):
    pytest.importorskip("pyarrow", reason="studies need the extra io")
    pytest.importorskip("matplotlib", reason="reports need the extra report")
    here = {"PEGASOS_DATA": str(tmp_path)}
    error, hint = complaint(pegasos("study", "run", "usps-gaussian", cwd=tmp_path, env=here))
    assert "usps.h5" in error
    assert str(tmp_path) in error
    assert "put it there" in hint
    assert list(tmp_path.iterdir()) == []


# The rest of what goes wrong inside a study comes the same way; no process of its own is needed.


@pytest.fixture
def run_here(capsys, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="studies need the extra io")
    monkeypatch.chdir(tmp_path)

    def run_and_capture(*arguments):
        code = run(list(arguments))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return run_and_capture


def test_a_mistake_in_a_study_file_is_named_with_its_line(run_here):
    Path("tiny.toml").write_text(TINY.replace("folds = 3", "fold = 3"))
    error, _ = complaint(run_here("study", "run", "tiny.toml", "--no-report"))
    line = TINY.split("\n").index("folds = 3") + 1
    assert f"tiny.toml, line {line}" in error
    assert "folds" in error


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_a_folder_without_results_has_no_report(folder, run_here):
    pytest.importorskip("matplotlib", reason="reports need the extra report")
    error, _ = complaint(run_here("report", folder))
    assert folder in error


def test_a_file_is_no_folder_with_results(run_here):
    pytest.importorskip("matplotlib", reason="reports need the extra report")
    Path("train.svm").touch()
    error, hint = complaint(run_here("report", "train.svm"))
    assert error == "train.svm: this is a file, not a folder with the results of a study"
    assert "'pegasos study run'" in hint


def test_an_output_folder_that_cannot_be_is_the_users_to_mend(run_here):
    Path("file").touch()
    error, _ = complaint(run_here("study", "run", "digits", "-o", "file/out", "--no-report"))
    assert "file" in error


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("pyarrow", ("study", "run", "digits"), "io"),
        ("matplotlib", ("study", "run", "digits"), "report"),
        ("jinja2", ("report", "out"), "report"),
        ("plotly", ("report", "out"), "report"),
        ("distributed", ("study", "run", "--scheduler", "tcp://host:8786"), "dask"),
        ("onnx", ("export", "model", "--onnx", "x.onnx"), "onnx"),
        ("pyarrow", ("predict", "model", "x.svm", "-o", "y.parquet"), "io"),
    ],
)
def test_a_missing_package_is_noticed_before_any_work(package, arguments, extra, tmp_path):
    without = f"import sys; sys.modules[{package!r}] = None"
    error, hint = complaint(pegasos_after(without, *arguments, cwd=tmp_path))
    assert f"needs {package}" in error
    assert f"pip install 'pegasos[{extra}]'" in hint
    assert list(tmp_path.iterdir()) == []


BROKEN = "import pegasos.cli.study as study; study.need = lambda *_, **__: 1 / 0"


def test_a_bug_is_called_one_and_the_way_to_its_traceback_is_told():
    error, hint = complaint(pegasos_after(BROKEN, "study", "run"), code=1)
    assert "ZeroDivisionError: division by zero" in error
    assert "PEGASOS_TRACEBACK=1" in hint
    done = pegasos_after(BROKEN, "study", "run", env={"PEGASOS_TRACEBACK": "1"})
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "cli/study.py" in done.stderr


def test_a_full_disk_and_little_memory_are_not_called_bugs(capsys):
    from pegasos.cli._errors import explain

    assert explain(OSError(errno.ENOSPC, "No space left on device", "out/results.parquet")) == 2
    said = capsys.readouterr().err
    assert "error: out/results.parquet: No space left on device" in said
    assert "hint: make room on the disk" in said
    assert explain(MemoryError("Unable to allocate 80. GiB")) == 2
    assert "80. GiB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        (("study", "show", "digits"), ""),
        (("study", "list"), "1"),
        (("--version",), "1"),
        (("--help",), ""),
        (("--help",), "1"),
    ],
)
def test_a_full_device_behind_stdout_is_named(arguments, unbuffered):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env=environment(PYTHONUNBUFFERED=unbuffered),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert "output" in error
    assert error.endswith("could not be written (No space left on device)")
    assert hint == "hint: make room on the disk"


@pytest.mark.parametrize("arguments", ["--version", "--help", "fit x.svm -o model"])
def test_a_closed_stdout_is_said_before_any_work(arguments):
    done = subprocess.run(
        ["sh", "-c", f"{shlex.quote(str(PROGRAM))} {arguments} >&-"],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: standard output is closed",
        "hint: send it to a file, or to /dev/null if nobody reads it",
    ]


def test_stderr_that_is_full_changes_no_exit_code():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([PROGRAM, "stduy"], env=environment(), stderr=full, check=False)
    assert done.returncode == 2


def test_colours_are_for_terminals_that_want_them():
    assert "\x1b[" in said_on_a_terminal("stduy")
    assert "\x1b" not in said_on_a_terminal("stduy", NO_COLOR="1")
    assert "\x1b" not in pegasos("stduy").stderr


def test_a_run_on_a_terminal_shows_a_bar_and_leaves_none_behind(tmp_path):
    pytest.importorskip("pyarrow", reason="studies need the extra io")
    (tmp_path / "tiny.toml").write_text(TINY)
    said = said_on_a_terminal("study", "run", "tiny.toml", "--no-report", cwd=tmp_path)
    assert "━" in said
    tables = said.rpartition("Best of each model")[2]
    assert "━" not in tables
    # Without -o the folder has the name of the study; without a report there is none.
    assert tables.splitlines()[-1] == "Results: results/tiny/results.parquet"
    assert (tmp_path / "results/tiny/results.parquet").is_file()
    assert not (tmp_path / "results/tiny/report.html").exists()
