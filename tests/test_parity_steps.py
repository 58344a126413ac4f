"""The solvers of the core make the steps of the reference, draw for draw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference

from .core_helpers import (
    AVERAGES,
    KINDS,
    LOSSES,
    SAMPLINGS,
    assert_same_weights,
    core_pegasos,
    core_perceptron,
    core_sdca,
    core_start,
    lams,
    make_sample,
    samples,
)

many = settings(max_examples=150)
seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(LOSSES)
averages = st.sampled_from(AVERAGES)
samplings = st.sampled_from(SAMPLINGS)
parts = st.integers(1, 3)
# The core sums dual masses, not weights: a mass counts up to one per visit.
MASS = 1e-9


def draw(seed, n_rows, n_draws, sampling="permutation"):
    return reference.draw_rows(np.random.default_rng(seed), n_rows, n_draws, sampling)


# --- Pegasos --------------------------------------------------------------------------------------


@given(
    sample=samples(),
    lam=lams(),
    seed=seeds,
    loss=losses,
    average=averages,
    sampling=samplings,
    batch_size=st.integers(1, 5),
    n_steps=st.integers(1, 60),
    project=st.booleans(),
    parts=parts,
)
@many
def test_pegasos_makes_the_steps_of_the_reference(
    sample, lam, seed, loss, average, sampling, batch_size, n_steps, project, parts
):
    draws = draw(seed, sample.n_rows, n_steps * batch_size, sampling)
    options = {"loss": loss, "average": average, "batch_size": batch_size, "project": project}
    core = core_pegasos(sample, lam, draws, parts=parts, **options)
    run = reference.pegasos(
        sample.rows, sample.y, lam, draws, sample_weight=sample.weight, **options
    )
    assert core.violations[0] == run.violations
    assert_same_weights(core.last[0], run.last)
    assert_same_weights(core.w[0], run.w)
    assert_allclose(core.mass[0], run.dual_mass, rtol=MASS, atol=MASS)
    assert_allclose(core.tally["clock"][0], run.clock)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 24])
@pytest.mark.parametrize("loss", LOSSES)
def test_twenty_epochs_of_pegasos_agree_for_every_kind_of_rows(
    kind, weighted, project, batch_size, loss
):
    sample = make_sample(3, kind=kind, weighted=weighted, bias=1.0)
    draws = draw(4, 24, 20 * 24)
    options = {"loss": loss, "average": "weighted", "batch_size": batch_size, "project": project}
    core = core_pegasos(sample, 0.02, draws, **options)
    run = reference.pegasos(
        sample.rows, sample.y, 0.02, draws, sample_weight=sample.weight, **options
    )
    assert core.violations[0] == run.violations
    assert_same_weights(core.w[0], run.w)
    assert_allclose(core.mass[0], run.dual_mass, rtol=MASS, atol=MASS)


def test_projections_happen_in_the_runs_above():
    sample = make_sample(3, bias=1.0)
    draws = draw(4, 24, 20 * 24)
    free, projected = (
        core_pegasos(sample, 0.02, draws, project=project) for project in (False, True)
    )
    assert free.tally["shrink"][0] == 1.0
    assert projected.tally["shrink"][0] < 0.5
    assert not np.allclose(free.last, projected.last, rtol=1e-3)


def test_a_last_batch_that_is_cut_short_is_a_mean_over_its_own_rows():
    # 7 draws in batches of 3: the reference takes the last one as a batch of 1 would.
    sample = make_sample(5)
    draws = draw(0, 24, 7, "uniform")
    core = core_pegasos(sample, 0.1, draws, batch_size=3)
    two = reference.pegasos(sample.rows, sample.y, 0.1, draws[:6], batch_size=3)
    i = draws[6]
    margin = sample.y[i] * (sample.rows[i] @ two.last)
    pull = float(margin < 1) * sample.y[i] * sample.rows[i]
    expected = (1 - 1 / 3) * two.last + pull / (0.1 * 3)
    assert_same_weights(core.last[0], expected)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gain_of_one_epoch_is_that_of_its_dual_point(loss, weighted):
    sample = make_sample(6, weighted=weighted)
    draws = draw(1, 24, 24)
    core = core_pegasos(sample, 0.1, draws, loss=loss)
    run = reference.pegasos(
        sample.rows, sample.y, 0.1, draws, loss=loss, sample_weight=sample.weight
    )
    s = np.ones(24) if sample.weight is None else sample.weight
    gain = s @ reference.LOSSES[loss].dual_gain(run.dual_mass / s)
    assert_allclose(core.tally["gain"][0], gain, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_hundreds_of_projections_keep_the_masses_exact(loss):
    # Rows a thousand times longer than the radius: for about as many steps every violation leaves
    # the ball, and the product of all factors passes far below 1e-100, where the core renews the
    # unit of its masses. What is left in the end are sums over the later visits. (Steps this long
    # are chaotic: from 2000 draws on, even one rounding makes another run of the log loss.)
    sample = make_sample(7, n_rows=6, n_features=3, density=1.0)
    sample.X[:] *= 1000.0
    sample.y[:] = [1, -1, 1, -1, 1, -1]
    draws = draw(2, 6, 1200, "uniform")
    options = {"loss": loss, "project": True, "average": "weighted"}
    core = core_pegasos(sample, 1.0, draws, **options)
    run = reference.pegasos(sample.rows, sample.y, 1.0, draws, **options)
    assert core.tally["shrink"][0] < 1e-120
    assert core.tally["mass_unit"][0] > 1e-101
    assert core.violations[0] == run.violations
    assert_same_weights(core.w[0], run.w)
    assert_allclose(core.mass[0], run.dual_mass, rtol=1e-9, atol=1e-9)


# --- Dual coordinate ascent -----------------------------------------------------------------------


@given(
    sample=samples(),
    lam=lams(),
    seed=seeds,
    loss=losses,
    average=averages,
    sampling=samplings,
    relaxation=st.floats(0.2, 1.9),
    shrinking=st.booleans(),
    n_draws=st.integers(1, 150),
    parts=parts,
)
@many
def test_sdca_makes_the_steps_of_the_reference(
    sample, lam, seed, loss, average, sampling, relaxation, shrinking, n_draws, parts
):
    draws = draw(seed, sample.n_rows, n_draws, sampling)
    shrinking = shrinking and loss == "hinge"
    options = {"loss": loss, "relaxation": relaxation, "shrinking": shrinking, "average": average}
    core = core_sdca(sample, lam, draws, parts=parts, **options)
    run = reference.sdca(sample.rows, sample.y, lam, draws, sample_weight=sample.weight, **options)
    s = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    assert_allclose(core.mass[0] * s, run.a, atol=MASS)  # the core holds a_i/s_i
    assert_array_equal(core.asleep[0], run.naps)
    assert_same_weights(core.last[0], run.last)
    assert_same_weights(core.w[0], run.w)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_six_epochs_of_sdca_agree_for_every_kind_of_rows(kind, weighted, sampling, loss):
    # Over-relaxed, and few epochs: otherwise a row comes back to a margin of 1 up to rounding, and
    # counting it as a violation is a matter of chance.
    sample = make_sample(8, n_rows=60, kind=kind, weighted=weighted, bias=0.5)
    draws = draw(5, 60, 6 * 60, sampling)
    shrinking = loss == "hinge"  # the masses of the log loss never rest
    options = {"loss": loss, "average": "weighted", "relaxation": 1.2, "shrinking": shrinking}
    core = core_sdca(sample, 0.05, draws, **options)
    run = reference.sdca(sample.rows, sample.y, 0.05, draws, sample_weight=sample.weight, **options)
    assert core.violations[0] == run.violations
    assert_array_equal(core.asleep[0], run.naps)
    assert_same_weights(core.w[0], run.w)


def test_rows_do_sleep_in_the_runs_above():
    sample = make_sample(8, n_rows=60, bias=0.5)
    core = core_sdca(sample, 0.05, draw(5, 60, 360), relaxation=1.2, shrinking=True)
    assert core.asleep.max() > 0
    assert 120 < core.tally["clock"][0] < 300  # steps made, of 360 draws


def test_sleeping_rows_agree_over_more_draws_than_a_block_of_the_core():
    # The core looks 1024 draws ahead for rows that sleep; a row drawn again within such a block,
    # and put to sleep in between, must still be skipped.
    sample = make_sample(9, n_rows=40, bias=1.0)
    for sampling in SAMPLINGS:
        draws = draw(6, 40, 2500, sampling)
        options = {"relaxation": 1.5, "shrinking": True, "average": "uniform"}
        core = core_sdca(sample, 0.3, draws, parts=2, **options)
        run = reference.sdca(sample.rows, sample.y, 0.3, draws, **options)
        assert_array_equal(core.asleep[0], run.naps)
        assert_allclose(core.mass[0], run.a, atol=MASS)
        assert_same_weights(core.w[0], run.w)


# --- The stochastic start -------------------------------------------------------------------------


@given(
    sample=samples(),
    lam=lams(-6, -1),
    seed=seeds,
    loss=losses,
    sampling=samplings,
    eta0=st.floats(0.01, 1.0),
    n_draws=st.integers(1, 80),
    parts=parts,
)
@many
def test_the_start_makes_the_steps_of_the_reference(
    sample, lam, seed, loss, sampling, eta0, n_draws, parts
):
    draws = draw(seed, sample.n_rows, n_draws, sampling)
    options = {"loss": loss, "sample_weight": sample.weight}
    for average in (None, "weighted"):
        core = core_start(sample, lam, draws, eta0, loss=loss, average=average, parts=parts)
        w = reference.sgd_start(sample.rows, sample.y, lam, draws, eta0, average=average, **options)
        assert_same_weights(core.w[0], w)
        last = reference.sgd_start(sample.rows, sample.y, lam, draws, eta0, average=None, **options)
        assert_same_weights(core.last[0], last)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_start_counts_margins_below_one(loss):
    sample = make_sample(11, bias=1.0)
    lam, eta0, draws = 1e-3, 0.4, draw(7, 24, 24)
    core = core_start(sample, lam, draws, eta0, loss=loss)
    violations, total = 1, np.zeros(6)  # the first margin is 0
    for t in range(1, 24):
        # The iterate is the difference of two means, each with the sum of its weights 1 + .. + t.
        mean = reference.sgd_start(sample.rows, sample.y, lam, draws[:t], eta0, loss=loss)
        new_total = mean * t * (t + 1) / 2
        w = (new_total - total) / t
        total = new_total
        violations += sample.y[draws[t]] * (sample.rows[draws[t]] @ w) < 1
    assert core.violations[0] == violations
    assert 1 < violations < 24


# --- Perceptron -----------------------------------------------------------------------------------


@given(
    sample=samples(),
    seed=seeds,
    average=st.sampled_from([None, "uniform"]),
    sampling=samplings,
    n_draws=st.integers(1, 100),
    parts=parts,
)
@many
def test_the_perceptron_makes_the_steps_of_the_reference(
    sample, seed, average, sampling, n_draws, parts
):
    draws = draw(seed, sample.n_rows, n_draws, sampling)
    core = core_perceptron(sample, draws, average=average, parts=parts)
    run = reference.perceptron(sample.rows, sample.y, [draws], average=average)
    assert core.violations[0] == run.mistakes_per_epoch[0]
    assert_same_weights(core.last[0], run.last)
    assert_same_weights(core.w[0], run.w)


# --- Several classes, several threads -------------------------------------------------------------

RUNS = {
    "pegasos": lambda sample, draws, **more: core_pegasos(
        sample, 0.05, draws, project=True, average="weighted", batch_size=2, **more
    ),
    "pegasos-log": lambda sample, draws, **more: core_pegasos(
        sample, 0.05, draws, loss="log", average="uniform", **more
    ),
    "sdca": lambda sample, draws, **more: core_sdca(
        sample, 0.05, draws, relaxation=1.2, shrinking=True, average="weighted", **more
    ),
    "start": lambda sample, draws, **more: core_start(sample, 1e-3, draws, 0.3, **more),
    "perceptron": lambda sample, draws, **more: core_perceptron(
        sample, draws, average="uniform", **more
    ),
}


def assert_same_bits(run, other):
    assert_array_equal(run.w, other.w)
    assert_array_equal(run.last, other.last)
    assert_array_equal(run.mass, other.mass)
    assert_array_equal(run.tally, other.tally)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("kind", ["dense-f32", "csr-f64-i32"])
def test_three_classes_in_lockstep_are_three_binary_runs(name, kind):
    sample = make_sample(12, n_rows=40, n_features=11, kind=kind, weighted=True, bias=1.0)
    code = np.random.default_rng(0).integers(0, 3, size=40)
    draws = draw(8, 40, 200, "uniform")
    together = RUNS[name](sample, draws, code=code)
    assert len(together.w) == 3
    for k in range(3):
        sample.y[:] = np.where(code == k, 1.0, -1.0)
        alone = RUNS[name](sample, draws)
        assert_array_equal(together.w[k], alone.w[0])
        assert_array_equal(together.last[k], alone.last[0])
        assert_array_equal(together.tally[k], alone.tally[0])


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_no_bit_of_the_steps_depends_on_the_threads(name, n_classes):
    sample = make_sample(13, n_rows=50, n_features=9, weighted=True, bias=1.0)
    code = np.arange(50) % n_classes
    draws = draw(9, 50, 300, "uniform")
    one = RUNS[name](sample, draws, code=code, n_threads=1)
    for n_threads in (2, 3, 16):
        assert_same_bits(RUNS[name](sample, draws, code=code, n_threads=n_threads), one)
