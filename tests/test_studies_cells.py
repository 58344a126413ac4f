"""Rows of a study are what estimators fitted by hand give, on the same rows with the same seed."""

import bz2
import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from pegasos import (
    KernelPegasosClassifier,
    KernelPerceptronClassifier,
    PegasosClassifier,
    PerceptronClassifier,
    studies,
)
from pegasos.studies._textbook import LaplaceSquared

from .study_helpers import check_rows, classes_of_three, error, folds_of, run_own, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")


# --- Lockstep -------------------------------------------------------------------------------------


def test_linear_cells_in_lockstep(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        evaluate.folds = 3
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        average = "none"
        grid = { lam = [0.1, 0.01], loss = ["log", "hinge"], max_steps = [200, 30] }
        """,
        head="seed = 5",
    )
    assert len(rows) == 2 * 2 * 2 * 3
    assert [row["max_steps"] for row in rows[:6]] == [200] * 3 + [30] * 3  # the file's order

    def make(row):
        return PegasosClassifier(
            row["lam"],
            loss=row["loss"],
            max_steps=row["max_steps"],
            average=None,
            tol=None,
            random_state=5,
        )

    check_rows(rows, make, X, y, folds_of(y, 3, 5))
    assert {row["n_features"] for row in rows} == {4}


@pytest.mark.parametrize(
    ("scale", "scaler"),
    [("none", None), ("minmax", MinMaxScaler()), ("standard", StandardScaler())],
)
def test_kernel_cells_in_lockstep_with_rows_scaled_by_their_fold(tmp_path, scale, scaler):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        f"""
        prepare.scale = "{scale}"
        evaluate.folds = 3
        [[models]]
        name = "kernel"
        estimator = "KernelPegasosClassifier"
        kernel = "poly"
        gamma = 0.1
        grid = {{ degree = [2, 3], coef0 = [1, 2], lam = [1, 10], max_steps = [10, 100] }}
        """,
    )
    assert len(rows) == 16 * 3

    def make(row):
        names = ("lam", "gamma", "degree", "coef0", "max_steps")
        params = {name: row[name] for name in names}
        return KernelPegasosClassifier(kernel="poly", tol=None, random_state=0, **params)

    check_rows(rows, make, X, y, folds_of(y, 3, 0), scaler)


def test_a_constant_in_the_kernel_has_a_column_where_it_is_not_plainly_absent(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        evaluate.folds = 2
        [[models]]
        name = "without"
        estimator = "KernelPegasosClassifier"
        gamma = 0.1
        grid = { max_steps = [50] }
        [[models]]
        name = "with"
        estimator = "KernelPegasosClassifier"
        gamma = 0.1
        grid = { coef0 = [0, 2], max_steps = [50] }
        """,
    )
    without = [row for row in rows if row["model"] == "without"]
    varied = [row for row in rows if row["model"] == "with"]
    assert all(np.isnan(row["coef0"]) for row in without)
    assert {row["coef0"] for row in varied} == {0, 2}

    def make(row):
        params = {name: row[name] for name in ("lam", "gamma", "coef0", "max_steps")}
        return KernelPegasosClassifier(tol=None, random_state=0, **params)

    check_rows(varied, make, X, y, folds_of(y, 2, 0))


def test_a_rule_for_gamma_goes_by_the_rows_that_are_learned_from(tmp_path):
    X, y = classes_of_three(n_rows=40)
    X[:10] *= 3  # folds differ in their variance
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        evaluate.folds = 2
        [[models]]
        name = "kernel"
        estimator = "KernelPegasosClassifier"
        max_steps = 150
        grid = { gamma = ["scale", 0.01], lam = [1e-3] }
        """,
    )
    assert math.isnan(rows[0]["gamma"])
    assert rows[2]["gamma"] == 0.01

    def make(row):
        gamma = "scale" if math.isnan(row["gamma"]) else row["gamma"]
        params = {"lam": row["lam"], "max_steps": row["max_steps"], "gamma": gamma}
        return KernelPegasosClassifier(tol=None, random_state=0, **params)

    check_rows(rows, make, X, y, folds_of(y, 2, 0))


def test_balanced_classes_and_degree_2_features_in_lockstep(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare = { scale = "standard", bias = true, features = 2 }
        evaluate.folds = 2
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        class_weight = "balanced"
        fit_intercept = false
        max_steps = 300
        """,
    )
    prepare = make_pipeline(StandardScaler(), PolynomialFeatures(2))

    def make(row):
        return PegasosClassifier(
            class_weight="balanced", fit_intercept=False, max_steps=300, tol=None, random_state=0
        )

    check_rows(rows, make, X, y, folds_of(y, 2, 0), prepare)
    assert rows[0]["n_features"] == 15


def test_sparse_rows(tmp_path, monkeypatch):
    (tmp_path / "adult").mkdir()
    rng = np.random.default_rng(0)
    X = sp.random(40, 123, 0.1, format="csr", random_state=rng, dtype=np.float32)
    X.data = np.round(X.data, 3)
    y = np.where(X[:, :60].sum(axis=1).A1 > X[:, 60:].sum(axis=1).A1, 1, -1)
    lines = [
        f"{y[i]} " + " ".join(f"{j + 1}:{X[i, j]:.3f}" for j in sorted(X[i].indices))
        for i in range(40)
    ]
    for part, some in (("trn", lines[:30]), ("tst", lines[30:])):
        path = tmp_path / f"adult/adult.{part}.bz2"
        path.write_bytes(bz2.compress("\n".join(some).encode()))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    text = """
        title = "sparse"
        prepare.test = "given"
        evaluate.folds = 2
        data.name = "adult"
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 100
        [[models]]
        name = "kernel"
        estimator = "KernelPegasosClassifier"
        gamma = 0.5
        max_steps = 100
    """
    results = studies.run(study_of(text), tmp_path / "out")
    train = results.dataset()
    assert sp.issparse(train.X)
    folds = folds_of(train.y, 2, 0)
    rows = results.table.to_pylist()
    made = {
        "linear": PegasosClassifier(max_steps=100, tol=None, random_state=0),
        "kernel": KernelPegasosClassifier(gamma=0.5, max_steps=100, tol=None, random_state=0),
    }
    grid = [row for row in rows if row["part"] == "grid"]
    check_rows(grid, lambda row: made[row["model"]], train.X, train.y, folds)
    finals = [row for row in rows if row["part"] == "final"]
    for row in finals:
        fitted = made[row["model"]].fit(train.X, train.y)
        assert row["test_error"] == error(fitted, train.X_test, train.y_test)


# --- One by one -----------------------------------------------------------------------------------


def test_perceptrons(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare.scale = "minmax"
        evaluate.folds = 2
        [[models]]
        name = "perceptron"
        estimator = "PerceptronClassifier"
        grid = { max_iter = [1, 7] }
        [[models]]
        name = "kernel perceptron"
        estimator = "KernelPerceptronClassifier"
        kernel = "poly"
        coef0 = 1
        grid = { gamma = [0.5, 1], max_iter = [2] }
        """,
        head="seed = 2",
    )

    def make(row):
        if row["model"] == "perceptron":
            return PerceptronClassifier(max_iter=row["max_iter"], random_state=2)
        return KernelPerceptronClassifier(
            kernel="poly", gamma=row["gamma"], coef0=1.0, max_iter=2, random_state=2
        )

    check_rows(rows, make, X, y, folds_of(y, 2, 2), MinMaxScaler())
    assert len(rows) == 8
    kernels = [row for row in rows if row["model"] != "perceptron"]
    assert {row["kernel"] for row in kernels} == {"poly"}
    assert all(row["n_support"] > 0 for row in kernels)


def test_fits_that_end_by_themselves_carry_their_certificate(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare.scale = "standard"
        evaluate.folds = 2
        [[models]]
        name = "sdca"
        estimator = "KernelPegasosClassifier"
        solver = "sdca"
        gamma = 0.2
        tol = 1e-3
        grid = { lam = [0.1, 0.01] }
        """,
    )

    def make(row):
        return KernelPegasosClassifier(
            row["lam"], solver="sdca", gamma=0.2, tol=1e-3, random_state=0
        )

    folds = folds_of(y, 2, 0)
    check_rows(rows, make, X, y, folds, StandardScaler())
    fitted = make(rows[0]).fit(StandardScaler().fit_transform(X[folds[0][0]]), y[folds[0][0]])
    relative = fitted.duality_gap_ / fitted.objective_
    worst = np.argmax(relative)
    assert rows[0]["gap"] == pytest.approx(relative[worst])
    assert rows[0]["gap"] <= 1e-3
    assert rows[0]["objective"] == pytest.approx(fitted.objective_[worst])
    assert rows[0]["n_support"] == len(fitted.support_)


def test_missing_values_are_those_of_the_training_rows(tmp_path):
    X, y = classes_of_three()
    X[::7, 1] = np.nan
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare = { missing = "median", scale = "standard" }
        evaluate.folds = 3
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 200
        """,
    )
    prepare = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    made = PegasosClassifier(max_steps=200, tol=None, random_state=0)
    check_rows(rows, lambda row: made, X, y, folds_of(y, 3, 0), prepare)


# --- The kernel with the wrong norm ---------------------------------------------------------------


def test_the_kernel_with_the_wrong_norm(tmp_path):
    X, y = classes_of_three(n_features=2)
    np.savez(tmp_path / "own.npz", X=X / 20, y=y)
    text = """
        title = "norms"
        data.file = "own.npz"
        prepare.test = 0.25
        evaluate.folds = 3
        [[models]]
        name = "wrong"
        estimator = "KernelPegasosClassifier"
        kernel = "laplace-squared"
        grid = { gamma = [0.5, 2], lam = [0.01, 0.1], max_steps = [20, 200] }
        [[models]]
        name = "wrong perceptron"
        estimator = "KernelPerceptronClassifier"
        kernel = "laplace-squared"
        gamma = 1.0
        max_iter = 3
    """
    results = studies.run(study_of(text, tmp_path), tmp_path / "out")
    rows = results.table.to_pylist()
    assert {row["kernel"] for row in rows} == {"laplace-squared"}
    train, _ = train_test_split(np.arange(60), test_size=0.25, stratify=y, random_state=0)

    def make(row):
        kernel = LaplaceSquared(row["gamma"])
        if row["model"] == "wrong perceptron":
            return KernelPerceptronClassifier(kernel=kernel, max_iter=3, random_state=0)
        return KernelPegasosClassifier(
            row["lam"], kernel=kernel, max_steps=row["max_steps"], tol=None, random_state=0
        )

    grid = [row for row in rows if row["part"] == "grid"]
    assert len(grid) == 8 * 3 + 3
    check_rows(grid, make, X[train] / 20, y[train], folds_of(y[train], 3, 0))
    # What an indefinite kernel makes the estimator say does not end the run, and is not lost.
    assert any("wrong: UserWarning" in text for text in results.facts["warnings"])
    (final,) = (row for row in rows if (row["model"], row["part"]) == ("wrong", "final"))
    assert final["dual_objective"] == -math.inf
