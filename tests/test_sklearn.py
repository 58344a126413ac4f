"""The estimators do what scikit-learn and its users expect."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from pegasos import PegasosClassifier, PerceptronClassifier

# Sample weights equal repetition to the last digits only where the order of the rows leaves no
# trace: at the optimum (sdca, run until the gap is rounding) and with the whole data as one batch.
ORDER_FREE = [
    PegasosClassifier(solver="sdca", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(solver="sdca", loss="log", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(batch_size=10_000, max_iter=100),
    PegasosClassifier(loss="log", batch_size=10_000, max_iter=100),
    PerceptronClassifier(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ORDER_FREE)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def checks_of_the_defaults():
    for estimator in (PegasosClassifier(), PegasosClassifier(solver="sdca")):
        for instance, check in estimator_checks_generator(estimator):
            # Weighted and repeated rows make other random draws; their objectives agree, and
            # test_linear.py holds the fits to that.
            if "check_sample_weight_equivalence" not in str(check):
                yield pytest.param(instance, check, id=f"{estimator.solver}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks_of_the_defaults()))
def test_the_defaults_pass_all_checks_but_the_one_of_weights(estimator, check):
    check(estimator)


def test_a_pipeline_in_a_grid_search_finds_the_better_lam(make_blobs):
    # One row in twenty is of class 1: so strong a regulariser sees only the majority.
    X, y = make_blobs(n_rows=1000, noise=0.5)
    rare = (y == 0) | (np.arange(1000) % 20 == 0)
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(solver="sdca", random_state=0))
    search = GridSearchCV(pipeline, {"pegasosclassifier__lam": [1e-2, 1e3]}, cv=3)
    search.fit(1000 * X[rare], y[rare])
    assert search.best_params_ == {"pegasosclassifier__lam": 1e-2}
    assert search.best_score_ > 1 - y[rare].mean()


def test_calibration_gives_the_hinge_probabilities(blobs):
    X, y = blobs
    base = PegasosClassifier(0.01, random_state=0)
    calibrated = CalibratedClassifierCV(base, cv=3).fit(X, y, sample_weight=np.ones(len(X)))
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean((probabilities[:, 1] > 0.5) == y) > 0.85


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", [PegasosClassifier(0.1), PerceptronClassifier()], ids=str)
def test_frames_give_the_model_of_their_numbers_and_keep_the_names(separable, frame, estimator):
    X, y = separable
    names = [f"x{j}" for j in range(X.shape[1])]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    labels = (pd.Series if frame is pd.DataFrame else pl.Series)(np.where(y, "yes", "no"))
    model = clone(estimator).set_params(random_state=0).fit(table, labels)
    plain = clone(estimator).set_params(random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predict(table).tolist() == np.where(plain.predict(X), "yes", "no").tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[names[::-1]])


def test_sample_weights_are_routed_through_a_pipeline_and_cross_validation(blobs):
    X, y = blobs
    weight = np.where(y, 1.0, 50.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PegasosClassifier(0.01, solver="sdca", random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        routed.fit(X, y, sample_weight=weight)
        plain = clone(routed).fit(X, y)
        scores = cross_validate(routed, X, y, cv=3, params={"sample_weight": weight})
    assert routed.predict(X).mean() < plain.predict(X).mean()
    assert np.all(np.isfinite(scores["test_score"]))


@pytest.mark.parametrize(
    "model",
    [
        PegasosClassifier(0.01, warm_start=True, random_state=0),
        PegasosClassifier(0.01, solver="sdca", warm_start=True, random_state=0),
        PerceptronClassifier(warm_start=True, random_state=0),
    ],
    ids=str,
)
def test_a_pickled_model_predicts_and_goes_on_as_the_original(separable, model):
    X, y = separable
    model = clone(model).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    model.fit(X[::-1], y[::-1])
    twin.fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(twin.coef_, model.coef_)


def test_generators_and_random_states_draw_too(blobs):
    X, y = blobs
    first, again = (
        PegasosClassifier(max_iter=1, tol=None, random_state=np.random.default_rng(7)).fit(X, y)
        for _ in range(2)
    )
    by_seed = PegasosClassifier(max_iter=1, tol=None, random_state=7).fit(X, y)
    assert np.array_equal(first.coef_, again.coef_)
    assert np.array_equal(first.coef_, by_seed.coef_)
    one, other = (
        PegasosClassifier(max_iter=1, tol=None, random_state=np.random.RandomState(seed)).fit(X, y)
        for seed in (0, 1)
    )
    assert not np.array_equal(one.coef_, other.coef_)
