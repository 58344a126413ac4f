"""The folder of a study: goes on where it was, notices what has changed, is never half written."""

import bz2
import errno
import os
import sys

import numpy as np
import pytest

from pegasos import studies
from pegasos.studies import StudyError, _fingerprint, _model_tasks, _store

from .study_helpers import QUICK, Diary, comparable, study_of

pq = pytest.importorskip("pyarrow.parquet", reason="results are stored with pyarrow")

FILE_STUDY = """
title = "own"
data.file = "own.npz"
evaluate.folds = 2
[[models]]
name = "linear"
estimator = "PegasosClassifier"
grid = { max_iter = [1, 2, 3] }
"""


def write_data(folder, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    np.savez(folder / "own.npz", X=rng.standard_normal((40, 2)) + y[:, np.newaxis], y=y)


def run_some(folder, n_tasks, text=QUICK):
    """Run a study, and interrupt it after some tasks."""

    class Impatient(Diary):
        def finish(self, work, rows):
            super().finish(work, rows)
            if len(self.finished) == n_tasks:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies.run(study_of(text), folder, progress=Impatient())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return studies.run(study_of(QUICK), tmp_path_factory.mktemp("whole")).table


# --- What is in the folder ------------------------------------------------------------------------


def test_the_folder_holds_results_and_the_study_as_it_was_run(tmp_path):
    results = studies.run(study_of(QUICK), tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        "results.parquet",
        "study.toml",
    ]
    assert (folder / "study.toml").read_text() == QUICK
    assert comparable(pq.read_table(folder / "results.parquet")) == comparable(results.table)


def test_results_can_be_opened_again(tmp_path):
    results = studies.run(study_of(QUICK), tmp_path)
    again = studies.open_results(str(tmp_path))
    assert again.is_complete
    assert comparable(again.table) == comparable(results.table)
    assert again.facts == results.facts
    assert again.study.name == "small"
    assert again.study.text == QUICK


def test_facts_say_where_and_with_what(tmp_path):
    results = studies.run(study_of(QUICK), tmp_path)
    (run,) = results.facts["runs"]
    assert run["tasks"] == 12
    assert run["seconds"] > 0
    assert run["versions"]["numpy"] == np.__version__
    assert run["versions"].keys() == {"python", "pegasos", "numpy", "scipy", "scikit-learn"}
    assert run["machine"]["cores"] >= 1
    assert run["machine"]["cpu"]
    assert run["started"].endswith("+00:00")


def test_the_folder_of_the_study_file_is_remembered(tmp_path, monkeypatch):
    write_data(tmp_path)
    (tmp_path / "mine.toml").write_text(FILE_STUDY)
    monkeypatch.chdir(tmp_path)
    studies.run("mine.toml", "out")
    monkeypatch.chdir("/")
    results = studies.open_results(tmp_path / "out")
    assert results.dataset().X.shape == (40, 2)


def test_an_empty_folder_has_no_results(tmp_path):
    with pytest.raises(StudyError, match=r"results\.parquet is missing; run a study there first"):
        studies.open_results(tmp_path)
    with pytest.raises(StudyError, match=r"no results in .*nowhere"):
        studies.open_results(tmp_path / "nowhere")


# --- Going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tasks", [1, 5, 11])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path, uninterrupted, n_tasks):
    run_some(tmp_path, n_tasks)
    half = studies.open_results(tmp_path)
    assert not half.is_complete
    assert comparable(half.table) == comparable(uninterrupted)[: len(half.table)]
    diary = Diary()
    whole = studies.run(study_of(QUICK), tmp_path, progress=diary)
    assert len(diary.titles) == 12 - n_tasks
    assert 0 < diary.done_before < diary.total
    assert comparable(whole.table) == comparable(uninterrupted)
    assert whole.is_complete
    assert [run["tasks"] for run in whole.facts["runs"]] == [n_tasks, 12 - n_tasks]


def test_what_is_finished_is_not_touched_again(tmp_path):
    studies.run(study_of(QUICK), tmp_path)
    before = (tmp_path / "results.parquet").stat()
    diary = Diary()
    studies.run(study_of(QUICK), tmp_path, progress=diary)
    assert diary.titles == []
    assert diary.done_before == diary.total
    after = (tmp_path / "results.parquet").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_an_interruption_within_a_task_loses_that_task_only(tmp_path, monkeypatch, uninterrupted):
    calls = []
    real = _model_tasks.fit_folds

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(_model_tasks, "fit_folds", interrupted)
    with pytest.raises(KeyboardInterrupt):
        studies.run(study_of(QUICK), tmp_path)
    n_rows = 2 * 2 + 1  # two grids of one cell, and a final
    assert len(studies.open_results(tmp_path).table) == n_rows
    monkeypatch.undo()
    assert comparable(studies.run(study_of(QUICK), tmp_path).table) == comparable(uninterrupted)


def test_fresh_begins_anew(tmp_path):
    run_some(tmp_path, 3)
    diary = Diary()
    results = studies.run(study_of(QUICK), tmp_path, fresh=True, progress=diary)
    assert len(diary.titles) == 12
    assert len(results.facts["runs"]) == 1


def test_fresh_forgets_the_old_results_before_the_first_task(tmp_path):
    studies.run(study_of(QUICK), tmp_path)

    class Stop(Diary):
        def start(self, title):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies.run(study_of(QUICK), tmp_path, fresh=True, progress=Stop())
    assert len(studies.open_results(tmp_path).table) == 0


# --- Changes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("seed = 3", "seed = 4", "seed"),
        ("n_rows = 90", "n_rows = 91", "data"),
        ("bias = false", "bias = true", "prepare"),
        ("folds = 2", "folds = 4", "evaluate"),
        ("lam = [0.01]", "lam = [0.1]", "models"),
        ('name = "perceptron"', 'name = "other"', "models"),
    ],
)
def test_a_changed_study_is_noticed(tmp_path, old, new, what):
    run_some(tmp_path, 2)
    before = (tmp_path / "results.parquet").read_bytes()
    with pytest.raises(StudyError, match=rf"the study \({what}\) has changed since .*--fresh"):
        studies.run(study_of(QUICK.replace(old, new)), tmp_path)
    assert (tmp_path / "results.parquet").read_bytes() == before
    assert (tmp_path / "study.toml").read_text() == QUICK


def test_changed_words_are_no_change(tmp_path):
    run_some(tmp_path, 2)
    words = (
        QUICK.replace('"Small"', '"Large"\nabout = "Words."\nsource = "A book"')
        + """
[[reported]]
model = "perceptron"
quantity = "test_error"
value = 0.5

[[figures]]
kind = "heatmap"
model = "Gaussian"
"""
    )
    diary = Diary()
    results = studies.run(study_of(words), tmp_path, progress=diary)
    assert len(diary.titles) == 10
    assert results.study.title == "Large"
    again = studies.open_results(tmp_path)
    assert again.study.title == "Large"
    assert [item.verdict for item in again.comparisons()] == ["met"]
    assert (tmp_path / "study.toml").read_text() == words


def test_changed_words_of_a_finished_study_are_kept_too(tmp_path):
    studies.run(study_of(QUICK), tmp_path)
    studies.run(study_of(QUICK.replace("Small", "Large")), tmp_path)
    assert studies.open_results(tmp_path).study.title == "Large"


def test_changed_data_is_noticed(tmp_path):
    write_data(tmp_path)
    study = study_of(FILE_STUDY, tmp_path)
    results = studies.run(study, tmp_path / "out")
    write_data(tmp_path, seed=1)
    with pytest.raises(StudyError, match=r"the data \(own\.npz\) has changed since the results"):
        studies.run(study, tmp_path / "out")
    with pytest.raises(StudyError, match=r"own\.npz\) has changed.*put the old data back"):
        studies.open_results(tmp_path / "out").refit("linear")
    write_data(tmp_path)
    assert comparable(studies.run(study, tmp_path / "out").table) == comparable(results.table)


def test_data_may_move_to_another_folder(tmp_path, monkeypatch):
    text = """
title = "moves"
data.name = "ijcnn1"
evaluate.folds = 2
[[models]]
name = "linear"
estimator = "PegasosClassifier"
max_steps = 10
"""
    for place in ("here", "there"):
        (tmp_path / place / "ijcnn1").mkdir(parents=True)
        for part in ("trn", "tst"):
            lines = b"\n".join(b"%d 1:%d" % (1 - 2 * (i % 2), i) for i in range(8))
            path = tmp_path / place / "ijcnn1" / f"ijcnn1.{part}.bz2"
            path.write_bytes(bz2.compress(lines))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path / "here"))
    studies.run(study_of(text), tmp_path / "out")
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path / "there"))
    studies.run(study_of(text), tmp_path / "out")
    path.write_bytes(bz2.compress(lines[:-1]))
    with pytest.raises(StudyError, match=r"the data \(ijcnn1/ijcnn1\.tst\.bz2\)"):
        studies.run(study_of(text), tmp_path / "out")


def test_another_version_of_what_makes_data_up_is_a_change(tmp_path, monkeypatch):
    run_some(tmp_path, 1)
    monkeypatch.setattr(_fingerprint, "version", lambda name: "0.0")
    with pytest.raises(StudyError, match=r"the data \(moons, made by numpy and scikit-learn\)"):
        studies.run(study_of(QUICK), tmp_path)


# --- Files that are not what they should be -------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 4, 100, 0.5, -1])
def test_a_file_that_was_cut_short_is_refused_and_left_alone(tmp_path, kept):
    studies.run(study_of(QUICK), tmp_path)
    path = tmp_path / "results.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if kept == 0.5 else kept])
    cut = path.read_bytes()
    message = r"results\.parquet cannot be read as results of a study.*--fresh"
    for attempt in (lambda: studies.run(study_of(QUICK), tmp_path), lambda: open_(tmp_path)):
        with pytest.raises(StudyError, match=message):
            attempt()
    assert path.read_bytes() == cut
    assert studies.run(study_of(QUICK), tmp_path, fresh=True).is_complete


def open_(folder):
    return studies.open_results(folder)


def test_garbage_is_refused(tmp_path):
    (tmp_path / "results.parquet").write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(StudyError, match="cannot be read as results of a study"):
        open_(tmp_path)


def test_a_table_of_somebody_else_is_refused(tmp_path):
    import pyarrow as pa

    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "results.parquet")
    with pytest.raises(StudyError, match="cannot be read as results of a study"):
        open_(tmp_path)


def test_results_of_another_format_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_store, "_FORMAT", 2)
    studies.run(study_of(QUICK), tmp_path)
    monkeypatch.undo()
    with pytest.raises(StudyError, match="was written by another version of pegasos"):
        open_(tmp_path)


def test_a_folder_in_the_place_of_the_results_is_refused(tmp_path):
    (tmp_path / "results.parquet").mkdir()
    with pytest.raises(StudyError, match="cannot be read as results"):
        studies.run(study_of(QUICK), tmp_path)


def test_a_file_is_no_folder_for_results(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StudyError, match=r"cannot write to .*choose another folder"):
        studies.run(study_of(QUICK), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_keeps_what_is_finished(tmp_path, monkeypatch, uninterrupted):
    run_some(tmp_path, 4)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StudyError, match=r"cannot write .*results\.parquet: No space.*make room"):
        studies.run(study_of(QUICK), tmp_path)
    monkeypatch.undo()
    assert not (tmp_path / "results.parquet.new").exists()
    diary = Diary()
    results = studies.run(study_of(QUICK), tmp_path, progress=diary)
    assert len(diary.titles) == 8
    assert comparable(results.table) == comparable(uninterrupted)


def test_without_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(StudyError, match=r"pip install 'pegasos\[io\]'"):
        studies.run(study_of(QUICK), tmp_path / "out")
    with pytest.raises(StudyError, match=r"pip install 'pegasos\[io\]'"):
        open_(tmp_path)


# --- Two at once ----------------------------------------------------------------------------------


def test_two_runs_at_once_are_refused(tmp_path):
    class Second(Diary):
        def start(self, title):
            super().start(title)
            with pytest.raises(StudyError, match=r"another run is writing to .*wait"):
                studies.run(study_of(QUICK), tmp_path)
            with pytest.raises(StudyError, match="another run is writing"):
                studies.run(study_of(QUICK), tmp_path, fresh=True)
            studies.run(study_of(QUICK), tmp_path / "elsewhere")

    diary = Second()
    studies.run(study_of(QUICK.split('[[models]]\nname = "perc')[0]), tmp_path, progress=diary)
    assert len(diary.titles) == 6


def test_results_can_be_looked_at_while_a_run_goes_on(tmp_path):
    class Reader(Diary):
        def finish(self, work, rows):
            super().finish(work, rows)
            assert len(studies.open_results(tmp_path).table) == sum(n for _, n in self.finished)

    studies.run(study_of(QUICK), tmp_path, progress=Reader())
