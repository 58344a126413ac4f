"""A study that is killed with kill -9 loses the task it was at, and nothing else."""

import multiprocessing
import os
import signal
from time import sleep

import numpy as np
import pytest

from pegasos import studies

from .study_helpers import QUICK, Diary, comparable, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")

# Runs the study, and kills itself at the n-th event of some kind: there is no tidying up.
PROGRAM = """
import os
import signal
from pegasos import studies
from pegasos.studies import _store

signal.signal(signal.SIGINT, signal.default_int_handler)
left = n

def happens(what):
    global left
    if what == event:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

def announced(what, function):
    def call(*args):
        happens(what)
        return function(*args)
    return call

def put(path, content):
    if event == "half a write" and left == 1:
        path.with_name(f"{path.name}.new").write_bytes(content[: len(content) // 2])
    happens("half a write")
    real_put(path, content)

real_put, _store._put = _store._put, put
os.fsync = announced("before fsync", os.fsync)
os.replace = announced("before replace", os.replace)

class Told:
    def begin(self, work, done):
        pass
    def start(self, title):
        told.send(title)
    def finish(self, work, rows):
        happens("after a task")

studies.run(study, folder, progress=Told())
"""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return comparable(studies.run(study_of(QUICK), tmp_path_factory.mktemp("whole")).table)


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes; their imports are made once for all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pegasos.studies", "pyarrow.parquet", "sklearn.datasets"])
    return context


@pytest.fixture
def start(tmp_path, processes):
    """Return a function that starts the program in a process of its own."""
    (tmp_path / "small.toml").write_text(QUICK)

    def start(event, n=1):
        hears, told = processes.Pipe(duplex=False)
        names = {
            "study": str(tmp_path / "small.toml"),
            "folder": str(tmp_path / "out"),
            "event": event,
            "n": n,
            "told": told,
        }
        process = processes.Process(target=exec, args=(PROGRAM, names))
        process.start()
        told.close()
        return process, hears

    return start


def check(tmp_path, uninterrupted):
    """What is there is the beginning of the whole; running again completes it, and no more."""
    diary = Diary()
    n_done = 0
    if (tmp_path / "out/results.parquet").exists():
        half = studies.open_results(tmp_path / "out")
        assert comparable(half.table) == uninterrupted[: len(half.table)]
        n_done = sum(run["tasks"] for run in half.facts["runs"])
    results = studies.run(tmp_path / "small.toml", tmp_path / "out", progress=diary)
    assert comparable(results.table) == uninterrupted
    assert results.is_complete
    assert len(diary.titles) == 12 - n_done
    assert sum(run["tasks"] for run in results.facts["runs"]) == 12
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {".lock", "results.parquet"} <= names
    return n_done


@pytest.mark.parametrize(
    ("event", "n", "n_done"),
    [
        ("before replace", 1, 0),  # the empty table
        ("before replace", 2, 0),  # study.toml
        ("before replace", 3, 0),  # the first task
        ("before replace", 9, 6),
        ("half a write", 8, 5),
        ("before fsync", 13, 4),  # two for each write: the file, and the folder
        ("before fsync", 14, 5),
        ("after a task", 7, 7),
        ("after a task", 12, 12),
    ],
)
def test_killed_at_a_bad_moment(tmp_path, start, uninterrupted, event, n, n_done):
    process, _ = start(event, n)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert check(tmp_path, uninterrupted) == n_done


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_again_and_again(tmp_path, start, uninterrupted, seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        process, hears = start("none")
        for _ in range(rng.integers(1, 4)):
            hears.recv()
        sleep(rng.uniform(0, 0.01))
        process.kill()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
    check(tmp_path, uninterrupted)


def test_ctrl_c_leaves_what_is_finished(tmp_path, start, uninterrupted):
    process, hears = start("none")
    for _ in range(4):
        hears.recv()
    os.kill(process.pid, signal.SIGINT)
    process.join(60)
    assert process.exitcode == 1
    assert check(tmp_path, uninterrupted) >= 3


def test_a_run_in_another_process_is_noticed(tmp_path, start, uninterrupted):
    process, hears = start("none")
    hears.recv()
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(studies.StudyError, match="another run is writing"):
            studies.run(tmp_path / "small.toml", tmp_path / "out")
    finally:
        process.kill()
        process.join(60)
    check(tmp_path, uninterrupted)  # its lock went with it
