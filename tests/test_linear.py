"""PegasosClassifier as its users see it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, reference

EVERY_SOLVER = pytest.mark.parametrize(
    "options",
    [
        {"solver": "pegasos"},
        {"solver": "pegasos", "sampling": "uniform"},
        {"solver": "pegasos", "loss": "log"},
        {"solver": "pegasos", "batch_size": 7, "project": True},
        {"solver": "sdca"},
        {"solver": "sdca", "loss": "log"},
        {"solver": "sdca", "average": None, "sampling": "uniform"},
    ],
    ids=str,
)


def signs(model, y):
    return np.where(y == model.classes_[1], 1.0, -1.0)


@EVERY_SOLVER
def test_the_objective_reported_is_that_of_the_coefficients(blobs, options):
    X, y = blobs
    model = PegasosClassifier(0.01, **options, random_state=0).fit(X, y)
    with_constant = np.column_stack([X, np.ones(len(X))])
    w = np.append(model.coef_, model.intercept_)
    expected = reference.primal_objective(w, with_constant, signs(model, y), 0.01, model.loss)
    assert model.objective_ == pytest.approx(expected, rel=1e-12)


@EVERY_SOLVER
def test_stops_at_the_relative_gap_asked_for(blobs, options):
    X, y = blobs
    model = PegasosClassifier(0.05, **options, tol=0.02, random_state=0).fit(X, y)
    assert 0 <= model.duality_gap_ <= 0.02 * model.objective_
    assert model.n_iter_ < model.max_iter
    assert model.objective_ - model.dual_objective_ == pytest.approx(model.duality_gap_)


def test_says_the_gap_and_the_remedy_when_the_steps_run_out(blobs):
    X, y = blobs
    message = r"duality gap of .*%.*solver='sdca'.*tol=None"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        PegasosClassifier(1e-6, max_iter=2, random_state=0).fit(X, y)
    assert caught[0].filename == __file__  # it points at the user's line


def test_runs_all_steps_without_a_word_when_tol_is_none(blobs):
    X, y = blobs
    model = PegasosClassifier(1e-6, max_iter=3, tol=None, random_state=0).fit(X, y)
    assert (model.n_iter_, model.n_steps_) == (3, 600)


def test_max_steps_overrides_max_iter_and_may_be_less_than_an_epoch(blobs):
    X, y = blobs
    model = PegasosClassifier(max_steps=17, tol=None, random_state=0).fit(X, y)
    assert (model.n_iter_, model.n_steps_) == (1, 17)


@EVERY_SOLVER
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_no_result_depends_on_the_number_of_threads(three_classes, options, n_jobs):
    X, y = three_classes
    one = PegasosClassifier(1e-3, **options, max_iter=6, tol=None, random_state=0)
    many = clone(one).set_params(n_jobs=n_jobs).fit(X, y)
    one.fit(X, y)
    assert np.array_equal(one.coef_, many.coef_)
    assert np.array_equal(one.dual_objective_, many.dual_objective_)
    assert np.array_equal(one.predict(X), many.predict(X))


def test_shuffling_ahead_on_a_second_thread_changes_no_bit():
    # Large enough for the thread that shuffles ahead.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 3))
    y = X @ [1, -1, 0.5] + 0.1 * rng.standard_normal(40_000) > 0
    for options in ({"solver": "pegasos", "batch_size": 3}, {"solver": "sdca"}):
        fits = [
            PegasosClassifier(1e-4, max_iter=3, tol=None, random_state=0, n_jobs=n, **options)
            for n in (1, 2)
        ]
        one, two = (model.fit(X, y) for model in fits)
        assert np.array_equal(one.coef_, two.coef_)
        assert one.duality_gap_ == two.duality_gap_


@EVERY_SOLVER
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_that_are_worth_starting_change_no_bit(options, sparse, n_classes):
    # Enough numbers for threads in passes and steps, and for one that copies the sparse rows.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((51_000, 80)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.standard_normal(51_000), [0.0, 0.5][: n_classes - 1])
    X = sp.csr_array(X) if sparse else X
    one, two = (
        PegasosClassifier(1e-4, max_iter=2, tol=None, random_state=0, n_jobs=n, **options).fit(X, y)
        for n in (1, 2)
    )
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.duality_gap_, two.duality_gap_)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_each_class_of_several_is_the_binary_fit_against_the_rest(three_classes):
    X, y = three_classes
    model = PegasosClassifier(0.01, max_iter=5, tol=None, random_state=0).fit(X, y)
    assert model.coef_.shape == (3, 2)
    for k, label in enumerate(model.classes_):
        alone = clone(model).fit(X, y == label)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0])
        assert model.objective_[k] == pytest.approx(alone.objective_)
        assert model.dual_objective_[k] == pytest.approx(alone.dual_objective_)
        assert model.n_violations_[k] == alone.n_violations_


def test_history_ends_with_the_certificate_and_moves_forward(blobs):
    X, y = blobs
    model = PegasosClassifier(1e-3, solver="sdca", tol=1e-6, random_state=0).fit(X, y)
    last = model.history_[-1]
    assert last["objective"] == model.objective_
    assert last["dual"] == model.dual_objective_
    assert last["gap"] == model.duality_gap_
    assert last["violations"] == model.n_violations_
    steps = [record["step"] for record in model.history_]
    seconds = [record["seconds"] for record in model.history_]
    bounds = [record["dual"] for record in model.history_]
    assert steps == sorted(set(steps))
    assert steps[-1] == model.n_steps_
    assert seconds == sorted(seconds)
    assert bounds == sorted(bounds)


def test_dense_and_sparse_data_mean_the_same_model(blobs):
    X, y = blobs
    X[X < 0.3] = 0
    dense = PegasosClassifier(0.01, max_iter=5, tol=None, random_state=0).fit(X, y)
    sparse = clone(dense).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_larger_intercept_scaling_is_one_more_feature_of_that_value(blobs, loss):
    X, y = blobs
    model = PegasosClassifier(
        0.01, loss=loss, intercept_scaling=5, max_iter=3, tol=None, random_state=0
    ).fit(X, y)
    longer = clone(model).set_params(fit_intercept=False)
    longer.fit(np.column_stack([X, np.full(len(X), 5.0)]), y)
    np.testing.assert_allclose(longer.coef_[0, :-1], model.coef_[0], rtol=1e-9)
    assert longer.coef_[0, -1] * 5 == pytest.approx(model.intercept_[0])
    assert longer.intercept_ == 0


# --- Sample and class weights ---------------------------------------------------------------


@EVERY_SOLVER
def test_a_row_of_weight_zero_is_a_row_left_out(blobs, options):
    X, y = blobs
    weight = np.arange(len(X)) % 3 > 0
    model = PegasosClassifier(0.01, **options, max_iter=4, tol=None, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight.astype(float))
    left_out = model.fit(X[weight], y[weight])
    np.testing.assert_allclose(weighted.coef_, left_out.coef_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(left_out.objective_)
    assert weighted.dual_objective_ == pytest.approx(left_out.dual_objective_)


@EVERY_SOLVER
def test_only_the_ratios_of_the_weights_matter(blobs, options):
    X, y = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = PegasosClassifier(0.01, **options, max_iter=4, tol=None, random_state=0)
    once = clone(model).fit(X, y, sample_weight=weight)
    # A power of two scales without rounding, so no decision can differ.
    scaled = clone(model).fit(X, y, sample_weight=8 * weight)
    np.testing.assert_allclose(scaled.coef_, once.coef_, rtol=1e-9)
    assert scaled.duality_gap_ == pytest.approx(once.duality_gap_, rel=1e-6)


@EVERY_SOLVER
def test_weights_mean_repetition(blobs, options):
    X, y = blobs
    weight = np.random.default_rng(0).integers(1, 5, len(X))
    weighted = PegasosClassifier(0.05, **options, tol=1e-2, random_state=0)
    repeated = clone(weighted).fit(X.repeat(weight, axis=0), y.repeat(weight))
    weighted.fit(X, y, sample_weight=weight)
    # One problem, two certificates: each bound holds for the other's objective.
    assert weighted.dual_objective_ <= repeated.objective_
    assert repeated.dual_objective_ <= weighted.objective_
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-2)


def test_balanced_classes_weigh_the_same():
    rng = np.random.default_rng(0)
    y = (np.arange(1000) < 50).astype(int)
    X = rng.standard_normal((1000, 2)) + y[:, np.newaxis]
    plain = PegasosClassifier(0.01, solver="sdca", random_state=0).fit(X, y)
    balanced = PegasosClassifier(0.01, solver="sdca", class_weight="balanced", random_state=0)
    balanced.fit(X, y)
    by_hand = clone(plain).fit(X, y, sample_weight=np.where(y, 1000 / 100, 1000 / 1900))
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_)
    assert plain.predict(X).mean() < 0.01 < 0.2 < balanced.predict(X).mean()


def test_class_weights_multiply_sample_weights(blobs):
    X, y = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = PegasosClassifier(0.01, max_iter=3, tol=None, random_state=0)
    both = clone(model).set_params(class_weight={1: 3.0}).fit(X, y, sample_weight=weight)
    by_hand = model.fit(X, y, sample_weight=weight * np.where(y == 1, 3, 1))
    np.testing.assert_allclose(both.coef_, by_hand.coef_)


# --- Scores, probabilities, coefficients ------------------------------------------------------


def test_probabilities_are_the_logistic_of_the_score(blobs):
    X, y = blobs
    model = PegasosClassifier(0.01, loss="log", random_state=0).fit(X, y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_probabilities_of_several_classes_sum_to_one(three_classes):
    X, y = three_classes
    model = PegasosClassifier(0.01, loss="log", random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert np.all(np.isfinite(model.predict_log_proba(1e6 * X)))


def test_the_hinge_has_no_probabilities_and_says_so(blobs):
    X, y = blobs
    model = PegasosClassifier(0.01, random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)


def test_sparsify_and_densify_keep_every_prediction(three_classes):
    X, y = three_classes
    model = PegasosClassifier(0.01, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    dense = model.coef_.copy()
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), scores)
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), scores)
    bad = X.copy()
    bad[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(bad)
    assert np.array_equal(model.densify().coef_, dense)
    assert np.array_equal(model.densify().coef_, dense)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_, np.float16])
def test_small_numbers_become_float32_not_float64(dtype):
    X = np.random.default_rng(0).integers(0, 2, (50, 4)).astype(dtype)
    for data in (X, sp.csr_array(X.astype(np.int8))):
        assert PegasosClassifier()._check_data(data, reset=True).dtype == np.float32


def test_float32_and_float64_data_stay_where_they_are(blobs):
    X, y = blobs
    for data in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_array(X.astype(np.float32))):
        before = data.copy()
        checked = PegasosClassifier()._check_data(data, reset=True)
        values = [data.data, checked.data] if sp.issparse(data) else [data, checked]
        assert np.shares_memory(*values)
        PegasosClassifier(0.01, random_state=0).fit(data, y)
        assert (data != before).sum() == 0


def test_verbose_shows_objective_and_gap_on_stderr(blobs, capsys):
    X, y = blobs
    PegasosClassifier(0.01, max_iter=20, tol=None, verbose=1, random_state=0).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "PegasosClassifier" in captured.err
    assert "objective" in captured.err
    assert "gap" in captured.err


def test_an_interrupted_fit_leaves_the_earlier_model(blobs, monkeypatch):
    X, y = blobs
    model = PegasosClassifier(0.01, warm_start=True, random_state=0).fit(X, y)
    coef, steps = model.coef_.copy(), model.n_steps_

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pegasos._pegasos_run._core.pegasos_steps", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert np.array_equal(model.coef_, coef)
    assert model.n_steps_ == steps
    model.fit(X, y)


def test_scaled_data_reaches_one_percent_with_the_defaults():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    model = PegasosClassifier(random_state=0).fit(StandardScaler().fit_transform(X), y)
    assert model.duality_gap_ <= 0.01 * model.objective_
