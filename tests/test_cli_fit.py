"""The program trains, certifies, judges and saves: real files, real processes."""

import inspect
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import pegasos
from pegasos.cli._app import run
from pegasos.cli._machines import MACHINES
from pegasos.io import read

from .cli_data import IRIS_NAMES, write_files
from .cli_helpers import LISTENING, complaint, environment, said_on_a_terminal
from .cli_helpers import pegasos as program

pytest.importorskip("pyarrow", reason="tables need the extra io")
pytest.importorskip("h5py", reason="HDF5 needs the extra io")

MODEL = "model.safetensors"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder, write_files(folder)


@pytest.fixture
def fit(files, tmp_path, capsys, monkeypatch):
    """Fit in this process, as most of what is tested here needs none of its own."""
    monkeypatch.chdir(tmp_path)

    def fit_file(name, *arguments, code=0):
        done = run(["fit", f"{files[0]}/{name}", "-o", MODEL, *map(str, arguments)])
        said = capsys.readouterr()
        assert done == code, said.err
        if code:
            return complaint(subprocess.CompletedProcess((), done, said.out, said.err))
        return pegasos.load(MODEL), said.out

    return fit_file


def test_a_file_becomes_a_certified_model_that_predicts_as_in_python(files, tmp_path):
    folder, _ = files
    command = ("fit", folder / "iris.csv", "-o", MODEL, "--solver", "sdca", "--lam", "0.01")
    done = program(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["model"] == "PegasosClassifier"
    assert lines["data"] == "150 rows, 4 features, 3 classes"
    assert lines["certificate"].startswith("the objective of every class: certified within")
    assert lines["saved"] == MODEL
    assert [path.name for path in tmp_path.iterdir()] == [MODEL]

    model = pegasos.load(tmp_path / MODEL)
    X, y, names = read(folder / "iris.csv")
    same = pegasos.PegasosClassifier(0.01, solver="sdca", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.feature_names_in_.tolist() == names == IRIS_NAMES
    assert model.verbose == 0


def test_every_format_gives_the_same_model(files, tmp_path, capsys):
    folder, names = files
    assert len(names) == 12
    found = {}
    for name in names:
        assert run(["fit", f"{folder}/{name}", "-o", f"{tmp_path}/model", "--lam", "0.1"]) == 0
        found[name] = pegasos.load(tmp_path / "model").coef_
    capsys.readouterr()
    pictures = found.pop("iris-images-idx3-ubyte")  # of whole numbers: another model
    assert pictures.shape == (3, 4)
    for name, coef in found.items():
        np.testing.assert_array_equal(coef, found["iris.csv"], err_msg=name)


def test_rows_come_from_a_pipe_and_the_summary_is_json(files, tmp_path):
    folder, _ = files
    text = (folder / "iris.csv").read_text()
    arguments = ("fit", "-", "--format", "csv", "-o", MODEL, "--target", "species")
    done = program(*arguments, "--test-size", "0.2", "--json", cwd=tmp_path, input=text)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["estimator"] == "PegasosClassifier"
    assert summary["rows"] == 120
    assert summary["classes"] == ["setosa", "versicolor", "virginica"]
    assert summary["test"]["rows"] == 30
    assert summary["test"]["accuracy"] > 0.8
    assert len(summary["certificate"]["gap"]) == 3
    assert summary["cross_validation"] is summary["grid"] is None


def test_folds_are_judged_one_by_one_and_the_model_is_fitted_to_all_rows(fit):
    model, said = fit("iris.csv", "--cv", 4, "--solver", "sdca", "--json")
    folds = json.loads(said)["cross_validation"]
    assert folds["folds"] == len(folds["accuracies"]) == 4
    assert folds["accuracy"] == pytest.approx(np.mean(folds["accuracies"]))
    assert folds["spread"] == pytest.approx(np.std(folds["accuracies"]))
    assert model.n_steps_ % 150 == 0


def test_several_values_are_a_grid_and_the_best_is_saved(fit):
    arguments = ("--kernel", "rbf", "--lam", "0.001,0.1", "--gamma", "0.1,1", "--max-steps", 300)
    model, said = fit("iris.csv", *arguments, "--cv", 3, "--json")
    grid = json.loads(said)["grid"]
    assert len(grid["cells"]) == 4
    assert grid["folds"] == 3
    assert grid["best"]["accuracy"] == max(cell["accuracy"] for cell in grid["cells"])
    assert type(model) is pegasos.KernelPegasosClassifier
    for name, value in grid["best"]["parameters"].items():
        assert getattr(model, name) == value
    _, said = fit("iris.csv", "--lam", "0.001,0.1", "--scale", "standard")
    assert "best         of 6: loss hinge, lam " in said
    assert "(5 folds)" in said


def test_rows_to_test_by_come_from_another_file_in_any_order_of_columns(fit, files, tmp_path):
    lines = [line.split(",") for line in (files[0] / "iris.csv").read_text().splitlines()]
    turned = "\n".join(",".join([*line[3::-1], line[4]]) for line in lines)
    (tmp_path / "turned.csv").write_text(turned + "\n")
    _, said = fit("iris.csv", "--test", tmp_path / "turned.csv", "--solver", "sdca", "--json")
    test = json.loads(said)["test"]
    assert test["rows"] == 150
    assert test["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (("--scale", "standard"), ["StandardScaler"]),
        (("--scale", "minmax"), ["MinMaxScaler"]),
        (("--scale", "minmax", "--impute", "median"), ["SimpleImputer", "MinMaxScaler"]),
    ],
)
def test_preparation_is_part_of_the_model(options, steps, fit, files):
    model, _ = fit("iris.csv", *options, "--solver", "sdca")
    assert isinstance(model, Pipeline)
    assert [type(step).__name__ for step in model] == [*steps, "PegasosClassifier"]
    X, y, _ = read(files[0] / "iris.csv")
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.mean(model.predict(X) == y) > 0.9


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaling_leaves_zeros_of_sparse_rows_alone(scale, fit):
    model, _ = fit("iris.svm", "--scale", scale, "--solver", "sdca")
    step = model[0]
    assert type(step).__name__ == {"standard": "StandardScaler", "minmax": "MaxAbsScaler"}[scale]
    assert not getattr(step, "with_mean", False)


def test_texts_and_gaps_of_a_table_are_filled_as_asked(fit):
    model, _ = fit("people.csv", "--one-hot", "--impute", "mean", "--solver", "sdca")
    names = ["age", "town=Bari", "town=Pisa", "town=Roma", "works"]
    assert model[0].feature_names_in_.tolist() == names
    assert model[0].statistics_[0] == pytest.approx((31 + 47 + 22 + 25 + 61) / 5)
    model, _ = fit("people.csv", "--categorical", "town,works", "--impute", "0")
    assert model[0].feature_names_in_.tolist() == [*names[:4], "works=0", "works=1"]
    assert model[0].statistics_[0] == 0


def defaults_of(name):
    return inspect.signature(getattr(pegasos, name)).parameters


# Parameters that options of all machines set, or that mean nothing to a single fit.
COMMON = {"random_state", "n_jobs", "verbose", "warm_start"}


@pytest.mark.parametrize("name", MACHINES)
def test_there_is_an_option_for_every_parameter(name):
    assert MACHINES[name].parameters == set(defaults_of(name)) - COMMON


def test_options_become_the_parameters_they_are_named_for(fit):
    options = {
        "lam": 0.5,
        "loss": "log",
        "max_steps": 70,
        "batch_size": 2,
        "sampling": "uniform",
        "intercept_scaling": 3.0,
    }
    arguments = [text for k, v in options.items() for text in (f"--{k.replace('_', '-')}", v)]
    arguments += ["--project", "--tol", "none", "--average", "none", "--seed", 7, "--jobs", 1]
    model, _ = fit("iris.svm", *arguments, "--class-weight", "0=2,2=0.5")
    expected = {
        **options,
        "project": True,
        "tol": None,
        "average": None,
        "random_state": 7,
        "n_jobs": 1,
        "class_weight": {0: 2.0, 2: 0.5},
        "solver": "pegasos",
    }
    assert {name: getattr(model, name) for name in expected} == expected
    model, _ = fit("iris.svm", "--no-intercept", "--class-weight", "balanced")
    assert model.fit_intercept is False
    assert model.class_weight == "balanced"


@pytest.mark.parametrize(
    ("arguments", "estimator", "parameters"),
    [
        (
            ("--kernel", "poly", "--degree", 2, "--coef0", 1),
            "KernelPegasosClassifier",
            {"coef0": 1},
        ),
        (("--kernel", "rbf", "--gamma", "auto"), "KernelPegasosClassifier", {"gamma": "auto"}),
        (("--perceptron", "--max-iter", 5), "PerceptronClassifier", {"max_iter": 5}),
        (
            ("--perceptron", "--kernel", "linear", "--memory", "1MB"),
            "KernelPerceptronClassifier",
            {"memory": "1MB"},
        ),
    ],
)
def test_kernels_and_perceptrons_are_a_matter_of_options(arguments, estimator, parameters, fit):
    model, said = fit("iris.csv", *arguments)
    assert type(model).__name__ == estimator
    assert {name: getattr(model, name) for name in parameters} == parameters
    assert ("certificate  none" in said) == ("Perceptron" in estimator)


def test_a_gap_that_is_left_is_said(fit, files, tmp_path):
    arguments = ("fit", files[0] / "iris.csv", "-o", MODEL, "--max-iter", 1, "--lam", "1e-6")
    done = program(*arguments, cwd=tmp_path)
    assert done.returncode == 0
    note, hint = done.stderr.splitlines()
    assert note == "note: all steps were made, and the gap is above --tol 0.01"
    assert hint.startswith("hint: try --solver sdca, --scale standard, a larger --lam")


REFUSED = [
    (("--gamma", "1"), "--gamma is no option of the linear machine", "--kernel rbf"),
    (("--kernel", "rbf", "--project"), "--project is no option of the kernel machine", "leave"),
    (("--kernel", "rbf", "--no-intercept"), "--no-intercept is no option", "leave --kernel out"),
    (("--perceptron", "--lam", "1"), "--lam is no option of the perceptron", "--perceptron out"),
    (("--perceptron", "--max-steps", "1,2"), "the perceptron has no grid", "one value"),
    (("--lam", "1,2", "--tol", "0.1"), "--tol does not go with several values of --lam", "one"),
    (("--lam", "1,2", "--solver", "sdca"), "--solver does not go with several values", "--lam one"),
    (("--lam", "0"), "--lam 0: this is not a number above 0", "--lam 0.001"),
    (("--lam", "x"), "--lam x: this is not a number", "--lam 0.001"),
    (("--lam", "nan"), "--lam nan: this is not a number", "--lam 0.001"),
    (("--lam", "1e-3,,1"), "--lam '': this is not a number", "--lam 0.001"),
    (("--max-steps", "1.5"), "--max-steps 1.5: this is not a whole number", "--max-steps 3"),
    (("--tol", "-1"), "--tol -1: this is not a number above 0", "--tol 0.001"),
    (("--kernel", "rbf", "--gamma", "0"), "--gamma 0: this is not a number above 0", "--gamma"),
    (("--kernel", "rbf", "--memory", "9QB"), "--memory 9QB: this is not a size", "500MB"),
    (("--kernel", "rbf", "--memory", "99"), "--memory 99 bytes is too small", "give at least"),
    (("--intercept-scaling", "0"), "--intercept-scaling 0: this is not a number above 0", "write"),
    (("--max-iter", "0"), "--max-iter 0: this is not a whole number from 1 on", "--max-iter 1000"),
    (("--max-iter", "9" * 30), "this is not a whole number from 1 to 9223372036854775807", "write"),
    (("--seed", "x"), "--seed x: this is not a whole number from 0 to 4294967295", "--seed 7"),
    (("--test-size", "half"), "--test-size half: this is not a number", "--test-size 0.25"),
    (("--kernel", "poly", "--coef0", "inf"), "--coef0 inf: this is not a number", "write"),
    (("--lam", "1,1"), "--lam 1,1: a value is there twice", "once"),
    (("--kernel", "rbf", "--degree", "2"), "--degree does nothing beside --kernel rbf", "poly"),
    (("--kernel", "linear", "--gamma", "2"), "--gamma does nothing beside --kernel linear", "rbf"),
    (("--kernel", "precomputed", "--memory", "1GB"), "--memory does nothing beside", "leave it"),
    (("--solver", "sdca", "--project"), "--project does nothing beside --solver sdca", "leave"),
    (("--solver", "sdca", "--batch-size", "2"), "--batch-size does nothing beside", "--solver"),
    (
        ("--solver", "sdca", "--kernel", "rbf", "--average", "none"),
        "--average does nothing beside --solver sdca",
        "leave",
    ),
    (
        ("--no-intercept", "--intercept-scaling", "2"),
        "--intercept-scaling does nothing beside --no-intercept",
        "leave one of them out",
    ),
    (("--max-iter", "2", "--max-steps", "3"), "--max-iter does nothing beside", "leave one"),
    (("--perceptron", "--average", "weighted"), "--average weighted is no option", "uniform"),
    (("--lam", "1e-300"), "the objective overflows: the largest value in the data", "--scale"),
    (
        ("--kernel", "poly", "--degree", "99", "--gamma", "9"),
        "the poly kernel of degree 99 overflows float32",
        "say --dtype float64",
    ),
    (("--lam", "1,2", "--cv", "51"), "--cv 51: no class has as many rows", "--cv 50"),
    (("--class-weight", "x=1"), "--class-weight x=1: this is no class", "setosa=2"),
    (("--class-weight", "setosa=x"), "--class-weight setosa=x: this is not a number", "setosa=2"),
    (("--impute", "often"), "--impute often: this is not known", "mean, median or a number"),
    (("--test-size", "2"), "--test-size 2: this is no part", "0.25"),
    (
        ("--test-size", "0.001"),
        "--test-size 0.001 cannot be had: of 150 rows it leaves 1 to test by, for 3 classes",
        "--test FILE",
    ),
    (("--test-size", "0.99"), "it leaves 1 to learn from, for 3 classes", "--test FILE"),
    (("--test-size", "0.5", "--test", "x"), "--test-size and --test do not", "one of them"),
    (("--test", "x.csv"), "x.csv: there is no such file", "check the name"),
    (("--cv", "51"), "--cv 51: no class has as many rows; the largest has 50", "--cv 50"),
    (("--one-hot", "--categorical", "a"), "--one-hot and --categorical", "--categorical"),
    (("--kernel", "precomputed", "--cv", "3"), "--cv does not go with --kernel precomputed", "out"),
    (("--kernel", "precomputed"), "square", "fit --help"),
    (("--target", "petal"), "there is no column 'petal'", "it has 'sepal length'"),
    (("--target", "9"), "there is no column 9, as there are 5", "count from 0"),
    (("--target", "0"), "column 5 (species): 'versicolor' is not a number", "--one-hot"),
    (("--format", "svmlight"), "iris.csv, line 1, column 1: ", "labels are numbers"),
]


@pytest.mark.parametrize(("arguments", "what", "remedy"), REFUSED, ids=lambda v: str(v))
def test_what_does_not_belong_together_is_refused_and_nothing_is_written(
    arguments, what, remedy, fit, tmp_path
):
    error, hint = fit("iris.csv", *arguments, code=2)
    assert what in error
    assert remedy in hint
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_noticed_before_the_work(files, tmp_path, capsys):
    for place, what in ((tmp_path, "is a folder"), (tmp_path / "no/model", "its folder is not")):
        assert run(["fit", f"{files[0]}/iris.csv", "-o", str(place)]) == 2
        assert what in capsys.readouterr().err


def test_labels_that_are_all_the_same_or_all_different_are_no_classes(tmp_path, capsys):
    values = np.random.default_rng(0).random((90, 3))
    for name, labels in (("same", np.ones(90)), ("measured", values[:, 0])):
        np.savez(tmp_path / "rows.npz", X=values, y=labels)
        assert run(["fit", f"{tmp_path}/rows.npz", "-o", f"{tmp_path}/model"]) == 2
        said = capsys.readouterr().err
        assert {"same": "all labels are 1", "measured": "90 different labels"}[name] in said
        assert "--target" in said


def test_ctrl_c_ends_a_fit_with_130_and_the_old_model_stays(files, tmp_path):
    (tmp_path / MODEL).write_text("old")
    endless = ("--tol", "none", "--max-iter", "1000000000", "--cv", "2")
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, "fit", files[0] / "iris.csv", "-o", MODEL, *endless],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        time.sleep(3)  # wherever it is by then, it must stop
        process.send_signal(signal.SIGINT)
        data, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert data == ""
    *_, last = said.splitlines()  # after the folds that were done
    assert last == "note: stopped; nothing was written"
    assert "Traceback" not in said
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(MODEL, "old")]


def test_a_terminal_shows_a_bar_with_the_time_left_and_a_pipe_none(files, tmp_path):
    arguments = ("fit", str(files[0] / "iris.csv"), "-o", MODEL, "--solver", "sdca")
    said = said_on_a_terminal(*arguments, cwd=tmp_path)
    assert "PegasosClassifier" in said.partition("━")[0]
    assert "-:--:--" in said
    assert program(*arguments, cwd=tmp_path).stderr == ""
