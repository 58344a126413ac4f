"""KernelPegasosClassifier goes on from an earlier fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import (
    reference,
)

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS
from .kernel_helpers import (
    KERNELS,
    SAME,
    all_signs,
    assert_replays,
    assert_same_machine,
    draws_of,
    full_coef,
    machine,
    noisy_rows,
    published_step,
)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_two_warm_starts_make_the_steps_of_one_fit(loss, sampling, average, kernel):
    X, y, s = noisy_rows(27, n_classes=3)
    if kernel == "precomputed":
        X = rbf_kernel(X, gamma=0.3)
    options = {"loss": loss, "sampling": sampling, "average": average, "kernel": kernel}
    whole = machine(**options, max_steps=110).fit(X, y, s)
    parts = machine(**options, max_steps=55, warm_start=True).fit(X, y, s)  # within an epoch
    assert parts.n_steps_ == 55
    parts.fit(X, y, s)
    assert parts.n_steps_ == 110
    assert_same_machine(parts, whole)
    assert_allclose(parts.objective_, whole.objective_, rtol=SAME)


def test_a_fit_without_warm_start_begins_anew():
    X, y, _ = noisy_rows(28)
    model = machine(warm_start=True).fit(X, y)
    first = clone(model).fit(X, y)
    model.fit(X, y).set_params(warm_start=False).fit(X, y)
    assert_same_machine(model, first)
    model.set_params(warm_start=True).fit(X, y)  # nothing was kept to go on from
    assert_same_machine(model, first)


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_warm_starts_follow_a_path_of_lam(solver):
    X, y, _ = noisy_rows(29, n_rows=80)
    model = machine(
        1.0, solver=solver, warm_start=True, tol=1e-2, max_iter=3000, average="weighted"
    )
    for lam in (1.0, 0.3, 0.1, 0.03):
        model.set_params(lam=lam).fit(X, y)
        cold = machine(lam, solver="sdca", tol=1e-6, max_iter=1000).fit(X, y)
        assert model.duality_gap_ <= 0.01 * model.objective_
        assert model.dual_objective_ <= cold.objective_ + SAME
        assert cold.dual_objective_ <= model.objective_ + SAME


def test_a_warm_start_with_another_lam_keeps_the_function():
    X, y, _ = noisy_rows(30)
    K, signs = KERNELS["rbf"][1](X, X), all_signs(y)[0]
    model = machine(0.5, average=None, warm_start=True, max_steps=40).fit(X, y)
    model.set_params(lam=0.05).fit(X, y)
    draws = draws_of(model, 40)
    coef = reference.kernel_pegasos(K, signs, 0.5, draws[:40]).last
    for t in range(41, 81):
        coef = published_step(coef, K, signs, 0.05, t, draws[t - 1])
    assert_allclose(full_coef(model, 40)[0], coef, atol=SAME)


def test_sdca_goes_on_from_its_dual_point():
    X, y, _ = noisy_rows(31, n_rows=100)
    model = machine(1e-4, gamma=0.05, solver="sdca", warm_start=True, max_steps=100)
    fits = [model.fit(X, y).history_[-1] for _ in range(6)]
    bounds = [record["dual"] for record in fits]
    assert bounds == sorted(bounds)
    assert model.n_steps_ == 600
    assert fits[-1]["gap"] < 0.2 * fits[0]["gap"]
    assert fits[-1]["violations"] > fits[0]["violations"]
    cold = clone(model).fit(X, y)
    assert model.dual_objective_ > cold.dual_objective_


def test_sdca_going_on_never_returns_a_worse_function():
    X, y, _ = noisy_rows(0, n_rows=200)
    model = machine(1e-6, gamma=0.05, solver="sdca", warm_start=True, max_steps=200)
    objectives = [model.fit(X, y).objective_ for _ in range(8)]
    assert objectives == sorted(objectives, reverse=True)


def test_sdca_goes_on_when_lam_and_weights_change():
    X, y, s = noisy_rows(32)
    model = machine(0.1, solver="sdca", warm_start=True, tol=1e-6, max_iter=1000)
    for lam, weight in ((0.1, None), (0.01, s), (0.03, 1 / s)):
        model.set_params(lam=lam).fit(X, y, weight)
        cold = machine(lam, solver="sdca", tol=1e-6, max_iter=1000).fit(X, y, weight)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-6)


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_a_warm_start_with_other_rows_or_classes_is_refused_and_leaves_the_model(solver):
    X, y, _ = noisy_rows(33)
    model = machine(solver=solver, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    message = r"classes or the number of rows differ.*warm_start=False"
    for data, labels in ((X[:30], y[:30]), (X, np.arange(40) % 3), (X, y + 5)):
        with pytest.raises(ValueError, match=message):
            model.fit(data, labels)
    other = {"pegasos": "sdca", "sdca": "pegasos"}[solver]
    with pytest.raises(ValueError, match=r"solver, classes.*warm_start=False"):
        model.set_params(solver=other).fit(X, y)
    assert_array_equal(model.decision_function(X), before)
    model.set_params(solver=solver).fit(X, y)
    assert model.n_steps_ == 2 * 4 * 40


def test_a_warm_start_may_change_the_average():
    X, y, _ = noisy_rows(34)
    K = KERNELS["rbf"][1](X, X)
    signs = all_signs(y)[0]
    model = machine(average=None, warm_start=True, max_steps=60).fit(X, y)
    model.set_params(average="uniform", max_steps=30).fit(X, y)
    draws = draws_of(model, 40)
    functions = [reference.kernel_pegasos(K, signs, 0.05, draws[:t]).last for t in range(61, 91)]
    assert_allclose(full_coef(model, 40)[0], np.mean(functions, axis=0), atol=SAME)  # since then
    model.set_params(average=None, max_steps=10).fit(X, y)
    assert_replays(model, K, y, draws_of(model, 40))
