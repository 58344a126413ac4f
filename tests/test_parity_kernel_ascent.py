"""Dual ascent with kernels: blocks of steps against a few lines of NumPy."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference
from pegasos._kernel_steps import KernelState, core_run, make_block

from .core_helpers import lams
from .kernel_core_helpers import (
    KernelSample,
    assert_scores_belong_to_masses,
    make_kernel_sample,
    make_problem,
    started,
)

seeds = st.integers(0, 2**32 - 1)
rooms = st.sampled_from([None, 1000, 5])


def weights_of(sample):
    return np.ones(sample.n_rows) if sample.weight is None else sample.weight


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
@settings(max_examples=200)
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


@pytest.mark.parametrize("first", [0, 3, 17, 38])
def test_of_rows_that_gain_the_same_the_first_is_moved(first):
    K = np.full((40, 40), 0.5)
    K[:first] = K[:, :first] = 0.0
    K[range(first), range(first)] = 1e6  # rows before it gain next to nothing
    sample = KernelSample(K, np.ones(40, dtype=np.int32), None)
    problem = make_problem(sample, 1.0)
    state = KernelState(problem, None)
    run = core_run(problem, state, solver="sdca", most_passes=1, enough=100.0)  # one step
    make_block(problem, run, state, np.arange(40))
    assert np.flatnonzero(state.masses[0]).tolist() == [first]


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
@settings(max_examples=100)
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
