"""The commands that use a model: predict, evaluate, inspect, export. The real program."""

import csv
import io
import json
import subprocess

import numpy as np
import pytest

import pegasos
from pegasos.cli._app import run
from pegasos.io import read

from .cli_data import IRIS_NAMES, iris, write_files
from .cli_helpers import complaint
from .cli_helpers import pegasos as program

pytest.importorskip("pyarrow", reason="tables need the extra io")
pytest.importorskip("h5py", reason="HDF5 needs the extra io")

FITS = {
    "names": ("iris.csv", "--solver", "sdca"),
    "numbers": ("iris.svm", "--solver", "sdca"),
    "log": ("iris.csv", "--solver", "sdca", "--loss", "log", "--scale", "standard"),
    "rbf": ("iris.svm", "--kernel", "rbf", "--solver", "sdca"),
    "people": ("people.csv", "--solver", "sdca", "--one-hot", "--impute", "mean"),
    "perceptron": ("iris.svm", "--perceptron"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files, and a model of each kind that the program has fitted."""
    folder = tmp_path_factory.mktemp("models")
    write_files(folder)
    for name, (data, *options) in FITS.items():
        assert run(["fit", f"{folder}/{data}", "-o", f"{folder}/{name}", *options]) == 0
    X, y = iris()
    two = y != "setosa"
    sparse = pegasos.io.read(folder / "iris.svm")
    for name, kind in (
        ("two", pegasos.PegasosClassifier),
        ("rbf2", pegasos.KernelPegasosClassifier),
    ):
        model = kind(solver="sdca", random_state=0).fit(sparse.X[two], sparse.y[two])
        pegasos.save(model, folder / name)
    pegasos.save(pegasos.PegasosCV(steps=(300,), cv=2).fit(X, y), folder / "grid")
    return folder


@pytest.fixture
def here(folder, capsys, monkeypatch):
    """Run the program in this process, in the folder."""
    monkeypatch.chdir(folder)
    capsys.readouterr()

    def run_here(*arguments, code=0):
        done = run(list(map(str, arguments)))
        said = capsys.readouterr()
        assert done == code, said.err
        if code:
            return complaint(subprocess.CompletedProcess((), done, said.out, said.err))
        return said.out

    return run_here


def columns_of(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_predictions_are_those_of_the_model(folder):
    done = program("predict", "names", "iris.csv", "--scores", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    found = columns_of(done.stdout)
    model, (X, _) = pegasos.load(folder / "names"), iris()
    del model.feature_names_in_
    assert found["label"] == model.predict(X).tolist()
    scores = model.decision_function(X)
    for k, label in enumerate(model.classes_):
        assert list(map(float, found[f"score_{label}"])) == scores[:, k].tolist()


def test_rows_come_from_a_pipe_and_probabilities_sum_to_one(folder):
    without_labels = "\n".join(
        line.rpartition(",")[0] for line in (folder / "iris.csv").read_text().splitlines()
    )
    arguments = ("predict", "log", "-", "--format", "csv", "--proba")
    done = program(*arguments, cwd=folder, input=without_labels + "\n")
    assert done.returncode == 0, done.stderr
    found = columns_of(done.stdout)
    assert set(found) == {"label", *(f"probability_{c}" for c in sorted(set(iris()[1])))}
    del found["label"]
    np.testing.assert_allclose(np.array(list(found.values()), float).sum(axis=0), 1)


def test_two_classes_have_one_score_and_files_are_written_whole(here, folder, tmp_path):
    for name in ("answers.csv", "answers.parquet"):
        assert here("predict", "two", "iris.svm", "--scores", "-o", tmp_path / name) == ""
        table = read(tmp_path / name, target=0)
        model, (X, *_) = pegasos.load(folder / "two"), read(folder / "iris.svm")
        assert table.names == ["score"]
        np.testing.assert_array_equal(table.y, model.predict(X))
        np.testing.assert_array_equal(table.X[:, 0], model.decision_function(X).astype(np.float32))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "answers.parquet"]


@pytest.mark.parametrize("name", ["iris.svm.bz2", "iris.npz", "iris.h5"])
def test_features_without_names_are_counted(name, here):
    assert here("predict", "numbers", name) == here("predict", "numbers", "iris.svm")


def test_columns_are_found_by_name_and_others_ignored(here, folder):
    expected = here("predict", "names", "iris.csv")
    lines = [line.split(",") for line in (folder / "iris.csv").read_text().splitlines()]
    turned = [",".join(["more", *lines[0][::-1]])]
    turned += [",".join(["7", *line[::-1]]) for line in lines[1:]]
    (folder / "turned.csv").write_text("\n".join(turned) + "\n")
    assert here("predict", "names", "turned.csv") == expected
    assert json.loads(here("evaluate", "names", "turned.csv", "--target", "species", "--json"))


def test_sparse_rows_may_lack_the_last_columns(here, folder):
    (folder / "short.svm").write_text("1 1:5.1 2:3.5\n0 1:4.9\n")
    found = columns_of(here("predict", "numbers", "short.svm"))["label"]
    X = np.array([[5.1, 3.5, 0, 0], [4.9, 0, 0, 0]], dtype=np.float32)
    assert found == list(map(str, pegasos.load(folder / "numbers").predict(X)))


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_a_model_that_moves_zeros_takes_sparse_rows(scale, here, folder):
    here("fit", "iris.npz", "-o", "moved", "--scale", scale, "--max-steps", "2000", "--tol", "none")
    assert here("evaluate", "moved", "iris.svm") == here("evaluate", "moved", "iris.npz")
    arguments = ("iris.npz", "-o", "moved", "--scale", scale, "--max-steps", "2000", "--json")
    tests = [
        json.loads(here("fit", *arguments, "--test", name))["test"]
        for name in ("iris.svm", "iris.npz")
    ]
    assert tests[0] == tests[1]


def test_texts_and_gaps_are_treated_as_when_it_was_fitted(here, folder):
    expected = columns_of(here("predict", "people", "people.csv"))["label"]
    assert expected == ["low", "high", "high", "low", "low", "high"]
    (folder / "others.csv").write_text("works,town,age\n1,Genova,\n0,Pisa,25\n")
    found = columns_of(here("predict", "people", "others.csv"))["label"]
    assert len(found) == 2
    assert found[1] == "low"


def test_texts_that_the_model_never_met_are_spoken_of(folder):
    (folder / "others.csv").write_text("works,town,age\n1,Pisa,25\n1,Genova,\n0,,3\n0,Asti,25\n")
    done = program("predict", "people", "others.csv", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == (
        "note: others.csv: column town has values that the training data had not, in 2 of 4 rows "
        "(the first is row 2)\n"
    )


def test_columns_without_names_need_to_be_told_from_labels(here, folder):
    text = "\n".join((folder / "iris.csv").read_text().splitlines()[1:])
    (folder / "bare.csv").write_text(text + "\n")
    options = ("--no-header", "--target", "-1")
    assert here("predict", "names", "bare.csv", *options) == here("predict", "names", "iris.csv")
    error, hint = here("predict", "numbers", "iris.npy", code=2)
    assert error == "iris.npy: there are 5 features; the model has 4"
    assert "--target -1" in hint
    expected = here("predict", "numbers", "iris.svm")
    assert here("predict", "numbers", "iris.npy", "--target", "-1") == expected


def test_an_evaluation_counts_every_row_once(here, folder):
    facts = json.loads(here("evaluate", "names", "iris.csv", "--json"))
    X, y = iris()
    model = pegasos.load(folder / "names")
    del model.feature_names_in_
    predicted = model.predict(X)
    assert facts["labels"] == sorted(set(y))
    assert facts["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert facts["error"] == pytest.approx(1 - facts["accuracy"])
    assert facts["wrong"] == np.sum(predicted != y)
    confusion = np.array(facts["confusion"])
    for i, true in enumerate(facts["labels"]):
        for j, said in enumerate(facts["labels"]):
            assert confusion[i, j] == np.sum((y == true) & (predicted == said))
    for k, entry in enumerate(facts["classes"]):
        assert entry["rows"] == confusion[k].sum() == 50
        assert entry["precision"] == pytest.approx(confusion[k, k] / confusion[:, k].sum())
        assert entry["recall"] == pytest.approx(confusion[k, k] / 50)


def test_an_evaluation_in_words_has_the_same_numbers(folder):
    done = program("evaluate", "names", "iris.csv", cwd=folder)
    assert done.returncode == 0
    facts = json.loads(program("evaluate", "names", "iris.csv", "--json", cwd=folder).stdout)
    lines = done.stdout.splitlines()
    assert lines[0] == f"accuracy  {facts['accuracy']:.4f}"
    assert lines[1] == f"error     {facts['error']:.4f} ({facts['wrong']} of 150 rows)"
    matrix = lines.index("Confusion matrix")
    for line, label, counts in zip(
        lines[matrix + 2 :], facts["labels"], facts["confusion"], strict=False
    ):
        assert line.split() == [label, *map(str, counts)]


def test_classes_that_the_model_never_met_are_errors(here):
    facts = json.loads(here("evaluate", "two", "iris.svm", "--json"))
    assert facts["labels"] == [0, 1, 2]
    assert facts["classes"][0]["recall"] == 0
    assert facts["classes"][0]["precision"] is None
    assert "–" in here("evaluate", "two", "iris.svm")


def test_an_inspection_tells_what_the_model_is(folder):
    done = program("inspect", "people", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    for words in (
        "SimpleImputer + PegasosClassifier",
        "2: high, low",
        ">= optimum >=",
        f"pegasos {pegasos.__version__}",
        "solver             sdca",
    ):
        assert words in done.stdout
    weights = done.stdout.partition("Features that weigh most")[2].splitlines()[2:]
    names = {line.split()[1] for line in weights if line}
    assert "age" in names
    assert names <= {"age", "town=Bari", "town=Pisa", "town=Roma", "works"}


@pytest.mark.parametrize("name", [*FITS, "two", "rbf2", "grid"])
def test_every_kind_of_model_predicts_and_is_inspected(name, here, folder):
    data = "people.csv" if name == "people" else "iris.csv"
    n_rows = 6 if name == "people" else 150
    labels = columns_of(here("predict", name, data, "--target", "-1"))["label"]
    assert len(labels) == n_rows
    facts = json.loads(here("inspect", name, "--json", "--top", 2))
    model = pegasos.load(folder / name)
    assert facts["classes"] == model.classes_.tolist()
    assert facts["features"] == model.n_features_in_
    assert (facts["certificate"] is None) == (name == "perceptron")
    assert (facts["top_features"] is None) == ("rbf" in name)
    assert ("support_vectors" in facts) == ("rbf" in name)
    if facts["top_features"] is not None and name != "people":
        entry = facts["top_features"][0]
        last = model[-1] if name == "log" else model
        row = last.coef_[0]
        largest = np.argsort(-np.abs(row))[:2]
        known = IRIS_NAMES if facts["feature_names"] else ["1", "2", "3", "4"]
        assert [item["feature"] for item in entry["features"]] == [known[j] for j in largest]
        assert [item["weight"] for item in entry["features"]] == row[largest].tolist()


def test_exported_models_are_those_that_python_exports(here, folder, tmp_path):
    pytest.importorskip("onnx", reason="ONNX needs the extra onnx")
    for option, name, write in (
        ("--liblinear", "two", pegasos.io.to_liblinear),
        ("--libsvm", "rbf2", pegasos.io.to_libsvm),
        ("--onnx", "log", pegasos.io.to_onnx),
    ):
        assert here("export", name, option, tmp_path / "theirs") == f"{tmp_path}/theirs\n"
        write(pegasos.load(folder / name), tmp_path / "ours")
        assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()


REFUSED = [
    (("predict", "nothing", "iris.csv"), "nothing: cannot read the file", ""),
    (("predict", "iris.csv", "iris.csv"), "this is not a model file", "'pegasos fit' has"),
    (("predict", "names", "people.csv"), "there is no column 'sepal length'", "all features"),
    (("predict", "names", "nothing.csv"), "there is no such file", "check the name"),
    (("predict", "people", "iris.npz"), "there are 4 features; the model has 5", "like those"),
    (("predict", "names", "-"), "standard input has no ending", "--format, one of svmlight"),
    (("predict", "names", "iris.csv", "--proba"), "has no probabilities", "--loss log"),
    (("predict", "names", "iris.csv", "-o", "x.doc"), "are written as .csv or .parquet", "ends so"),
    (("predict", "names", "iris.csv", "-o", "no/x.csv"), "cannot write", "folder that exists"),
    (("predict", "names", "gaps.csv"), "the value is missing", "fit the model with --impute"),
    (("predict", "names", "words.csv"), "'long' is not a number", "takes numbers here"),
    (("predict", "numbers", "iris.csv"), "is not a number", "the labels, name it with --target"),
    (("evaluate", "numbers", "iris.csv"), "the labels are texts, such as", "--target"),
    (("evaluate", "names", "iris.svm"), "those of the model are texts", "--target"),
    (("evaluate", "names", "iris.csv", "--target", "0"), "a feature of the model", "--target"),
    (("export", "two"), "no file was named", "--onnx FILE"),
    (("export", "two", "--onnx", "a", "--libsvm", "b"), "several files were named", "say one of"),
    (("export", "log", "--liblinear", "a"), "this model prepares its rows (Stand", "--onnx FILE"),
    (("export", "two", "--libsvm", "a"), "is not a kernel machine", "liblinear"),
    (("export", "names", "--liblinear", "a"), "labels", ""),
    (("inspect", "people.csv"), "this is not a model file", "'pegasos fit' has"),
]


@pytest.mark.parametrize(("arguments", "what", "remedy"), REFUSED, ids=lambda v: str(v))
def test_what_does_not_fit_the_model_is_said_with_the_remedy(arguments, what, remedy, here, folder):
    lines = (folder / "iris.csv").read_text().splitlines()
    (folder / "gaps.csv").write_text(f"{lines[0]}\n?,1,2,3,setosa\n1,1,2,3,setosa\n")
    (folder / "words.csv").write_text(f"{lines[0]}\nlong,1,2,3,setosa\n")
    error, hint = here(*arguments, code=2)
    assert what in error
    assert remedy in hint
