"""KernelPerceptronClassifier as its users see it."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import KernelPerceptronClassifier, PerceptronClassifier, reference

from .core_helpers import SAMPLINGS
from .kernel_helpers import (
    KERNELS,
    SAME,
    all_signs,
    assert_same_machine,
    full_coef,
    noisy_rows,
    shared_letters,
)

MAY_NOT_STOP = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def perceptron(**options):
    return KernelPerceptronClassifier(**{"gamma": 0.3, "random_state": 0, **options})


def epochs_of(model, n_rows, n_epochs):
    rng = np.random.default_rng(model.random_state)
    return [reference.draw_rows(rng, n_rows, n_rows, model.sampling) for _ in range(n_epochs)]


def test_learns_xor_by_hand():
    # K = (<a, b> + 1)^2: 9 on the diagonal, 1 elsewhere. In order: row 0 scores 0, a mistake;
    # row 1 (-1) scores 1, a mistake; row 2 (-1) scores 1 - 1 = 0, a mistake; row 3 (+1) scores
    # 1 - 1 - 1 = -1, a mistake. Then all scores are 9 - 1 or -9 + 1.
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([1, 0, 0, 1])
    model = KernelPerceptronClassifier(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    model.partial_fit(X, y, classes=[0, 1])
    assert_array_equal(model.dual_coef_, [[1, -1, -1, 1]])
    assert model.n_violations_ == 4
    assert_array_equal(model.decision_function(X), [8, -8, -8, 8])
    assert_array_equal(model.fit(X, y).predict(X), y)
    assert model.history_[-1]["violations"] == 0


@MAY_NOT_STOP
@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed"])
def test_replays_the_reference_draw_for_draw(kernel, sampling, average):
    X, y, _ = noisy_rows(1, n_rows=60, n_classes=3)
    options, gram = KERNELS.get(kernel, KERNELS["rbf"])
    K = gram(X, X)
    if kernel == "precomputed":
        X, options = K, {"kernel": kernel}
    model = perceptron(**options, sampling=sampling, average=average, max_iter=6).fit(X, y)
    mistakes = np.array([record["violations"] for record in model.history_])
    for k, signs in enumerate(all_signs(y)):
        run = reference.kernel_perceptron(K, signs, epochs_of(model, 60, 6), average=average)
        assert_allclose(full_coef(model, 60)[k], run.coef, rtol=SAME, atol=SAME)
        n_epochs = len(run.mistakes_per_epoch)
        assert mistakes[:n_epochs, k].tolist() == run.mistakes_per_epoch
        assert not mistakes[n_epochs:, k].any()
        assert model.n_violations_[k] == sum(run.mistakes_per_epoch)


@MAY_NOT_STOP
@pytest.mark.parametrize("memory", [30_000, 100_000, "1GB"])
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_neither_threads_nor_memory_nor_format_matter(n_jobs, memory):
    X, y, _ = noisy_rows(2, n_rows=200)
    X[np.abs(X) < 0.3] = 0
    plain = perceptron(max_iter=5, average="uniform").fit(X, y)
    for data in (X, sp.csr_array(X), np.asfortranarray(X), X.tolist()):
        model = clone(plain).set_params(n_jobs=n_jobs, memory=memory).fit(data, y)
        assert_same_machine(model, plain)
        assert_allclose(model.decision_function(data), plain.decision_function(X), atol=1e-9)


@MAY_NOT_STOP
def test_with_the_linear_kernel_it_is_the_linear_perceptron():
    X, y, _ = noisy_rows(3, n_rows=100, n_classes=3)
    kernel = perceptron(kernel="linear", max_iter=4).fit(X, y)
    linear = PerceptronClassifier(fit_intercept=False, max_iter=4, random_state=0).fit(X, y)
    assert_allclose(kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, rtol=1e-9)
    assert_array_equal(kernel.n_violations_, linear.n_violations_)


def test_stops_after_an_epoch_without_mistakes():
    X, y, _ = noisy_rows(4)  # with a kernel so narrow any labels can be learnt
    model = perceptron(gamma=10.0).fit(X, y)
    assert model.history_[-1]["violations"] == 0
    assert all(record["violations"] > 0 for record in model.history_[:-1])
    assert model.n_iter_ == len(model.history_) < model.max_iter
    assert model.n_steps_ == model.history_[-1]["step"] == model.n_iter_ * 40
    assert model.score(X, y) == 1


@MAY_NOT_STOP
@pytest.mark.parametrize("average", [None, "uniform"])
def test_each_class_stops_by_itself(average):
    X, y, _ = noisy_rows(5, n_rows=90, n_classes=3)
    X = X + 9 * np.eye(3)[y] * [1, 0, 0]  # class 0 stands apart
    model = perceptron(max_iter=10, average=average).fit(X, y)
    epochs = []
    for k, label in enumerate(model.classes_):
        alone = clone(model).fit(X, y == label)
        assert_allclose(full_coef(alone, 90)[0], full_coef(model, 90)[k], rtol=SAME)
        assert alone.n_violations_ == model.n_violations_[k]
        epochs.append(alone.n_iter_)
    assert epochs[0] < max(epochs) == model.n_iter_


@MAY_NOT_STOP
def test_max_steps_overrides_max_iter_and_may_end_within_an_epoch():
    X, y, _ = noisy_rows(6)
    model = perceptron(max_steps=50).fit(X, y)
    assert (model.n_steps_, model.n_iter_) == (50, 2)
    first, second = epochs_of(model, 40, 2)
    run = reference.kernel_perceptron(
        KERNELS["rbf"][1](X, X), all_signs(y)[0], [first, second[:10]]
    )
    assert_array_equal(full_coef(model, 40)[0], run.coef)


def test_says_that_it_may_never_stop():
    X, y, _ = noisy_rows(7)
    message = r"still made \d+ mistakes in the last of 3 epochs.*KernelPegasosClassifier"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        perceptron(max_iter=3).fit(X, y)
    assert caught[0].filename == __file__  # it points at the user's line


@pytest.mark.parametrize("kind", [list, np.array])
def test_a_callable_may_compare_strings(kind):
    words = ["apple", "maple", "palm", "zorro", "robot", "tutor"]
    y = [0, 0, 0, 1, 1, 1]
    model = perceptron(kernel=shared_letters).fit(kind(words), y)
    assert model.predict(kind(["plum", "root"])).tolist() == [0, 1]
    assert model.support_vectors_ == [words[i] for i in model.support_]


# --- Going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_halves_of_partial_fit_equal_one_pass(kernel, average):
    X, y, _ = noisy_rows(8, n_classes=3)
    options, gram = KERNELS[kernel]
    whole = perceptron(**options, average=average).partial_fit(X, y, classes=[0, 1, 2])
    halves = perceptron(**options, average=average)
    halves.partial_fit(X[:17], y[:17], classes=[0, 1, 2]).partial_fit(X[17:], y[17:])
    assert_same_machine(halves, whole)
    assert_array_equal(np.asarray(halves.support_vectors_), X[halves.support_])
    assert whole.n_steps_ == 40
    for k, signs in enumerate(all_signs(y)):
        run = reference.kernel_perceptron(gram(X, X), signs, [np.arange(40)], average=average)
        assert_allclose(full_coef(halves, 40)[k], run.coef, rtol=SAME, atol=SAME)


@MAY_NOT_STOP
def test_partial_fit_goes_on_after_fit():
    X, y, _ = noisy_rows(9, n_rows=60)
    model = perceptron(max_iter=2).fit(X[:40], y[:40])
    first, second = epochs_of(model, 40, 2)
    model.partial_fit(X[40:], y[40:])
    K = KERNELS["rbf"][1](X, X)
    order = [first, second, np.arange(40, 60)]
    run = reference.kernel_perceptron(K, all_signs(y)[0], order)
    assert_array_equal(full_coef(model, 60)[0], run.coef)
    assert model.n_steps_ == 100
    assert model.n_violations_ == sum(run.mistakes_per_epoch)
    assert not hasattr(model, "history_")


@MAY_NOT_STOP
@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_warm_start_goes_on_with_the_function_and_the_draws(kernel, average):
    X, y, _ = noisy_rows(10, n_classes=3)
    X = rbf_kernel(X, gamma=0.3) if kernel == "precomputed" else X
    whole = perceptron(kernel=kernel, average=average, max_iter=6).fit(X, y)
    parts = perceptron(kernel=kernel, average=average, max_iter=3, warm_start=True)
    parts.fit(X, y).fit(X, y)
    assert_same_machine(parts, whole)
    assert (parts.n_iter_, parts.n_steps_) == (3, 240)


@MAY_NOT_STOP
def test_a_warm_start_may_end_within_an_epoch():
    X, y, _ = noisy_rows(11)
    whole = perceptron(max_steps=60, sampling="uniform").fit(X, y)
    parts = perceptron(max_steps=30, sampling="uniform", warm_start=True).fit(X, y).fit(X, y)
    assert_same_machine(parts, whole)


@MAY_NOT_STOP
def test_a_fit_that_fails_leaves_the_earlier_model(monkeypatch):
    X, y, _ = noisy_rows(12)
    model = perceptron(max_iter=3, warm_start=True).fit(X, y)
    twin = clone(model).fit(X, y)
    scores = model.decision_function(X)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pegasos._kernel_steps._core.kernel_steps", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X[:30], y[:30])
    assert_array_equal(model.decision_function(X), scores)
    assert_same_machine(model.fit(X, y), twin.fit(X, y))


def test_verbose_shows_mistakes_on_stderr(capsys):
    X, y, _ = noisy_rows(13)
    perceptron(gamma=10.0, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "KernelPerceptronClassifier" in captured.err
    assert "mistakes" in captured.err
