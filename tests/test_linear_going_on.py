"""PegasosClassifier going on: partial_fit and warm starts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import PegasosClassifier, reference


@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
@pytest.mark.parametrize("project", [False, True])
def test_two_halves_of_partial_fit_equal_one_pass(blobs, average, project):
    X, y = blobs
    whole = PegasosClassifier(0.01, average=average, project=project)
    halves = clone(whole)
    whole.partial_fit(X, y, classes=[0, 1])
    halves.partial_fit(X[:77], y[:77], classes=[0, 1]).partial_fit(X[77:], y[77:])
    assert np.array_equal(whole.coef_, halves.coef_)
    assert np.array_equal(whole.intercept_, halves.intercept_)
    assert (whole.n_steps_, whole.n_violations_) == (halves.n_steps_, halves.n_violations_)


def test_partial_fit_replays_the_reference_in_the_order_given(blobs):
    X, y = blobs
    model = PegasosClassifier(0.01, average=None, fit_intercept=False, batch_size=5)
    model.partial_fit(X, y, classes=[0, 1])
    run = reference.pegasos(X, np.where(y, 1.0, -1.0), 0.01, np.arange(len(X)), batch_size=5)
    np.testing.assert_allclose(model.coef_[0], run.w, rtol=1e-9)
    assert model.n_violations_ == run.violations


def test_partial_fit_goes_on_after_fit_and_drops_the_certificate(blobs):
    X, y = blobs
    model = PegasosClassifier(0.01, max_iter=2, tol=None, random_state=0).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X, y)
    assert model.n_steps_ == 600
    assert not np.array_equal(before, model.coef_)
    assert not hasattr(model, "duality_gap_")


def test_partial_fit_balances_by_the_rows_seen_so_far():
    rng = np.random.default_rng(0)
    y = (np.arange(400) % 10 == 0).astype(int)
    X = rng.standard_normal((400, 2)) + 2 * y[:, np.newaxis]
    model = PegasosClassifier(0.01, class_weight="balanced")
    model.partial_fit(X, y, classes=[0, 1])
    by_hand = PegasosClassifier(0.01)
    by_hand.partial_fit(X, y, classes=[0, 1], sample_weight=np.where(y, 400 / 80, 400 / 720))
    np.testing.assert_allclose(model.coef_, by_hand.coef_)


def test_partial_fit_may_meet_a_class_late(three_classes):
    X, y = three_classes
    model = PegasosClassifier(0.01, class_weight="balanced")
    first = y != "cat"
    model.partial_fit(X[first], y[first], classes=["cat", "ant", "bee"])
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("options", [{}, {"sampling": "uniform"}, {"batch_size": 8}], ids=str)
def test_two_warm_starts_make_the_steps_of_one_fit(blobs, options):
    X, y = blobs
    options = {"tol": None, "random_state": 3, **options}
    whole = PegasosClassifier(0.01, max_steps=310, **options).fit(X, y)
    parts = PegasosClassifier(0.01, max_steps=155, warm_start=True, **options)
    parts.fit(X, y).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    assert parts.n_steps_ == whole.n_steps_ == 310
    assert parts.n_violations_ == whole.n_violations_


def test_a_warm_started_bound_is_true_for_new_data(blobs):
    X, y = blobs
    model = PegasosClassifier(0.05, warm_start=True, tol=None, max_iter=20, random_state=0)
    model.fit(X, y).fit(X[::-1] * 3, 1 - y)
    fresh = PegasosClassifier(0.05, solver="sdca", tol=1e-6).fit(X[::-1] * 3, 1 - y)
    assert model.dual_objective_ <= fresh.objective_
    assert fresh.dual_objective_ <= model.objective_


def test_a_warm_start_within_an_epoch_keeps_the_bound_true(make_blobs):
    # A row can come twice before the epoch that was begun earlier ends.
    for seed in range(40):
        X, y = make_blobs(n_rows=8, n_features=3, seed=seed)
        if len(np.unique(y)) < 2:
            continue
        model = PegasosClassifier(0.1, warm_start=True, tol=None, max_steps=4, random_state=seed)
        model.fit(X, y).set_params(max_steps=8).fit(X, y)
        optimum = PegasosClassifier(0.1, solver="sdca", tol=1e-9).fit(X, y).objective_
        assert model.dual_objective_ <= optimum <= model.objective_ + 1e-9


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_warm_starts_follow_a_path_of_lam(blobs, solver):
    X, y = blobs
    model = PegasosClassifier(1.0, solver=solver, warm_start=True, random_state=0)
    for lam in (1.0, 0.3, 0.1, 0.03):
        model.set_params(lam=lam).fit(X, y)
        cold = PegasosClassifier(lam, solver="sdca", tol=1e-6).fit(X, y)
        assert model.objective_ <= 1.01 * cold.objective_
        assert model.dual_objective_ <= cold.objective_


def test_sdca_goes_on_from_its_dual_point(blobs):
    X, y = blobs
    model = PegasosClassifier(
        1e-3, solver="sdca", warm_start=True, tol=None, max_iter=50, random_state=0
    )
    bounds = [model.fit(X, y).dual_objective_ for _ in range(4)]
    assert bounds == sorted(bounds)
    assert model.duality_gap_ < 1e-3 * model.objective_


def test_partial_fit_after_sdca_says_why_it_cannot_go_on(blobs):
    X, y = blobs
    for warm_start in (False, True):
        model = PegasosClassifier(0.01, solver="sdca", warm_start=warm_start, random_state=0)
        model.fit(X, y).set_params(solver="pegasos")
        with pytest.raises(ValueError, match=r"solver='sdca'; clone it"):
            model.partial_fit(X, y)


def test_balanced_partial_fit_goes_by_the_rows_of_an_earlier_fit_too():
    rng = np.random.default_rng(0)
    y = (np.arange(100) < 10).astype(int)
    X = rng.standard_normal((100, 2)) + 2 * y[:, np.newaxis]
    model = PegasosClassifier(0.01, class_weight="balanced", max_iter=1, tol=None, random_state=0)
    twin = clone(model).fit(X, y)
    model.fit(X, y).partial_fit(X, y)
    # 20 of 200 rows seen are of class 1: the weights are those of the fit.
    twin.set_params(class_weight=None)
    twin.partial_fit(X, y, sample_weight=np.where(y, 200 / 40, 200 / 360))
    np.testing.assert_allclose(model.coef_, twin.coef_)


def test_an_early_stop_leaves_a_generator_where_one_thread_leaves_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 3))  # enough for the thread that shuffles ahead
    y = X[:, 0] > 0
    left = []
    for n_jobs in (1, 2):
        generator = np.random.default_rng(3)
        PegasosClassifier(0.1, random_state=generator, n_jobs=n_jobs).fit(X, y)
        left.append(generator.integers(1_000_000))
    assert left[0] == left[1]


def test_the_start_of_sdca_goes_by_the_rows_not_by_the_size_of_the_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2)) / np.sqrt(2)
    y = X[:, 0] > 0
    for lam in (1.0, 1e-4):
        model = PegasosClassifier(lam, solver="sdca", max_iter=3, tol=None, random_state=0)
        plain = clone(model).fit(X, y)
        for weight in (2.0**-20, 2.0**20):
            scaled = clone(model).fit(X, y, sample_weight=np.full(1000, weight))
            np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-9)


def test_sdca_going_on_never_returns_worse_weights(blobs):
    X, y = blobs
    X = np.tile(X[:, :1], (3, 1))  # many rows of one feature: it starts with gradient steps
    y = np.tile(y, 3)
    model = PegasosClassifier(
        1e-5, solver="sdca", warm_start=True, tol=None, max_steps=600, random_state=0
    )
    objectives = [model.fit(X, y).objective_ for _ in range(5)]
    assert objectives == sorted(objectives, reverse=True)


def test_another_intercept_is_refused_when_going_on(blobs):
    X, y = blobs
    model = PegasosClassifier(0.01, warm_start=True, max_iter=1, tol=None).fit(X, y)
    for change in ({"fit_intercept": False}, {"intercept_scaling": 2.0}):
        changed = clone(model).fit(X, y).set_params(**change)
        with pytest.raises(ValueError, match="may not change between calls"):
            changed.fit(X, y)
        with pytest.raises(ValueError, match="may not change between calls"):
            changed.partial_fit(X, y)


def test_a_batch_larger_than_the_rows_of_partial_fit_is_all_of_them(blobs):
    X, y = blobs
    huge = PegasosClassifier(0.01, batch_size=10**12).partial_fit(X, y, classes=[0, 1])
    exact = PegasosClassifier(0.01, batch_size=len(X)).partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(huge.coef_, exact.coef_)
    assert huge.n_steps_ == 1


def test_the_warning_names_max_steps_where_they_were_given(three_classes):
    X, y = three_classes
    with pytest.warns(ConvergenceWarning, match=r"worst class.*raise max_steps"):
        PegasosClassifier(1e-6, max_steps=10, random_state=0).fit(X, y)
