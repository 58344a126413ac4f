"""A fit to a stream that was stopped goes on from its checkpoint, to the same model."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos import PegasosClassifier, PerceptronClassifier, _checkpoint
from pegasos._checkpoint import CheckpointError

from .chunk_helpers import Chunks, make_rows
from .test_fit_stream import CERTIFIED, FITTED, assert_same_fit, warnings_off

X, Y = make_rows(2100, n_classes=3)
CUTS = [300, 500, 900, 900, 1500, 1700]
MACHINES = {
    "pegasos": partial(PegasosClassifier, lam=1e-3, max_iter=6, tol=None),
    "pegasos, no mean": partial(PegasosClassifier, lam=1e-3, average=None, max_iter=6, tol=None),
    "pegasos, projected": partial(PegasosClassifier, lam=1e-3, project=True, max_iter=6, tol=None),
    "sdca": partial(PegasosClassifier, lam=1e-4, solver="sdca", max_iter=7, tol=1e-9),
    "sdca, log": partial(PegasosClassifier, lam=1e-4, solver="sdca", loss="log", max_iter=7),
    "perceptron": partial(PerceptronClassifier, max_iter=6),
    "averaged perceptron": partial(PerceptronClassifier, average="uniform", max_iter=6),
}


@pytest.fixture(autouse=True)
def _always_time_to_write(monkeypatch):
    monkeypatch.setattr(_checkpoint, "_SHARE_OF_TIME", 1e9)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # thousands of files: spare the disk


def fitted(model):
    return [name for name in FITTED + CERTIFIED if hasattr(model, name)]


@warnings_off
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_fit_goes_on_from_wherever_it_was_stopped(machine, shuffle, tmp_path):
    new = partial(MACHINES[machine], random_state=5)
    chunks = Chunks(X, Y, CUTS)
    whole = new().fit_stream(chunks, shuffle=shuffle)
    file = tmp_path / "checkpoint"
    for n_reads in np.linspace(3, chunks.reads, 6, dtype=int):
        with pytest.raises(KeyboardInterrupt):
            new().fit_stream(Chunks(X, Y, CUTS, fails_at=n_reads), checkpoint=file, shuffle=shuffle)
        model = new().fit_stream(Chunks(X, Y, CUTS), checkpoint=file, shuffle=shuffle)
        assert_same_fit(model, whole, fitted(whole))
        assert [r["step"] for r in model.history_] == [r["step"] for r in whole.history_]
        assert not file.exists()


@warnings_off
def test_a_fit_may_be_stopped_again_and_again(tmp_path):
    new = partial(PegasosClassifier, lam=1e-3, solver="sdca", max_iter=4, tol=None, random_state=5)
    whole = new().fit_stream(Chunks(X, Y, CUTS))
    file, model, stops = tmp_path / "file", None, 0
    while model is None:
        stops += 1
        with suppress(KeyboardInterrupt):
            model = new().fit_stream(Chunks(X, Y, CUTS, fails_at=stops + 12), checkpoint=file)
    assert stops > 3
    assert_same_fit(model, whole)


def test_the_generator_of_the_user_is_taken_back_to_where_it_was(tmp_path):
    file = tmp_path / "checkpoint"
    whole = PegasosClassifier(random_state=np.random.default_rng(3)).fit_stream(Chunks(X, Y, CUTS))
    with pytest.raises(KeyboardInterrupt):
        PegasosClassifier(random_state=np.random.default_rng(3)).fit_stream(
            Chunks(X, Y, CUTS, fails_at=8), checkpoint=file
        )
    model = PegasosClassifier(random_state=np.random.default_rng(4))
    assert_same_fit(model.fit_stream(Chunks(X, Y, CUTS), checkpoint=file), whole)


@warnings_off
def test_a_process_that_was_killed_goes_on_to_the_same_model(tmp_path):
    file, result = tmp_path / "checkpoint", tmp_path / "coef.npy"
    program = f"""
import time, warnings, numpy as np
from pegasos import PegasosClassifier
from tests.chunk_helpers import Chunks, make_rows
class Slow(Chunks):
    def chunk(self, k):
        time.sleep(SECONDS)
        return super().chunk(k)
warnings.simplefilter("ignore")
X, y = make_rows(2100, n_classes=3)
model = PegasosClassifier(lam=1e-3, max_iter=6, tol=None, random_state=5)
model.fit_stream(Slow(X, y, {CUTS}), checkpoint={str(file)!r})
np.save({str(result)!r}, model.coef_)
"""
    run = [sys.executable, "-c", program.replace("SECONDS", "0.2")]
    process = subprocess.Popen(run)
    while not file.exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert file.exists()
    assert not result.exists()
    subprocess.run([sys.executable, "-c", program.replace("SECONDS", "0")], check=True)
    whole = PegasosClassifier(lam=1e-3, max_iter=6, tol=None, random_state=5)
    assert_array_equal(np.load(result), whole.fit_stream(Chunks(X, Y, CUTS)).coef_)
    assert not file.exists()


# --- Refusals -------------------------------------------------------------------------------------


@pytest.fixture
def begun(tmp_path):
    """The checkpoint of a fit that was stopped."""
    file = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        PegasosClassifier(random_state=5).fit_stream(
            Chunks(X, Y, CUTS, fails_at=8), checkpoint=file
        )
    return file


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PegasosClassifier(lam=1.0, random_state=5), "begun with lam=0.001, and now it is 1.0"),
        (PegasosClassifier(random_state=6), "random_state=5, and now it is 6"),
        (PerceptronClassifier(random_state=5), "with another estimator"),
    ],
)
def test_other_parameters_are_noticed(model, message, begun):
    with pytest.raises(CheckpointError, match=message):
        model.fit_stream(Chunks(X, Y, CUTS), checkpoint=begun)
    assert begun.exists()


@pytest.mark.parametrize("chunks", [Chunks(X * 2, Y, CUTS), Chunks(X, Y, [900])])
def test_other_data_and_other_chunks_are_noticed(chunks, begun):
    with pytest.raises(CheckpointError, match="on other data, or on other chunks of it"):
        PegasosClassifier(random_state=5).fit_stream(chunks, checkpoint=begun)


def test_another_order_is_noticed(begun):
    with pytest.raises(CheckpointError, match="shuffle=True, and now it is False"):
        PegasosClassifier(random_state=5).fit_stream(
            Chunks(X, Y, CUTS), checkpoint=begun, shuffle=False
        )


def test_threads_and_progress_may_differ(begun, capsys):
    model = PegasosClassifier(random_state=5, n_jobs=2, verbose=1)
    model.fit_stream(Chunks(X, Y, CUTS), checkpoint=begun)
    assert "PegasosClassifier" in capsys.readouterr().err


@pytest.mark.parametrize("harm", ["cut", "altered", "empty", "text"])
def test_a_damaged_checkpoint_is_refused(harm, begun):
    content = begun.read_bytes()
    middle = len(content) // 2
    flipped = bytes([content[middle] ^ 1])
    begun.write_bytes(
        {
            "cut": content[:middle],
            "altered": content[:middle] + flipped + content[middle + 1 :],
            "empty": b"",
            "text": b"no checkpoint at all",
        }[harm]
    )
    with pytest.raises(CheckpointError, match="no checkpoint of a fit, or it is damaged; name"):
        PegasosClassifier(random_state=5).fit_stream(Chunks(X, Y, CUTS), checkpoint=begun)


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(CheckpointError, match="cannot read"):
        PegasosClassifier().fit_stream(Chunks(X, Y, CUTS), checkpoint=tmp_path)


def test_a_checkpoint_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(CheckpointError, match="cannot write"):
        PegasosClassifier().fit_stream(Chunks(X, Y, CUTS), checkpoint=tmp_path / "no" / "folder")


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint, "_SHARE_OF_TIME", 0.05)
    clock = iter(np.arange(0, 1000, 0.5))
    monkeypatch.setattr(_checkpoint, "perf_counter", lambda: next(clock))
    kept = _checkpoint.Checkpoint(tmp_path / "file", {"estimator": "", "parameters": {}})
    written = []
    monkeypatch.setattr(kept, "keep", written.append)
    for i in range(100):
        kept.keep_now_and_then(lambda i=i: {"i": i})
    # A write takes half a second of this clock, and so does a look at it: a write, then 10 s.
    assert [tree["i"] for tree in written] == [0, 20, 40, 60, 80]
