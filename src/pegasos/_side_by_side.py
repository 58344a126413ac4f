"""Pieces of work that do not depend on each other, one to a thread."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event


def side_by_side(
    work: Callable[[int, int, Event], None], n_pieces: int, n_threads: int, at_once: bool
) -> None:
    """Call ``work(k, threads, stop)`` for k = 0 .. n_pieces - 1.

    ``at_once``: as many pieces as there are threads run at the same time, each on one thread, for
    then no thread waits for another; what is left over has all threads for itself, piece by piece.
    When one fails, or Ctrl-C is pressed, ``stop`` is set: work that is under way should look at it
    now and then, and end.
    """
    stop = Event()
    together = n_pieces - n_pieces % n_threads if at_once and n_threads > 1 else 0
    if together:
        with ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(work, k, 1, stop) for k in range(together)]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for k in range(together, n_pieces):
        work(k, n_threads, stop)
