"""Dual ascent with kernels: whole epochs, and which rows they visit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import _core, reference
from pegasos._kernel_sdca_run import KernelSdcaRun
from pegasos._kernel_steps import KernelState, core_run

from .core_helpers import LOSSES, SAMPLINGS
from .kernel_core_helpers import (
    assert_scores_belong_to_masses,
    make_kernel_sample,
    make_problem,
    started,
)

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


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("room", [None, 300, 40])
def test_every_class_goes_its_own_way_whatever_the_others_and_the_threads(
    monkeypatch, threads, room
):
    monkeypatch.setattr("pegasos._kernel_sdca_run._MOST_ROWS", 32)  # many sets, at various times
    n = 300
    sample = make_kernel_sample(7, n, n_classes=3, weighted=True)
    options = {"room": room, "threads": threads}
    together = make_problem(sample, 0.001, positive=[0, 1, 2], **options)
    alone = [make_problem(sample, 0.001, positive=[p], **options) for p in range(3)]
    states = [KernelState(problem, None) for problem in (together, *alone)]
    runs = [
        KernelSdcaRun(problem, state, n_active=n, tol=1e-6)
        for problem, state in zip((together, *alone), states, strict=True)
    ]
    rng = np.random.default_rng(0)
    for _ in range(3):
        draws = rng.permutation(n)
        for run in runs:
            for part in np.split(draws, [50, 51, 200]):
                run.advance(part)
            run.end_of_stride()
    for p in range(3):
        assert_allclose(states[0].masses[p], states[1 + p].masses[0], rtol=0, atol=1e-9)
        assert states[0].tally["violations"][p] == states[1 + p].tally["violations"][0]
    assert_scores_belong_to_masses(together, states[0])


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "filled"), [(9, 1, True), (10, 1, False), (15, 3, True)]
)
def test_a_matrix_smaller_than_the_kernels_of_the_first_sets_is_made_at_once(
    monkeypatch, n_rows, n_classes, filled
):
    monkeypatch.setattr("pegasos._kernel_sdca_run._MOST_ROWS", 7)  # half of 9^2 is below 7^2
    sample = make_kernel_sample(0, n_rows, n_classes=3)
    problem = make_problem(sample, 0.1, positive=list(range(n_classes)), room=n_rows)
    KernelSdcaRun(problem, KernelState(problem, None), n_active=n_rows, tol=None)
    assert problem.source.is_full == filled


def test_more_rows_than_a_set_holds_do_not_keep_the_log_loss_from_its_optimum(monkeypatch):
    monkeypatch.setattr("pegasos._kernel_sdca_run._MOST_ROWS", 60)
    n = 200
    problem = make_problem(make_kernel_sample(7, n), 0.01, loss="log")
    run = KernelSdcaRun(problem, KernelState(problem, None), n_active=n, tol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(60):
        run.advance(rng.permutation(n))
        run.end_of_stride()
    assert run.certify().relative_gap < 1e-6


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


def test_the_log_loss_lets_no_row_rest():
    problem = make_problem(make_kernel_sample(7, 50), 0.003, loss="log")
    state = started(problem, 8)
    state.masses[:, ::2], state.masses[:, 1::4] = 0.0, 1.0
    run = core_run(problem, state, solver="sdca", most_passes=1)
    draws, block = np.arange(50), np.empty(50, dtype=np.int64)
    assert _core.next_movers(run, draws, slack=0.5, block=block) == (50, 50)
    assert_array_equal(block, draws)
