"""Fits through the public classes are the reference's runs on NumPy's draws."""

from itertools import pairwise
from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import PegasosClassifier, PerceptronClassifier, reference
from pegasos._sdca_run import (
    _RELAXATION,
)

from .core_helpers import (
    AVERAGES,
    LOSSES,
    SAMPLINGS,
    assert_model,
    assert_same_weights,
    best_scaled,
    draw,
    make_sample,
    two_classes,
    with_constant,
)

seeds = st.integers(0, 2**32 - 1)


# --- Pegasos --------------------------------------------------------------------------------------


@given(
    seed=seeds,
    random_state=st.integers(0, 2**31),
    loss=st.sampled_from(LOSSES),
    average=st.sampled_from(AVERAGES),
    sampling=st.sampled_from(SAMPLINGS),
    batch_size=st.sampled_from([1, 2, 3, 20]),
    n_steps=st.integers(1, 70),
    project=st.booleans(),
    weighted=st.booleans(),
    bias=st.sampled_from([0.0, 1.0, 2.5]),
)
@settings(max_examples=60)
def test_a_pegasos_fit_is_the_run_of_the_reference(
    seed, random_state, loss, average, sampling, batch_size, n_steps, project, weighted, bias
):
    sample, labels = two_classes(seed, weighted=weighted)
    options = {"loss": loss, "average": average, "batch_size": batch_size, "project": project}
    model = PegasosClassifier(
        lam=0.05,
        sampling=sampling,
        max_steps=n_steps,
        tol=None,
        random_state=random_state,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
        **options,
    ).fit(sample.X, labels, sample.weight)
    draws = draw(random_state, 20, n_steps * batch_size, sampling)
    rows = with_constant(sample.X, bias)
    run = reference.pegasos(rows, sample.y, 0.05, draws, sample_weight=sample.weight, **options)
    assert_model(model, run.w, bias)
    assert model.n_violations_ == run.violations
    assert model.n_steps_ == n_steps
    primal = reference.primal_objective(run.w, rows, sample.y, 0.05, loss, sample.weight)
    assert_allclose(model.objective_, primal, rtol=1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_a_fit_of_many_strides_is_the_run_of_the_reference(solver, sampling):
    # The fit takes its draws epoch by epoch; the stream is that of one long call.
    sample, labels = two_classes(1, n_rows=50)
    model = PegasosClassifier(
        lam=0.1,
        solver=solver,
        sampling=sampling,
        average=None,
        max_iter=200,
        tol=None,
        random_state=3,
    ).fit(sample.X, labels)
    draws = draw(3, 50, 200 * 50, sampling)
    rows = with_constant(sample.X, 1.0)
    if solver == "pegasos":
        run = reference.pegasos(rows, sample.y, 0.1, draws)
        assert model.n_violations_ == run.violations
        assert_model(model, run.w, 1.0)
    else:  # at the optimum, whatever way each took
        run = reference.sdca(rows, sample.y, 0.1, draws)
        assert_allclose(model.coef_[0], run.w[:-1], atol=1e-6)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_rows_of_weight_zero_are_not_there(sampling, solver):
    sample, labels = two_classes(2, weighted=True)
    weight = sample.weight.copy()
    weight[5:15] = 0.0
    options = {
        "lam": 0.1,
        "solver": solver,
        "sampling": sampling,
        "max_steps": 57,
        "tol": None,
        "random_state": 4,
    }
    kept = np.flatnonzero(weight)
    model = PegasosClassifier(**options).fit(sample.X, labels, weight)
    without = PegasosClassifier(**options).fit(sample.X[kept], labels[kept], weight[kept])
    assert_allclose(model.coef_, without.coef_, rtol=1e-12)
    assert_allclose(model.objective_, without.objective_, rtol=1e-12)
    assert_allclose(model.dual_objective_, without.dual_objective_, rtol=1e-9)


@pytest.mark.parametrize(
    ("solver", "lam"),
    [
        ("pegasos", 0.1),
        ("sdca", 0.1),
        ("sdca", 1e-4),
    ],
)
def test_only_the_ratios_of_weights_matter(solver, lam):
    sample, labels = two_classes(2, n_rows=120, n_features=1, weighted=True)
    model = PegasosClassifier(lam=lam, solver=solver, max_iter=2, tol=None, random_state=4)
    coef, dual = [], []
    for factor in (1.0, 8.0):  # a power of two: not even the rounding differs
        model.fit(sample.X, labels, factor * sample.weight)
        coef.append(model.coef_)
        dual.append(model.dual_objective_)
    assert_array_equal(coef[0], coef[1])
    assert dual[0] == dual[1]


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("project", [False, True])
def test_partial_fits_are_steps_in_the_order_given(average, project):
    sample, labels = two_classes(3)
    model = PegasosClassifier(lam=0.05, average=average, project=project)
    for first, last in pairwise([0, 1, 8, 20]):
        part = slice(first, last)
        model.partial_fit(sample.X[part], labels[part], classes=["no", "yes"])
    run = reference.pegasos(
        with_constant(sample.X, 1.0),
        sample.y,
        0.05,
        np.arange(20),
        average=average,
        project=project,
    )
    assert_model(model, run.w, 1.0)
    assert model.n_violations_ == run.violations


def test_lam_may_change_between_partial_fits():
    # The clock goes on: one more step with another lam shrinks w by 1/t and adds y x/(lam t).
    sample, labels = two_classes(3)
    model = PegasosClassifier(lam=0.05, average=None)
    model.partial_fit(sample.X, labels, classes=["no", "yes"])
    before = np.r_[model.coef_[0], model.intercept_]
    model.set_params(lam=0.5).partial_fit(sample.X[:1], labels[:1])
    rows = with_constant(sample.X, 1.0)
    pull = (sample.y[0] * (rows[0] @ before) < 1) * sample.y[0] * rows[0]
    assert_model(model, (1 - 1 / 21) * before + pull / (0.5 * 21), 1.0)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("average", AVERAGES)
def test_two_warm_fits_are_one_fit_of_all_steps(sampling, average):
    sample, labels = two_classes(4)
    options = {"lam": 0.05, "average": average, "sampling": sampling, "tol": None}
    warm = PegasosClassifier(**options, warm_start=True, max_steps=33, random_state=5)
    warm.fit(sample.X, labels).fit(sample.X, labels)
    once = PegasosClassifier(**options, max_steps=66, random_state=5).fit(sample.X, labels)
    assert_array_equal(warm.coef_, once.coef_)
    assert warm.n_violations_ == once.n_violations_
    assert warm.n_steps_ == once.n_steps_ == 66


# --- The bound ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 10])
@pytest.mark.parametrize("n_epochs", [1, 3, 30])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_bound_is_the_dual_objective_of_the_point_the_visits_make(
    sampling, n_epochs, batch_size, project, weighted
):
    # Hinge, all within the first look at the run. Whole epochs: how often each row violated; else
    # (batches of 3 out of 20 rows, uniform draws) the same, clipped where a row came too often.
    sample, labels = two_classes(5, weighted=weighted)
    n_steps = ceil(n_epochs * 20 / batch_size)
    model = PegasosClassifier(
        lam=0.2,
        sampling=sampling,
        batch_size=batch_size,
        project=project,
        max_steps=n_steps,
        tol=None,
        random_state=6,
    ).fit(sample.X, labels, sample.weight)
    n_draws = n_steps * batch_size
    rows = with_constant(sample.X, 1.0)
    run = reference.pegasos(
        rows,
        sample.y,
        0.2,
        draw(6, 20, n_draws, sampling),
        batch_size=batch_size,
        project=project,
        sample_weight=sample.weight,
    )
    a = reference.pegasos_dual_point(run.dual_mass, n_draws / 20, sample.weight)
    expected, factor = best_scaled(a, rows, sample.y, 0.2, "hinge", sample.weight)
    assert_allclose(model.dual_objective_, expected, rtol=1e-9)
    scaled = reference.dual_objective(factor * a, rows, sample.y, 0.2, "hinge", sample.weight)
    assert_allclose(expected, scaled, rtol=1e-9)  # that is a dual point indeed


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("n_epochs", [1, 4])
def test_the_bound_of_the_log_loss_is_at_most_that_of_its_point(sampling, n_epochs, weighted):
    sample, labels = two_classes(7, weighted=weighted)
    model = PegasosClassifier(
        lam=0.2,
        loss="log",
        sampling=sampling,
        max_iter=n_epochs,
        tol=None,
        random_state=8,
    ).fit(sample.X, labels, sample.weight)
    rows = with_constant(sample.X, 1.0)
    draws = draw(8, 20, 20 * n_epochs, sampling)
    run = reference.pegasos(rows, sample.y, 0.2, draws, loss="log", sample_weight=sample.weight)
    a = reference.pegasos_dual_point(run.dual_mass, n_epochs, sample.weight)
    expected, _ = best_scaled(a, rows, sample.y, 0.2, "log", sample.weight)
    if n_epochs == 1 or sampling == "uniform":
        assert_allclose(model.dual_objective_, expected, rtol=1e-9)
    else:  # the mean of the visits' entropies, a little below the entropy of the mean
        assert 0.8 * expected < model.dual_objective_ < expected


@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_of_sdca_is_that_of_the_point_it_has_reached(loss):
    sample, labels = two_classes(9)
    model = PegasosClassifier(
        lam=0.5, solver="sdca", loss=loss, max_iter=3, tol=None, random_state=10
    ).fit(sample.X, labels)
    rows = with_constant(sample.X, 1.0)
    draws = draw(10, 20, 60)
    run = reference.sdca(rows, sample.y, 0.5, draws, loss=loss, relaxation=_RELAXATION)
    assert_allclose(
        model.dual_objective_, reference.dual_objective(run.a, rows, sample.y, 0.5, loss), rtol=1e-9
    )


# --- Perceptron -----------------------------------------------------------------------------------


def epochs(seed, n_rows, n_epochs, sampling="permutation"):
    return draw(seed, n_rows, n_rows * n_epochs, sampling).reshape(n_epochs, n_rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_a_perceptron_fit_is_the_run_of_the_reference(bias, sampling, average):
    sample, labels = two_classes(15)
    model = PerceptronClassifier(
        max_iter=6,
        sampling=sampling,
        average=average,
        fit_intercept=bias > 0,
        intercept_scaling=bias or 1.0,
        random_state=16,
    ).fit(sample.X, labels)
    rows = with_constant(sample.X, bias)
    run = reference.perceptron(rows, sample.y, epochs(16, 20, 6, sampling), average=average)
    assert_model(model, run.w, bias)
    assert model.n_violations_ == sum(run.mistakes_per_epoch) > 0
    assert [record["violations"] for record in model.history_] == run.mistakes_per_epoch


@pytest.mark.parametrize("average", [None, "uniform"])
def test_a_perceptron_stops_after_the_epoch_without_mistakes(average):
    sample, _ = two_classes(17)
    y = np.where(sample.X @ [1.0, -2.0, 0.5, 1.0] > 0.01, 1.0, -1.0)  # separable
    model = PerceptronClassifier(average=average, random_state=18).fit(sample.X, y)
    rows = with_constant(sample.X, 1.0)
    run = reference.perceptron(rows, y, epochs(18, 20, 100), average=average)
    assert 1 < len(run.mistakes_per_epoch) < 100
    assert model.n_iter_ == len(run.mistakes_per_epoch)
    assert model.n_steps_ == 20 * model.n_iter_
    assert_model(model, run.w, 1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("average", [None, "uniform"])
def test_each_class_of_a_perceptron_stops_by_itself(average):
    rng = np.random.default_rng(19)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 2)) + 4.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    X[:2] = X[[1, 0]]  # classes 0 and 1 overlap: they never stop, class 2 does
    options = {"max_iter": 15, "average": average, "random_state": 20}
    together = PerceptronClassifier(**options).fit(X, y)
    mistakes = []
    for k in range(3):
        run = reference.perceptron(
            with_constant(X, 1.0), np.where(y == k, 1.0, -1.0), epochs(20, 30, 15), average=average
        )
        mistakes.append(run.mistakes_per_epoch)
        assert_same_weights(together.coef_[k], run.w[:-1])
        assert_same_weights(together.intercept_[k], run.w[-1])
    assert_array_equal(together.n_violations_, [sum(counts) for counts in mistakes])
    assert [len(counts) for counts in mistakes[:2]] == [15, 15]
    assert len(mistakes[2]) < 15


# --- Several classes and threads ------------------------------------------------------------------

MODELS = {
    "pegasos": PegasosClassifier(lam=0.01, max_iter=3, tol=None, random_state=0),
    "uniform": PegasosClassifier(
        lam=0.01, loss="log", sampling="uniform", batch_size=7, max_iter=3, tol=None, random_state=0
    ),
    "sdca": PegasosClassifier(lam=0.01, solver="sdca", max_iter=4, tol=None, random_state=0),
    "sdca-start": PegasosClassifier(lam=1e-6, solver="sdca", max_iter=4, tol=None, random_state=0),
    "perceptron": PerceptronClassifier(max_iter=4, average="uniform", random_state=0),
}
FITTED = ("coef_", "intercept_", "objective_", "dual_objective_", "n_violations_")
ignores_convergence = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(name, X, y, **parameters):
    model = MODELS[name]
    return type(model)(**{**model.get_params(), **parameters}).fit(X, y)


def assert_same_fit(model, other):
    for attribute in FITTED:
        if hasattr(other, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute))


@ignores_convergence
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_three_classes_are_three_binary_fits_on_the_same_draws(name, sparse):
    sample = make_sample(21, n_rows=220, n_features=2)
    y = np.random.default_rng(1).integers(0, 3, size=220)
    X = sp.csr_array(sample.X) if sparse else sample.X
    together = fit(name, X, y)
    for k in range(3):
        alone = fit(name, X, y == k)
        assert_array_equal(together.coef_[k], alone.coef_[0])
        assert_array_equal(together.intercept_[k], alone.intercept_[0])
        assert together.n_violations_[k] == alone.n_violations_
        if name != "perceptron":
            assert together.objective_[k] == alone.objective_
            assert together.dual_objective_[k] == alone.dual_objective_


@ignores_convergence
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_bit_of_a_fit_depends_on_n_jobs(name, n_classes):
    # More rows than a range of the passes, and enough for the thread that shuffles ahead.
    rng = np.random.default_rng(22)
    X = rng.normal(size=(40_000, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.normal(size=40_000), [0.0, 0.5][: n_classes - 1])
    one = fit(name, X, y, n_jobs=1)
    for n_jobs in (2, 3):
        assert_same_fit(fit(name, X, y, n_jobs=n_jobs), one)
