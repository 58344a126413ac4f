"""The reference is held to numbers worked by hand, to identities, and to other people's solvers."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pegasos import reference

LOSS_NAMES = ("hinge", "log")
EXACT = 1e-12  # the same number by two routes in float64, sums of a few hundred terms

# Two rows whose Pegasos run with lam = 1/2 stays within short fractions.
X2 = np.array([[1.0, 0.0], [0.0, 2.0]])
Y2 = np.array([1.0, -1.0])


def random_problem(seed, n_rows=24, n_features=5):
    """Overlapping classes and weights between 1/2 and 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = np.where(X[:, 0] + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=n_rows)


def epochs_of_rows(seed, n_rows, n_epochs):
    rng = np.random.default_rng(seed)
    return reference.draw_rows(rng, n_rows, n_epochs * n_rows, "permutation")


def test_the_example_in_the_module_docstring_is_true():
    result = doctest.testmod(reference)
    assert result.attempted >= 8
    assert result.failed == 0


def test_every_public_name_is_exported_and_explained():
    public = {name for name in vars(reference) if not name.startswith("_")}
    assert set(reference.__all__) == public
    assert all(getattr(reference, name).__doc__ for name in public)


# --- Draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [7, 1000, 2**33])
def test_uniform_draws_equal_drawing_one_by_one(n_rows):
    together = reference.draw_rows(np.random.default_rng(42), n_rows, 50, "uniform")
    rng = np.random.default_rng(42)
    assert together.dtype == np.int64
    assert_array_equal(together, [rng.integers(n_rows) for _ in range(50)])


def test_permutation_draws_are_successive_permutations_cut_to_length():
    draws = reference.draw_rows(np.random.default_rng(3), 6, 15, "permutation")
    rng = np.random.default_rng(3)
    expected = [*rng.permutation(6), *rng.permutation(6), *rng.permutation(6)[:3]]
    assert draws.dtype == np.int64
    assert_array_equal(draws, expected)


@pytest.mark.parametrize("sampling", ["uniform", "permutation"])
def test_drawing_whole_epochs_twice_continues_the_stream(sampling):
    rng = np.random.default_rng(9)
    two_calls = [reference.draw_rows(rng, 5, 10, sampling) for _ in range(2)]
    one_call = reference.draw_rows(np.random.default_rng(9), 5, 20, sampling)
    assert_array_equal(np.concatenate(two_calls), one_call)


# --- Losses ---------------------------------------------------------------------------------------


def test_losses_have_their_known_values():
    assert_array_equal(reference.hinge([-1.0, 0.0, 1.0, 3.0]), [2.0, 1.0, 0.0, 0.0])
    assert_array_equal(reference.hinge_slope([-1.0, 0.999, 1.0, 3.0]), [1.0, 1.0, 0.0, 0.0])
    assert_allclose(reference.log_loss([0.0, np.log(3)]), [np.log(2), np.log(4 / 3)], rtol=EXACT)
    assert_allclose(reference.log_slope([0.0, np.log(3), -np.log(3)]), [1 / 2, 1 / 4, 3 / 4])


def test_log_loss_is_exact_and_silent_at_huge_margins():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert_array_equal(reference.log_loss([-1e4, 1e4]), [1e4, 0.0])
        assert_array_equal(reference.log_slope([-1e4, 1e4]), [1.0, 0.0])
        # Far out, the loss and its slope are both exp(-margin): no loss of relative precision.
        assert_allclose(reference.log_loss(500.0), np.exp(-500.0), rtol=EXACT)
        assert_allclose(reference.log_slope(500.0), np.exp(-500.0), rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_slope_is_minus_the_derivative_of_the_value(loss):
    margins = np.array([-30.0, -2.0, -0.3, 0.0, 0.8, 1.2, 4.0])  # not at the kink of the hinge
    value, slope = reference.LOSSES[loss].value, reference.LOSSES[loss].slope
    h = 1e-5
    derivative = (value(margins + h) - value(margins - h)) / (2 * h)
    assert_allclose(slope(margins), -derivative, atol=1e-9)  # h^2 plus eps * 30/h


# --- Objectives -----------------------------------------------------------------------------------


def test_primal_objective_by_hand():
    w = np.array([1.0, 1.0])  # margins 1 and -2, losses 0 and 3
    assert reference.primal_objective(w, X2, Y2, 0.5) == 0.5 + 3 / 2
    assert reference.primal_objective(w, X2, Y2, 0.5, sample_weight=np.array([1.0, 3.0])) == (
        0.5 + 9 / 4
    )
    log = (np.log1p(np.exp(-1.0)) + np.log1p(np.exp(2.0))) / 2
    assert_allclose(reference.primal_objective(w, X2, Y2, 0.5, "log"), 0.5 + log, rtol=EXACT)


def test_dual_objective_by_hand():
    a = np.array([1.0, 0.25])  # w = (1, -1/2), since lam S = 1
    assert_array_equal(reference.dual_weights(a, X2, Y2, 0.5), [1.0, -0.5])
    assert reference.dual_objective(a, X2, Y2, 0.5) == 0.625 - 0.25 * 1.25
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))  # the row with a = 1 has none
    expected = entropy / 2 - 0.25 * 1.25
    assert_allclose(reference.dual_objective(a, X2, Y2, 0.5, "log"), expected, rtol=EXACT)


def test_weighted_dual_objective_by_hand():
    s, a = np.array([1.0, 3.0]), np.array([1.0, 1.5])  # lam S = 2: w = (1/2, -3/2)
    assert_array_equal(reference.dual_weights(a, X2, Y2, 0.5, s), [0.5, -1.5])
    assert reference.dual_objective(a, X2, Y2, 0.5, "hinge", s) == 2.5 / 4 - 0.25 * 2.5
    expected = 3 * np.log(2) / 4 - 0.25 * 2.5  # H(1/2) = log 2, weighing 3 of 4
    assert_allclose(reference.dual_objective(a, X2, Y2, 0.5, "log", s), expected, rtol=EXACT)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@given(seed=st.integers(0, 2**32 - 1), log_lam=st.floats(-6, 2), size=st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_no_dual_point_lies_above_any_primal_point(loss, seed, log_lam, size):
    X, y, s = random_problem(seed)
    rng = np.random.default_rng(seed)
    a = s * rng.choice([0.0, 1.0, rng.random()], size=len(y))
    w = 10**size * rng.normal(size=X.shape[1])
    lam = 10**log_lam
    dual = reference.dual_objective(a, X, y, lam, loss, s)
    for point in (w, reference.dual_weights(a, X, y, lam, s)):  # its own w bounds it tighter
        primal = reference.primal_objective(point, X, y, lam, loss, s)
        assert dual <= primal + EXACT * (1 + primal)


# --- Pegasos, by hand -----------------------------------------------------------------------------


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


# --- Pegasos, identities --------------------------------------------------------------------------


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


# --- Dual coordinate ascent -----------------------------------------------------------------------


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


@given(
    b=st.floats(0, 1),
    s=st.floats(0.01, 100),
    margin=st.floats(-300, 300),
    log_q=st.floats(-6, 6),
)
@settings(max_examples=300, deadline=None)
def test_log_coordinate_solves_its_equation(b, s, margin, log_q):
    q = 10**log_q
    new = reference.log_coordinate(b * s, s, margin, q)
    assert 0 <= new <= s
    new_margin = margin + q * (new - b * s)
    # Stationary: new/s = sigma(-new_margin). An error of the margin moves sigma at most by 1/4 of
    # it, and the margin carries the rounding of its own large terms.
    rounding = 1e-11 * (1 + abs(margin) + q * s)
    assert abs(new / s - reference.log_slope(new_margin)) <= rounding


@pytest.mark.parametrize("margin", [-5.0, -0.2, 0.0, 3.0, 40.0])
@pytest.mark.parametrize("q", [0.0, 0.1, 20.0])
def test_log_coordinate_agrees_with_a_search_for_the_maximum(margin, q):
    b, s = 0.3, 2.0

    def loss_of_dual(new):  # -(S times the change of D), up to a constant
        fraction = new / s
        gain = s * reference.log_dual_gain(np.array([fraction]))[0]
        return -gain + (new - b * s) * margin + q * (new - b * s) ** 2 / 2

    best = minimize_scalar(loss_of_dual, bounds=(0, s), method="bounded", options={"xatol": 1e-10})
    # A search by values finds a maximum to the root of the rounding only.
    assert_allclose(reference.log_coordinate(b * s, s, margin, q), best.x, atol=1e-6)


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


# --- Dual coordinate ascent: over-relaxation and sleeping rows ------------------------------------

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


def test_an_over_relaxed_step_is_clipped_after_the_stretch():
    assert reference.hinge_coordinate(0.5, 1.0, 0.0, 4.0, 1.9) == 0.5 + 1.9 / 4
    assert reference.hinge_coordinate(0.9, 1.0, 0.0, 4.0, 1.9) == 1.0
    assert reference.hinge_coordinate(0.1, 1.0, 2.0, 4.0, 1.9) == 0.0
    assert reference.hinge_coordinate(0.1, 3.0, 2.0, 0.0, 1.9) == 3.0  # an all-zero row


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


# --- A stochastic start for dual ascent -----------------------------------------------------------


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


def test_guessed_masses_are_a_ramp_for_the_hinge_and_the_slope_for_the_log_loss():
    margins = [-3.0, 0.5, 0.75, 1.0, 1.5, 4.0]
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


# --- Perceptron and online gradient descent -------------------------------------------------------

AND_X = np.array([[0.0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
AND_Y = np.array([-1.0, -1.0, -1.0, 1.0])


def test_perceptron_learns_and_in_the_nine_epochs_worked_by_hand():
    run = reference.perceptron(AND_X, AND_Y, np.tile(np.arange(4), (20, 1)))
    assert run.mistakes_per_epoch == [2, 3, 3, 2, 2, 3, 2, 1, 0]
    assert_array_equal(run.w, [3.0, 2.0, -4.0])
    assert_array_equal(run.last, run.w)


def test_perceptron_stops_when_the_order_ends():
    # Epoch 1: (0, 0, -1) at rows 0 to 2, (1, 1, 0) at row 3.
    run = reference.perceptron(AND_X, AND_Y, [np.arange(4)], average="uniform")
    assert run.mistakes_per_epoch == [2]
    assert_array_equal(run.last, [1.0, 1.0, 0.0])
    assert_array_equal(run.w, [0.25, 0.25, -0.75])


def test_perceptron_epochs_may_differ_in_order_and_length():
    # Row 3 first: w = (1, 1, 1); then row 0 of the second epoch: (1, 1, 0), average of the two.
    run = reference.perceptron(AND_X, AND_Y, [np.array([3]), np.array([0])], average="uniform")
    assert run.mistakes_per_epoch == [1, 1]
    assert_array_equal(run.w, [1.0, 1.0, 0.5])


def test_online_gradient_descent_by_hand():
    # w2 = (1, 0) on the border; then (1, 0) + (0, -2)/sqrt 2 has length sqrt 3.
    last, mean = reference.online_gradient_descent(X2, Y2, np.array([0, 1]), eta=1.0, radius=1.0)
    w3 = np.array([1.0, -np.sqrt(2.0)]) / np.sqrt(3.0)
    assert_allclose(last, w3, rtol=EXACT)
    assert_allclose(mean, (np.array([1.0, 0.0]) + w3) / 2, rtol=EXACT)


def test_online_gradient_descent_rests_on_a_margin_of_one():
    # Row 0 has margin exactly 1 after the first step, and there is no shrinking.
    last, _ = reference.online_gradient_descent(X2, Y2, np.array([0, 0, 0]), eta=1.0, radius=9.0)
    assert_array_equal(last, [1.0, 0.0])


# --- What is refused, and what is accepted --------------------------------------------------------

ONE = np.array([0])


@pytest.mark.parametrize("train", [reference.pegasos, reference.sdca])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X2[0]}, "Need X"),
        ({"y": Y2[:1]}, "Need X"),
        ({"X": np.empty((0, 2)), "y": np.empty(0)}, "Need X"),
        ({"X": np.array([[np.nan, 0.0], [0.0, 1.0]])}, "NaN"),
        ({"y": np.array([0.0, 1.0])}, "-1 or \\+1"),
        ({"lam": 0.0}, "lam must be positive"),
        ({"lam": np.nan}, "lam must be positive"),
        ({"lam": np.inf}, "lam must be positive"),
        ({"draws": np.array([0, 2])}, "0..1; got 0..2"),
        ({"draws": np.array([-1])}, "0..1; got -1"),
        ({"draws": np.array([0.0])}, "1-d int array"),
        ({"draws": np.array([[0]])}, "1-d int array"),
        ({"draws": np.array([], dtype=int)}, "not empty"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"average": "last"}, "average must be"),
        ({"sample_weight": np.array([1.0, 0.0])}, "positive sample weights"),
        ({"sample_weight": np.array([1.0, np.inf])}, "positive sample weights"),
        ({"sample_weight": np.ones(3)}, "Need 2 positive sample weights"),
    ],
)
def test_bad_input_to_training_is_refused(train, changes, message):
    arguments = {"X": X2, "y": Y2, "lam": 0.5, "draws": ONE}
    train(**arguments)  # good input is not
    with pytest.raises(ValueError, match=message):
        train(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.pegasos(X2, Y2, 0.5, np.zeros(5, int), batch_size=2), r"T \* 2"),
        (lambda: reference.pegasos(X2, Y2, 0.5, ONE, batch_size=0), "batch_size"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, a=np.array([0.0, 1.1])), "dual point"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, relaxation=0.0), "between 0 and 2; got 0.0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, relaxation=2.0), "between 0 and 2; got 2.0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, loss="log", shrinking=True), "loss='log'"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, naps=np.array([0])), "2 naps, at least 0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, naps=np.array([0, -1])), "2 naps, at least 0"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, ONE, 0.0), "eta0 must be positive"),
        (lambda: reference.sgd_start(X2, Y2, 0.0, ONE, 1.0), "lam must be positive"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, np.array([2]), 1.0), "0..1; got 2"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, ONE, 1.0, loss="squared"), "loss must be"),
        (lambda: reference.guess_masses([0.0], "squared"), "loss must be"),
        (lambda: reference.dual_objective(np.array([-0.1, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([1.1, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([np.nan, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([0.5]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.primal_objective(np.zeros(2), X2, Y2, 0.5, "squared"), "loss must be"),
        (lambda: reference.pegasos_dual_point(np.ones(2), 0), "epochs must be positive"),
        (lambda: reference.perceptron(X2, Y2, []), "at least one epoch"),
        (lambda: reference.perceptron(X2, Y2, [ONE], average="weighted"), "average must be"),
        (lambda: reference.online_gradient_descent(X2, Y2, ONE, 0.0, 1.0), "eta and radius"),
        (lambda: reference.online_gradient_descent(X2, Y2, ONE, 1.0, 0.0), "eta and radius"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 0, 1, "uniform"), "at least 1"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 1, 0, "uniform"), "at least 1"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 2, 2, "cyclic"), "sampling must"),
    ],
)
def test_other_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_lists_and_float32_are_taken_as_float64():
    from_lists = reference.pegasos(X2.tolist(), [1, -1], 0.3, [0, 1, 1])
    from_float32 = reference.pegasos(X2.astype(np.float32), Y2.astype(np.float32), 0.3, [0, 1, 1])
    expected = reference.pegasos(X2, Y2, 0.3, np.array([0, 1, 1]))
    for run in (from_lists, from_float32):
        assert run.w.dtype == np.float64
        assert_array_equal(run.w, expected.w)
