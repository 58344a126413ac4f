"""Kernel machines of the reference: by hand, by identities, and against the linear ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference

from .reference_helpers import EXACT, LOSS_NAMES, epochs_of_rows, random_problem

# A Gram matrix (eigenvalues 2 and 2 +- sqrt 2) whose runs stay within short fractions.
K3 = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
Y3 = np.array([1.0, 1.0, -1.0])
S3 = np.array([1.0, 3.0, 2.0])

# K = (<a, b> + 1)^2 of the corners of a square: 9 on the diagonal, 1 elsewhere.
XOR_X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
XOR_Y = np.array([1.0, -1.0, -1.0, 1.0])


def gaussian_problem(seed, n_rows=24):
    X, y, s = random_problem(seed, n_rows)
    return reference.gaussian_kernel(X, X, gamma=0.3), y, s


def uniform_draws(seed, n_rows, n_draws):
    return reference.draw_rows(np.random.default_rng(seed), n_rows, n_draws, "uniform")


# --- Objectives -----------------------------------------------------------------------------------


def test_kernel_primal_objective_by_hand():
    coef = np.array([1.0, 0.0, -1.0])  # f = (2, 0, -2), margins 2, 0, 2; coef^T K coef = 4
    hinge = reference.kernel_primal_objective(coef, K3, Y3, 0.5)
    assert_allclose(hinge, 1 + 1 / 3, rtol=EXACT)
    weighted = reference.kernel_primal_objective(coef, K3, Y3, 0.5, sample_weight=S3)
    assert_allclose(weighted, 1 + 3 / 6, rtol=EXACT)
    log = reference.kernel_primal_objective(coef, K3, Y3, 0.5, "log")
    assert_allclose(log, 1 + (2 * np.log1p(np.exp(-2.0)) + np.log(2)) / 3, rtol=EXACT)


def test_kernel_dual_objective_by_hand():
    # lam S = 1: coef = (1, 1/2, -1/4), f = (5/2, 7/4, 0), coef^T K coef = 27/8.
    masses = np.array([1.0, 0.5, 0.25])
    hinge = reference.kernel_dual_objective(masses, K3, Y3, 1 / 3)
    assert_allclose(hinge, 1.75 / 3 - 27 / 48, rtol=1e-11)  # the difference costs a digit
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))  # the row with b = 1 has none
    log = reference.kernel_dual_objective(masses, K3, Y3, 1 / 3, "log")
    assert_allclose(log, (np.log(2) + entropy) / 3 - 27 / 48, rtol=1e-11)


def test_weighted_kernel_dual_objective_by_hand():
    # lam S = 1: coef = (1, 3/2, -1/2), f = (7/2, 7/2, 1/2), coef^T K coef = 17/2.
    masses = np.array([1.0, 0.5, 0.25])
    hinge = reference.kernel_dual_objective(masses, K3, Y3, 1 / 6, sample_weight=S3)
    assert_allclose(hinge, 3 / 6 - 17 / 24, rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_with_the_linear_kernel_the_objectives_are_the_linear_ones(loss):
    X, y, s = random_problem(30)
    K = reference.linear_kernel(X, X)
    rng = np.random.default_rng(30)
    coef, masses = rng.normal(size=len(y)), rng.random(len(y))
    assert_allclose(
        reference.kernel_primal_objective(coef, K, y, 0.2, loss, s),
        reference.primal_objective(coef @ X, X, y, 0.2, loss, s),
        rtol=EXACT,
    )
    assert_allclose(
        reference.kernel_dual_objective(masses, K, y, 0.2, loss, s),
        reference.dual_objective(s * masses, X, y, 0.2, loss, s),
        rtol=EXACT,
    )


@pytest.mark.parametrize("loss", LOSS_NAMES)
@given(seed=st.integers(0, 2**32 - 1), log_lam=st.floats(-6, 2), size=st.floats(-3, 3))
@settings(max_examples=60)
def test_no_masses_lie_above_any_function(loss, seed, log_lam, size):
    K, y, s = gaussian_problem(seed, n_rows=10)
    rng = np.random.default_rng(seed)
    masses = rng.choice([0.0, 1.0, rng.random()], size=len(y))
    lam = 10**log_lam
    dual = reference.kernel_dual_objective(masses, K, y, lam, loss, s)
    its_own = s * masses * y / (lam * s.sum())  # bounds it tighter than any other
    for coef in (10**size * rng.normal(size=len(y)), its_own):
        primal = reference.kernel_primal_objective(coef, K, y, lam, loss, s)
        assert dual <= primal + EXACT * (1 + primal)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_integer_weights_in_the_objectives_mean_repeated_rows(loss):
    K, y, _ = gaussian_problem(31)
    rng = np.random.default_rng(31)
    s = rng.integers(1, 5, size=len(y))
    rows = np.repeat(np.arange(len(y)), s)
    coef, masses = rng.normal(size=len(y)), rng.random(len(y))
    shared = (coef / s)[rows]  # each copy carries its share of the coefficient
    repeated = K[np.ix_(rows, rows)]
    assert_allclose(
        reference.kernel_primal_objective(coef, K, y, 0.1, loss, s),
        reference.kernel_primal_objective(shared, repeated, y[rows], 0.1, loss),
        rtol=EXACT,
    )
    assert_allclose(
        reference.kernel_dual_objective(masses, K, y, 0.1, loss, s),
        reference.kernel_dual_objective(masses[rows], repeated, y[rows], 0.1, loss),
        rtol=1e-11,  # the difference of two such sums
    )


# --- Pegasos --------------------------------------------------------------------------------------

FIVE_DRAWS = np.array([0, 1, 2, 0, 0])


def test_five_kernel_pegasos_steps_by_hand():
    # lam = 1, margins: 0; 1/2; -(1)/3; (2 + 1)/4; (4 + 1)/5, which is 1 and no violation.
    # Over t - 1 the margins of steps 2 and 4 would be 1, too: no violations.
    run = reference.kernel_pegasos(K3, Y3, 1.0, FIVE_DRAWS)
    assert_array_equal(run.alpha, [2.0, 1.0, 1.0])
    assert_allclose(run.last, [2 / 5, 1 / 5, -1 / 5], rtol=EXACT)
    assert_array_equal(run.coef, run.last)
    assert run.violations == 4
    assert run.clock == 5.0


def test_averages_of_five_kernel_pegasos_steps_by_hand():
    # f2..f6: (1, 0, 0), (1, 1, 0)/2, (1, 1, -1)/3, (2, 1, -1)/4, (2, 1, -1)/5.
    uniform = reference.kernel_pegasos(K3, Y3, 1.0, FIVE_DRAWS, average="uniform")
    assert_allclose(uniform.coef, [41 / 75, 77 / 300, -47 / 300], rtol=EXACT)
    weighted = reference.kernel_pegasos(K3, Y3, 1.0, FIVE_DRAWS, average="weighted")
    assert_allclose(weighted.coef, [7 / 15, 4 / 15, -3 / 15], rtol=EXACT)
    assert_allclose(weighted.last, [2 / 5, 1 / 5, -1 / 5], rtol=EXACT)


def test_weighted_kernel_pegasos_steps_by_hand():
    # The clock reads 1, 4, 6, 9; margins 0, 1/4, -3/6, (1 + 6 - 2)/9: all violate.
    draws = np.array([0, 1, 2, 1])
    run = reference.kernel_pegasos(K3, Y3, 1.0, draws, sample_weight=S3)
    assert_array_equal(run.alpha, [1.0, 6.0, 2.0])
    assert_allclose(run.coef, [1 / 9, 6 / 9, -2 / 9], rtol=EXACT)
    assert run.violations == 4
    assert run.clock == 9.0
    # f2..f5: (1, 0, 0), (1, 3, 0)/4, (1, 3, -2)/6, (1, 6, -2)/9, with c = 1, 3, 2, 3.
    uniform = reference.kernel_pegasos(K3, Y3, 1.0, draws, sample_weight=S3, average="uniform")
    assert_allclose(uniform.coef, [29 / 108, 21 / 36, -4 / 27], rtol=EXACT)
    # The same with c = 1, 12, 12, 27.
    weighted = reference.kernel_pegasos(K3, Y3, 1.0, draws, sample_weight=S3, average="weighted")
    assert_allclose(weighted.coef, [9 / 52, 33 / 52, -10 / 52], rtol=EXACT)


def test_two_log_steps_of_kernel_pegasos_by_hand():
    # Slope 1/2 at f = 0; then the margin is (1/2)/2, where the linear machine has 1/2.
    run = reference.kernel_pegasos(np.ones((1, 1)), np.ones(1), 1.0, np.array([0, 0]), loss="log")
    slope = 1 / (1 + np.exp(0.25))
    assert_allclose(run.alpha, [0.5 + slope], rtol=EXACT)
    assert_allclose(run.coef, [(0.5 + slope) / 2], rtol=EXACT)


def test_kernel_pegasos_counts_only_margins_below_one_as_violations_of_the_log_loss():
    # Second margin 0.5/(0.1 * 2) = 2.5: still a positive slope, but no violation.
    run = reference.kernel_pegasos(np.ones((1, 1)), np.ones(1), 0.1, np.array([0, 0]), loss="log")
    assert run.violations == 1
    assert run.alpha[0] > 0.5


@pytest.mark.parametrize(("loss", "slope_at_zero"), [("hinge", 1.0), ("log", 0.5)])
@pytest.mark.parametrize("lam", [1e-8, 1.0, 1e8])
def test_the_first_kernel_step_always_violates(loss, slope_at_zero, lam):
    run = reference.kernel_pegasos(K3, Y3, lam, np.array([2]), loss=loss, sample_weight=S3)
    assert run.violations == 1
    assert_array_equal(run.alpha, [0.0, 0.0, 2.0 * slope_at_zero])
    assert_allclose(run.coef, [0.0, 0.0, -slope_at_zero / lam], rtol=EXACT)


def test_kernel_pegasos_tests_over_t_where_the_linear_machine_tests_over_t_minus_one():
    # Two equal rows x = 1: the second margin is 1/(2 lam) = 2/3, for the linear machine 4/3.
    X, y, draws = np.ones((2, 1)), np.ones(2), np.array([0, 1])
    kernel = reference.kernel_pegasos(reference.linear_kernel(X, X), y, 0.75, draws)
    assert kernel.violations == 2
    assert_array_equal(kernel.alpha, [1.0, 1.0])
    linear = reference.pegasos(X, y, 0.75, draws)
    assert linear.violations == 1
    assert_array_equal(linear.dual_mass, [1.0, 0.0])


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_pegasos_with_the_linear_kernel_is_a_loop_that_shrinks_w_first(loss, weighted):
    X, y, s = random_problem(32)
    s = s if weighted else np.ones(len(y))
    lam, slope = 0.05, reference.LOSSES[loss].slope
    draws = uniform_draws(32, len(y), 200)
    w, clock, violations = np.zeros(X.shape[1]), 0.0, 0
    for i in draws:
        clock += s[i]
        w *= 1 - s[i] / clock
        margin = y[i] * (X[i] @ w)
        violations += margin < 1
        w += s[i] * slope(margin) * y[i] * X[i] / (lam * clock)
    K = reference.linear_kernel(X, X)
    run = reference.kernel_pegasos(K, y, lam, draws, loss=loss, sample_weight=s)
    assert 0 < violations < len(draws)
    assert run.violations == violations
    assert_allclose(run.last @ X, w, atol=1e-11)  # w is 1/lam long, and rounds at every step


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_pegasos_averages_equal_the_mean_of_prefix_runs(loss, weighted):
    K, y, s = gaussian_problem(33)
    s = s if weighted else np.ones(len(y))
    draws = uniform_draws(33, len(y), 20)
    options = {"loss": loss, "sample_weight": s}
    functions = [
        reference.kernel_pegasos(K, y, 0.2, draws[:t], **options).last for t in range(1, 21)
    ]
    seen = s[draws]
    for average, c in [("uniform", seen), ("weighted", seen * np.cumsum(seen))]:
        run = reference.kernel_pegasos(K, y, 0.2, draws, average=average, **options)
        assert_allclose(run.coef, np.average(functions, axis=0, weights=c), atol=EXACT)
        assert_array_equal(run.last, functions[-1])


@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
def test_only_the_ratios_of_weights_matter_to_kernel_pegasos(average):
    K, y, s = gaussian_problem(34)
    draws = epochs_of_rows(34, len(y), 3)
    run, scaled = (
        reference.kernel_pegasos(K, y, 0.1, draws, sample_weight=weights, average=average)
        for weights in (s, 8.0 * s)  # a power of two: not even the rounding differs
    )
    assert_array_equal(scaled.coef, run.coef)
    assert_array_equal(scaled.alpha, 8.0 * run.alpha)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_after_whole_epochs_alpha_is_a_dual_point_of_the_last_function(loss, weighted):
    K, y, s = gaussian_problem(35)
    s = s if weighted else np.ones(len(y))
    lam, epochs = 0.1, 40
    draws = epochs_of_rows(35, len(y), epochs)
    run = reference.kernel_pegasos(K, y, lam, draws, loss=loss, sample_weight=s)
    masses = reference.pegasos_dual_point(run.alpha, epochs, s) / s
    assert_allclose(s * masses * y / (lam * s.sum()), run.last, atol=EXACT)
    primal = reference.kernel_primal_objective(run.last, K, y, lam, loss, s)
    dual = reference.kernel_dual_objective(masses, K, y, lam, loss, s)
    assert dual <= primal < 1.1 * dual  # a certificate, and not an empty one


# --- Dual coordinate ascent -----------------------------------------------------------------------


def test_kernel_sdca_hinge_steps_by_hand():
    # lam S = 1, q = 2. Margins 0, 1/2, -1/4 and 5/4; b0 = 1/2, b1 = 1/4, b2 = 5/8, b0 = 3/8.
    run = reference.kernel_sdca(K3, Y3, 1 / 3, np.array([0, 1, 2, 0]))
    assert_allclose(run.masses, [3 / 8, 1 / 4, 5 / 8], rtol=EXACT)
    assert_allclose(run.coef, [3 / 8, 1 / 4, -5 / 8], rtol=EXACT)
    assert run.violations == 3


def test_weighted_kernel_sdca_steps_by_hand():
    # lam S = 1, q = 6, 2, 4 in the order of the draws. Margins 0, 1/2, -1/2.
    run = reference.kernel_sdca(K3, Y3, 1 / 6, np.array([1, 0, 2]), sample_weight=S3)
    assert_allclose(run.masses, [1 / 4, 1 / 6, 3 / 8], rtol=EXACT)
    assert_allclose(run.coef, [1 / 4, 1 / 2, -3 / 4], rtol=EXACT)
    assert run.violations == 3


def test_over_relaxed_kernel_sdca_steps_by_hand():
    # q = 2. b = 1.5/2, margin 1.5; back by 1.5 * 0.5/2.
    run = reference.kernel_sdca(K3, Y3, 1 / 3, np.array([0, 0]), relaxation=1.5)
    assert_allclose(run.masses, [3 / 8, 0.0, 0.0], rtol=EXACT)
    assert run.violations == 1


def test_kernel_sdca_clips_masses_at_one_and_at_zero():
    # lam S = 6, q = 1/3: the free maximum 3 is cut to 1.
    up = reference.kernel_sdca(K3, Y3, 2.0, np.array([0]))
    assert_array_equal(up.masses, [1.0, 0.0, 0.0])
    # lam S = 3/4, q = 8/3: row 1 has margin (1 + 1)/(3/4) = 8/3, and 1/2 - 5/8 is cut to 0.
    start = np.array([1.0, 0.5, 0.0])
    down = reference.kernel_sdca(K3, Y3, 0.25, np.array([1]), masses=start)
    assert_array_equal(down.masses, [1.0, 0.0, 0.0])
    assert down.violations == 0
    assert_array_equal(start, [1.0, 0.5, 0.0])  # what was handed in stays as it was


def test_kernel_sdca_shares_the_mass_of_duplicated_rows():
    # lam S = 1, q = 2: the first copy reaches margin 1, the second then has nothing to do.
    K, draws = np.full((2, 2), 2.0), np.array([0, 1, 0])
    same = reference.kernel_sdca(K, np.ones(2), 0.5, draws)
    assert_array_equal(same.masses, [0.5, 0.0])
    assert same.violations == 1
    # Copies of opposite labels: b = 1/2, then margin -1 and b = 1, then margin -1 again: f = 0.
    opposite = reference.kernel_sdca(K, np.array([1.0, -1.0]), 0.5, draws)
    assert_array_equal(opposite.masses, [1.0, 1.0])
    assert opposite.violations == 3


@pytest.mark.parametrize(("loss", "best"), [("hinge", 1.0), ("log", 0.5)])
def test_kernel_sdca_gives_a_row_of_norm_zero_its_best_mass(loss, best):
    K = np.diag([0.0, 2.0])
    run = reference.kernel_sdca(K, np.ones(2), 0.5, np.array([0]), loss=loss)
    assert_array_equal(run.masses, [best, 0.0])
    assert run.violations == 1


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("relaxation", [1.0, 1.5])
def test_kernel_sdca_with_the_linear_kernel_is_sdca_draw_for_draw(loss, weighted, relaxation):
    X, y, s = random_problem(36)
    X[5], X[7] = X[4], 0.0  # a duplicate, and a row of norm zero
    s = s if weighted else np.ones(len(y))
    # One order for all epochs: a row that comes again soon may have a margin of 1 up to rounding.
    draws = np.tile(np.random.default_rng(36).permutation(len(y)), 4)
    options = {"loss": loss, "sample_weight": s, "relaxation": relaxation}
    K = reference.linear_kernel(X, X)
    for n_draws in (1, 2, 30, len(draws)):
        kernel = reference.kernel_sdca(K, y, 0.05, draws[:n_draws], **options)
        linear = reference.sdca(X, y, 0.05, draws[:n_draws], **options)
        assert_allclose(s * kernel.masses, linear.a, atol=1e-11)  # errors of 1e-15 go on in w
        assert_allclose(kernel.coef @ X, linear.last, atol=1e-11)
        assert kernel.violations == linear.violations


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("relaxation", [0.1, 1.0, 1.999])
def test_kernel_sdca_never_lowers_the_dual(loss, relaxation):
    K, y, s = gaussian_problem(37)
    masses, dual = np.zeros(len(y)), 0.0
    options = {"loss": loss, "sample_weight": s, "relaxation": relaxation}
    for i in uniform_draws(37, len(y), 60):
        masses = reference.kernel_sdca(K, y, 0.02, [i], masses=masses, **options).masses
        new_dual = reference.kernel_dual_objective(masses, K, y, 0.02, loss, s)
        assert new_dual >= dual - EXACT
        dual = new_dual
    assert dual > 0.05  # it started at 0


def test_kernel_sdca_continues_from_masses():
    K, y, s = gaussian_problem(38)
    draws = epochs_of_rows(38, len(y), 2)
    whole = reference.kernel_sdca(K, y, 0.1, draws, sample_weight=s)
    half = reference.kernel_sdca(K, y, 0.1, draws[:20], sample_weight=s)
    rest = reference.kernel_sdca(K, y, 0.1, draws[20:], sample_weight=s, masses=half.masses)
    assert_array_equal(rest.masses, whole.masses)
    assert_array_equal(rest.coef, whole.coef)
    assert half.violations + rest.violations == whole.violations


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_sdca_closes_the_gap(loss, weighted):
    K, y, s = gaussian_problem(39)
    s = s if weighted else None
    draws = epochs_of_rows(39, len(y), 150)
    run = reference.kernel_sdca(K, y, 0.05, draws, loss=loss, sample_weight=s)
    primal = reference.kernel_primal_objective(run.coef, K, y, 0.05, loss, s)
    dual = reference.kernel_dual_objective(run.masses, K, y, 0.05, loss, s)
    assert 0 <= primal - dual + EXACT < 1e-6


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_kernel_sdca_integer_weights_have_the_optimum_of_repeated_rows(loss):
    K, y, _ = gaussian_problem(40)
    s = np.random.default_rng(40).integers(1, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), s)
    weighted = reference.kernel_sdca(
        K, y, 0.1, epochs_of_rows(0, len(y), 150), loss=loss, sample_weight=s
    )
    repeated = reference.kernel_sdca(
        K[np.ix_(rows, rows)], y[rows], 0.1, epochs_of_rows(0, len(rows), 150), loss=loss
    )
    unweighted = reference.kernel_sdca(K, y, 0.1, epochs_of_rows(0, len(y), 150), loss=loss)
    f = K @ weighted.coef
    assert_allclose(f, K[:, rows] @ repeated.coef, atol=1e-4)
    assert not np.allclose(f, K @ unweighted.coef, atol=1e-2)


# --- Perceptron -----------------------------------------------------------------------------------


def test_kernel_perceptron_learns_xor_in_the_epoch_worked_by_hand():
    # f(x_i) before each draw: 0, 1, 0, -1, all mistakes. Then every margin is 9 - 1 - 1 + 1.
    K = reference.polynomial_kernel(XOR_X, XOR_X, degree=2, coef0=1.0)
    order = np.tile(np.arange(4), (20, 1))
    run = reference.kernel_perceptron(K, XOR_Y, order)
    assert run.mistakes_per_epoch == [4, 0]
    assert_array_equal(run.alpha, np.ones(4))
    assert_array_equal(run.coef, XOR_Y)
    assert_array_equal(K @ run.coef, 8.0 * XOR_Y)
    # No line through the origin does it.
    line = reference.kernel_perceptron(reference.linear_kernel(XOR_X, XOR_X), XOR_Y, order)
    assert len(line.mistakes_per_epoch) == 20
    assert min(line.mistakes_per_epoch) > 0


def test_kernel_perceptron_average_by_hand():
    # alpha after each draw: one more 1 from the left, then four times (1, 1, 1, 1).
    K = reference.polynomial_kernel(XOR_X, XOR_X, degree=2, coef0=1.0)
    run = reference.kernel_perceptron(K, XOR_Y, [np.arange(4)] * 9, average="uniform")
    assert_array_equal(run.coef, [8 / 8, -7 / 8, -6 / 8, 5 / 8])
    assert_array_equal(run.last, XOR_Y)


@pytest.mark.parametrize("average", [None, "uniform"])
def test_kernel_perceptron_with_the_linear_kernel_is_the_perceptron(average):
    X, y, _ = random_problem(41)
    order = [np.array([3, 3, 0]), *epochs_of_rows(41, len(y), 5).reshape(5, -1)]
    K = reference.linear_kernel(X, X)
    kernel = reference.kernel_perceptron(K, y, order, average=average)
    linear = reference.perceptron(X, y, order, average=average)
    assert kernel.mistakes_per_epoch == linear.mistakes_per_epoch
    assert kernel.alpha.sum() == sum(linear.mistakes_per_epoch)
    assert_allclose(kernel.coef @ X, linear.w, atol=EXACT)
    assert_allclose(kernel.last @ X, linear.last, atol=EXACT)


# --- What is refused ------------------------------------------------------------------------------

ONE = np.array([0])


@pytest.mark.parametrize("train", [reference.kernel_pegasos, reference.kernel_sdca])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": K3[:2]}, r"square Gram matrix.*got \(2, 3\)"),
        ({"K": K3[0]}, r"square Gram matrix.*got \(3,\)"),
        ({"K": K3 + np.triu(K3, 1)}, "symmetric"),
        ({"K": K3 - 3 * np.eye(3)}, "never negative"),
        ({"K": K3 * np.nan}, "NaN"),
        ({"y": Y3[:2]}, "Need X"),
        ({"y": np.array([0.0, 1.0, 1.0])}, "-1 or \\+1"),
        ({"lam": 0.0}, "lam must be positive"),
        ({"draws": np.array([3])}, "0..2; got 3"),
        ({"draws": np.array([], dtype=int)}, "not empty"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"sample_weight": np.array([1.0, 0.0, 1.0])}, "positive sample weights"),
    ],
)
def test_bad_input_to_kernel_training_is_refused(train, changes, message):
    arguments = {"K": K3, "y": Y3, "lam": 0.5, "draws": ONE}
    train(**arguments)  # good input is not
    with pytest.raises(ValueError, match=message):
        train(**{**arguments, **changes})


TOO_MUCH = np.array([0.0, 1.1, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.kernel_pegasos(K3, Y3, 0.5, ONE, average="last"), "average must be"),
        (lambda: reference.kernel_sdca(K3, Y3, 0.5, ONE, relaxation=2.0), "between 0 and 2"),
        (lambda: reference.kernel_sdca(K3, Y3, 0.5, ONE, masses=TOO_MUCH), "3 values in"),
        (lambda: reference.kernel_sdca(K3, Y3, 0.5, ONE, masses=-TOO_MUCH), "3 values in"),
        (lambda: reference.kernel_sdca(K3, Y3, 0.5, ONE, masses=np.zeros(2)), "3 values in"),
        (lambda: reference.kernel_dual_objective(TOO_MUCH, K3, Y3, 0.5), "3 values in"),
        (lambda: reference.kernel_dual_objective(Y3 * np.nan, K3, Y3, 0.5), "3 values in"),
        (lambda: reference.kernel_dual_objective(ONE, K3[:1], Y3[:1], 0.5), "square"),
        (lambda: reference.kernel_primal_objective(Y3, K3, Y3, 0.0), "lam must be positive"),
        (lambda: reference.kernel_primal_objective(Y3, K3, Y3, 0.5, "squared"), "loss must be"),
        (lambda: reference.kernel_perceptron(K3, Y3, []), "at least one epoch"),
        (lambda: reference.kernel_perceptron(K3, Y3, [[3]]), "0..2; got 3"),
        (lambda: reference.kernel_perceptron(K3, Y3, [ONE], average="weighted"), "average must"),
    ],
)
def test_other_bad_input_to_kernel_machines_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_kernel_machines_take_lists_and_float32_as_float64():
    expected = reference.kernel_pegasos(K3, Y3, 0.3, FIVE_DRAWS)
    from_lists = reference.kernel_pegasos(K3.tolist(), [1, 1, -1], 0.3, FIVE_DRAWS.tolist())
    from_float32 = reference.kernel_pegasos(K3.astype(np.float32), Y3, 0.3, FIVE_DRAWS)
    for run in (from_lists, from_float32):
        assert run.coef.dtype == np.float64
        assert_array_equal(run.coef, expected.coef)
