"""A cache of kernel rows that are made on demand, below a limit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pegasos._kernel_steps import fill_if_worth_it
from pegasos.kernels import CachedRows, StoredMatrix, VectorKernel
from pegasos.kernels._rows import VectorRows

from .kernel_core_helpers import (
    CountingRows,
    cached,
    rows_of,
    symmetric,
)


def kept(cache):
    return set(np.flatnonzero(cache.slots >= 0).tolist())


def bring(cache, *rows):
    for _ in cache.parts(np.array(rows)):
        pass


def all_made(cache):
    return np.concatenate(cache.maker.made).tolist() if cache.maker.made else []


@given(
    n_rows=st.integers(1, 12),
    room=st.integers(1, 14),
    calls=st.lists(
        st.tuples(st.sampled_from(["parts", "rest"]), st.lists(st.integers(0, 11), max_size=20)),
        max_size=12,
    ),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=300)
def test_rows_are_those_of_the_matrix_whatever_the_room(n_rows, room, calls, dtype):
    K = symmetric(n_rows, dtype)
    cache = cached(K, room)
    assert len(cache.values) == min(room, n_rows)
    assert cache.holds_all == (room >= n_rows)
    assert_array_equal(cache.diagonal, K.diagonal())
    for method, rows in calls:
        which = np.array(rows, dtype=np.int64) % n_rows
        if method == "parts":
            seen = []
            for part in cache.parts(which):
                assert 0 < len(part) <= len(cache.values)
                assert_array_equal(rows_of(cache, part), K[part])
                seen.extend(part)
            assert_array_equal(seen, which)
        else:
            there = bool(np.all(cache.slots[which] >= 0))
            brought = cache.bring_the_rest(which)
            if brought:
                assert_array_equal(rows_of(cache, which), K[which])
            assert brought or not there or len(which) > len(cache.values)
        # Whatever is marked as there is right, and no slot serves two rows.
        now = np.array(sorted(kept(cache)), dtype=np.int64)
        assert_array_equal(cache.values[cache.slots[now]], K[now])
        assert len(set(cache.slots[now].tolist())) == len(now) <= len(cache.values)


def test_the_row_asked_for_last_makes_room_for_its_turn_comes_last():
    cache = cached(symmetric(10), 3)
    for i in (0, 1, 2):
        bring(cache, i)
    assert kept(cache) == {0, 1, 2}
    bring(cache, 0)  # now 0 is the latest
    bring(cache, 7)
    assert kept(cache) == {1, 2, 7}
    bring(cache, 8)
    assert kept(cache) == {1, 2, 8}
    bring(cache, 8, 9)  # 8 is the latest, but needed
    assert kept(cache) == {1, 8, 9}
    assert all_made(cache) == [0, 1, 2, 7, 8, 9]  # what is there is not made again


def test_a_row_that_nobody_has_asked_for_in_a_long_time_makes_room_first():
    cache = cached(symmetric(10), 3)
    for i in (0, 1, 2, *(1, 2) * 5):  # twelve rows asked for since row 0: four times the room
        bring(cache, i)
    bring(cache, 7)
    assert kept(cache) == {0, 1, 7}
    bring(cache, 1)
    bring(cache, 8)
    assert kept(cache) == {1, 7, 8}


def test_rows_in_their_turn_are_there_again_as_far_as_there_is_room():
    # The least recently used row would be thrown out just before its turn, every time.
    cache = cached(symmetric(20), 10)
    for epoch in range(5):
        cache.maker.made.clear()
        for i in range(20):
            bring(cache, i)
        assert len(all_made(cache)) == 20 if epoch == 0 else 10 <= len(all_made(cache)) <= 11


@given(
    room=st.integers(1, 5),
    calls=st.lists(st.integers(0, 7), min_size=1, max_size=80),
)
@settings(max_examples=200)
def test_a_cache_used_row_by_row_keeps_the_rows_that_its_rule_says(room, calls):
    cache = cached(symmetric(8), room)
    made, last_asked = [], {}
    for now, i in enumerate(calls):
        if i not in last_asked:
            made.append(i)
            if len(last_asked) == room:
                age = {j: now - then for j, then in last_asked.items()}
                forgotten = [j for j in age if age[j] > 4 * room]
                out = max(forgotten, key=age.get) if forgotten else min(age, key=age.get)
                del last_asked[out]
        last_asked[i] = now + 1
        bring(cache, i)
        assert kept(cache) == set(last_asked)
    assert all_made(cache) == made


def test_rows_that_a_part_needs_are_not_evicted_for_others_of_that_part():
    cache = cached(symmetric(10), 4)
    bring(cache, 0, 1, 2, 3)
    bring(cache, 9, 8, 0, 3)  # 0 and 3 are the only old rows to stay
    assert kept(cache) == {0, 3, 8, 9}


def test_parts_are_no_longer_than_the_room_and_512_rows():
    K = symmetric(1100, np.float32)
    sizes = [len(part) for part in cached(K, 700).parts(np.arange(1100))]
    assert sizes == [512, 512, 76]
    sizes = [len(part) for part in cached(K, 300).parts(np.arange(700))]
    assert sizes == [300, 300, 100]
    assert list(cached(K, 3).parts(np.array([], dtype=np.int64))) == []


def test_a_row_asked_for_twice_is_made_once():
    cache = cached(symmetric(10), 4)
    bring(cache, 5, 5, 6, 5)
    assert all_made(cache) == [5, 6]


def test_the_rest_is_brought_only_if_it_is_little():
    K = symmetric(40)
    cache = cached(K, 30)
    bring(cache, *range(18))
    assert not cache.bring_the_rest(np.arange(21))  # 3 of 21 missing: more than a tenth
    assert kept(cache) == set(range(18))
    assert cache.bring_the_rest(np.arange(20))  # 2 of 20
    assert kept(cache) == set(range(20))
    assert not cache.bring_the_rest(np.arange(20).repeat(2))  # more than there are slots
    assert cache.bring_the_rest(np.array([3, 4]))
    assert not cache.bring_the_rest(np.array([30]))
    assert all_made(cache) == list(range(20))


def test_rows_that_were_only_looked_at_by_bring_the_rest_count_as_used():
    cache = cached(symmetric(10), 3)
    for i in (0, 1, 2):
        bring(cache, i)
    assert cache.bring_the_rest(np.array([0]))
    bring(cache, 5)
    assert kept(cache) == {1, 2, 5}


def test_fill_makes_every_row_once():
    K = symmetric(600, np.float32)
    cache = cached(K, 600)
    bring(cache, 17)
    cache.maker.made.clear()
    cache.fill()
    assert sorted(all_made(cache)) == list(range(600))
    assert_array_equal(rows_of(cache, np.arange(600)), K)


def test_another_maker_takes_over_the_space_and_no_row():
    K = symmetric(30)
    cache = cached(K, 30)
    cache.fill()
    space = cache.values
    cache.change_maker(CountingRows(2 * K))
    assert not kept(cache)
    assert_array_equal(cache.diagonal, 2 * K.diagonal())
    bring(cache, 17)
    assert cache.values is space
    assert_array_equal(rows_of(cache, [17]), 2 * K[[17]])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kernel",
    [VectorKernel("rbf", 0.3), VectorKernel("poly", 0.5, 1.0, 3), VectorKernel("linear")],
    ids=lambda kernel: kernel.name,
)
def test_a_matrix_made_at_once_has_the_rows_made_one_by_one_and_is_symmetric(
    convert, dtype, kernel
):
    # More rows than are made in a call (512) and than a tile has (256), and no multiple of them; of
    # float64, there is space between them.
    X = np.random.default_rng(3).standard_normal((777, 9)).astype(dtype)
    X[X < 0.3] = 0
    maker = VectorRows(convert(X), kernel, 2)
    cache = CachedRows(maker, room=2 * 777**2 * 8, needed=0)
    cache.fill()
    assert_array_equal(cache.values, cache.values.T)
    assert_array_equal(cache.slots, np.arange(777))
    rows = np.arange(777)
    by_rows = np.empty_like(cache.values)
    maker.make(rows, by_rows, rows)
    # The order in which BLAS adds products may differ at the edges of tiles.
    np.testing.assert_allclose(
        cache.values, by_rows, rtol=1e-4 if dtype is np.float32 else 1e-12, atol=1e-12
    )
    one_thread = CachedRows(VectorRows(convert(X), kernel, 1), room=2 * 777**2 * 8, needed=0)
    one_thread.fill()
    assert_array_equal(one_thread.values, cache.values)


def test_the_whole_matrix_is_made_at_once_only_if_it_fits_and_pays():
    K = symmetric(20)
    for room, n_draws, filled in ((20, 20, True), (20, 19, False), (19, 100, False)):
        cache = cached(K, room)
        fill_if_worth_it(cache, n_draws)
        assert (len(kept(cache)) == 20) == filled
        assert filled or not kept(cache)
    fill_if_worth_it(StoredMatrix(K), 100)  # nothing to do


def test_a_maker_that_fails_leaves_a_cache_that_is_right():
    class Fails(CountingRows):
        broken = False

        def make(self, which, out, slots):
            if self.broken:
                out[slots] = np.nan
                raise KeyboardInterrupt
            super().make(which, out, slots)

    K = symmetric(6)
    maker = Fails(K)
    cache = CachedRows(maker, room=3 * K[0].nbytes, needed=0)
    bring(cache, 0, 1, 2)
    maker.broken = True
    with pytest.raises(KeyboardInterrupt):
        bring(cache, 4, 5)
    left = np.array(sorted(kept(cache)))
    assert len(left) == 1
    assert_array_equal(rows_of(cache, left), K[left])
    maker.broken = False
    bring(cache, 4, 5, 0)
    assert_array_equal(rows_of(cache, np.array([4, 5, 0])), K[[4, 5, 0]])


@pytest.mark.parametrize("room", [0, 100, 1000, 1079])
def test_too_little_memory_is_refused_with_what_would_do(room):
    maker = CountingRows(symmetric(10))  # a row takes 80 bytes
    with pytest.raises(ValueError, match="is too small: scores take 1 kB and one row") as error:
        CachedRows(maker, room=room, needed=1000)
    assert (
        f"memory={'1.08 kB' if room > 1000 else '1 kB' if room == 1000 else f'{room} bytes'}"
        in (str(error.value))
    )
    assert "matrix 80 bytes; give at least 1.09 kB" in str(error.value)
    assert len(CachedRows(maker, room=1080, needed=1000).values) == 1
    assert len(CachedRows(maker, room=1159, needed=1000).values) == 1
    assert len(CachedRows(maker, room=1160, needed=1000).values) == 2
    assert len(CachedRows(maker, room=10**9, needed=1000).values) == 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_rows_begin_with_a_cache_line_and_the_space_between_them_counts(dtype):
    K = symmetric(1030, dtype)  # 64.4 or 128.75 lines
    row_bytes = {np.float32: 65 * 64, np.float64: 129 * 64}[dtype]
    cache = CachedRows(CountingRows(K), room=3 * row_bytes, needed=0)
    assert cache.values.shape == (3, 1030)
    assert cache.values.strides == (row_bytes, K.itemsize)
    assert cache.values.ctypes.data % 64 == 0
    bring(cache, 1029, 7, 500)
    assert_array_equal(rows_of(cache, np.array([7, 500, 1029])), K[[7, 500, 1029]])
    assert len(CachedRows(CountingRows(K), room=3 * row_bytes - 1, needed=0).values) == 2


def test_the_kernel_among_some_rows_takes_no_room_in_the_cache():
    K = symmetric(10)
    cache = cached(K, 1)
    which = np.array([3, 1, 3, 9])
    assert_array_equal(cache.local(which), K[np.ix_(which, which)])
    assert kept(cache) == set()
