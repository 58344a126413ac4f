"""The draws of the reference are NumPy's own streams."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos import reference


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
