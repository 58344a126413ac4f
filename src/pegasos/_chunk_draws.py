"""Which row of a stream comes next: a few chunks at random, then their rows at random."""

from collections.abc import Generator
from typing import Any

import numpy as np

from pegasos._chunked_problem import ChunkedProblem
from pegasos._draws import Rows, permutation
from pegasos._problem import Problem
from pegasos._read_ahead import read_ahead
from pegasos._training import draws_per_call

# Chunks whose rows are mixed. Rows that always come together slow dual ascent down, by far: they
# move the weights they share back and forth. New company in every epoch is the cure (reviews, dual
# suboptimality after 60 epochs: 8e-4 for ten chunks one by one, 1e-6 for twenty in pairs, 4e-6 for
# all rows in one permutation).
_MIXED = 4


class ChunkDraws:
    """An endless stream of row numbers, within the chunks that the problem is made to enter.

    An epoch is ``rng.permutation(chunks)``, taken four at a time, and as each four come,
    ``rng.permutation(their rows)``: with four chunks or fewer that is all of the data, shuffled as
    in memory. Unless shuffled, all comes in the order of the files.
    """

    def __init__(self, problem: ChunkedProblem, rng: np.random.Generator, *, shuffle: bool) -> None:
        self.problem = problem
        self.rng = rng
        self.shuffle = shuffle
        self.n_rows = problem.n_rows
        self._order: Rows = np.empty(0, dtype=np.int64)
        self._place = 0  # in the order, of the chunk behind those that were entered last
        self._queue: Rows = np.empty(0, dtype=np.int64)
        self._parts: Generator[Problem] | None = None

    @property
    def at_epoch_start(self) -> bool:
        """Whether every row comes once before any comes again: always."""
        return True

    def expect(self, n_draws: int, n_threads: int) -> None:
        """Do nothing: chunks are small, and so are their permutations."""

    def finish(self) -> None:
        """End the reading ahead."""
        if self._parts is not None:
            self._parts.close()
        self._parts = None
        self.problem.leave()

    def take(self, n_draws: int) -> Rows:
        """Return the next draws: ``n_draws``, or fewer if the chunks end or that is much work."""
        while len(self._queue) == 0:
            self._go_on()
        if not self.problem.has_entered:  # a pass over all rows has come between
            self._enter()
        n_draws = min(n_draws, draws_per_call(self.problem.work_per_draw()))
        draws, self._queue = self._queue[:n_draws], self._queue[n_draws:]
        return draws

    def saved(self) -> dict[str, Any]:
        """Return what it takes to go on from here."""
        return {
            "order": self._order,
            "place": self._place,
            "queue": self._queue,
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved."""
        self._order, self._place, self._queue = saved["order"], saved["place"], saved["queue"]
        self.rng.bit_generator.state = saved["generator"]

    def _go_on(self) -> None:
        """Enter the next chunks and shuffle their rows."""
        if self._place >= len(self._order):
            self.finish()
            self._order = self._permuted(self.problem.n_chunks)
            self._place = 0
        self._place += _MIXED
        self._enter()
        self._queue = self._permuted(self.problem.rows_of(self._chunks_at(self._place)))

    def _enter(self) -> None:
        """Enter the chunks before the present place of the order; those behind are read ahead."""
        if self._parts is None or not self.problem.has_entered:
            self.finish()
            places = range(self._place, len(self._order) + _MIXED, _MIXED)
            self._parts = read_ahead(self.problem.read, map(self._chunks_at, places))
        self.problem.leave()
        self.problem.enter(self._chunks_at(self._place), next(self._parts))

    def _chunks_at(self, place: int) -> list[int]:
        return [int(chunk) for chunk in self._order[place - _MIXED : place]]

    def _permuted(self, n: int) -> Rows:
        return permutation(self.rng, n) if self.shuffle else np.arange(n)
