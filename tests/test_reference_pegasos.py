"""Pegasos of the reference: steps by hand, and identities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference

from .reference_helpers import EXACT, LOSS_NAMES, X2, Y2, epochs_of_rows, random_problem

# --- By hand --------------------------------------------------------------------------------------


def test_three_hinge_steps_by_hand():
    # w2 = (2, 0); w3 = w2/2 + (0, -2) = (1, -2); then row 0 has margin exactly 1: no violation.
    run = reference.pegasos(X2, Y2, 0.5, np.array([0, 1, 0]))
    assert_allclose(run.last, [2 / 3, -4 / 3], rtol=EXACT)
    assert_array_equal(run.w, run.last)
    assert run.violations == 2
    assert_array_equal(run.dual_mass, [1.0, 1.0])
    assert run.clock == 3.0


def test_averages_of_three_hinge_steps_by_hand():
    draws = np.array([0, 1, 0])
    uniform = reference.pegasos(X2, Y2, 0.5, draws, average="uniform")
    weighted = reference.pegasos(X2, Y2, 0.5, draws, average="weighted")
    assert_allclose(uniform.w, [11 / 9, -10 / 9], rtol=EXACT)
    assert_allclose(weighted.w, [1.0, -4 / 3], rtol=EXACT)
    assert_allclose(weighted.last, [2 / 3, -4 / 3], rtol=EXACT)


def test_three_projected_hinge_steps_by_hand():
    # Radius sqrt 2. Factors 1/sqrt 2, 2/3, 1; row 0 now violates at step 3 too.
    run = reference.pegasos(X2, Y2, 0.5, np.array([0, 1, 0]), project=True)
    root = np.sqrt(2.0)
    assert_allclose(run.last, [2 * root / 9 + 2 / 3, -8 / 9], rtol=EXACT)
    assert_allclose(run.dual_mass, [root / 3 + 1, 2 / 3], rtol=EXACT)
    assert run.violations == 3


def test_two_log_steps_by_hand():
    # Slope 1/2 at w = 0, so w2 = 1/2; then the slope is 1/(1 + sqrt e).
    run = reference.pegasos(np.ones((1, 1)), np.ones(1), 1.0, np.array([0, 0]), loss="log")
    slope = 1 / (1 + np.sqrt(np.e))
    assert_allclose(run.last, [0.25 + slope / 2], rtol=EXACT)
    assert_allclose(run.dual_mass, [0.5 + slope], rtol=EXACT)
    assert run.violations == 2


def test_log_loss_counts_only_margins_below_one_as_violations():
    # w2 = 10 * 1/2 = 5: the second visit has margin 5, still a positive slope, but no violation.
    run = reference.pegasos(np.ones((1, 1)), np.ones(1), 0.1, np.array([0, 0]), loss="log")
    assert run.violations == 1
    assert run.dual_mass[0] > 0.5


def test_two_batches_by_hand():
    # Both rows at w = 0: w2 = 2 * ((1, 0) + (0, -2))/2 = (1, -2), margins 1 and 4: only shrinking.
    # The second batch holds row 0 twice.
    run = reference.pegasos(X2, Y2, 0.5, np.array([0, 1, 0, 0]), batch_size=2)
    assert_array_equal(run.last, [0.5, -1.0])
    assert run.violations == 2
    assert run.clock == 2.0


def test_a_row_twice_in_a_batch_counts_twice():
    run = reference.pegasos(X2, Y2, 0.5, np.array([0, 0, 1]), batch_size=3)
    assert_allclose(run.last, [4 / 3, -4 / 3], rtol=EXACT)
    assert_array_equal(run.dual_mass, [2.0, 1.0])
    assert run.violations == 3


def test_weighted_steps_by_hand():
    # Weights 1 and 3: the clock reads 1, then 4; w2 = (2, 0), w3 = w2/4 + 3/2 (0, -2).
    args = (X2, Y2, 0.5, np.array([0, 1]))
    s = np.array([1.0, 3.0])
    run = reference.pegasos(*args, sample_weight=s)
    assert_array_equal(run.last, [0.5, -3.0])
    assert_array_equal(run.dual_mass, [1.0, 3.0])
    assert run.clock == 4.0
    uniform = reference.pegasos(*args, sample_weight=s, average="uniform")  # c = 1, 3
    weighted = reference.pegasos(*args, sample_weight=s, average="weighted")  # c = 1, 12
    assert_allclose(uniform.w, [3.5 / 4, -9 / 4], rtol=EXACT)
    assert_allclose(weighted.w, [8 / 13, -36 / 13], rtol=EXACT)


# --- Identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("batch_size", [1, 4, 16])
@pytest.mark.parametrize("weighted", [False, True])
def test_after_whole_epochs_the_last_iterate_is_the_dual_points_weights(loss, batch_size, weighted):
    # 24 rows, 4 epochs: batches of 16 cross the borders of epochs, and it holds all the same.
    X, y, s = random_problem(1)
    s = s if weighted else None
    draws = epochs_of_rows(5, len(y), 4)
    run = reference.pegasos(X, y, 0.05, draws, loss=loss, batch_size=batch_size, sample_weight=s)
    a = reference.pegasos_dual_point(run.dual_mass, 4, s)
    assert_allclose(a, run.dual_mass / 4, rtol=EXACT)  # nothing was clipped
    assert_allclose(reference.dual_weights(a, X, y, 0.05, s), run.last, atol=EXACT)


def test_without_projection_hinge_violations_are_the_whole_dual_mass():
    X, y, _ = random_problem(2)
    run = reference.pegasos(X, y, 0.05, epochs_of_rows(2, len(y), 3))
    assert 0 < run.violations < 3 * len(y)
    assert run.dual_mass.sum() == run.violations


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_dual_mass_follows_w_through_projections(loss, batch_size, weighted):
    X, y, s = random_problem(3)
    X *= 5.0  # long rows, so that steps leave the ball
    s = s if weighted else None
    draws = reference.draw_rows(np.random.default_rng(1), len(y), 60, "uniform")
    lam = 0.3
    options = {"loss": loss, "batch_size": batch_size, "sample_weight": s}
    run = reference.pegasos(X, y, lam, draws, project=True, **options)
    free = reference.pegasos(X, y, lam, draws, **options)
    assert not np.allclose(run.last, free.last, rtol=1e-3)  # projections did happen
    scale = batch_size * lam * run.clock
    assert_allclose((run.dual_mass * y) @ X, scale * run.last, atol=scale * EXACT)


def test_projection_keeps_norm_below_radius():
    X, y, _ = random_problem(4)
    X *= 10.0
    draws = epochs_of_rows(0, len(y), 1)
    for steps in range(1, len(draws) + 1):
        run = reference.pegasos(X, y, 0.25, draws[:steps], project=True)
        assert np.linalg.norm(run.last) <= 2.0 * (1 + EXACT)
    free = reference.pegasos(X, y, 0.25, draws[:1])
    assert np.linalg.norm(free.last) > 2.0


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_ball_holds_the_optimum_even_where_it_is_tight(loss):
    # Hinge: all a_i = 1 gives w* = 0.3/lam, margin 1: exactly on the border, 1/sqrt(lam) = 10/3.
    X, y = np.full((4, 1), 0.3), np.ones(4)
    lam = 0.09
    optimum = reference.sdca(X, y, lam, epochs_of_rows(0, 4, 200), loss=loss).last
    assert 0.4 / np.sqrt(lam) < np.linalg.norm(optimum) <= (1 + EXACT) / np.sqrt(lam)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("project", [False, True])
def test_integer_weights_in_full_batches_equal_repeated_rows(loss, project):
    X, y, _ = random_problem(6)
    s = np.random.default_rng(6).integers(1, 5, size=len(y))
    repeated = np.repeat(np.arange(len(y)), s)
    options = {"loss": loss, "project": project, "average": "weighted"}
    weighted = reference.pegasos(
        X, y, 0.1, np.tile(np.arange(len(y)), 7), batch_size=len(y), sample_weight=s, **options
    )
    plain = reference.pegasos(
        X[repeated],
        y[repeated],
        0.1,
        np.tile(np.arange(len(repeated)), 7),
        batch_size=len(repeated),
        **options,
    )
    assert_allclose(weighted.last, plain.last, atol=EXACT)
    assert_allclose(weighted.w, plain.w, atol=EXACT)
    mass_of_copies = np.bincount(repeated, weights=plain.dual_mass)
    assert_allclose(weighted.dual_mass, mass_of_copies, rtol=EXACT)


@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
def test_only_the_ratios_of_weights_matter(average):
    X, y, s = random_problem(7)
    draws = epochs_of_rows(1, len(y), 3)
    run, scaled = (
        reference.pegasos(X, y, 0.1, draws, sample_weight=weights, average=average)
        for weights in (s, 8.0 * s)  # a power of two: not even the rounding differs
    )
    assert_array_equal(scaled.w, run.w)
    assert scaled.clock == 8.0 * run.clock


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_form_without_shrinking_makes_the_same_decisions(loss):
    # v = lam t w only ever grows by the slopes' rows: what the fast core keeps.
    X, y, _ = random_problem(8)
    lam = 0.02
    draws = reference.draw_rows(np.random.default_rng(8), len(y), 300, "uniform")
    v, violations = np.zeros(X.shape[1]), 0
    for t, i in enumerate(draws, start=1):
        margin = y[i] * (X[i] @ v) / (lam * max(t - 1, 1))
        violations += margin < 1
        v += reference.LOSSES[loss].slope(margin) * y[i] * X[i]
    run = reference.pegasos(X, y, lam, draws, loss=loss)
    assert run.violations == violations
    assert_allclose(run.last, v / (lam * 300), atol=1e-11)


@pytest.mark.parametrize("options", [{}, {"project": True}, {"batch_size": 2}, {"loss": "log"}])
@pytest.mark.parametrize("weighted", [False, True])
def test_averages_equal_the_mean_of_prefix_runs(options, weighted):
    X, y, s = random_problem(10)
    if not weighted:
        s = np.ones(len(y))
    X *= 4.0
    draws = reference.draw_rows(np.random.default_rng(2), len(y), 20, "uniform")
    k = options.get("batch_size", 1)
    iterates = [
        reference.pegasos(X, y, 0.2, draws[:end], sample_weight=s, **options).last
        for end in range(k, 21, k)
    ]
    step_weights = s[draws].reshape(-1, k).mean(axis=1)
    for average, c in [
        ("uniform", step_weights),
        ("weighted", step_weights * np.cumsum(step_weights)),
    ]:
        run = reference.pegasos(X, y, 0.2, draws, sample_weight=s, average=average, **options)
        assert_allclose(run.w, np.average(iterates, axis=0, weights=c), atol=EXACT)
        assert_array_equal(run.last, iterates[-1])


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("sampling", ["uniform", "permutation"])
def test_the_certificate_encloses_the_optimum(loss, sampling):
    X, y, s = random_problem(11, n_rows=60)
    lam, epochs = 0.1, 100
    draws = reference.draw_rows(np.random.default_rng(4), 60, epochs * 60, sampling)
    run = reference.pegasos(X, y, lam, draws, loss=loss, average="weighted", sample_weight=s)
    a = reference.pegasos_dual_point(run.dual_mass, epochs, s)
    lower = reference.dual_objective(a, X, y, lam, loss, s)
    upper = reference.primal_objective(run.w, X, y, lam, loss, s)
    exact = reference.sdca(X, y, lam, epochs_of_rows(0, 60, 100), loss=loss, sample_weight=s)
    optimum = reference.primal_objective(exact.w, X, y, lam, loss, s)
    assert lower <= optimum <= upper
    assert upper - lower < 0.05 * optimum  # uniform draws: rows seen too often were clipped


def test_dual_point_is_clipped_to_the_weights():
    mass, s = np.array([0.5, 3.0, 9.0]), np.array([1.0, 1.0, 4.0])
    assert_array_equal(reference.pegasos_dual_point(mass, 2), [0.25, 1.0, 1.0])
    assert_array_equal(reference.pegasos_dual_point(mass, 2, s), [0.25, 1.0, 4.0])
