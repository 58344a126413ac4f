"""Independent pieces of work, one to a thread."""

import threading

import pytest

from pegasos._side_by_side import side_by_side


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_every_piece_is_done_once(n_threads, at_once):
    done = []
    side_by_side(lambda k, threads, stop: done.append((k, threads)), 5, n_threads, at_once)
    assert sorted(k for k, _ in done) == list(range(5))


def test_what_is_left_over_has_all_threads():
    given = {}
    side_by_side(lambda k, threads, stop: given.update({k: threads}), 5, 2, True)
    assert given == {0: 1, 1: 1, 2: 1, 3: 1, 4: 2}


def test_pieces_really_run_at_the_same_time():
    both = threading.Barrier(2, timeout=20)
    side_by_side(lambda k, threads, stop: both.wait(), 2, 2, True)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_stops_the_others_and_is_raised(error):
    stopped = threading.Event()

    def work(k, threads, stop):
        if k == 0:
            raise error("fold 0")
        if k == 1:
            assert stop.wait(20)
            stopped.set()
        assert k < 2, "what has not begun does not begin"

    with pytest.raises(error, match="fold 0"):
        side_by_side(work, 8, 2, True)
    assert stopped.is_set()
