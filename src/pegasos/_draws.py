"""Which row comes next: NumPy's random streams, so that anyone can replay a run."""

from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core

Rows = npt.NDArray[np.int64]

# Below this a thread costs more than the shuffling it would take over (about 5 ns a row).
_WORTH_A_THREAD = 40_000

_NO_ROWS: Rows = np.empty(0, dtype=np.int64)


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn scikit-learn's ``random_state`` into a generator; an integer means ``default_rng``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    return np.random.default_rng(random_state)


def permutation(rng: np.random.Generator, n_rows: int) -> Rows:
    """Return ``rng.permutation(n_rows)``, made by the core in a third of the time."""
    if not _core_shuffles_as_numpy():
        return rng.permutation(n_rows)
    return _core_permutation(rng, n_rows)


def _core_permutation(rng: np.random.Generator, n_rows: int) -> Rows:
    rows = np.empty(n_rows, dtype=np.int64)
    generator = rng.bit_generator
    with generator.lock:
        _core.permutation(generator.capsule, rows)
    return rows


@cache
def _core_shuffles_as_numpy() -> bool:
    """Tell whether this NumPy shuffles as those did that the core follows; it may change that."""
    theirs = np.random.default_rng(0).permutation(1000)
    return np.array_equal(theirs, _core_permutation(np.random.default_rng(0), 1000))


class DrawStream:
    """An endless stream of row numbers.

    ``"permutation"`` strings together ``rng.permutation(n)``, one per epoch; ``"uniform"`` is
    ``rng.integers(n, size=...)``, which is the same stream as drawing one by one. ``rows`` lists
    the rows that take part, those of positive weight (None: all).
    """

    def __init__(
        self, rng: np.random.Generator, n_rows: int, sampling: str, rows: Rows | None = None
    ) -> None:
        self.rng = rng
        self.sampling = sampling
        self.rows = rows
        self._all_rows = n_rows
        self.n_rows = n_rows if rows is None else len(rows)
        self._queue = _NO_ROWS
        self._pool: ThreadPoolExecutor | None = None
        self._future: Future[Rows] | None = None
        self._state_before: Any = None
        self._expected = 0

    def copy(self) -> "DrawStream":
        """Return a stream that will draw the same rows."""
        return deepcopy(self)

    def goes_on_with(self, n_rows: int, sampling: str, rows: Rows | None) -> bool:
        """Tell whether this stream is over the same rows, in the same manner."""
        if self.rows is None or rows is None:
            same_rows = self.rows is rows
        else:
            same_rows = np.array_equal(self.rows, rows)
        return same_rows and self.sampling == sampling and self._all_rows == n_rows

    @property
    def at_epoch_start(self) -> bool:
        """Whether whole permutations of the rows come next."""
        return self.sampling == "permutation" and len(self._queue) == 0

    def expect(self, n_draws: int, n_threads: int) -> None:
        """Say how many draws will be taken: with a thread to spare, epochs are shuffled ahead."""
        self._expected = n_draws - len(self._queue)
        worth = self.sampling == "permutation" and self.n_rows >= _WORTH_A_THREAD
        if worth and n_threads > 1 and self._expected > self.n_rows:
            self._pool = ThreadPoolExecutor(1)

    def finish(self) -> None:
        """End the shuffling ahead, and take back what it has drawn in vain."""
        if self._future is not None and not self._future.cancel():
            self._future.result()
            self.rng.bit_generator.state = self._state_before
        if self._pool is not None:
            self._pool.shutdown()
        self._pool = self._future = None

    def take(self, n_draws: int) -> Rows:
        """Return the next ``n_draws`` row numbers."""
        if self.sampling == "uniform":
            return self._named(self.rng.integers(self.n_rows, size=n_draws))
        parts = []
        while n_draws > 0:
            if len(self._queue) == 0:
                self._queue = self._next_epoch()
            parts.append(self._queue[:n_draws])
            n_draws -= len(parts[-1])
            rest = self._queue[len(parts[-1]) :]
            # An empty view would keep an epoch in memory while the next is drawn.
            self._queue = rest if len(rest) else _NO_ROWS
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _next_epoch(self) -> Rows:
        # On a busy machine the thread may not have begun: then it is quicker to do it here.
        if self._future is None or self._future.cancel():
            epoch = self._permutation()
        else:
            epoch = self._future.result()
        self._expected -= self.n_rows
        self._future = None
        if self._pool is not None and self._expected > 0:
            self._state_before = self.rng.bit_generator.state
            self._future = self._pool.submit(self._permutation)
        return epoch

    def _permutation(self) -> Rows:
        return self._named(permutation(self.rng, self.n_rows))

    def _named(self, draws: Rows) -> Rows:
        return draws if self.rows is None else self.rows[draws]
