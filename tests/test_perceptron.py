"""PerceptronClassifier as its users see it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import PerceptronClassifier, reference


def test_learns_or_by_hand():
    # (0,0) -> 0, all others -> 1, visited in order with a constant feature of 1:
    # mistakes on rows 0, 1 / 0, 2 / 0, and then none; worked by hand below.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([0, 1, 1, 1])
    model = PerceptronClassifier()
    model.partial_fit(X, y, classes=[0, 1])
    # From w = 0: row 0 scores 0: (0, 0, -1). Row 1: -1: (0, 1, 0). Row 2: 0: (1, 1, 1). Row 3: 3.
    np.testing.assert_array_equal(model.coef_, [[1, 1]])
    assert (model.intercept_[0], model.n_violations_) == (1, 3)


def test_stops_after_an_epoch_without_mistakes(separable):
    X, y = separable
    model = PerceptronClassifier(random_state=0).fit(X, y)
    assert model.history_[-1]["violations"] == 0
    assert all(record["violations"] > 0 for record in model.history_[:-1])
    assert model.n_iter_ == len(model.history_) < model.max_iter
    assert model.n_steps_ == model.n_iter_ * len(X)
    assert model.score(X, y) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_max_steps_overrides_max_iter_and_may_end_within_an_epoch(blobs):
    X, y = blobs
    model = PerceptronClassifier(max_steps=250, random_state=0).fit(X, y)
    assert (model.n_steps_, model.n_iter_) == (250, 2)
    rng = np.random.default_rng(0)
    order = [rng.permutation(200), rng.permutation(200)[:50]]
    with_constant = np.column_stack([X, np.ones(200)])
    run = reference.perceptron(with_constant, np.where(y, 1.0, -1.0), order)
    np.testing.assert_allclose(model.coef_[0], run.w[:-1], rtol=1e-9)


def test_says_that_it_may_never_stop(blobs):
    X, y = blobs
    message = r"still made \d+ mistakes in the last of 3 epochs"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        PerceptronClassifier(max_iter=3, random_state=0).fit(X, y)
    assert caught[0].filename == __file__  # it points at the user's line


@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_replays_the_reference_draw_for_draw(blobs, average):
    X, y = blobs
    model = PerceptronClassifier(
        max_iter=4, average=average, fit_intercept=False, random_state=5
    ).fit(X, y)
    rng = np.random.default_rng(5)
    order = [rng.permutation(len(X)) for _ in range(4)]
    run = reference.perceptron(X, np.where(y, 1.0, -1.0), order, average=average)
    np.testing.assert_allclose(model.coef_[0], run.w, rtol=1e-9)
    assert [record["violations"] for record in model.history_] == run.mistakes_per_epoch


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_each_class_stops_by_itself_and_no_thread_matters(three_classes, n_jobs):
    X, y = three_classes
    X = X + 4 * np.column_stack([y == "ant", y == "bee"])
    model = PerceptronClassifier(max_iter=20, random_state=0, n_jobs=n_jobs).fit(X, y)
    for k, label in enumerate(model.classes_):
        alone = clone(model).fit(X, y == label)
        np.testing.assert_array_equal(alone.coef_[0], model.coef_[k])
        assert alone.n_violations_ == model.n_violations_[k]


@pytest.mark.parametrize("average", [None, "uniform"])
def test_two_halves_of_partial_fit_equal_one_pass(blobs, average):
    X, y = blobs
    whole = PerceptronClassifier(average=average).partial_fit(X, y, classes=[0, 1])
    halves = PerceptronClassifier(average=average)
    halves.partial_fit(X[:60], y[:60], classes=[0, 1]).partial_fit(X[60:], y[60:])
    assert np.array_equal(whole.coef_, halves.coef_)
    assert whole.n_steps_ == halves.n_steps_ == 200


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_goes_on_with_the_weights_and_the_draws(blobs):
    X, y = blobs
    whole = PerceptronClassifier(max_iter=6, random_state=0).fit(X, y)
    parts = PerceptronClassifier(max_iter=3, warm_start=True, random_state=0)
    parts.fit(X, y).fit(X, y)
    assert np.array_equal(parts.coef_, whole.coef_)
    assert parts.n_steps_ == whole.n_steps_
    assert parts.n_iter_ == 3


def test_a_warm_started_fit_goes_on_after_partial_fit(separable):
    X, y = separable
    model = PerceptronClassifier(warm_start=True, random_state=0)
    model.partial_fit(X[:50], y[:50], classes=[0, 1]).fit(X, y)
    assert model.n_steps_ == 50 + model.n_iter_ * len(X)
    assert model.score(X, y) == 1


def test_verbose_shows_mistakes_on_stderr(separable, capsys):
    X, y = separable
    PerceptronClassifier(verbose=1, random_state=0).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "mistakes" in captured.err
