"""The estimators do what scikit-learn and its users expect."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosCV,
    KernelPerceptronClassifier,
    PegasosClassifier,
    PegasosCV,
    PerceptronClassifier,
)

from .kernel_helpers import noisy_rows, shared_letters

# Sample weights equal repetition to the last digits only where the order of the rows leaves no
# trace: at the optimum (sdca, run until the gap is rounding) and with the whole data as one batch.
ORDER_FREE = [
    PegasosClassifier(solver="sdca", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(solver="sdca", loss="log", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(batch_size=10_000, max_iter=100),
    PegasosClassifier(loss="log", batch_size=10_000, max_iter=100),
    PerceptronClassifier(),
    # Some of the checks have two rows of a class only.
    PegasosCV((0.1, 1.0), steps=(300,), batch_size=10_000, cv=2),
    # gamma="scale" goes by the variance of the rows given: repetition changes it, weights do not.
    KernelPegasosClassifier(solver="sdca", gamma=0.01, lam=0.1, tol=1e-13),
    KernelPegasosClassifier(solver="sdca", loss="log", gamma=0.01, lam=0.1, tol=1e-13),
    KernelPerceptronClassifier(),
    KernelPerceptronClassifier(kernel="poly", coef0=1.0, average="uniform"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ORDER_FREE)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


DEFAULTS = {
    "pegasos": PegasosClassifier(),
    "sdca": PegasosClassifier(solver="sdca"),
    "kernel-pegasos": KernelPegasosClassifier(),
    "kernel-sdca": KernelPegasosClassifier(solver="sdca"),
    # The best of several T, judged without weights, would not be the one of the extreme weights.
    "log-cv": PegasosCV((0.1,), steps=(5_000,), losses=("log",), cv=2),
    "kernel-cv": KernelPegasosCV((1e-3, 0.1), steps=(50, 1000), cv=2),
    "kernel-poly": KernelPegasosClassifier(
        kernel="poly", degree=2, coef0=1.0, loss="log", sampling="uniform", average="uniform"
    ),
}


def checks_of_the_defaults():
    for name, estimator in DEFAULTS.items():
        for instance, check in estimator_checks_generator(estimator):
            # Weighted and repeated rows make other random draws; their objectives agree, and
            # test_linear.py and test_kernel_weights.py hold the fits to that.
            if "check_sample_weight_equivalence" not in str(check):
                yield pytest.param(instance, check, id=f"{name}-{check.func.__name__}")


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


# --- Kernel machines ------------------------------------------------------------------------------

KERNEL_MACHINES = pytest.mark.parametrize(
    "model",
    [
        KernelPegasosClassifier(0.01, gamma=0.3, random_state=0),
        KernelPegasosClassifier(0.01, gamma=0.3, solver="sdca", random_state=0),
        KernelPerceptronClassifier(gamma=0.3, random_state=0),
    ],
    ids=["pegasos", "sdca", "perceptron"],
)


@KERNEL_MACHINES
@pytest.mark.parametrize("kernel", ["rbf", "precomputed", shared_letters])
def test_a_pickled_kernel_machine_predicts_and_goes_on_as_the_original(
    separable, model, kernel, tmp_path
):
    X, y = separable
    if kernel == "precomputed":
        X = rbf_kernel(X, gamma=0.3)
    elif callable(kernel):
        X = [f"{'abc' if label else 'xyz'}{i}" for i, label in enumerate(y)]
    model = clone(model).set_params(kernel=kernel, warm_start=True).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")  # its arrays are read-only
    twin = pickle.loads(pickle.dumps(model))
    for other in (twin, mapped):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    model.fit(X, y)
    for other in (twin, mapped):
        np.testing.assert_array_equal(other.fit(X, y).dual_coef_, model.dual_coef_)


def test_a_pickled_kernel_machine_goes_on_with_partial_fit(blobs):
    X, y = blobs
    model = KernelPegasosClassifier(0.01, gamma=0.3).partial_fit(X[:90], y[:90], classes=[0, 1])
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        twin.partial_fit(X[90:], y[90:]).dual_coef_, model.partial_fit(X[90:], y[90:]).dual_coef_
    )


@KERNEL_MACHINES
def test_parameters_are_kept_as_given_and_cloned(model):
    parameters = model.get_params()
    assert type(model)(**parameters).get_params() == parameters
    assert clone(model).get_params() == parameters
    changed = clone(model).set_params(gamma=7.0, memory="1GB", kernel="poly")
    assert (changed.gamma, changed.memory, changed.kernel) == (7.0, "1GB", "poly")
    assert repr(model).startswith(type(model).__name__ + "(gamma=0.3")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@KERNEL_MACHINES
def test_cross_validation_slices_a_precomputed_kernel_both_ways(model):
    X, y, _ = noisy_rows(0, n_rows=120)
    K = rbf_kernel(X, gamma=0.3)
    splits = KFold(4, shuffle=True, random_state=0)
    by_name = cross_val_predict(model, X, y, cv=splits, method="decision_function")
    by_matrix = cross_val_predict(
        clone(model).set_params(kernel="precomputed"), K, y, cv=splits, method="decision_function"
    )
    np.testing.assert_allclose(by_matrix, by_name, atol=1e-6)
    assert get_tags(model).input_tags.pairwise is False
    assert get_tags(clone(model).set_params(kernel="precomputed")).input_tags.pairwise is True


def test_a_grid_search_over_lam_takes_a_precomputed_kernel():
    X, y, _ = noisy_rows(1, n_rows=120)
    y = np.where(np.hypot(X[:, 0], X[:, 1]) > 1.2, "out", "in")
    grid = {"lam": [1e-3, 1e3]}
    K = rbf_kernel(X, gamma=0.5)
    model = KernelPegasosClassifier(kernel="precomputed", solver="sdca", random_state=0)
    search = GridSearchCV(model, grid, cv=3).fit(K, y)
    by_name = GridSearchCV(clone(model).set_params(kernel="rbf", gamma=0.5), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], by_name.cv_results_["mean_test_score"]
    )
    assert search.best_params_ == {"lam": 1e-3}
    assert search.best_score_ > 0.9
    assert search.score(K, y) > 0.95


def test_a_pipeline_in_a_grid_search_finds_the_kernel_that_fits():
    # A ring around a disc, far from the unit scale: no line parts them.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    y = np.hypot(*X.T) > 1.2
    pipeline = make_pipeline(
        StandardScaler(), KernelPegasosClassifier(1e-3, solver="sdca", random_state=0)
    )
    grid = {"kernelpegasosclassifier__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(1000 * X, y)
    assert search.best_params_ == {"kernelpegasosclassifier__kernel": "rbf"}
    assert search.best_score_ > 0.9


def test_calibration_gives_the_hinge_of_kernels_probabilities(blobs):
    X, y = blobs
    base = KernelPegasosClassifier(0.01, random_state=0)
    calibrated = CalibratedClassifierCV(base, cv=3).fit(X, y, sample_weight=np.ones(len(X)))
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean((probabilities[:, 1] > 0.5) == y) > 0.85


def test_sample_weights_are_routed_to_a_kernel_machine(blobs):
    X, y = blobs
    weight = np.where(y, 1.0, 50.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = KernelPegasosClassifier(0.1, gamma=0.3, solver="sdca", random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        routed.fit(X, y, sample_weight=weight)
        plain = clone(routed).fit(X, y)
        scores = cross_validate(routed, X, y, cv=3, params={"sample_weight": weight})
    direct = clone(model).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_array_equal(routed[-1].dual_coef_, direct.dual_coef_)
    assert routed.predict(X).mean() < plain.predict(X).mean()
    assert np.all(np.isfinite(scores["test_score"]))


@KERNEL_MACHINES
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_kernel_machines_take_frames_and_keep_the_names(separable, frame, model):
    X, y = separable
    names = [f"x{j}" for j in range(X.shape[1])]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    labels = (pd.Series if frame is pd.DataFrame else pl.Series)(np.where(y, "yes", "no"))
    named = clone(model).fit(table, labels)
    plain = clone(model).fit(X, y)
    assert named.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(named.dual_coef_, plain.dual_coef_)
    assert named.predict(table).tolist() == np.where(plain.predict(X), "yes", "no").tolist()
    with pytest.raises(ValueError, match="feature names"):
        named.predict(table[names[::-1]])


def test_strings_may_be_cross_validated_with_a_kernel_of_strings():
    words = np.array(["apple", "maple", "palm", "ample", "zorro", "robot", "tutor", "broth"] * 3)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1] * 3)
    model = KernelPegasosClassifier(0.01, kernel=shared_letters, solver="sdca", random_state=0)
    scores = cross_validate(model, words.tolist(), y, cv=3)["test_score"]
    assert scores.tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@KERNEL_MACHINES
def test_kernel_machines_draw_from_generators_and_random_states(separable, model):
    X, y = separable
    model = clone(model).set_params(max_steps=100)
    if hasattr(model, "tol"):
        model.set_params(tol=None)
    by_seed = clone(model).set_params(random_state=7).fit(X, y)
    by_generator = clone(model).set_params(random_state=np.random.default_rng(7)).fit(X, y)
    np.testing.assert_array_equal(by_generator.support_, by_seed.support_)
    np.testing.assert_array_equal(by_generator.dual_coef_, by_seed.dual_coef_)
    one, same, other = (
        clone(model).set_params(random_state=np.random.RandomState(seed)).fit(X, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.dual_coef_, same.dual_coef_)
    assert not np.array_equal(one.support_, other.support_)
