"""Scores and probabilities of KernelPegasosClassifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from .kernel_helpers import (
    KERNELS,
    full_coef,
    machine,
    noisy_rows,
)


@pytest.mark.parametrize("memory", [3000, "1GB"])
@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed"])
def test_scores_do_not_depend_on_how_rows_are_tiled(kernel, memory):
    X, y, _ = noisy_rows(48, n_rows=100, n_classes=3)
    new = noisy_rows(49, n_rows=333)[0]
    if kernel == "precomputed":
        options, gram = {"kernel": kernel}, KERNELS["rbf"][1]
        X, new, K = gram(X, X), gram(new, X), gram(new, X)
    else:
        options, gram = KERNELS[kernel]
        K = gram(new, X)
    model = machine(**options).fit(X, y)
    scores = model.set_params(memory=memory).decision_function(new)
    assert_allclose(scores, K @ full_coef(model, 100).T, atol=1e-8)
    for i in (0, 100, 332):
        assert_allclose(model.decision_function(new[i : i + 1])[0], scores[i], atol=1e-9)


def test_probabilities_are_the_logistic_of_the_score():
    X, y, _ = noisy_rows(50)
    model = machine(loss="log").fit(X, y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    assert_allclose(model.predict_proba(X)[:, 1], expected)
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_probabilities_of_several_classes_sum_to_one():
    X, y, _ = noisy_rows(51, n_rows=90, n_classes=3)
    model = machine(loss="log", solver="sdca").fit(X, y)
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(probabilities.argmax(axis=1), model.predict(X))


def test_the_log_loss_is_calibrated_on_its_own_data():
    # At the optimum of an almost unregularised model the mean probability is the share of class 1.
    X, y, _ = noisy_rows(52, n_rows=200)
    options = {"kernel": lambda A, B: A @ B.T + 10, "loss": "log", "solver": "sdca"}
    model = machine(1e-5, **options, tol=1e-5, max_iter=2000).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.005)


def test_the_hinge_has_no_probabilities_and_says_so():
    X, y, _ = noisy_rows(53)
    model = machine().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
