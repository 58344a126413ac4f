"""Kernel Pegasos and the kernel perceptron make the steps of the reference, draw for draw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference
from pegasos._kernel_pegasos_run import KernelPegasosRun
from pegasos._kernel_problem import KernelProblem
from pegasos._kernel_steps import KernelState, KernelSteps
from pegasos.kernels import CachedRows, VectorKernel
from pegasos.kernels._rows import VectorRows

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS, lams, make_sample
from .kernel_core_helpers import (
    assert_close,
    assert_same_bits,
    core_kernel_steps,
    make_kernel_sample,
    make_problem,
)

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(LOSSES)
averages = st.sampled_from(AVERAGES)
samplings = st.sampled_from(SAMPLINGS)
# The matrix itself; a cache that holds all rows of any sample here; caches that hold few.
rooms = st.sampled_from([None, 1000, 3, 1, 20])
# Blocks are 128 draws of stored rows, 512 of rows to be made.
BOUNDARIES = (1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 513, 641, 1025)


def draw(seed, n_rows, n_draws, sampling="permutation"):
    return reference.draw_rows(np.random.default_rng(seed), n_rows, n_draws, sampling)


def assert_same_pegasos(run, p, sample, positive, lam, draws, *, loss, average):
    expected = reference.kernel_pegasos(
        sample.K,
        sample.y(positive),
        lam,
        draws,
        loss=loss,
        sample_weight=sample.weight,
        average=average,
    )
    assert run.violations[p] == expected.violations
    assert_allclose(run.tally["clock"][p], expected.clock, rtol=1e-14)
    if loss == "hinge":  # every decision is the same: so are the sums, bit by bit
        assert_array_equal(run.alpha[p], expected.alpha)
    assert_allclose(run.alpha[p], expected.alpha, rtol=1e-9, atol=1e-9)
    assert_close(run.last[p], expected.last)
    assert_close(run.coef[p], expected.coef)
    assert_close(run.last_scores[p], sample.K @ expected.last)
    assert_close(run.scores[p], sample.K @ expected.coef)


# --- Pegasos --------------------------------------------------------------------------------------


@given(
    seed=seeds,
    n_rows=st.integers(1, 40),
    n_draws=st.integers(1, 300),
    lam=lams(-3.0, 1.0),
    loss=losses,
    average=averages,
    sampling=samplings,
    weighted=st.booleans(),
    kernel=st.sampled_from(["rbf", "poly", "linear"]),
    room=rooms,
    parts=st.integers(1, 3),
)
@settings(max_examples=150)
def test_pegasos_makes_the_steps_of_the_reference(
    seed, n_rows, n_draws, lam, loss, average, sampling, weighted, kernel, room, parts
):
    sample = make_kernel_sample(seed, n_rows, weighted=weighted, kernel=kernel)
    draws = draw(seed, n_rows, n_draws, sampling)
    problem = make_problem(sample, lam, loss=loss, room=room)
    run = core_kernel_steps(problem, draws, average=average, parts=parts)
    assert_same_pegasos(run, 0, sample, 1, lam, draws, loss=loss, average=average)


@pytest.mark.parametrize("n_draws", BOUNDARIES)
@pytest.mark.parametrize("room", [None, 60, 3])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_blocks_may_end_anywhere(n_draws, room, sampling):
    sample = make_kernel_sample(n_draws, 60, weighted=True)
    draws = draw(1, 60, n_draws, sampling)
    run = core_kernel_steps(make_problem(sample, 0.02, room=room), draws, average="weighted")
    assert_same_pegasos(run, 0, sample, 1, 0.02, draws, loss="hinge", average="weighted")


def test_a_block_that_draws_one_row_again_and_again_sees_its_own_updates():
    sample = make_kernel_sample(5, 3)
    draws = np.array([1] * 200 + [1, 0, 1, 2] * 100)
    for room in (None, 3, 1):
        run = core_kernel_steps(make_problem(sample, 0.05, room=room), draws)
        assert_same_pegasos(run, 0, sample, 1, 0.05, draws, loss="hinge", average=None)
        assert 1 < run.alpha[0, 1] < 300  # neither once nor always


@pytest.mark.parametrize("room", [None, 50, 4])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("loss", LOSSES)
def test_classes_and_lams_in_lockstep_make_the_steps_of_the_reference(room, average, loss):
    sample = make_kernel_sample(6, 50, n_classes=4, weighted=True)
    positive, lams = np.repeat([0, 1, 2, 3], 2), np.tile([0.3, 0.004], 4)
    draws = draw(2, 50, 700, "uniform")
    problem = make_problem(sample, lams, positive=positive, loss=loss, room=room, threads=2)
    run = core_kernel_steps(problem, draws, average=average)
    for p, (label, lam) in enumerate(zip(positive, lams, strict=True)):
        assert_same_pegasos(run, p, sample, label, lam, draws, loss=loss, average=average)


def test_a_problem_among_others_makes_the_decisions_of_the_problem_by_itself():
    sample = make_kernel_sample(7, 80, n_classes=3)
    positive, lams = np.repeat([0, 1, 2], 2), np.tile([0.1, 0.01], 3)
    draws = draw(3, 80, 900, "uniform")
    together = core_kernel_steps(
        make_problem(sample, lams, positive=positive), draws, average="uniform"
    )
    for p in range(6):
        alone = make_problem(sample, lams[p], positive=positive[p])
        by_itself = core_kernel_steps(alone, draws, average="uniform")
        among_others = together.only(p)
        assert_array_equal(among_others.alpha, by_itself.alpha)
        assert_array_equal(among_others.tally, by_itself.tally)
        # What all of them get is added up once for all: in another order.
        assert_close(among_others.scores, by_itself.scores, 1e-13)
        assert_close(among_others.last_scores, by_itself.last_scores, 1e-13)


def test_problems_that_go_on_without_the_others_are_put_back():
    sample = make_kernel_sample(8, 30, n_classes=3)
    problem = make_problem(sample, 0.05, positive=[0, 1, 2])
    first, second = np.split(draw(4, 30, 300, "uniform"), 2)
    state = KernelState(problem, "weighted")
    KernelSteps(problem, state, solver="pegasos", average="weighted").make(first)
    which = np.array([2, 0])
    part = state.only(which)
    KernelSteps(problem.only(which), part, solver="pegasos", average="weighted").make(second)
    middle = core_kernel_steps(problem, first, average="weighted")
    assert_array_equal(state.masses, middle.alpha)  # a part is a copy
    state.put_back(which, part)
    end = core_kernel_steps(problem, np.concatenate([first, second]), average="weighted")
    assert_array_equal(state.masses, [end.alpha[0], middle.alpha[1], end.alpha[2]])
    assert state.tally["clock"].tolist() == [300, 150, 300]


@pytest.mark.parametrize("room", [None, 1500, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_no_bit(room, dtype):
    # More columns than a tile of 1024, more problems than threads.
    sample = make_kernel_sample(9, 1300, n_classes=3, weighted=True, dtype=dtype)
    positive, lams = np.repeat([0, 1, 2], 2), np.tile([0.1, 0.001], 3)
    draws = draw(5, 1300, 700, "uniform")
    runs = []
    for threads in (1, 2, 3):
        problem = make_problem(sample, lams, positive=positive, room=room, threads=threads)
        runs.append(core_kernel_steps(problem, draws, average="weighted"))
    assert runs[0].violations.min() > 50
    assert_same_bits(runs[0], runs[1])
    assert_same_bits(runs[0], runs[2])


@pytest.mark.parametrize("room", [None, 50, 3])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_snapshot_is_the_run_that_stops_there(room, average, loss):
    sample = make_kernel_sample(10, 50, weighted=True)
    draws = draw(6, 50, 1000, "uniform")
    problem = make_problem(sample, 0.02, loss=loss, room=room)
    state = KernelState(problem, average)
    steps = KernelSteps(problem, state, solver="pegasos", average=average)
    t = 0
    for end in (1, 100, 357, 1000):
        steps.make(draws[t:end])
        t = end
        at_once = make_problem(sample, 0.02, loss=loss, room=room)
        at_once_state = KernelState(at_once, average)
        KernelSteps(at_once, at_once_state, solver="pegasos", average=average).make(draws[:end])
        assert_allclose(state.masses, at_once_state.masses, rtol=1e-10, atol=1e-10)
        assert_close(state.scores, at_once_state.scores)
        for name in state.tally.dtype.names:
            assert_allclose(state.tally[name], at_once_state.tally[name], rtol=1e-10)
        if average:
            assert_close(state.mean_masses, at_once_state.mean_masses)
            assert_close(state.mean_scores, at_once_state.mean_scores)


def test_a_mean_that_begins_later_is_that_of_the_later_functions():
    sample = make_kernel_sample(11, 30)
    y, draws = sample.y(), draw(7, 30, 60, "uniform")
    problem = make_problem(sample, 0.1)
    state = KernelState(problem, None)
    KernelSteps(problem, state, solver="pegasos", average=None).make(draws[:25])
    state.keep_mean(problem, "uniform")
    KernelSteps(problem, state, solver="pegasos", average="uniform").make(draws[25:])
    later = [
        reference.kernel_pegasos(sample.K, y, 0.1, draws[:t]).last
        for t in range(26, len(draws) + 1)
    ]
    signed = problem.as_signed(state.masses)
    tally = state.tally[:, np.newaxis]
    mean = (tally["mean_clock"] * signed - state.mean_masses) / tally["mean_weight"]
    assert_close(mean[0], np.mean(later, axis=0))
    state.keep_mean(problem, None)
    assert state.mean_scores is state.mean_masses is None


@pytest.mark.parametrize("room", [None, 300, 30])
def test_float32_rows_decide_as_float64_does_but_within_rounding(room):
    # One visit of every row per epoch: the masses show each decision, in blocks of many draws.
    sample = make_kernel_sample(12, 300, dtype=np.float32)
    K, y, lam = sample.K.astype(np.float64), sample.y(), 1e-3
    problem = make_problem(sample, lam, room=room)
    state = KernelState(problem, None)
    steps = KernelSteps(problem, state, solver="pegasos", average=None)
    alpha, t, n_updates, close_calls = np.zeros(300), 0, 0, 0
    for epoch in range(8):
        draws = draw(epoch, 300, 300)
        before = state.masses[0].copy()
        steps.make(draws)
        decided = state.masses[0] - before
        for i in draws:
            t += 1
            margin = y[i] * (K[i] @ (alpha * y)) / (lam * t)
            if decided[i] != float(margin < 1):
                close_calls += 1
                assert abs(margin - 1) < 1e-5
            alpha[i] += decided[i]
            n_updates += int(decided[i])
    assert 200 < n_updates < 2200
    assert close_calls <= 2
    # Four rows are added up in float32: each sum is off by some 1e-7 of its largest term.
    assert_allclose(state.scores[0], K @ (alpha * y), rtol=0, atol=1e-6 * n_updates)
    assert_array_equal(state.masses[0], alpha)


@pytest.mark.parametrize("kind", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("room", [60, 7, 1])
def test_rows_made_of_vectors_give_the_run_on_their_matrix(kind, room):
    X = make_sample(13, n_rows=60, n_features=4).X
    kernel = VectorKernel(kind, *({"rbf": (0.5,), "poly": (0.5, 1.0, 3), "linear": ()}[kind]))
    maker = VectorRows(X, kernel, 1)
    K = maker.local(np.arange(60))
    code = (X[:, 0] + 0.3 * X[:, 1] > 0.1).astype(np.int32)
    source = CachedRows(maker, room=room * K[0].nbytes, needed=0)
    problem = KernelProblem(
        source,
        code,
        np.array([1], dtype=np.int32),
        None,
        lams=np.array([0.01]),
        loss="hinge",
        threads=1,
    )
    draws = draw(8, 60, 800, "uniform")
    run = core_kernel_steps(problem, draws, average="weighted")
    expected = reference.kernel_pegasos(
        K, np.where(code == 1, 1.0, -1.0), 0.01, draws, average="weighted"
    )
    assert_array_equal(run.alpha[0], expected.alpha)
    assert_close(run.coef[0], expected.coef)
    assert_close(run.scores[0], K @ expected.coef)


def test_rows_that_never_change_a_coefficient_are_never_made():
    # A draw that only asks for a margin costs no row of the kernel matrix.
    sample = make_kernel_sample(14, 100)
    problem = make_problem(sample, 0.003, room=100)
    run = core_kernel_steps(problem, draw(9, 100, 512, "uniform"))
    made = np.concatenate(problem.source.maker.made)
    assert len(np.unique(made)) == len(made)
    assert set(made.tolist()) == set(np.flatnonzero(run.alpha[0]).tolist())
    assert len(made) < 90


# --- The certificate ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("room", [None, 3])
def test_objective_and_bound_are_those_of_the_reference(weighted, loss, sampling, room):
    sample = make_kernel_sample(15, 40, weighted=weighted)
    y, lam = sample.y(), 0.05
    problem = make_problem(sample, lam, loss=loss, room=room)
    run = KernelPegasosRun(
        problem, KernelState(problem, "weighted"), n_active=40, average="weighted"
    )
    draws = draw(10, 40, 40 * 3, sampling)
    run.advance(draws)
    certificate = run.certify()  # one window: from the start on
    options = {"loss": loss, "sample_weight": sample.weight}
    expected = reference.kernel_pegasos(sample.K, y, lam, draws, average="weighted", **options)
    assert_close(certificate.weights[0], expected.coef)
    primal = reference.kernel_primal_objective(expected.coef, sample.K, y, lam, **options)
    assert_allclose(certificate.objective[0], primal, rtol=1e-9)
    s = np.ones(40) if sample.weight is None else sample.weight
    masses = np.minimum(1.0, expected.alpha / s / 3)
    duals = [
        reference.kernel_dual_objective(f * masses, sample.K, y, lam, **options)
        for f in np.linspace(0, 1, 1001)
    ]
    # The best factor is exact for the hinge; of the log loss, a bound of the gain is scaled.
    assert certificate.dual[0] <= max(duals) + 1e-9
    assert certificate.dual[0] >= duals[-1] - 1e-9
    if loss == "hinge":
        assert_allclose(certificate.dual[0], max(duals), rtol=1e-5)
    best = reference.kernel_sdca(sample.K, y, lam, np.tile(np.arange(40), 300), **options)
    optimum = reference.kernel_primal_objective(best.coef, sample.K, y, lam, **options)
    assert certificate.dual[0] <= optimum <= certificate.objective[0]


# --- Perceptron -----------------------------------------------------------------------------------


def assert_same_perceptron(run, p, sample, positive, draws, average):
    expected = reference.kernel_perceptron(sample.K, sample.y(positive), [draws], average=average)
    assert run.violations[p] == expected.mistakes_per_epoch[0]
    assert run.tally["clock"][p] == len(draws)
    assert_array_equal(run.alpha[p], expected.alpha)
    assert_array_equal(run.last[p], expected.last)
    assert_close(run.coef[p], expected.coef)
    assert_close(run.last_scores[p], sample.K @ expected.last)
    assert_close(run.scores[p], sample.K @ expected.coef)


@given(
    seed=seeds,
    n_rows=st.integers(1, 40),
    n_draws=st.integers(1, 300),
    average=st.sampled_from([None, "uniform"]),
    sampling=samplings,
    kernel=st.sampled_from(["rbf", "poly"]),
    room=rooms,
    parts=st.integers(1, 3),
)
@settings(max_examples=100)
def test_the_perceptron_makes_the_steps_of_the_reference(
    seed, n_rows, n_draws, average, sampling, kernel, room, parts
):
    sample = make_kernel_sample(seed, n_rows, kernel=kernel)
    draws = draw(seed, n_rows, n_draws, sampling)
    run = core_kernel_steps(
        make_problem(sample, 1.0, room=room),
        draws,
        solver="perceptron",
        average=average,
        parts=parts,
    )
    assert_same_perceptron(run, 0, sample, 1, draws, average)


@pytest.mark.parametrize("n_draws", BOUNDARIES)
@pytest.mark.parametrize("room", [None, 60, 3])
def test_perceptrons_in_lockstep_whatever_the_blocks_and_threads(n_draws, room):
    sample = make_kernel_sample(n_draws, 60, n_classes=3)
    draws = draw(11, 60, n_draws, "uniform")
    runs = [
        core_kernel_steps(
            make_problem(sample, 1.0, positive=[0, 1, 2], room=room, threads=threads),
            draws,
            solver="perceptron",
            average="uniform",
        )
        for threads in (1, 2)
    ]
    for p in range(3):
        assert_same_perceptron(runs[0], p, sample, p, draws, "uniform")
    assert_same_bits(*runs)


def test_a_margin_of_zero_is_a_mistake_of_the_perceptron():
    # K is 0 between the rows: each margin is 0 at the first visit, positive later.
    sample = make_kernel_sample(0, 5)
    sample.K[:] = np.eye(5)
    run = core_kernel_steps(
        make_problem(sample, 1.0), np.tile(np.arange(5), 3), solver="perceptron"
    )
    assert_array_equal(run.alpha[0], 1.0)
    assert run.violations[0] == 5
