"""Fits of real data sets, found through PEGASOS_DATA; without it these tests are skipped."""

import bz2
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC

from pegasos import KernelPegasosClassifier, KernelPerceptronClassifier, PegasosClassifier

N_FEATURES = {"adult": 123, "ijcnn1": 22, "reuters": 8315}


def find(file):
    folder = os.environ.get("PEGASOS_DATA")
    path = Path(folder or "") / file
    if not folder or not path.exists():
        pytest.skip(f"needs {file} in the folder that PEGASOS_DATA names")
    return path


def load(name, part="trn"):
    with bz2.open(find(f"{name}/{name}.{part}.bz2")) as file:
        return load_svmlight_file(file, n_features=N_FEATURES[name])


def load_usps(part):
    h5py = pytest.importorskip("h5py", reason="needs h5py to read usps.h5")
    with h5py.File(find("usps.h5")) as file:
        return file[part]["data"][:], file[part]["target"][:]


# Optima computed once with other solvers (liblinear, snapml) at lam without intercept.
@pytest.mark.parametrize(
    ("name", "lam", "optimum"),
    [
        ("adult", 1 / 32561, 0.35115055),
        ("adult", 1e-4, 0.35176226),
        ("ijcnn1", 1 / 49990, 0.17195460),
    ],
)
def test_the_certificate_encloses_the_known_optimum(name, lam, optimum):
    X, y = load(name)
    model = PegasosClassifier(
        lam, solver="sdca", tol=1e-4, fit_intercept=False, random_state=0, n_jobs=2
    ).fit(X, y)
    # The optimum is known to eight digits, and to about as many by its own solver.
    assert model.dual_objective_ <= optimum + 1e-6
    assert optimum - 1e-6 <= model.objective_ <= 1.0001 * optimum + 1e-6


def test_float32_and_float64_certify_the_same_optimum():
    X, y = load("adult")
    double, single = (
        PegasosClassifier(1e-4, solver="sdca", tol=1e-4, random_state=0).fit(X.astype(kind), y)
        for kind in (np.float64, np.float32)
    )
    # All values are 0 or 1: not even the rounding of the data differs.
    assert np.array_equal(double.coef_, single.coef_)


def test_predicts_unseen_rows_as_well_as_linear_svc():
    X, y = load("adult")
    X_test, y_test = load("adult", "tst")
    ours = PegasosClassifier(1 / len(y), solver="sdca", tol=1e-3, random_state=0).fit(X, y)
    narrow = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    peer = LinearSVC(loss="hinge", C=1.0, random_state=0, max_iter=10_000).fit(narrow, y)
    # 16,281 rows: two standard errors of an accuracy of 85% are 0.6%.
    assert ours.score(X_test, y_test) == pytest.approx(peer.score(X_test, y_test), abs=0.006)


# --- Kernel machines ------------------------------------------------------------------------------


def test_reuters_has_the_error_that_libsvm_has():
    # lam and gamma of the Pegasos paper; libsvm at the same parameters: 2.88%.
    X, y = load("reuters")
    X_test, y_test = load("reuters", "tst")
    model = KernelPegasosClassifier(
        1.29e-4, gamma=1.0, solver="sdca", tol=1e-3, random_state=0, n_jobs=-1
    ).fit(X, y)
    assert model.duality_gap_ <= 1e-3 * model.objective_
    assert 1 - model.score(X_test, y_test) == pytest.approx(0.0288, abs=0.002)


def test_the_eights_of_usps_in_float32_and_float64_are_the_same_within_rounding():
    X, y = load_usps("train")
    X_test, y_test = load_usps("test")
    options = {"gamma": 1 / 64, "solver": "sdca", "tol": 1e-3, "random_state": 0, "n_jobs": -1}
    single, double = (
        KernelPegasosClassifier(1 / (10 * len(y)), **options).fit(X.astype(kind), y == 8)
        for kind in (np.float32, np.float64)
    )
    assert single.objective_ == pytest.approx(double.objective_, rel=2e-3)  # both within tol
    assert single.dual_objective_ <= (1 + 1e-5) * double.objective_
    assert double.dual_objective_ <= (1 + 1e-5) * single.objective_
    errors = [
        1 - model.score(X_test.astype(kind), y_test == 8)
        for model, kind in ((single, np.float32), (double, np.float64))
    ]
    assert errors[0] == pytest.approx(errors[1], abs=1.5 / len(y_test))
    assert max(errors) < 0.018  # always saying no: 8.3%


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ten_classes_of_usps_reach_the_error_that_is_known():
    X, y = load_usps("train")
    X_test, y_test = load_usps("test")
    options = {"gamma": 1 / 64, "random_state": 0, "n_jobs": -1}
    sdca = KernelPegasosClassifier(1 / (10 * len(y)), solver="sdca", tol=1e-2, **options)
    pegasos = KernelPegasosClassifier(1 / (10 * len(y)), max_iter=5, tol=None, **options)
    perceptron = KernelPerceptronClassifier(**options, average="uniform", max_iter=10)
    # A standard error of 5% of 2,007 rows is 0.5%.
    for model, error in ((sdca, 0.049), (pegasos, 0.055), (perceptron, 0.056)):
        assert 1 - model.fit(X, y).score(X_test, y_test) == pytest.approx(error, abs=0.005)
    assert np.all(sdca.duality_gap_ <= 0.01 * sdca.objective_)
    assert np.all(pegasos.dual_objective_ <= sdca.objective_)
