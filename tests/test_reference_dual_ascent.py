"""Dual ascent of the reference: by hand, by identities, and against other people's solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pegasos import reference

from .reference_helpers import EXACT, LOSS_NAMES, X2, Y2, epochs_of_rows, random_problem

# --- Coordinate ascent ----------------------------------------------------------------------------


def test_sdca_hinge_steps_by_hand():
    # lam S = 1. Row 0: q = 1, a = 1. Row 1: q = 4, a = 1/4, and margin 1 from then on.
    first = reference.sdca(X2, Y2, 0.5, np.array([0]))
    assert_array_equal(first.a, [1.0, 0.0])
    assert_array_equal(first.last, [1.0, 0.0])
    run = reference.sdca(X2, Y2, 0.5, np.array([0, 1, 1]))
    assert_array_equal(run.a, [1.0, 0.25])
    assert_array_equal(run.last, [1.0, -0.5])
    uniform = reference.sdca(X2, Y2, 0.5, np.array([0, 1, 1]), average="uniform")
    weighted = reference.sdca(X2, Y2, 0.5, np.array([0, 1, 1]), average="weighted")
    assert_allclose(uniform.w, [1.0, -1 / 3], rtol=EXACT)
    assert_allclose(weighted.w, [1.0, -5 / 12], rtol=EXACT)
    assert_array_equal(weighted.last, run.last)


def test_sdca_hinge_clips_at_the_weight_and_at_zero():
    # lam S = 2, q = 1/2: the free maximum a = 2 is cut to the weight 1.
    assert_array_equal(reference.sdca(X2, Y2, 1.0, np.array([0])).a, [1.0, 0.0])
    s = np.array([3.0, 1.0])  # lam S = 4, q = 1/4: the free maximum 4 is cut to 3
    assert_array_equal(reference.sdca(X2, Y2, 1.0, np.array([0]), sample_weight=s).a, [3.0, 0.0])
    # Two equal rows, q = 4: from a = (1/2, 1) the margin is 6, and 1/2 - 5/4 is cut to 0.
    rows, labels = np.full((2, 1), 2.0), np.ones(2)
    run = reference.sdca(rows, labels, 0.5, np.array([0]), a=np.array([0.5, 1.0]))
    assert_array_equal(run.a, [0.0, 1.0])
    assert_array_equal(run.last, [2.0])


def test_sdca_gives_an_all_zero_row_its_best_value():
    X, y, s = np.zeros((2, 3)), np.array([1.0, -1.0]), np.array([1.0, 3.0])
    for loss, best in [("hinge", s), ("log", s / 2)]:
        run = reference.sdca(X, y, 0.5, np.array([0, 1]), loss=loss, sample_weight=s)
        assert_array_equal(run.a, best)
        assert_array_equal(run.last, np.zeros(3))


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("lam", [1e-4, 0.1, 10.0])
def test_sdca_never_lowers_the_dual_and_keeps_w_on_its_dual_point(loss, lam):
    X, y, s = random_problem(12)
    a, dual = None, -np.inf
    for i in reference.draw_rows(np.random.default_rng(5), len(y), 100, "uniform"):
        run = reference.sdca(X, y, lam, np.array([i]), loss=loss, sample_weight=s, a=a)
        new_dual = reference.dual_objective(run.a, X, y, lam, loss, s)
        assert new_dual >= dual - EXACT
        expected = reference.dual_weights(run.a, X, y, lam, s)
        assert_allclose(run.last, expected, rtol=1e-10, atol=1e-10)
        a, dual = run.a, new_dual
    assert dual > 0.0  # where both duals start, at a = 0


def test_sdca_continues_from_a_dual_point_without_touching_it():
    X, y, _ = random_problem(13)
    draws = epochs_of_rows(3, len(y), 2)
    whole = reference.sdca(X, y, 0.1, draws)
    half = reference.sdca(X, y, 0.1, draws[:24])
    kept = half.a.copy()
    rest = reference.sdca(X, y, 0.1, draws[24:], a=half.a)
    assert_array_equal(half.a, kept)
    assert_allclose(rest.a, whole.a, atol=EXACT)
    assert_allclose(rest.last, whole.last, atol=EXACT)


def test_sdca_averages_equal_the_mean_of_prefix_runs():
    X, y, s = random_problem(14)
    draws = reference.draw_rows(np.random.default_rng(6), len(y), 15, "uniform")
    options = {"loss": "log", "sample_weight": s}
    iterates = [reference.sdca(X, y, 0.1, draws[:t], **options).last for t in range(1, 16)]
    for average, c in [("uniform", np.ones(15)), ("weighted", np.arange(1, 16))]:
        run = reference.sdca(X, y, 0.1, draws, average=average, **options)
        assert_allclose(run.w, np.average(iterates, axis=0, weights=c), atol=EXACT)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_sdca_closes_the_gap_at_the_optimum_of_other_solvers(loss, weighted):
    X, y, s = random_problem(15, n_rows=40)
    s = s if weighted else np.ones(40)
    lam = 0.05
    run = reference.sdca(X, y, lam, epochs_of_rows(7, 40, 200), loss=loss, sample_weight=s)
    primal = reference.primal_objective(run.w, X, y, lam, loss, s)
    assert 0 <= primal - reference.dual_objective(run.a, X, y, lam, loss, s) + EXACT < 1e-6

    C = 1 / (lam * s.sum())
    if loss == "hinge":
        peer = LinearSVC(
            loss="hinge", dual=True, C=C, fit_intercept=False, tol=1e-10, max_iter=10**6
        )
    else:
        peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs = peer.fit(X, y, sample_weight=s).coef_.ravel()
    # Strongly convex: a gap below 1e-6 puts w within sqrt(2e-6/lam) of the optimum.
    assert_allclose(run.w, theirs, atol=np.sqrt(2e-6 / lam))
    peer_primal = reference.primal_objective(theirs, X, y, lam, loss, s)
    assert_allclose(primal, peer_primal, atol=1e-6)


def test_sdca_log_optimum_is_the_minimum_of_the_primal_by_scipy():
    X, y, s = random_problem(16)
    run = reference.sdca(X, y, 0.05, epochs_of_rows(8, 24, 100), loss="log", sample_weight=s)
    best = minimize(
        reference.primal_objective, np.zeros(5), args=(X, y, 0.05, "log", s), method="BFGS"
    )
    assert_allclose(reference.primal_objective(run.w, X, y, 0.05, "log", s), best.fun, atol=1e-9)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_sdca_integer_weights_have_the_optimum_of_repeated_rows(loss):
    X, y, _ = random_problem(17)
    s = np.random.default_rng(17).integers(1, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), s)
    weighted = reference.sdca(X, y, 0.1, epochs_of_rows(0, 24, 150), loss=loss, sample_weight=s)
    repeated = reference.sdca(X[rows], y[rows], 0.1, epochs_of_rows(0, len(rows), 150), loss=loss)
    assert_allclose(weighted.w, repeated.w, atol=1e-4)
    unweighted = reference.sdca(X, y, 0.1, epochs_of_rows(0, 24, 150), loss=loss)
    assert not np.allclose(weighted.w, unweighted.w, atol=1e-2)


# --- Over-relaxation and sleeping rows ------------------------------------------------------------

NEAR = np.array([[0.5]])  # lam S = 1 with lam = 1: after one step a = 1, w = 1/2, margin 1/4
ONE_ROW = np.ones(1)


def test_over_relaxed_hinge_steps_by_hand():
    # lam S = 1, q = 4. a = 1.5/4, margin 1.5; back by 1.5 * 0.5/4, margin 0.75.
    once, twice = (
        reference.sdca(X2, Y2, 0.5, draws, relaxation=1.5)
        for draws in (np.array([1]), np.array([1, 1]))
    )
    assert_array_equal(once.a, [0.0, 0.375])
    assert_array_equal(once.last, [0.0, -0.75])
    assert_array_equal(twice.a, [0.0, 0.1875])
    assert (once.violations, twice.violations) == (1, 1)


def test_log_loss_takes_no_relaxation():
    X, y, s = random_problem(20)
    draws = epochs_of_rows(0, len(y), 2)
    plain, relaxed = (
        reference.sdca(X, y, 0.1, draws, loss="log", sample_weight=s, relaxation=relaxation)
        for relaxation in (1.0, 1.7)
    )
    assert_array_equal(relaxed.a, plain.a)


@pytest.mark.parametrize("relaxation", [0.1, 1.5, 1.999])
@pytest.mark.parametrize("lam", [1e-4, 0.1, 10.0])
def test_relaxed_steps_never_lower_the_dual(lam, relaxation):
    X, y, s = random_problem(21)
    a, dual = None, -np.inf
    for i in reference.draw_rows(np.random.default_rng(5), len(y), 60, "uniform"):
        a = reference.sdca(X, y, lam, [i], sample_weight=s, a=a, relaxation=relaxation).a
        new_dual = reference.dual_objective(a, X, y, lam, "hinge", s)
        assert new_dual >= dual - EXACT
        dual = new_dual


def test_a_row_resting_at_its_bound_sleeps_by_its_slack():
    # Visit 1 moves a to 1; visit 2 leaves it there with slack 3/4: it sleeps through the next 3.
    naps = [
        reference.sdca(NEAR, ONE_ROW, 1.0, np.zeros(n, int), shrinking=True).naps[0]
        for n in range(1, 8)
    ]
    assert naps == [0, 3, 2, 1, 0, 3, 2]
    run = reference.sdca(NEAR, ONE_ROW, 1.0, np.zeros(7, int), shrinking=True)
    assert run.violations == 3  # visits 1, 2 and 6
    awake = reference.sdca(NEAR, ONE_ROW, 1.0, np.zeros(7, int))
    assert awake.naps[0] == 0
    assert awake.violations == 7


@pytest.mark.parametrize(
    ("margin", "naps"),
    [(0.8, 0), (1.2, 0), (0.7, 1), (1.3, 1), (2.6, 6), (2.8, 7), (9.0, 7), (-9.0, 7)],
)
def test_the_slack_decides_how_long_a_row_sleeps(margin, naps):
    # Row 0 (weight 1) holds w at 1; row 1 is at its bound with the margin asked for.
    X, y = np.array([[1.0], [margin]]), np.ones(2)
    s = np.array([1.0, 1e-9])  # too light to move w
    a = np.array([1.0, 0.0 if margin > 1 else 1e-9])
    run = reference.sdca(X, y, 1.0, np.array([1]), sample_weight=s, a=a, shrinking=True)
    assert_array_equal(run.a, a)
    assert_array_equal(run.naps, [0, naps])


def test_a_row_between_its_bounds_never_sleeps():
    # Row 1 reaches a = 1/4 and margin 1 in one step; nothing changes after that.
    run = reference.sdca(X2, Y2, 0.5, np.array([1, 1, 1]), shrinking=True)
    assert_array_equal(run.a, [0.0, 0.25])
    assert_array_equal(run.naps, [0, 0])


def test_visits_slept_through_count_neither_as_steps_nor_as_violations():
    X, y, s = random_problem(22)
    draws = epochs_of_rows(3, len(y), 6)
    for average in (None, "uniform", "weighted"):
        options = {"average": average, "sample_weight": s, "relaxation": 1.2}
        run = reference.sdca(X, y, 0.5, draws, shrinking=True, **options)
        # The draws that were not slept through, found by handing the naps from visit to visit.
        awake, a, naps = [], None, np.zeros(len(y), int)
        for i in draws:
            awake += [i] if naps[i] == 0 else []
            step = reference.sdca(
                X, y, 0.5, [i], a=a, naps=naps, shrinking=True, sample_weight=s, relaxation=1.2
            )
            a, naps = step.a, step.naps
        assert len(y) < len(awake) < len(draws)  # some slept, and not all the time
        plain = reference.sdca(X, y, 0.5, awake, **options)
        assert_array_equal(run.naps, naps)
        assert_allclose(run.a, plain.a, atol=EXACT)
        assert_allclose(run.w, plain.w, atol=EXACT)
        assert run.violations == plain.violations


def test_when_every_visit_is_slept_through_the_mean_is_the_last_iterate():
    asleep = np.array([2])
    run = reference.sdca(
        NEAR, ONE_ROW, 1.0, [0, 0], a=np.array([0.5]), naps=asleep, average="uniform"
    )
    assert_array_equal(run.w, [0.25])
    assert_array_equal(run.naps, [0])
    assert_array_equal(asleep, [2])  # what was handed in stays as it was


@pytest.mark.parametrize("weighted", [False, True])
def test_sleeping_rows_do_not_move_the_optimum(weighted):
    X, y, s = random_problem(23, n_rows=40)
    s = s if weighted else None
    draws = epochs_of_rows(7, 40, 200)
    run = reference.sdca(X, y, 0.05, draws, sample_weight=s, relaxation=1.2, shrinking=True)
    primal = reference.primal_objective(run.w, X, y, 0.05, "hinge", s)
    assert 0 <= primal - reference.dual_objective(run.a, X, y, 0.05, "hinge", s) + EXACT < 1e-6


# --- A stochastic start ---------------------------------------------------------------------------


def test_two_steps_of_the_start_by_hand():
    # eta = 1, then 1/(1 + 30/2); w = (1, 0), then (31/32, -2/16); means with weights 1 and 2.
    mean = reference.sgd_start(X2, Y2, 0.5, np.array([0, 1]), 1.0)
    assert_allclose(mean, [47 / 48, -1 / 12], rtol=EXACT)


def test_weighted_steps_of_the_start_by_hand():
    # Weights 1 and 3, S = 4: eta = 1, then 2/17; c = 1, then 3 * 4.
    s = np.array([1.0, 3.0])
    mean = reference.sgd_start(X2, Y2, 0.5, np.array([0, 1]), 1.0, sample_weight=s)
    w2, w3 = np.array([1.0, 0.0]), np.array([14 / 17, -12 / 17])
    assert_allclose(mean, (w2 + 12 * w3) / 13, rtol=EXACT)


def test_the_start_follows_the_slope_of_its_loss():
    log = reference.sgd_start(X2, Y2, 0.5, np.array([0]), 0.3, loss="log")
    assert_allclose(log, [0.15, 0.0], rtol=EXACT)  # slope 1/2 at margin 0
    # One row of margin 4 after the first step: the hinge only shrinks from there, eta = 4/31.
    hinge = reference.sgd_start(np.ones((1, 1)), np.ones(1), 0.05, np.array([0, 0]), 4.0)
    assert_allclose(hinge, [(4.0 + 2 * 4.0 * (1 - 0.2 / 31)) / 3], rtol=EXACT)


def test_no_step_of_the_start_is_longer_than_half_of_one_over_lam():
    # lam = 1/2: the first step is 1 long instead of 4, the second 4/31.
    mean = reference.sgd_start(np.ones((1, 1)), np.ones(1), 0.5, np.array([0, 0]), 4.0)
    assert_allclose(mean, [(1.0 + 2 * (1 - 2 / 31)) / 3], rtol=EXACT)


def test_where_lam_is_large_the_steps_of_the_start_are_those_of_pegasos():
    # lam S eta0 = 50, so eta = 1, 2/3, 1/2, that is 1/(lam (t + t0)) with t0 = 1/(lam eta0) = 2.
    X, y = np.ones((100, 1)), np.ones(100)
    after = [reference.sgd_start(X, y, 0.5, np.arange(t), 1.0, average=None)[0] for t in (1, 2, 3)]
    # The first step ends at margin 1, so the second only shrinks; the third adds a row again.
    assert_allclose(after, [1, 1 - 1 / 3, 3 / 4 * 2 / 3 + 1 / 2], rtol=EXACT)


def test_the_start_returns_the_last_weights_or_the_mean():
    # As by hand above: (1, 0), then (31/32, -2/16).
    steps = (X2, Y2, 0.5, np.array([0, 1]), 1.0)
    assert_allclose(reference.sgd_start(*steps, average=None), [31 / 32, -1 / 8], rtol=EXACT)
    assert_allclose(reference.sgd_start(*steps, average="uniform"), [63 / 64, -1 / 16], rtol=EXACT)


def test_guessed_masses_are_a_ramp_for_the_hinge_and_the_slope_for_the_log_loss():
    margins = [-3.0, 0.5, 0.96875, 1.0, 1.5, 4.0]
    assert_array_equal(reference.guess_masses(margins), [1.0, 1.0, 0.75, 0.5, 0.0, 0.0])
    assert_array_equal(reference.guess_masses(margins, "log"), reference.log_slope(margins))


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_where_lam_is_small_the_start_beats_a_first_epoch_of_ascent(loss):
    X, y, _ = random_problem(24, n_rows=200)
    lam = 1e-5
    draws = epochs_of_rows(1, 200, 1)
    start = reference.sgd_start(X, y, lam, draws, 1 / np.mean(np.sum(X**2, axis=1)), loss=loss)
    ascent = reference.sdca(X, y, lam, draws, loss=loss, average="weighted").w
    objectives = [reference.primal_objective(w, X, y, lam, loss) for w in (start, ascent)]
    assert objectives[0] < objectives[1]


# --- Newton's steps -------------------------------------------------------------------------------


def test_guessed_masses_fall_on_a_ramp_as_wide_as_asked_for():
    margins = [0.75, 0.875, 1.0, 1.25]
    assert_array_equal(reference.guess_masses(margins, width=0.5), [1.0, 0.75, 0.5, 0.0])
    assert_array_equal(
        reference.guess_masses(margins, "log", width=0.5), reference.log_slope(margins)
    )


def test_a_newton_step_by_hand():
    # lam S = 1. Both margins are 0, which is mass 3/4 on a ramp of width 4: g = (-3/4, 3/2),
    # H = diag(1 + 1/4, 1 + 4/4). Both rows stay on the ramp, so the step is exact.
    step = reference.newton_step(np.zeros(2), X2, Y2, 0.5, 4.0)
    assert_allclose(step, [0.6, -0.75], rtol=EXACT)


def test_a_newton_step_ends_where_it_no_longer_goes_downhill():
    # One row off the ramp, mass 1: the step is 1/(lam S) = 10, but the ramp, of width 1, begins at
    # margin 1/2: the slope turns between 1/8 and 1/4 of the step.
    step = reference.newton_step(np.zeros(1), np.ones((1, 1)), np.ones(1), 0.1, 1.0)
    slopes = [10 * (0.1 * 1.25 - 0.25), 10 * 0.25]  # 10 (w/10 - mass) at w = 1.25 and at 2.5
    assert_allclose(step, 1.25 + 1.25 * slopes[0] / (slopes[0] - slopes[1]), rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_newton_steps_find_the_minimum_of_the_rounded_objective(loss):
    X, y, s = random_problem(25, n_rows=60)
    w, lam = np.zeros(X.shape[1]), 0.01
    for _ in range(20):
        w = reference.newton_step(w, X, y, lam, 0.5, loss=loss, sample_weight=s)
    # There, the weights are those of their masses, and no dual point leaves a smaller gap.
    a = s * reference.guess_masses(y * (X @ w), loss, 0.5)
    assert_allclose(reference.dual_weights(a, X, y, lam, s), w, atol=1e-8)
    primal = reference.primal_objective(w, X, y, lam, loss, s)
    assert 0 <= primal - reference.dual_objective(a, X, y, lam, loss, s) + EXACT < 0.05
