"""Sums of kernel rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import _core

from .kernel_core_helpers import (
    assert_close,
    make_kernel_sample,
    make_problem,
)

seeds = st.integers(0, 2**32 - 1)


@given(
    seed=seeds,
    n_columns=st.sampled_from([1, 3, 4, 5, 7, 8, 9, 17, 64]),
    n_rows=st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 63, 64, 65, 130]),
    n_problems=st.integers(1, 4),
    dtype=st.sampled_from([np.float32, np.float64]),
    slots=st.booleans(),
    density=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=200)
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
