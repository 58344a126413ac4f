"""`pegasos fit --stream` as a user runs it: files larger than memory, stopped, killed, gone on."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import pegasos
from pegasos.io import read, write

from .chunk_helpers import make_rows
from .cli_helpers import LISTENING, environment
from .cli_helpers import pegasos as run

pytest.importorskip("pyarrow", reason="tables need the extra io")

SMALL = ("--memory", "500kB")  # chunks of 15 kB


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows as svmlight text, csv and parquet, whole and in three files."""
    folder = tmp_path_factory.mktemp("stream")
    X, y = make_rows(3000, n_classes=3)
    names = [f"x{i}" for i in range(X.shape[1])]
    labels = np.array(["red", "green", "blue"])[y]
    for name in ("rows.svm", "rows.svm.gz"):
        write(folder / name, X, y)
    for name in ("rows.csv", "rows.parquet"):
        write(folder / name, X, labels, names, target="colour")
    (folder / "parts").mkdir()
    for k in range(3):
        part = slice(1000 * k, 1000 * (k + 1))
        write(folder / "parts" / f"{k}.csv", X[part], labels[part], names, target="colour")
    return folder


def fitted(folder, *arguments):
    done = run("fit", *arguments, "-o", "model.safetensors", "--stream", cwd=folder)
    assert done.returncode == 0, done.stderr
    return pegasos.load(folder / "model.safetensors")


def score(model, file):
    X, y, names = read(file, missing=np.nan)
    return model.score(X if names is None else pd.DataFrame(X, columns=names), y)


@pytest.mark.parametrize(
    "data",
    [
        ("rows.svm",),
        ("rows.csv",),
        ("rows.parquet", "--cache", "cache-parquet"),  # its row group is larger than a chunk
        ("rows.svm.gz", "--cache", "cache-gz"),
        ("parts",),
        ("parts/0.csv", "parts/1.csv", "parts/2.csv"),
    ],
    ids=" ".join,
)
def test_every_source_gives_a_certified_model(data, folder):
    model = fitted(folder, *data, *SMALL, "--lam", "0.01", "--solver", "sdca")
    assert np.all(model.duality_gap_ <= 0.01 * model.objective_)
    assert score(model, folder / ("rows.svm" if "svm" in data[0] else "rows.csv")) > 0.5


def test_in_the_order_of_the_file_the_memory_makes_no_difference(folder):
    one, other = (
        fitted(folder, "rows.svm", "--memory", memory, "--no-shuffle", "--max-iter", "5")
        for memory in ("100kB", "1GB")
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_scaling_and_filling_are_part_of_the_model(folder):
    text = (folder / "rows.csv").read_text().splitlines()
    gaps = [f",{line.partition(',')[2]}" if i % 7 == 3 else line for i, line in enumerate(text)]
    (folder / "gaps.csv").write_text("\n".join(gaps))
    model = fitted(folder, "gaps.csv", *SMALL, "--impute", "mean", "--scale", "standard")
    assert [type(step).__name__ for step in model] == [
        "SimpleImputer",
        "StandardScaler",
        "PegasosClassifier",
    ]
    X, _, names = read(folder / "gaps.csv", missing=np.nan)
    assert model[0].feature_names_in_.tolist() == names
    np.testing.assert_allclose(model[0].statistics_, np.nanmean(X, axis=0, dtype=float), rtol=1e-5)
    filled = np.where(np.isnan(X), model[0].statistics_, X)
    np.testing.assert_allclose(model[1].scale_, filled.std(axis=0), rtol=1e-5)
    assert score(model, folder / "gaps.csv") > 0.5


def test_the_summary_says_what_there_was(folder):
    done = run(
        "fit", "rows.svm", "-o", "m.safetensors", "--stream", *SMALL, "--test", "rows.svm",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3000 rows, 7 features, 3 classes" in done.stdout
    assert "accuracy" in done.stdout
    assert "chunks" in done.stdout


def test_the_base_of_the_indices_is_that_of_all_chunks(folder):
    X, y = make_rows(400)
    X[:, 0] = 0
    X[-1, 0] = 1.0  # only the last row has the first index
    write(folder / "zero.svm", X, y, zero_based=True)
    model = fitted(folder, "zero.svm", "--memory", "20kB")
    assert model.zero_based_ is True
    assert model.n_features_in_ == 7


def test_the_perceptron_streams_too(folder):
    model = fitted(folder, "rows.svm", *SMALL, "--perceptron", "--max-iter", "3")
    assert type(model).__name__ == "PerceptronClassifier"


# --- Stopped, killed, and gone on -----------------------------------------------------------------

LONG = ("rows.svm", "-o", "long.safetensors", "--stream", *SMALL, "--lam", "1e-4", "--tol", "none")


def begun(folder, n_epochs, checkpoint):
    """Begin a long fit; return it once its checkpoint is there."""
    program = subprocess.Popen(
        [
            *(sys.executable, "-c", LISTENING, "fit", *LONG),
            *("--max-iter", str(n_epochs), "--checkpoint", checkpoint),
        ],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    while not (folder / checkpoint).exists() and program.poll() is None:
        time.sleep(0.01)
    return program


def test_a_fit_that_was_killed_goes_on_to_the_same_model(folder):
    whole = run("fit", *LONG, "--max-iter", "60", cwd=folder)
    assert whole.returncode == 0, whole.stderr
    expected = pegasos.load(folder / "long.safetensors").coef_
    (folder / "long.safetensors").unlink()
    with begun(folder, 60, "killed") as program:
        time.sleep(0.3)
        program.kill()
    assert program.returncode == -signal.SIGKILL
    assert (folder / "killed").exists()
    assert not (folder / "long.safetensors").exists()
    done = run("fit", *LONG, "--max-iter", "60", "--checkpoint", "killed", cwd=folder)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(pegasos.load(folder / "long.safetensors").coef_, expected)
    assert not (folder / "killed").exists()


def test_ctrl_c_says_how_to_go_on(folder):
    with begun(folder, 5000, "stopped") as program:
        program.send_signal(signal.SIGINT)
        data, said = program.communicate(timeout=60)
    assert program.returncode == 130
    assert data == ""
    assert said.splitlines()[-2:] == [
        "note: stopped; what was learnt is in stopped",
        "hint: the same command goes on from there",
    ]
    other = run("fit", *LONG, "--max-iter", "9", "--checkpoint", "stopped", cwd=folder)
    assert other.returncode == 2
    assert "this fit was begun with max_iter=5000, and now it is 9" in other.stderr


# --- Memory ---------------------------------------------------------------------------------------


MEMORY = 40_000_000
# The limit is what the program itself takes, seen in a fit to few rows, and the memory given.
UNDER_A_LIMIT = """
import re, resource, sys
from pathlib import Path
from pegasos.cli import main


def fit(name):
    sys.argv = ["pegasos", "fit", name, *{arguments}]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


fit("few.{kind}")
used = int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + {memory}, used + {memory}))
fit("many.{kind}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize(("kind", "solver"), [("svm", "sdca"), ("csv", "pegasos")])
def test_a_file_ten_times_the_memory_is_learnt_under_a_limit_of_the_system(kind, solver, tmp_path):
    few, many = tmp_path / f"few.{kind}", tmp_path / f"many.{kind}"
    write(few, *make_rows(4000, n_features=40))
    head, *lines = few.read_bytes().splitlines(keepends=True)
    first, block = (head, b"".join(lines)) if kind == "csv" else (b"", few.read_bytes())
    with many.open("wb") as text:
        text.write(first)
        while text.tell() < 10 * MEMORY:
            text.write(block)
    arguments = ["-o", "model", "--stream", "--solver", solver, "--max-iter", "1", "--tol", "none"]
    program = UNDER_A_LIMIT.format(
        kind=kind, memory=MEMORY, arguments=[*arguments, "-j", "1", "--memory", str(MEMORY)]
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"{4000 * (many.stat().st_size // len(block))} rows" in done.stdout


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--stream", "--kernel", "rbf"), "--kernel does not go with --stream"),
        (("--stream", "--cv", "3"), "--cv does not go with --stream"),
        (("--stream", "--test-size", "0.5"), "--test-size does not go with --stream"),
        (("--stream", "--lam", "1,2"), "several values of a parameter do not go with --stream"),
        (("--stream", "--batch-size", "2"), "--batch-size does not go with --stream"),
        (("--stream", "--sampling", "uniform"), "--sampling uniform does not go with --stream"),
        (("--stream", "--impute", "median"), "--impute median does not go with --stream"),
        (("--stream", "--memory", "much"), "--memory much: this is not a size"),
        (("--cache", "here"), "--cache does nothing without --stream"),
        (("--checkpoint", "here"), "--checkpoint does nothing without --stream"),
        (("--no-shuffle",), "--no-shuffle does nothing without --stream"),
        (("rows.csv",), "2 files are given"),
        (
            ("--stream", "--solver", "sdca", "--memory", "10kB"),
            "--solver sdca keeps 9 bytes for each row and class, here 81 kB",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_does_not_fit_is_refused(arguments, message, folder):
    done = run("fit", "rows.svm", "-o", "refused", *arguments, cwd=folder)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr
    assert "hint: " in done.stderr
    assert not os.path.lexists(folder / "refused")


def test_compressed_text_without_a_cache_is_refused_with_the_option(folder):
    done = run("fit", "rows.svm.gz", "-o", "refused", "--stream", cwd=folder)
    assert done.returncode == 2
    assert "--cache" in done.stderr


def test_row_groups_that_are_too_large_are_refused_with_the_option(folder):
    done = run("fit", "rows.parquet", "-o", "refused", "--stream", *SMALL, cwd=folder)
    assert done.returncode == 2
    assert "--memory" in done.stderr
    assert "chunk_bytes" not in done.stderr


def test_standard_input_is_refused(folder):
    done = run("fit", "-", "-o", "m", "--stream", "--format", "svmlight", cwd=folder)
    assert done.returncode == 2
    assert "it can be read only once" in done.stderr
