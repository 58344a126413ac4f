"""Dual ascent with kernels: blocks of steps against a few lines of NumPy, and their parts."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import _core, reference
from pegasos._kernel_sdca_run import KernelSdcaRun
from pegasos._kernel_steps import KernelState, core_run, make_block
from pegasos._problem import as_floats, new_tally

from .core_helpers import LOSSES, SAMPLINGS, lams
from .kernel_core_helpers import KernelSample, assert_close, make_kernel_sample, make_problem
from .test_parity_cpu_levels import LOAD, run_core

seeds = st.integers(0, 2**32 - 1)
rooms = st.sampled_from([None, 1000, 5])


def weights_of(sample):
    return np.ones(sample.n_rows) if sample.weight is None else sample.weight


def started(problem, seed):
    """A state on its way: some masses at their bounds, some between, with the scores they give."""
    rng = np.random.default_rng(seed)
    state = KernelState(problem, None)
    state.masses[:] = np.clip(rng.uniform(-0.6, 1.6, size=state.masses.shape), 0, 1)
    state.scores[:] = problem.scores_of(problem.as_coefficients(state.masses))
    return state


def greedy_ascent(sample, positive, lam, masses, block, *, most_passes, enough):
    """The block's steps, each the one that raises the dual most.

    Return masses, steps, violations, and whether two rows ever gained the same, up to rounding:
    which of them comes first is then left to the core.
    """
    s, y = weights_of(sample), sample.y(positive)
    unit = 1 / (lam * s.sum())
    b = masses.copy()
    q = s[block] * sample.K.diagonal()[block] * unit
    raised, n_steps, violations, tie = 0.0, 0, 0, False
    while n_steps < most_passes * len(block):
        z = y[block] * (sample.K[block] @ (s * b * y)) * unit
        to = np.ones(len(block))  # where q is 0, the margin stays 0
        np.divide(1 - z, q, out=to, where=q > 0)
        d = np.clip(b[block] + to, 0, 1) - b[block]
        gain = s[block] * (d * (1 - z) - q * d**2 / 2)
        best = int(np.argmax(gain))
        if gain[best] <= 0 or len(block) * gain[best] <= enough * raised:
            break
        tie = tie or np.count_nonzero(gain >= (1 - 1e-9) * gain[best]) > 1
        b[block[best]] += d[best]
        raised += gain[best]
        n_steps += 1
        violations += int(z[best] < 1)
    return b, n_steps, violations, tie


def assert_scores_belong_to_masses(problem, state, tolerance=1e-9):
    coef = problem.as_coefficients(state.masses)
    K = problem.source.maker._K if problem.source.slots is not None else problem.source.values
    assert_close(state.scores, coef @ K.astype(np.float64), tolerance)


# --- The hinge loss -------------------------------------------------------------------------------


@given(
    seed=seeds,
    n_rows=st.integers(1, 40),
    n_block=st.integers(1, 40),
    lam=lams(-4.0, 0.0),
    weighted=st.booleans(),
    kernel=st.sampled_from(["rbf", "poly", "linear"]),
    room=rooms,
    enough=st.sampled_from([1e-3, 0.01, 0.3]),
    most_passes=st.integers(1, 4),
    warm=st.booleans(),
)
@example(0, 40, 37, 1e-4, False, "rbf", None, 1e-3, 4, True)
@settings(max_examples=200, deadline=None)
def test_a_block_of_the_hinge_moves_the_row_that_gains_most_at_every_step(
    seed, n_rows, n_block, lam, weighted, kernel, room, enough, most_passes, warm
):
    sample = make_kernel_sample(seed, n_rows, weighted=weighted, kernel=kernel)
    problem = make_problem(sample, lam, room=room)
    warm = warm or kernel == "rbf"  # from zero, all rows would gain the same
    state = started(problem, seed) if warm else KernelState(problem, None)
    block = np.random.default_rng(seed).permutation(n_rows)[:n_block]
    before, n = state.masses[0].copy(), len(block)
    expected, n_steps, violations, tie = greedy_ascent(
        sample, 1, lam, state.masses[0], block, most_passes=most_passes, enough=enough
    )
    assume(not tie)
    run = core_run(problem, state, solver="sdca", most_passes=most_passes, enough=enough)
    assert make_block(problem, run, state, block).tolist() == [n_steps]
    assert_allclose(state.masses[0], expected, rtol=0, atol=1e-10)
    assert state.tally["violations"][0] == violations
    options = {"sample_weight": sample.weight, "masses": before}
    draws = reference.steepest_draws(
        sample.K, sample.y(), lam, block, most_steps=most_passes * n, enough=enough, **options
    )
    assert len(draws) == n_steps
    if n_steps:
        masses = reference.kernel_sdca(sample.K, sample.y(), lam, draws, **options).masses
        assert_allclose(masses, expected, rtol=0, atol=1e-10)
    assert_scores_belong_to_masses(problem, state)


def test_two_rows_by_hand():
    # q = K_ii/(lam m): 0.5 and 2. Row 0 would gain 1 - 0.25, row 1 (to 0.5) 0.5 - 0.25.
    sample = KernelSample(np.diag([1.0, 4.0]), np.array([1, 0], dtype=np.int32), None)
    for enough, masses in ((0.0, [1.0, 0.5]), (0.6, [1.0, 0.5]), (0.7, [1.0, 0.0])):
        problem = make_problem(sample, 1.0)
        state = KernelState(problem, None)
        run = core_run(problem, state, solver="sdca", most_passes=10, enough=enough)
        n_steps = make_block(problem, run, state, np.array([1, 0]))
        assert_array_equal(state.masses, [masses])
        assert n_steps.tolist() == [np.count_nonzero(masses)]
        assert_array_equal(state.scores, [[masses[0], -4 * masses[1]]])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("room", [None, 50, 4])
def test_problems_in_lockstep_each_choose_their_own_steps(threads, room):
    sample = make_kernel_sample(1, 50, n_classes=3, weighted=True)
    positive, lams = np.repeat([0, 1, 2], 2), np.tile([0.1, 0.001], 3)
    problem = make_problem(sample, lams, positive=positive, room=room, threads=threads)
    state = started(problem, 1)
    run = core_run(problem, state, solver="sdca", most_passes=5, enough=0.01)
    for block in (np.arange(0, 50, 2), np.arange(30), np.arange(49, 10, -1)):
        before = state.masses.copy()
        n_steps = make_block(problem, run, state, block)
        for p in range(6):
            expected, steps, _, tie = greedy_ascent(
                sample, positive[p], lams[p], before[p], block, most_passes=5, enough=0.01
            )
            assert not tie
            assert n_steps[p] == steps > 0
            assert_allclose(state.masses[p], expected, rtol=0, atol=1e-10)
    assert_scores_belong_to_masses(problem, state)


def test_a_block_at_its_optimum_takes_no_step():
    sample = make_kernel_sample(2, 30)
    problem = make_problem(sample, 0.05)
    state = KernelState(problem, None)
    run = core_run(problem, state, solver="sdca", most_passes=10**4, enough=0.0)
    block = np.arange(30)
    make_block(problem, run, state, block)
    masses = state.masses.copy()
    run = core_run(problem, state, solver="sdca", most_passes=10**4, enough=0.01)
    # Gains of rounding's size may be left.
    make_block(problem, run, state, block)
    assert_allclose(state.masses, masses, atol=1e-6)
    y = sample.y()
    coef = y * masses[0] / (0.05 * 30)
    primal = reference.kernel_primal_objective(coef, sample.K, y, 0.05)
    dual = reference.kernel_dual_objective(masses[0], sample.K, y, 0.05)
    assert 0 <= primal - dual <= 1e-9  # one block over all rows solves the whole problem


def test_steps_among_rows_that_gain_the_same_are_as_good():
    # An rbf kernel from zero: the first choice is free, what it leads to is not.
    sample = make_kernel_sample(3, 37)
    y, K, lam = sample.y(), sample.K, 1e-3
    problem = make_problem(sample, lam)
    state = KernelState(problem, None)
    run = core_run(problem, state, solver="sdca", most_passes=1, enough=0.0)
    assert make_block(problem, run, state, np.arange(37)).tolist() == [37]
    greedy, *_ = greedy_ascent(sample, 1, lam, np.zeros(37), np.arange(37), most_passes=1, enough=0)
    cyclic = reference.kernel_sdca(K, y, lam, np.arange(37)).masses
    duals = [
        reference.kernel_dual_objective(b, K, y, lam) for b in (cyclic, greedy, state.masses[0])
    ]
    assert duals[2] > duals[0]
    assert_allclose(duals[2], duals[1], rtol=0.05)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("room", [None, 20])
def test_float32_rows_reach_the_dual_of_float64_up_to_rounding(weighted, room):
    single = make_kernel_sample(3, 60, weighted=weighted, dtype=np.float32)
    double = KernelSample(single.K.astype(np.float64), single.code, single.weight)
    duals = []
    for sample in (single, double):
        problem = make_problem(sample, 0.01, room=room)
        state = KernelState(problem, None)
        run = core_run(problem, state, solver="sdca", most_passes=50, enough=1e-4)
        for k in range(20):
            make_block(problem, run, state, np.arange(k % 2, 60, 1 + k % 3))
            assert state.masses.min() >= 0
            assert state.masses.max() <= 1
        assert_scores_belong_to_masses(problem, state, 1e-6)
        args = double.K, double.y(), 0.01
        dual = reference.kernel_dual_objective(state.masses[0], *args, sample_weight=double.weight)
        duals.append(dual)
    assert_allclose(duals[0], duals[1], rtol=1e-5)


# --- The log loss ---------------------------------------------------------------------------------


@given(
    seed=seeds,
    n_rows=st.integers(1, 30),
    n_block=st.integers(1, 30),
    lam=lams(-3.0, 0.0),
    weighted=st.booleans(),
    kernel=st.sampled_from(["rbf", "poly", "linear"]),
    room=rooms,
    passes=st.integers(1, 4),
    warm=st.booleans(),
)
@example(3, 9, 1, 0.001, False, "poly", None, 2, True)  # the row is where it should be
@settings(max_examples=100, deadline=None)
def test_a_block_of_the_log_loss_passes_over_its_rows_as_the_reference_does(
    seed, n_rows, n_block, lam, weighted, kernel, room, passes, warm
):
    sample = make_kernel_sample(seed, n_rows, weighted=weighted, kernel=kernel)
    problem = make_problem(sample, lam, loss="log", room=room)
    state = started(problem, seed) if warm else KernelState(problem, None)
    start = state.masses[0].copy()
    block = np.random.default_rng(seed).permutation(n_rows)[:n_block]
    # enough < 0: only a pass that raises nothing at all, up to rounding, ends them early
    run = core_run(problem, state, solver="sdca", most_passes=passes, enough=-1.0)
    n_steps = make_block(problem, run, state, block)[0]
    all_made = n_steps == passes * len(block)
    if not all_made:
        assert n_steps % len(block) == 0
        assert_allclose(state.masses[0], start, rtol=0, atol=1e-6)
    expected = reference.kernel_sdca(
        sample.K,
        sample.y(),
        lam,
        np.tile(block, passes),
        loss="log",
        sample_weight=sample.weight,
        masses=start,
    )
    assert_allclose(state.masses[0], expected.masses, rtol=0, atol=1e-9)
    assert state.tally["violations"][0] == expected.violations or not all_made
    assert_scores_belong_to_masses(problem, state, 1e-8)


def test_passes_of_the_log_loss_end_when_one_raises_the_dual_by_little():
    sample = make_kernel_sample(4, 30, weighted=True)
    block, lam, enough = np.arange(30), 0.001, 0.01
    problem = make_problem(sample, lam, loss="log")
    state = KernelState(problem, None)
    run = core_run(problem, state, solver="sdca", most_passes=50, enough=enough)
    passes = make_block(problem, run, state, block)[0] // 30
    options = {"loss": "log", "sample_weight": sample.weight}
    duals = []
    for k in range(passes + 1):
        draws = np.tile(block, k)
        b = reference.kernel_sdca(sample.K, sample.y(), lam, draws, **options).masses if k else 0
        masses = np.zeros(30) + b
        duals.append(reference.kernel_dual_objective(masses, sample.K, sample.y(), lam, **options))
    raised = np.diff(duals)
    assert 2 < passes < 50
    assert np.all(raised[:-1] > enough * raised[0])
    assert raised[-1] <= enough * raised[0]


# --- Epochs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("room", [None, 60, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_dual_never_decreases_from_block_to_block(sampling, loss, room, weighted):
    sample = make_kernel_sample(5, 60, n_classes=3, weighted=weighted)
    problem = make_problem(sample, 0.01, positive=[0, 1, 2], loss=loss, room=room)
    state = KernelState(problem, None)
    run = KernelSdcaRun(problem, state, n_active=60, tol=1e-6)
    best = run.certify().dual
    assert_array_equal(best, 0.0)
    rng = np.random.default_rng(0)
    for _ in range(12):
        draws = reference.draw_rows(rng, 60, 60, sampling)
        for part in np.split(draws, [7, 25, 26]):
            run.advance(part)
            run.end_of_stride()
            certificate = run.certify()
            assert np.all(certificate.dual >= best - 1e-12)
            assert np.all(certificate.gap >= -1e-12)
            best = certificate.dual
    assert state.masses.min() >= 0
    assert state.masses.max() <= 1
    assert_scores_belong_to_masses(problem, state)
    assert certificate.gap.max() < (0.02 if sampling == "permutation" else 0.1)
    options = {"loss": loss, "sample_weight": sample.weight}
    for p in range(3):
        args = sample.K, sample.y(p), 0.01
        primal = reference.kernel_primal_objective(certificate.weights[p], *args, **options)
        dual = reference.kernel_dual_objective(state.masses[p], *args, **options)
        assert_allclose(certificate.objective[p], primal, rtol=1e-9)
        assert_allclose(certificate.dual[p], dual, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_enough_epochs_close_the_gap(loss):
    sample = make_kernel_sample(6, 80, weighted=True)
    problem = make_problem(sample, 0.01, loss=loss, room=20)
    run = KernelSdcaRun(problem, KernelState(problem, None), n_active=80, tol=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(100):
        run.advance(rng.permutation(80))
    run.end_of_stride()
    certificate = run.certify()
    assert certificate.relative_gap < 1e-6


# --- Which rows may move --------------------------------------------------------------------------


def movers(problem, state, draws, slack):
    """For each draw, whether some problem may move its row."""
    unit = 1 / (problem.lams * problem.total_weight)
    may = np.zeros(len(draws), dtype=bool)
    for p in range(problem.n_problems):
        z = problem.signs(p)[draws] * state.scores[p, draws] * unit[p]
        b = state.masses[p, draws]
        between = (b > 0) & (b < 1)
        may |= between | ((b == 0) & (z < 1 - slack)) | ((b == 1) & (z > 1 + slack))
    return may


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("slack", [1e-9, 0.1, 0.5])
def test_next_movers_are_the_drawn_rows_that_some_problem_may_move(weighted, n_classes, slack):
    sample = make_kernel_sample(7, 200, n_classes=n_classes, weighted=weighted)
    positive = [1] if n_classes == 2 else [0, 1, 2]
    problem = make_problem(sample, 0.003, positive=positive)
    state = started(problem, 8)
    state.masses[:] = np.round(state.masses * 1.2 - 0.1)  # most at a bound
    state.masses[:, ::20] = 0.5
    state.masses[:, 1::20] = 0.0
    run = core_run(problem, state, solver="sdca", most_passes=1)
    draws = np.random.default_rng(9).integers(200, size=500)
    may = movers(problem, state, draws, slack)
    assert 0.02 < may.mean() < 0.98
    for most in (0, 1, 7, may.sum(), may.sum() + 3):
        block = np.full(most, -1)
        looked_at, n = _core.next_movers(run, draws, slack=slack, block=block)
        assert n == min(most, may.sum())
        assert_array_equal(block[:n], draws[may][:n])
        assert_array_equal(block[n:], -1)
        if n == most:  # stops right behind the row that filled the block
            assert looked_at == (np.flatnonzero(may)[n - 1] + 1 if n else 0)
        else:
            assert looked_at == 500
    assert _core.next_movers(run, draws[:0], slack=slack, block=np.empty(3, int)) == (0, 0)


# --- Sums of rows ---------------------------------------------------------------------------------


@given(
    seed=seeds,
    n_columns=st.sampled_from([1, 3, 4, 5, 7, 8, 9, 17, 64]),
    n_rows=st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 63, 64, 65, 130]),
    n_problems=st.integers(1, 4),
    dtype=st.sampled_from([np.float32, np.float64]),
    slots=st.booleans(),
    density=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=200, deadline=None)
def test_stored_rows_are_added_to_the_scores(
    seed, n_columns, n_rows, n_problems, dtype, slots, density
):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n_columns, n_columns)).astype(dtype)
    slot = rng.permutation(n_columns + 3)[:n_columns] if slots else None
    values = K
    if slots:
        values = np.full((n_columns + 3, n_columns), np.nan, dtype=dtype)
        values[slot] = K
    which = rng.integers(n_columns, size=n_rows)
    coef = rng.normal(size=(n_problems, n_rows)) * (rng.random((n_problems, n_rows)) < density)
    start = rng.normal(size=(n_problems, n_columns))
    scores = start.copy()
    _core.add_stored_rows(values, slot, which, coef, scores, n_threads=1)
    eps = 1e-15 if dtype == np.float64 else 1e-6
    expected = start + coef @ K[which].astype(np.float64)
    limit = (
        eps * (10 + 3 * n_rows) * max(1.0, np.abs(K).max(initial=0) * np.abs(coef).max(initial=0))
    )
    assert_allclose(scores, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_spread_over_threads_without_changing_a_bit(dtype):
    rng = np.random.default_rng(0)
    n = 2100  # three tiles of columns
    values = rng.normal(size=(150, n)).astype(dtype)
    slots = np.full(n, -1)
    slots[rng.permutation(n)[:150]] = np.arange(150)
    which = np.flatnonzero(slots >= 0)
    coef = rng.normal(size=(3, 150))
    results = []
    for n_threads in (1, 2, 3):
        scores = np.zeros((3, n))
        _core.add_stored_rows(values, slots, which, coef, scores, n_threads=n_threads)
        results.append(scores)
    expected = coef @ values[slots[which]].astype(np.float64)
    assert_allclose(results[0], expected, atol=1e-12 if dtype == np.float64 else 1e-4)
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], results[2])


def test_a_row_with_a_coefficient_of_zero_is_not_read():
    K = np.array([[np.nan, np.nan], [1.0, 2.0]])
    scores = np.zeros((1, 2))
    _core.add_stored_rows(K, None, np.arange(2), np.array([[0.0, 3.0]]), scores, n_threads=1)
    assert_array_equal(scores, [[3.0, 6.0]])


@pytest.mark.parametrize("room", [None, 50, 7])
def test_scores_of_coefficients_come_from_any_source(room):
    sample = make_kernel_sample(10, 50)
    problem = make_problem(sample, 0.1, positive=[0, 1], room=room)
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(2, 50))
    coef[:, ::3] = 0.0
    assert_close(problem.scores_of(coef), coef @ sample.K, 1e-12)
    which = rng.integers(50, size=30)
    halves = rng.normal(size=(4, 30))
    first, second = problem.zeros(), problem.zeros()
    problem.add_rows(which, halves, first, second)
    assert_close(first, halves[:2] @ sample.K[which], 1e-12)
    assert_close(second, halves[2:] @ sample.K[which], 1e-12)


# --- What the core refuses ------------------------------------------------------------------------


def run_arguments(n=6, n_problems=2):
    return {
        "code": np.zeros(n, dtype=np.int32),
        "weight": np.ones(n),
        "total_weight": float(n),
        "diagonal": np.ones(n),
        "positive": np.arange(n_problems, dtype=np.int32),
        "lam": np.full(n_problems, 0.1),
        "scores": np.zeros((n_problems, n)),
        "mass": np.zeros((n_problems, n)),
        "mean_scores": np.zeros((n_problems, n)),
        "mean_mass": np.zeros((n_problems, n)),
        "tally": as_floats(new_tally(n_problems)),
        "solver": "pegasos",
        "loss": "hinge",
        "weighted_mean": False,
        "most_passes": 1,
        "enough": 0.0,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": np.ones(5)}, "one weight per row"),
        ({"diagonal": np.ones(7)}, "diagonal has a wrong shape"),
        ({"lam": np.ones(3)}, "one lam per problem"),
        ({"scores": np.zeros((2, 5))}, "problems x rows"),
        ({"scores": np.zeros((1, 6))}, "problems x rows"),
        ({"mass": np.zeros((3, 6))}, "problems x rows"),
        ({"mean_scores": None}, "mean_mass goes with mean_scores"),
        ({"mean_mass": None}, "mean_mass goes with mean_scores"),
        ({"mean_mass": np.zeros((2, 7))}, "problems x rows"),
        ({"mean_scores": np.zeros((1, 6))}, "problems x rows"),
        ({"tally": np.zeros((2, 3))}, "tally has a wrong shape"),
        ({"solver": "newton"}, "solver must be"),
        ({"loss": "squared"}, "loss must be"),
        ({"most_passes": 0}, "most_passes must be positive"),
    ],
)
def test_runs_that_do_not_fit_together_are_refused(changes, message):
    _core.kernel_run(**run_arguments())
    with pytest.raises(ValueError, match=message):
        _core.kernel_run(**{**run_arguments(), **changes})


@pytest.mark.parametrize(
    "name", ["scores", "mass", "mean_scores", "mean_mass", "tally", "code", "weight", "lam"]
)
def test_arrays_of_a_run_are_never_converted(name):
    arguments = run_arguments()
    array = arguments[name]
    wrong = array.astype(np.int64 if array.dtype == np.int32 else np.float32)
    with pytest.raises(TypeError, match="incompatible"):
        _core.kernel_run(**{**arguments, name: wrong})


def stepping(**changes):
    arguments = {
        "run": _core.kernel_run(**run_arguments()),
        "values": np.eye(6),
        "slots": None,
        "draws": np.arange(6),
        "block": 4,
        "n_threads": 1,
    }
    return _core.kernel_steps(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": np.eye(5)}, "as long as there are rows"),
        ({"values": np.ones((5, 6))}, "a row of the kernel is missing"),
        ({"values": np.eye(6, dtype=np.int64)}, "float32 or float64"),
        ({"slots": np.arange(5)}, "one slot per row"),
        ({"draws": np.array([6])}, "not a row number"),
        ({"draws": np.array([0, -1])}, "not a row number"),
        ({"block": 0}, "block must be positive"),
    ],
)
def test_steps_that_do_not_fit_the_run_are_refused(changes, message):
    assert stepping() == 6
    with pytest.raises(ValueError, match=message):
        stepping(**changes)
    with pytest.raises(TypeError, match="incompatible"):
        stepping(values=np.asfortranarray(np.arange(36.0).reshape(6, 6)))
    with pytest.raises(TypeError, match="incompatible"):
        stepping(draws=np.arange(6, dtype=np.int32))


def test_steps_stop_before_the_block_with_a_row_that_is_missing():
    slots = np.array([0, 1, -1, 2, 3, 4])
    assert stepping(slots=slots, draws=np.array([0, 1, 3, 4, 5, 0, 2, 1])) == 4
    assert stepping(slots=slots, draws=np.array([0, 2])) == 0
    assert stepping(slots=slots, draws=np.array([0, 1, 3])) == 3
    assert stepping(draws=np.array([], dtype=np.int64)) == 0


def deciding(**changes):
    arguments = {
        "run": _core.kernel_run(**run_arguments()),
        "block": np.arange(3),
        "gram": np.eye(3),
        "values": np.eye(6),
        "slots": None,
        "delta": np.empty((2, 3)),
        "mean_delta": np.empty((2, 3)),
        "n_steps": np.empty(2, dtype=np.int64),
        "n_threads": 1,
    }
    return _core.kernel_decisions(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gram": np.eye(4)}, "gram has a wrong shape"),
        ({"gram": np.eye(3, dtype=np.float32)}, "gram has a wrong shape"),
        ({"delta": np.empty((2, 4))}, "delta has a wrong shape"),
        ({"delta": np.empty((1, 3))}, "delta has a wrong shape"),
        ({"n_steps": np.empty(3, dtype=np.int64)}, "delta has a wrong shape"),
        ({"mean_delta": None}, "mean_delta goes with a mean"),
        ({"mean_delta": np.empty((2, 4))}, "mean_delta has a wrong shape"),
        ({"mean_delta": np.empty((3, 3))}, "mean_delta has a wrong shape"),
        ({"block": np.array([0, 1, 6])}, "not a row number"),
        ({"values": np.eye(7)}, "as long as there are rows"),
        ({"gram": None, "slots": np.array([0, -1, 1, 2, 3, 4])}, "of the block is not stored"),
    ],
)
def test_decisions_that_do_not_fit_the_run_are_refused(changes, message):
    deciding()
    deciding(gram=None)
    with pytest.raises(ValueError, match=message):
        deciding(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coef": np.ones((2, 3))}, "coef has a wrong shape"),
        ({"coef": np.ones((1, 2))}, "coef has a wrong shape"),
        ({"which": np.array([0, 4, 1])}, "not a row number"),
        ({"values": np.eye(5)}, "as long as there are rows"),
        ({"slots": np.array([0, -1, 1, 2])}, "a row is not stored"),
        ({"slots": np.array([0, 1, 2])}, "one slot per row"),
    ],
)
def test_sums_of_rows_that_are_not_there_are_refused(changes, message):
    good = {
        "values": np.eye(4),
        "slots": None,
        "which": np.array([0, 1, 2]),
        "coef": np.ones((1, 3)),
        "scores": np.zeros((1, 4)),
        "n_threads": 1,
    }
    _core.add_stored_rows(**good)
    with pytest.raises(ValueError, match=message):
        _core.add_stored_rows(**{**good, **changes})


EMPTY_BLOCKS = (
    LOAD
    + """
import numpy as np
for solver in ("pegasos", "perceptron", "sdca"):
    for loss in ("hinge", "log"):
        tally = np.ones((1, core.TALLY_FIELDS))
        scores, mass = np.ones((1, 6)), np.ones((1, 6))
        run = core.kernel_run(
            np.zeros(6, np.int32), None, 6.0, np.ones(6), np.zeros(1, np.int32), np.ones(1),
            scores, mass, None, None, tally,
            solver=solver, loss=loss, weighted_mean=False, most_passes=1, enough=0.0,
        )
        none, n_steps = np.empty(0, np.int64), np.zeros(1, np.int64)
        delta = np.empty((1, 0))
        for gram in (None, np.empty((0, 0))):
            core.kernel_decisions(
                run, none, gram, np.eye(6), None, delta, None, n_steps, n_threads=1
            )
        assert core.kernel_steps(run, np.eye(6), None, none, block=4, n_threads=1) == 0
        core.add_stored_rows(np.eye(6), None, none, delta, scores, n_threads=1)
        for array in (tally, scores, mass):
            assert (array == 1).all()
print("done")
"""
)


def test_an_empty_block_changes_nothing():
    done = run_core(EMPTY_BLOCKS, "")  # in a process of its own, which it may end
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
