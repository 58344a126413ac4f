"""A model knows whether the indices it was fitted to begin with 0: no file shifts its columns."""

import json

import numpy as np
import pytest

import pegasos
from pegasos.cli._app import run
from pegasos.io import read, write

from .cli_helpers import complaint
from .cli_helpers import pegasos as program

X = np.array([[1, 0, 0.5, 0], [0, 1, 0, 0.2], [0.9, 0, 0, 1], [0, 0.7, 0.3, 0]], dtype="f")
Y = np.array([1, -1, 1, -1])
WITHOUT_FIRST = X[[1, 3]]  # a part of the rows that has nothing in the first column


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows counted from 0 and from 1, parts that lack the first, a model of each."""
    folder = tmp_path_factory.mktemp("indices")
    for name, zero_based in (("zero", True), ("one", False)):
        write(folder / f"{name}.svm", X, Y, zero_based=zero_based)
        write(folder / f"{name}-part.svm", WITHOUT_FIRST, Y[[1, 3]], zero_based=zero_based)
        arguments = ["fit", f"{folder}/{name}.svm", "-o", f"{folder}/{name}", "--solver", "sdca"]
        assert run(arguments) == 0
    write(folder / "rows.npz", X, Y)
    assert run(["fit", f"{folder}/rows.npz", "-o", f"{folder}/neither", "--solver", "sdca"]) == 0
    return folder


def scores(folder, *arguments, said=""):
    done = program("predict", *arguments, "--scores", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(said) if said else done.stderr == ""
    return [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]


@pytest.mark.parametrize("name", ["zero", "one"])
def test_a_part_without_the_first_feature_is_read_as_the_training_data_was(folder, name):
    expected = pegasos.load(folder / name).decision_function(WITHOUT_FIRST)
    assert scores(folder, name, f"{name}-part.svm") == expected.tolist()


def test_an_index_0_is_refused_where_the_training_data_begins_with_1(folder):
    for command in (("predict", "one", "zero.svm"), ("evaluate", "one", "zero.svm")):
        error, hint = complaint(program(*command, cwd=folder))
        assert error.startswith("zero.svm, line 1, column 3: '0:1.0' has the index 0, but those of")
        assert error.endswith("the training data begin with 1")
        assert "say --zero-based if only this file" in hint
        assert "fit the model again with --zero-based" in hint


def test_who_says_how_a_file_counts_is_believed(folder):
    expected = pegasos.load(folder / "one").decision_function(X).tolist()
    assert scores(folder, "one", "zero.svm", "--zero-based") == expected
    assert scores(folder, "zero", "one.svm", "--one-based") == expected
    error, hint = complaint(program("predict", "zero", "zero.svm", "--one-based", cwd=folder))
    assert "indices are said to begin with 1" in error
    assert hint == "read the file with --zero-based"


def test_a_model_of_other_data_lets_the_file_decide_and_says_so(folder):
    expected = pegasos.load(folder / "neither").decision_function(X).tolist()
    assert scores(folder, "neither", "zero.svm") == expected
    assert scores(folder, "neither", "one.svm") == expected
    note = "note: zero-part.svm: 3 of 4 features occur\nhint: if its indices begin with 0"
    scores(folder, "neither", "zero-part.svm", said=note)


def test_the_rows_to_test_by_are_counted_as_the_training_rows(folder, tmp_path):
    command = ("fit", "zero.svm", "-o", tmp_path / "m", "--solver", "sdca", "--json")
    done = program(*command, "--test", "zero-part.svm", cwd=folder)
    facts = json.loads(done.stdout)
    assert facts["test"]["accuracy"] == 1
    assert facts["zero_based"] is True
    command = ("fit", "one.svm", "-o", tmp_path / "n", "--test", "zero.svm")
    error, hint = complaint(program(*command, cwd=folder))
    assert "has the index 0, but those of the training data begin with 1" in error
    assert "--zero-based if both files count from 0" in hint
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("name", "words", "value", "first"),
    [
        ("zero", "4; indices of svmlight begin with 0", True, "0"),
        ("one", "4; indices of svmlight begin with 1", False, "1"),
        ("neither", "4", None, "1"),
    ],
)
def test_an_inspection_tells_how_features_are_counted(folder, name, words, value, first):
    lines = program("inspect", name, cwd=folder).stdout.splitlines()
    assert f"features     {words}" in lines
    facts = json.loads(program("inspect", name, "--json", cwd=folder).stdout)
    assert facts["zero_based"] is value
    heaviest = facts["top_features"][0]["features"][0]
    assert heaviest["feature"] == first
    assert heaviest["weight"] == pegasos.load(folder / name).coef_[0, 0]


def test_indices_mean_the_same_after_a_conversion(folder, tmp_path):
    for name in ("zero.svm", "one.svm"):
        assert program("convert", name, tmp_path / name, cwd=folder).returncode == 0
        assert (tmp_path / name).read_text() == (folder / name).read_text()
    assert program("convert", "rows.npz", tmp_path / "rows.svm", cwd=folder).returncode == 0
    assert read(tmp_path / "rows.svm").zero_based is False


def test_liblinear_counts_from_1_and_who_counts_from_0_is_told(folder, tmp_path):
    done = program("export", "zero", "--liblinear", tmp_path / "text", cwd=folder)
    assert done.returncode == 0
    assert done.stderr.startswith("note: the indices of the training data begin with 0")
    done = program("export", "one", "--liblinear", tmp_path / "text", cwd=folder)
    assert done.stderr == ""
