"""Only the ratios of sample weights matter: huge and tiny ones give the model of ordinary ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pegasos
from pegasos import KernelPegasosClassifier, KernelPegasosCV, PegasosClassifier, PegasosCV

from .core_helpers import AVERAGES
from .kernel_helpers import noisy_rows

# Powers of two, so that nothing is rounded on the way; the last is 1e307.
FACTORS = [2.0**-560, 2.0**-1000, 2.0**1000, 2.0**1020]
ESTIMATORS = [PegasosClassifier, KernelPegasosClassifier]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(model):
    return [model.coef_ if hasattr(model, "coef_") else model.dual_coef_, model.n_violations_]


def assert_same_model(one, other):
    for ours, theirs in zip(fitted(one), fitted(other), strict=True):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [{"average": average} for average in AVERAGES]
    + [{"sampling": "uniform"}, {"class_weight": "balanced"}]
    + [{"solver": "sdca"}, {"solver": "sdca", "loss": "log"}],
    ids=str,
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_size_of_all_weights_changes_neither_model_nor_certificate(
    estimator, options, dtype, factor
):
    X, y, s = noisy_rows(1)
    model = estimator(0.05, max_iter=5, random_state=0, **options)
    ordinary = estimator(0.05, max_iter=5, random_state=0, **options).fit(X.astype(dtype), y, s)
    assert_same_model(model.fit(X.astype(dtype), y, s * factor), ordinary)
    assert model.objective_ == ordinary.objective_
    assert model.dual_objective_ == ordinary.dual_objective_
    assert 0 < model.dual_objective_ <= model.objective_ * (1 + 1e-12)  # up to rounding


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_calls_that_go_on_share_what_weights_are_measured_in(estimator, tmp_path):
    X, y, s = noisy_rows(2)
    factor = 2.0**600

    def calls(factor, through_a_file=False):
        model = estimator(0.05, random_state=0)
        model.partial_fit(X[:20], y[:20], classes=[0, 1], sample_weight=s[:20] * factor)
        if through_a_file:
            pegasos.save(model, tmp_path / "model")
            model = pegasos.load(tmp_path / "model")
        return model.partial_fit(X[20:], y[20:], sample_weight=4 * s[20:] * factor)

    assert_same_model(calls(factor), calls(1.0))
    assert_same_model(calls(factor, through_a_file=True), calls(1.0))


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_warm_starts_share_what_weights_are_measured_in(estimator, solver):
    X, y, s = noisy_rows(3)
    models = []
    for factor in (1.0, 2.0**600):
        model = estimator(0.05, solver=solver, max_iter=2, warm_start=True, random_state=0)
        models.append(model.fit(X, y, s * factor).fit(X, y, 4 * s[::-1] * factor))
    assert_same_model(*models)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_without_weights_weigh_nothing_beside_huge_ones(estimator):
    X, y, s = noisy_rows(4)
    model = estimator(0.05, average=None, random_state=0)
    model.partial_fit(X[:20], y[:20], classes=[0, 1], sample_weight=s[:20] * 2.0**600)
    scores = model.decision_function(X)
    assert_allclose(model.partial_fit(X[20:], y[20:]).decision_function(X), scores, rtol=1e-12)


@pytest.mark.parametrize("grid", [PegasosCV, KernelPegasosCV])
def test_grids_judge_alike_whatever_the_size_of_the_weights(grid):
    X, y, s = noisy_rows(5)
    ordinary, huge = (
        grid((0.01, 1.0), steps=(10, 100), cv=2, random_state=0).fit(X, y, s * factor)
        for factor in (1.0, 2.0**1020)
    )
    assert_array_equal(huge.test_error_, ordinary.test_error_)
    assert_same_model(huge, ordinary)


def test_a_model_of_small_weights_can_be_stored(tmp_path):
    X, y, s = noisy_rows(6)
    model = PegasosClassifier(0.05, random_state=0)
    model.partial_fit(X, y, classes=[0, 1], sample_weight=s * 1e-3)
    pegasos.save(model, tmp_path / "model")
    assert_same_model(pegasos.load(tmp_path / "model"), model)
