"""Passes of the core over all rows: losses, scores and dual points are those of the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import _core, reference

from .core_helpers import KINDS, LOSSES, core_data, core_rows, make_sample, samples

many = settings(max_examples=60)
seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(LOSSES)
BINARY = np.array([1], dtype=np.int32)
SUM = 1e-12  # sums of some dozen terms of size 1 to 10, in another order


def unit_or(weight, n_rows):
    return np.ones(n_rows) if weight is None else weight


@given(sample=samples(), seed=seeds, loss=losses)
@many
def test_loss_sums_are_those_of_the_reference(sample, seed, loss):
    w = np.random.default_rng(seed).normal(size=(1, sample.X.shape[1] + 1))
    sums = np.empty(1)
    _core.loss_sums(core_data(sample), BINARY, w, loss=loss, n_threads=1, sums=sums)
    losses = reference.LOSSES[loss].value(sample.y * (sample.rows @ w[0]))
    assert_allclose(sums[0], unit_or(sample.weight, sample.n_rows) @ losses, rtol=SUM, atol=SUM)


@given(sample=samples(), seed=seeds)
@many
def test_square_sums_are_those_of_the_rows_named(sample, seed):
    rng = np.random.default_rng(seed)
    some = rng.integers(sample.n_rows, size=rng.integers(0, 20))
    expected = np.sum(sample.rows[some] ** 2)
    assert_allclose(_core.square_sum(core_data(sample), some), expected, rtol=SUM, atol=SUM)


@given(sample=samples(), seed=seeds, n_problems=st.integers(1, 4))
@many
def test_scores_are_products_with_the_rows(sample, seed, n_problems):
    weights = np.random.default_rng(seed).normal(size=(n_problems, sample.X.shape[1] + 1))
    scores = np.empty((sample.n_rows, n_problems))
    rows = core_rows(sample.X, sample.kind, sample.bias)
    _core.scores(rows, weights, n_threads=1, scores=scores)
    assert_allclose(scores, sample.rows @ weights.T, rtol=SUM, atol=SUM)


@given(sample=samples(), seed=seeds, loss=losses)
@many
def test_guessed_masses_their_rows_and_losses_are_those_of_the_reference(sample, seed, loss):
    w = np.random.default_rng(seed).normal(size=(1, sample.X.shape[1] + 1))
    mass, rows, sums = np.empty((1, sample.n_rows)), np.empty_like(w), np.empty(1)
    data = core_data(sample)
    _core.guess_masses(data, BINARY, w, mass, loss=loss, n_threads=1, dual_rows=rows, sums=sums)
    margins = sample.y * (sample.rows @ w[0])
    s = unit_or(sample.weight, sample.n_rows)
    expected = reference.guess_masses(margins, loss)
    assert_allclose(mass[0], expected, rtol=SUM, atol=SUM)
    assert_allclose(rows[0], (s * expected * sample.y) @ sample.rows, rtol=SUM, atol=SUM)
    assert_allclose(sums[0], s @ reference.LOSSES[loss].value(margins), rtol=SUM, atol=SUM)


@given(sample=samples(), seed=seeds, loss=losses)
@many
def test_rows_and_gain_of_masses_are_the_dual_objective_of_the_reference(sample, seed, loss):
    rng = np.random.default_rng(seed)
    # Masses strictly between the bounds, and some on them.
    mass = np.clip(rng.uniform(-0.3, 1.3, size=(1, sample.n_rows)), 0.0, 1.0)
    rows, sums = np.empty((1, sample.X.shape[1] + 1)), np.empty(1)
    data = core_data(sample)
    _core.dual_rows(data, BINARY, mass, n_threads=1, sums=rows)
    _core.gain_sums(data, BINARY, mass, loss=loss, n_threads=1, sums=sums)
    s = unit_or(sample.weight, sample.n_rows)
    lam = 0.3
    w = rows[0] / (lam * s.sum())
    dual = sums[0] / s.sum() - lam / 2 * (w @ w)
    a = np.minimum(mass[0] * s, s)
    expected = reference.dual_objective(a, sample.rows, sample.y, lam, loss, s)
    assert_allclose(w, reference.dual_weights(a, sample.rows, sample.y, lam, s), atol=1e-11)
    assert_allclose(dual, expected, rtol=SUM, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_bit_of_a_pass_depends_on_the_threads(kind, loss):
    # Threads share ranges of 4096 rows: 10,000 rows make three, the last one short.
    sample = make_sample(1, n_rows=10_000, n_features=7, kind=kind, weighted=True, bias=1.0)
    code = np.arange(10_000) % 3
    positive = np.arange(3, dtype=np.int32)
    data = core_data(sample, code)
    w = np.random.default_rng(2).normal(size=(3, 8))

    def passes(n_threads):
        sums, gains, guess_sums = np.empty(3), np.empty(3), np.empty(3)
        rows, guess_rows = np.empty((3, 8)), np.empty((3, 8))
        mass, scores = np.empty((3, 10_000)), np.empty((10_000, 3))
        _core.loss_sums(data, positive, w, loss=loss, n_threads=n_threads, sums=sums)
        _core.guess_masses(
            data,
            positive,
            w,
            mass,
            loss=loss,
            n_threads=n_threads,
            dual_rows=guess_rows,
            sums=guess_sums,
        )
        _core.dual_rows(data, positive, mass, n_threads=n_threads, sums=rows)
        _core.gain_sums(data, positive, mass, loss=loss, n_threads=n_threads, sums=gains)
        matrix = core_rows(sample.X, kind, 1.0)
        _core.scores(matrix, w, n_threads=n_threads, scores=scores)
        return sums, gains, guess_sums, rows, guess_rows, mass, scores

    one = passes(1)
    for n_threads in (2, 3, 8):
        for result, expected in zip(passes(n_threads), one, strict=True):
            assert_array_equal(result, expected)
    # And the numbers are right for every class, over all ranges.
    for k in range(3):
        y = np.where(code == k, 1.0, -1.0)
        losses = reference.LOSSES[loss].value(y * (sample.rows @ w[k]))
        assert_allclose(one[0][k], sample.weight @ losses, rtol=1e-10)
        assert_allclose(one[2][k], sample.weight @ losses, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["dense-f64", "csr-f32-i32"])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_bad_value_makes_the_loss_sum_not_finite(bad, kind, loss):
    # An infinite margin of the right sign costs nothing: the sum must tell all the same.
    sample = make_sample(2, n_rows=9, n_features=3, kind=kind)
    w = np.ones((1, 4))
    sample.X[4, 1] = bad
    sums, rows, mass = np.empty(1), np.empty((1, 4)), np.empty((1, 9))
    data = core_data(sample)
    _core.loss_sums(data, BINARY, w, loss=loss, n_threads=1, sums=sums)
    assert not np.isfinite(sums[0])
    _core.guess_masses(data, BINARY, w, mass, loss=loss, n_threads=1, dual_rows=rows, sums=sums)
    assert not np.isfinite(sums[0])
