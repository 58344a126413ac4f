"""Nothing of the user's is lost: no data, no pipe, no column, no hint."""

import os
import threading

import pytest

import pegasos
from pegasos.cli._app import run


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i % 7},{'yes' if i % 7 > 3 else 'no'}" for i in range(60)]
    (tmp_path / "small.csv").write_text("\n".join(["a,b,answer", *rows]) + "\n")
    return tmp_path


def svmlight(first, columns):
    """Rows that their first and second column decide; `columns` are those that are written."""
    lines = []
    for i in range(60):
        x = [i % 2, 1 - i % 2, 0.5, 0.25 * (i % 3)]
        entries = [f"{j + first}:{x[j]}" for j in columns]
        lines.append(f"{1 if x[1] else -1} {' '.join(entries)}\n")
    return "".join(lines)


def test_a_model_never_takes_the_place_of_the_data(small, capsys):
    before = (small / "small.csv").read_text()
    (small / "link.csv").symlink_to("small.csv")
    for command in (["small.csv", "-o", "./link.csv"], ["link.csv", "-o", "small.csv"]):
        assert run(["fit", *command]) == 2
        assert "this is where the input is, which would be lost" in capsys.readouterr().err
    (small / "other.csv").write_text(before)
    assert run(["fit", "other.csv", "--test", "small.csv", "-o", "small.csv"]) == 2
    assert (small / "small.csv").read_text() == before


def test_no_command_writes_over_what_it_reads(small, capsys):
    assert run(["fit", "small.csv", "-o", "model"]) == 0
    before = {path: path.read_bytes() for path in small.iterdir()}
    for command in (
        ["predict", "model", "small.csv", "-o", "small.csv"],
        ["convert", "small.csv", "small.csv"],
        ["export", "model", "--liblinear", "model"],
    ):
        assert run(command) == 2
        assert "this is where the input is, which would be lost" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in small.iterdir()} == before


def test_features_that_the_model_does_not_know_are_ignored_and_spoken_of(small, capsys):
    (small / "train.svm").write_text(svmlight(1, [0, 1, 2]))
    (small / "more.svm").write_text(svmlight(1, range(4)))
    assert run(["fit", "train.svm", "-o", "model", "--test", "more.svm"]) == 0
    said = capsys.readouterr()
    assert "accuracy 1.0000 (60 rows)" in said.out
    assert "more.svm: the model has 3 features; those beyond are ignored" in said.err
    for file in ("train.svm", "more.svm"):
        assert run(["predict", "model", file]) == 0
    said = capsys.readouterr().out.split("label\n")
    assert said[1] == said[2]


@pytest.mark.parametrize(
    "options",
    [["--target", "income"], ["--one-hot"], ["--key", "a"], ["--no-header"]],
)
def test_options_that_mean_nothing_for_a_format_are_refused(small, capsys, options):
    (small / "train.svm").write_text(svmlight(1, range(4)))
    assert run(["fit", "train.svm", "-o", "model", *options]) == 2
    assert "means nothing for svmlight files" in capsys.readouterr().err
    assert run(["fit", "small.csv", "-o", "model", "--zero-based"]) == 2
    assert "means nothing for csv files" in capsys.readouterr().err


def test_a_model_is_not_written_to_standard_output(small, capsys):
    assert run(["fit", "small.csv", "-o", "-"]) == 2
    assert "a model is not written to standard output" in capsys.readouterr().err


def test_a_pipe_stays_a_pipe_and_gets_the_model(small, capsys):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((small / "pipe").read_bytes()))
    reader.start()
    assert run(["fit", "small.csv", "-o", "pipe"]) == 0
    reader.join()
    assert (small / "pipe").is_fifo()
    (small / "model").write_bytes(got[0])
    assert pegasos.load("model").classes_.tolist() == ["no", "yes"]
    assert sorted(path.name for path in small.iterdir()) == ["model", "pipe", "small.csv"]
    capsys.readouterr()


def test_a_grid_over_other_things_keeps_the_lam_of_the_help(small, capsys):
    assert run(["fit", "small.csv", "-o", "model", "--max-steps", "100,200"]) == 0
    assert "best         of 2: " in capsys.readouterr().out
    assert pegasos.load("model").lam == 1e-3


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_missing_values_become_numbers_only(small, capsys, text):
    assert run(["fit", "small.csv", "-o", "model", "--impute", text]) == 2
    assert f"--impute {text}: this is not known" in capsys.readouterr().err


def test_a_class_has_one_weight(small, capsys):
    assert run(["fit", "small.csv", "-o", "model", "--class-weight", "yes=2,yes=3"]) == 2
    assert "yes=3: this is no class with a weight, or it is there twice" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["inspect", "grid"], ["predict", "grid", "small.csv"]])
def test_a_grid_that_was_not_refitted_is_no_model(small, capsys, command):
    X, y, _ = pegasos.io.read("small.csv")
    pegasos.save(pegasos.PegasosCV([0.1], steps=[10], cv=2, refit=False).fit(X, y), "grid")
    assert run(command) == 2
    assert "it has results, and no model" in capsys.readouterr().err
