"""Small studies that several tests share, and what their rows should hold."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from pegasos import studies
from pegasos.studies import StudyError
from pegasos.studies._file import parse

# Two models, one in lockstep and one not; a test part, folds, two repeats: 12 tasks.
SMALL = """
title = "Small"
seed = 3
repeats = 2

[data]
name = "moons"
n_rows = 90

[prepare]
scale = "standard"
test = 0.2

[evaluate]
folds = 3

[[models]]
name = "Gaussian"
estimator = "KernelPegasosClassifier"

[models.grid]
gamma = [0.5, 2.0]
lam = [1e-3, 1e-1]
max_steps = [50, 20]

[[models]]
name = "perceptron"
estimator = "PerceptronClassifier"

[models.grid]
max_iter = [1, 4]
"""

# As many tasks, with less to do in each.
QUICK = (
    SMALL.replace('scale = "standard"', "bias = false")
    .replace("folds = 3", "folds = 2")
    .replace("lam = [1e-3, 1e-1]", "lam = [0.01]")
    .replace("max_steps = [50, 20]", "max_steps = [20]")
)


# A study in which one thing at a time is made wrong.
BASE = """title = "Base"
seed = 1

[data]
name = "digits"

[evaluate]
folds = 3

[[models]]
name = "kernel"
estimator = "KernelPegasosClassifier"
[models.grid]
lam = [0.1, 1.0]
max_steps = [10]

"""


def study_of(text, folder=Path()):
    return parse(text, name="small", folder=Path(folder), file="small.toml")


def classes_of_three(n_rows=60, seed=0, n_features=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    X = rng.standard_normal((3, n_features))[y] + rng.standard_normal((n_rows, n_features))
    return 5 * X + 3, y


def run_own(tmp_path, X, y, tables, *, head="", **more):
    """Run a study of arrays; return its rows."""
    np.savez(tmp_path / "own.npz", X=X, y=y, **more)
    text = f'title = "own"\ndata.file = "own.npz"\n{head}\n{tables}'
    results = studies.run(study_of(text, tmp_path), tmp_path / "out")
    assert results.is_complete
    return results.table.to_pylist()


def comparable(table):
    """Return all of a table of results but what a clock says."""
    rows = table.to_pylist()
    for row in rows:
        del row["seconds"]
    # As texts: NaN is not equal to itself.
    return [str(row) for row in rows]


class Diary:
    """A progress that writes down what it is told."""

    def __init__(self):
        self.total = None
        self.titles = []
        self.finished = []

    def begin(self, work, done):
        self.total = work
        self.done_before = done

    def start(self, title):
        self.titles.append(title)

    def finish(self, work, rows):
        self.finished.append((work, len(rows)))


def error(fitted, X, y):
    return np.mean(fitted.predict(X) != y)


def by_hand(estimator, X, y, train, test, prepare=None):
    """Return train and test error of an estimator fitted to a fold."""
    learn, judge = X[train], X[test]
    if prepare is not None:
        learn, judge = prepare.fit_transform(learn), prepare.transform(judge)
    fitted = quietly(estimator.fit, learn, y[train])
    return error(fitted, learn, y[train]), error(fitted, judge, y[test])


def quietly(function, *args):
    with warnings.catch_warnings(action="ignore"):
        return function(*args)


def folds_of(y, n_folds, seed):
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))


def check_rows(rows, make, X, y, folds, prepare=None):
    """Every row has the errors of the estimator that ``make`` returns for it."""
    assert rows
    for row in rows:
        train, test = folds[row["fold"]]
        expected = by_hand(make(row), X, y, train, test, prepare)
        assert (row["train_error"], row["test_error"]) == pytest.approx(expected, abs=1e-12)
        assert row["n_rows"] == len(train)
        assert row["seconds"] >= 0


def error_of(text):
    with pytest.raises(StudyError) as caught:
        study_of(text)
    return caught.value


def assert_error(text, line, *words):
    """The error names this line of the text, and says these words."""
    message = error_of(text).message
    assert message.startswith(f"small.toml, line {line}: "), message
    for word in words:
        assert word in message
