"""A program that is killed while it saves leaves the old model or the new one."""

import multiprocessing
import os
import signal

import numpy as np
import pytest

import pegasos
from pegasos import PegasosClassifier
from pegasos.io import ModelError

from .model_helpers import Y2, X

# Saves a model over another one, and kills itself on the way: there is no tidying up.
PROGRAM = """
import os
import signal
import pegasos
from pegasos.io import _model_file, _model_write

def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)

if event == "half a write":
    def half(path, content):
        with _model_write.new_file(path) as file:
            file.write(content[: len(content) // 2])
            file.flush()
            die()
    _model_file.replace_file = half
elif event == "before fsync":
    os.fsync = die
elif event == "before replace":
    os.replace = die
elif event == "after replace":
    real = os.replace
    def replace(*args):
        real(*args)
        die()
    os.replace = replace
pegasos.save(pegasos.load(new), path)
"""


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes; their imports are made once for all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pegasos.io._model_file"])
    return context


@pytest.fixture
def old_and_new(tmp_path):
    old = PegasosClassifier(0.1, solver="sdca").fit(X, Y2)
    new = PegasosClassifier(1.0, solver="sdca").fit(X, Y2)
    pegasos.save(old, tmp_path / "model")
    pegasos.save(new, tmp_path / "new")
    return old, new


@pytest.mark.parametrize(
    ("event", "is_new"),
    [
        ("half a write", False),
        ("before fsync", False),
        ("before replace", False),
        ("after replace", True),
        ("none", True),
    ],
)
def test_killed_at_a_bad_moment(tmp_path, processes, old_and_new, event, is_new):
    names = {"event": event, "path": str(tmp_path / "model"), "new": str(tmp_path / "new")}
    process = processes.Process(target=exec, args=(PROGRAM, names))
    process.start()
    process.join(60)
    assert process.exitcode == (0 if event == "none" else -signal.SIGKILL)
    expected = old_and_new[is_new]
    np.testing.assert_array_equal(pegasos.load(tmp_path / "model").coef_, expected.coef_)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, old_and_new, error
):
    def fail(*args):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((ModelError, KeyboardInterrupt), match=r"No space left|^$"):
        pegasos.save(old_and_new[1], tmp_path / "model")
    monkeypatch.undo()
    old = pegasos.load(tmp_path / "model")
    np.testing.assert_array_equal(old.coef_, old_and_new[0].coef_)
    assert {path.name for path in tmp_path.iterdir()} == {"model", "new"}
