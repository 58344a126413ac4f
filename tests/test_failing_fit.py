"""A fit that fails, for whatever reason, leaves the estimator as it was."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import pegasos

NAMES = ["a", "b", "c"]
ESTIMATORS = [
    pegasos.PegasosClassifier(max_iter=5, tol=None, random_state=0),
    pegasos.PegasosClassifier(max_iter=5, tol=None, random_state=0, solver="sdca", warm_start=True),
    pegasos.PerceptronClassifier(random_state=0),
    pegasos.KernelPegasosClassifier(max_iter=5, tol=None, random_state=0),
    pegasos.KernelPerceptronClassifier(random_state=0),
    pegasos.PegasosCV((0.1, 1.0), steps=(10,), cv=2, random_state=0),
    pegasos.KernelPegasosCV((0.1, 1.0), steps=(10,), cv=2, random_state=0),
]
EVERY_ESTIMATOR = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{getattr(e, 'solver', '')}"
)


def frame(names=NAMES):
    """Two classes that are far apart: no perceptron complains."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    values = 0.1 * rng.standard_normal((40, len(names))) + y[:, np.newaxis] - 0.5
    return pd.DataFrame(values, columns=names), y


@EVERY_ESTIMATOR
@pytest.mark.parametrize(
    "wrong",
    [
        lambda X, y: (X, np.zeros(40)),
        lambda X, y: (X * np.nan, y),
        lambda X, y: (X, y[:30]),
    ],
    ids=["one class", "nan", "lengths"],
)
def test_a_fit_that_fails_leaves_the_model_of_the_last_one(estimator, wrong):
    model = clone(estimator).fit(*frame())
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError, match=r"class|NaN|inconsistent"):
        model.fit(*wrong(*frame(["p", "q"])))
    assert pickle.dumps(vars(model)) == before
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == NAMES
    assert model.score(*frame()) == 1


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
@pytest.mark.parametrize("estimator", [pegasos.PegasosClassifier, pegasos.KernelPegasosClassifier])
def test_a_fit_that_fails_after_all_checks_leaves_the_model_of_the_last_one(estimator, solver):
    options = {"kernel": "linear"} if estimator is pegasos.KernelPegasosClassifier else {}
    model = estimator(solver=solver, max_iter=5, tol=None, random_state=0, **options).fit(*frame())
    before = pickle.dumps(vars(model))
    X, y = frame(["p", "q"])
    with pytest.raises(ValueError, match="overflows"):
        model.fit(X * 1e200, y)
    assert pickle.dumps(vars(model)) == before


@EVERY_ESTIMATOR
def test_a_first_fit_that_fails_leaves_an_estimator_without_a_trace(estimator):
    model = clone(estimator)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="class"):
        model.fit(frame()[0], np.zeros(40))
    assert vars(model) == before


@pytest.mark.parametrize(
    "estimator",
    [e for e in ESTIMATORS if hasattr(e, "partial_fit")],
    ids=lambda e: type(e).__name__,
)
def test_a_first_partial_fit_that_fails_leaves_an_estimator_without_a_trace(estimator):
    model = clone(estimator)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(*frame())
    assert vars(model) == before


def test_ctrl_c_leaves_the_model_of_the_last_fit():
    X, y = frame()
    model = pegasos.KernelPegasosClassifier(max_iter=5, tol=None, random_state=0).fit(X, y)
    before = pickle.dumps(vars(model))

    def interrupted(A, B):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(kernel=interrupted).fit(X[["a", "b"]], y)
    assert pickle.dumps(vars(model.set_params(kernel="rbf"))) == before
