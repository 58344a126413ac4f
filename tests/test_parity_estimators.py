"""Fits through the public classes are the reference's runs on NumPy's draws."""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import PegasosClassifier, PerceptronClassifier, reference
from pegasos._newton import _TOO_SHORT, NewtonSteps
from pegasos._sdca_run import (
    _MANY_ROWS_PER_ENTRY,
    _RELAXATION,
    _RELAXATION_WHERE_STRONG,
    _SPARSE,
    _STRONG_COUPLING,
)
from pegasos._training import _FEWEST_DRAWS_A_STRIDE

from .core_helpers import (
    AVERAGES,
    LOSSES,
    SAMPLINGS,
    assert_same_weights,
    make_sample,
    with_constant,
)

seeds = st.integers(0, 2**32 - 1)


def two_classes(seed, n_rows=20, n_features=4, *, weighted=False):
    """A sample with both labels in it, and labels as people have them."""
    sample = make_sample(seed, n_rows, n_features, weighted=weighted)
    sample.y[:2] = [1.0, -1.0]
    return sample, np.where(sample.y > 0, "yes", "no")


def draw(seed, n_rows, n_draws, sampling="permutation"):
    return reference.draw_rows(np.random.default_rng(seed), n_rows, n_draws, sampling)


def assert_model(model, w, bias):
    """`coef_` and `intercept_` are the weights of the rows with the constant appended."""
    assert_same_weights(model.coef_[0], w[:-1])
    assert_same_weights(model.intercept_, w[-1:] * bias)


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


def best_scaled(a, rows, y, lam, loss, weight):
    """The best bound of the points f a, f in [0, 1], by gain(f a) >= f gain(a)."""
    w = reference.dual_weights(a, rows, y, lam, weight)
    cost = lam / 2 * (w @ w)
    gain = reference.dual_objective(a, rows, y, lam, loss, weight) + cost
    factor = min(1.0, gain / (2 * cost))
    return factor * gain - factor**2 * cost, factor


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


# --- Dual coordinate ascent -----------------------------------------------------------------------


def replay_sdca(rows, y, lam, draws, *, loss, average, weight):
    """What `solver="sdca"` does with up to three strides, told in calls of the reference.

    A start by gradient steps where there are many rows, whose last weights count where features are
    many, else their mean; longer steps of ascent where a row's own
    mass moves its margin a lot besides; rows may sleep after the start, or from the second stride
    on; the mean is over the latest stride; the start's mean is the model if it has the better
    objective. A whole start is followed by a step of Newton's, and unless that was cut short, so is
    the last look, from where the first one led.
    Returns the model and whether there was a start.
    """
    n_rows = len(y)
    s = np.ones(n_rows) if weight is None else weight
    square = np.mean(np.sum(rows**2, axis=1))
    entries = np.count_nonzero(rows[:, :-1]) / n_rows
    with_start = n_rows >= _MANY_ROWS_PER_ENTRY * entries
    strong = with_start and square > _STRONG_COUPLING * lam * n_rows
    problem = {"loss": loss, "sample_weight": weight}
    relaxation = _RELAXATION_WHERE_STRONG if strong else _RELAXATION
    a, naps, models, w, newton = np.zeros(n_rows), None, [], None, False
    per_stride = n_rows * ceil(_FEWEST_DRAWS_A_STRIDE / n_rows)
    for first in range(0, len(draws), per_stride):
        stride = draws[first : first + per_stride]
        if first == 0 and with_start:
            eta0 = n_rows / s.sum() / square
            mean = "weighted" if _SPARSE * entries > rows.shape[1] - 1 else None
            start = reference.sgd_start(
                rows, y, lam, stride[:n_rows], eta0, average=mean, **problem
            )
            models, at, width = [start], start, 1.0
            suits = NewtonSteps.suit(Kind(rows.shape[1] - 1, loss), entries, n_rows)
            if suits and len(stride) >= n_rows:
                at, width = reference.newton_step(start, rows, y, lam, 0.5, **problem), 0.5
                models = [start, at]
                newton = fraction_of_newton_step(start, at, rows, y, lam, **problem) >= _TOO_SHORT
            a = s * reference.guess_masses(y * (rows @ at), loss, width)
            if newton and mostly_rounding(at, a, rows, y, lam, **problem):
                width /= 2
            stride = stride[n_rows:]
        if len(stride):
            run = reference.sdca(
                rows,
                y,
                lam,
                stride,
                a=a,
                naps=naps,
                average=average,
                relaxation=relaxation,
                shrinking=loss == "hinge" and (with_start or first > 0),
                **problem,
            )
            a, naps, w = run.a, run.naps, run.w

    def best():
        return min(models, key=lambda w: reference.primal_objective(w, rows, y, lam, **problem))

    if w is not None:
        models = [*models, w]
        if newton:
            models = [*models, reference.newton_step(at, rows, y, lam, width, **problem)]
    return best(), with_start


@dataclass
class Kind:
    """As much of a problem as tells whether Newton's steps suit it."""

    n_features: int
    loss: str


def fraction_of_newton_step(w, new, rows, y, lam, *, loss, sample_weight):
    """How much of the way to the minimum of the parabola was gone, with a ramp of width 1/2."""
    s = np.ones(len(y)) if sample_weight is None else sample_weight
    b = reference.guess_masses(y * (rows @ w), loss, 0.5)
    curvature = s * (b * (1 - b) if loss == "log" else ((b > 0) & (b < 1)) / 0.5)
    ridge = lam * s.sum()
    hessian = ridge * np.eye(len(w)) + (rows.T * curvature) @ rows
    step = np.linalg.solve(hessian, (s * b * y) @ rows - ridge * w)
    return np.linalg.norm(new - w) / np.linalg.norm(step)


def mostly_rounding(w, a, rows, y, lam, *, loss, sample_weight):
    """Tell whether half of the gap would be there at the minimum of the rounded objective, too."""
    primal = reference.primal_objective(w, rows, y, lam, loss, sample_weight)
    dual_w = reference.dual_weights(a, rows, y, lam, sample_weight)
    gain = reference.dual_objective(a, rows, y, lam, loss, sample_weight)
    gain += lam / 2 * (dual_w @ dual_w)
    rounding = primal - lam / 2 * (w @ w) - gain + lam * (w @ dual_w)
    return rounding >= 0.5 * (primal - best_scaled(a, rows, y, lam, loss, sample_weight)[0])


@pytest.mark.parametrize(
    ("n_rows", "n_features", "lam", "with_start"),
    [(30, 4, 1e-4, False), (30, 4, 0.3, False), (130, 1, 0.3, True), (130, 1, 1e-4, True)],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_an_sdca_fit_is_the_run_of_the_reference(
    sampling, loss, average, weighted, n_rows, n_features, lam, with_start
):
    sample, labels = two_classes(11, n_rows, n_features, weighted=weighted)
    rows = with_constant(sample.X, 1.0)
    options = {"loss": loss, "average": average}
    for n_draws in (7, n_rows, 2 * n_rows + 5):  # in the first epoch, at its end, later
        model = PegasosClassifier(
            lam=lam,
            solver="sdca",
            sampling=sampling,
            max_steps=n_draws,
            tol=None,
            random_state=12,
            **options,
        ).fit(sample.X, labels, sample.weight)
        draws = draw(12, n_rows, n_draws, sampling)
        w, started = replay_sdca(rows, sample.y, lam, draws, weight=sample.weight, **options)
        assert started == with_start
        assert_model(model, w, 1.0)


@pytest.mark.parametrize(
    ("n_rows", "lam", "with_start"), [(300, 3e-3, True), (300, 0.3, True), (210, 0.3, False)]
)
@pytest.mark.parametrize("average", AVERAGES)
def test_an_sdca_fit_of_two_and_a_half_strides_is_the_run_of_the_reference(
    average, n_rows, lam, with_start
):
    # A stride is 2100 draws, 7 or 10 epochs, and rows sleep in it.
    sample, labels = two_classes(13, n_rows=n_rows, n_features=3)
    n_draws = 2 * 2100 + 1000
    model = PegasosClassifier(
        lam=lam, solver="sdca", average=average, max_steps=n_draws, tol=None, random_state=14
    ).fit(sample.X, labels)
    rows = with_constant(sample.X, 1.0)
    draws = draw(14, n_rows, n_draws)
    w, started = replay_sdca(rows, sample.y, lam, draws, loss="hinge", average=average, weight=None)
    assert started == with_start
    # Thousands of steps near the optimum, where margins are 1 up to rounding.
    assert_allclose(model.coef_[0], w[:-1], atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lam", [1e-3, 3.0])
def test_an_sdca_fit_of_many_sparse_rows_is_the_run_of_the_reference(loss, lam):
    rng = np.random.default_rng(15)
    n_rows, n_features = 260, 210  # with two entries a row: a start, without a mean
    columns = [np.sort(rng.permutation(n_features)[:2]) for _ in range(n_rows)]
    values, starts = rng.normal(size=2 * n_rows), np.arange(0, 2 * n_rows + 1, 2)
    X = sp.csr_matrix((values, np.concatenate(columns), starts), shape=(n_rows, n_features))
    y = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    for n_draws in (100, n_rows, 2 * n_rows + 5):
        model = PegasosClassifier(
            lam=lam, loss=loss, solver="sdca", max_steps=n_draws, tol=None, random_state=16
        ).fit(X, y)
        rows = with_constant(X.toarray(), 1.0)
        draws = draw(16, n_rows, n_draws)
        w, started = replay_sdca(rows, y, lam, draws, loss=loss, average="weighted", weight=None)
        assert started
        assert_model(model, w, 1.0)


@pytest.mark.parametrize("lam", [1.0, 100.0])
def test_a_start_with_a_large_lam_is_not_lost_to_rounding(lam):
    sample, labels = two_classes(17, 2000, 3)
    model = PegasosClassifier(lam=lam, solver="sdca", max_iter=1, tol=None, random_state=0)
    model.fit(sample.X, labels)
    assert model.objective_ <= 1  # that of weights 0
    assert model.duality_gap_ <= 0.1 * model.objective_


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
