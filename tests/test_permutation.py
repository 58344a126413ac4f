"""The core's permutations are NumPy's, draw for draw."""

import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pegasos import _core, _draws

STREAMS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox]


@given(n_rows=st.integers(0, 3000), seed=st.integers(0, 2**32))
def test_any_number_of_rows_comes_in_numpys_order(n_rows, seed):
    theirs = np.random.default_rng(seed).permutation(n_rows)
    assert_array_equal(_draws.permutation(np.random.default_rng(seed), n_rows), theirs)


@pytest.mark.parametrize("n_rows", [2**17 - 1, 2**17, 2**17 + 1, 300_000])
def test_rows_beyond_all_blocks_and_caches_come_in_numpys_order(n_rows):
    theirs = np.random.default_rng(7).permutation(n_rows)
    assert_array_equal(_draws.permutation(np.random.default_rng(7), n_rows), theirs)


@pytest.mark.parametrize("stream", STREAMS)
def test_the_stream_goes_on_where_numpy_would_have_left_it(stream):
    ours, theirs = np.random.Generator(stream(3)), np.random.Generator(stream(3))
    for n_rows in (1, 2, 129, 1000):  # odd numbers of 32-bit draws leave half of one behind
        assert_array_equal(_draws.permutation(ours, n_rows), theirs.permutation(n_rows))
        assert ours.integers(1 << 60) == theirs.integers(1 << 60)
        assert ours.integers(1 << 20, dtype=np.int32) == theirs.integers(1 << 20, dtype=np.int32)


def test_a_numpy_that_shuffles_in_another_way_is_asked_itself(monkeypatch):
    def other_rows(_generator, rows):
        rows[:] = np.arange(len(rows))

    monkeypatch.setattr(_core, "permutation", other_rows)
    _draws._core_shuffles_as_numpy.cache_clear()
    try:
        theirs = np.random.default_rng(5).permutation(50)
        assert_array_equal(_draws.permutation(np.random.default_rng(5), 50), theirs)
    finally:
        _draws._core_shuffles_as_numpy.cache_clear()


def test_this_numpy_shuffles_as_the_core_does():
    assert _draws._core_shuffles_as_numpy()


def test_only_streams_of_numpy_are_taken():
    with pytest.raises(ValueError, match="BitGenerator"):
        _core.permutation(np.array(0).__array_struct__, np.empty(3, dtype=np.int64))


def test_an_epoch_that_is_used_up_is_not_kept_while_the_next_is_drawn():
    stream = _draws.DrawStream(np.random.default_rng(0), 10, "permutation")
    epoch = stream.take(10)
    owner = weakref.ref(epoch.base)
    del epoch
    assert owner() is None
