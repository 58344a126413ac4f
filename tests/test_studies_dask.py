"""Studies on a Dask cluster: the same table as on one machine, whatever happens on the way."""

import os
import signal

import pytest

from pegasos import studies
from pegasos.studies import StudyError, _store

from .cli_helpers import TINY, complaint, pegasos, stopped_with
from .cluster_helpers import both_are_back, process_ids, two_workers
from .study_helpers import QUICK, SMALL, Diary, comparable, run_own, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")
pytest.importorskip("distributed", reason="clusters need the extra dask")

CLOCK = """
[[timings]]
name = "clock"
estimator = "PegasosClassifier"
axis = "max_steps"
values = [10, 40]
runs = 1
data = { name = "random", n_rows = 50, n_features = 3 }
"""
# Folds long enough to be interrupted in.
LONG = TINY.replace("gamma = [1.0, 2.0]", "gamma = [0.5, 1.0, 2.0, 4.0]").replace(
    "max_steps = [50, 200]", "max_steps = [50, 100000]"
)


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def address(client):
    both_are_back(client)
    return client.scheduler.address


@pytest.fixture(scope="module")
def small_here(tmp_path_factory):
    return studies.run(study_of(SMALL), tmp_path_factory.mktemp("here"))


class Interrupted(Diary):
    """Ctrl-C after some tasks."""

    def __init__(self, n_tasks):
        super().__init__()
        self.n_tasks = n_tasks

    def finish(self, work, rows):
        super().finish(work, rows)
        if len(self.finished) == self.n_tasks:
            raise KeyboardInterrupt


def test_all_rows_are_those_of_a_run_here(tmp_path, address, small_here):
    diary = Diary()
    there = studies.run(study_of(SMALL), tmp_path, scheduler=address, progress=diary)
    assert comparable(there.table) == comparable(small_here.table)
    assert there.is_complete
    assert there.facts["runs"][0]["cluster"] == {"workers": 2, "threads": 2}
    assert len(diary.titles) == len(diary.finished) == 12
    assert sum(work for work, _ in diary.finished) == pytest.approx(diary.total)


def test_the_digits_are_those_of_a_run_here(tmp_path, address):
    here = studies.run("digits", tmp_path / "here")
    there = studies.run("digits", tmp_path / "there", scheduler=address)
    assert comparable(there.table) == comparable(here.table)


def test_warnings_come_back_from_the_workers(tmp_path, address):
    text = SMALL.replace("standard", "none")
    there = studies.run(study_of(text), tmp_path, scheduler=address)
    kinds = [": ".join(text.split(": ")[:2]) for text in there.facts["warnings"]]
    assert kinds == ["perceptron: ConvergenceWarning"]


def test_what_stops_the_time_comes_last_and_stays_here(tmp_path, address):
    diary = Diary()
    study = study_of(QUICK + CLOCK)
    results = studies.run(study, tmp_path, scheduler=address, progress=diary)
    assert diary.titles[-2:] == ["clock, max_steps = 10", "clock, max_steps = 40"]
    assert [row["part"] for row in results.table.to_pylist()[-2:]] == ["timing", "timing"]


@pytest.mark.parametrize("n_tasks", [1, 7])
def test_a_run_goes_on_with_and_without_a_scheduler(tmp_path, address, small_here, n_tasks):
    study = study_of(SMALL)
    with pytest.raises(KeyboardInterrupt):
        studies.run(study, tmp_path, scheduler=address, progress=Interrupted(n_tasks))
    with pytest.raises(KeyboardInterrupt):
        studies.run(study, tmp_path, progress=Interrupted(2))
    results = studies.run(study, tmp_path, scheduler=address)
    assert comparable(results.table) == comparable(small_here.table)
    assert [run["tasks"] for run in results.facts["runs"]] == [n_tasks, 2, 10 - n_tasks]


def test_rows_of_a_task_that_ends_late_go_to_their_place(tmp_path, small_here):
    studies.run(study_of(SMALL), tmp_path)
    saved = _store.read(tmp_path)
    # As if the second task, of four cells and three folds, had been the slowest of all.
    del saved.done[1]
    head, tail = saved.table.slice(0, 12), saved.table.slice(24)
    saved.table = _store.with_rows(head, tail.to_pylist(), 12)
    _store.write(tmp_path, saved)
    results = studies.run(study_of(SMALL), tmp_path)
    assert comparable(results.table) == comparable(small_here.table)
    assert _store.read(tmp_path).done == _store.read(small_here.folder).done


def test_a_worker_that_is_killed_changes_nothing(tmp_path, client, address, small_here):
    class Killing(Diary):
        def finish(self, work, rows):
            super().finish(work, rows)
            if len(self.finished) == 2:
                os.kill(process_ids(client)[0], signal.SIGKILL)

    results = studies.run(study_of(SMALL), tmp_path, scheduler=address, progress=Killing())
    assert comparable(results.table) == comparable(small_here.table)


def test_an_error_on_a_worker_is_that_of_a_run_here(tmp_path, address):
    X = [[1e300] * 4] * 60
    tables = """
        evaluate.folds = 3
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 50
    """
    with pytest.raises(StudyError) as here:
        run_own(tmp_path, X, [0, 1] * 30, tables)
    text = (tmp_path / "out/study.toml").read_text()
    with pytest.raises(StudyError) as there:
        studies.run(study_of(text, tmp_path), tmp_path / "there", scheduler=address)
    assert str(there.value) == str(here.value)
    assert str(here.value).startswith("linear")


# --- The command ----------------------------------------------------------------------------------


RUN_LONG = ("study", "run", "long.toml", "-o", "out", "--no-report")


def test_stopped_and_killed_it_goes_on(tmp_path, address):
    (tmp_path / "long.toml").write_text(LONG)
    code, said = stopped_with(signal.SIGINT, tmp_path, *RUN_LONG, "--scheduler", address)
    assert code == 130
    *_, note, hint = said.splitlines()
    assert note == "note: stopped; what was finished is in out"
    assert hint == "hint: the same command goes on from there"
    assert len(studies.open_results(tmp_path / "out").table) > 0
    code, _ = stopped_with(signal.SIGKILL, tmp_path, *RUN_LONG, "--scheduler", address)
    assert code == -signal.SIGKILL
    assert not studies.open_results(tmp_path / "out").is_complete
    done = pegasos(*RUN_LONG, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("going on: ")
    here = studies.run(tmp_path / "long.toml", tmp_path / "here")
    assert comparable(studies.open_results(tmp_path / "out").table) == comparable(here.table)


def test_a_scheduler_that_does_not_answer(tmp_path):
    done = pegasos("study", "run", "-o", "out", "--scheduler", "tcp://127.0.0.1:9", cwd=tmp_path)
    message, hint = complaint(done)
    assert message.startswith("no Dask scheduler answers at 'tcp://127.0.0.1:9' (Timed out")
    assert hint == "give the address that 'dask scheduler' prints when it starts: tcp://host:8786"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense", "missing port number"),
        ("", "missing port number"),
        ("nope://here:1", "unknown address scheme"),
        ("tcp://here:one", "invalid literal"),
    ],
)
def test_what_is_no_address(tmp_path, address, reason):
    with pytest.raises(StudyError, match=rf"no Dask scheduler answers at '{address}' \({reason}"):
        studies.run(study_of(QUICK), tmp_path / "out", scheduler=address)
    assert not (tmp_path / "out").exists()


def test_a_worker_is_no_scheduler(client):
    worker = next(iter(client.nthreads()))
    with pytest.raises(StudyError, match=r"no Dask scheduler answers at .* \(it is a Worker\)"):
        studies.run(study_of(QUICK), "nowhere", scheduler=worker)
