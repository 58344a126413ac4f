"""Fits by dual coordinate ascent are the reference's parts, put together as how_it_works says."""

from dataclasses import dataclass
from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from pegasos import PegasosClassifier, reference
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
    assert_model,
    best_scaled,
    draw,
    two_classes,
    with_constant,
)


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
