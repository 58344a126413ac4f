"""The problem over rows that come in chunks: sums over all rows are sums over the chunks."""

from collections.abc import Generator, Iterable
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos import _core
from pegasos._problem import Objectives, Problem, sample_step
from pegasos._read_ahead import read_ahead
from pegasos._validation import (
    Floats,
    Target,
    checked_chunk,
    class_factors,
    encode_known,
    is_sparse,
    refuse_non_finite,
)


class ChunkedProblem(Objectives):
    """The problem over a stream. Steps are made on the rows of a few chunks, which ``enter`` names.

    Arrays over all rows hold the chunks one after the other, each with all problems: the part of
    a chunk is a block of memory, as the core wants it.
    """

    def __init__(
        self,
        stream: Any,
        *,
        class_weight: Any = None,
        looks_at_values: bool = False,
        lams: Floats,
        loss: str,
        bias: float,
        threads: int,
    ) -> None:
        self.stream = stream
        self._looks_at_values = looks_at_values
        self.classes: npt.NDArray[Any] = stream.labels
        self.class_totals: Floats = stream.label_counts.astype(np.float64)
        self.n_rows = int(stream.n_rows)
        everyone = Target(self.classes, np.arange(len(self.classes), dtype=np.int32))
        self._factors = class_factors(class_weight, self.classes, self.class_totals)
        weights = self.class_totals if self._factors is None else self.class_totals * self._factors
        super().__init__(
            int(stream.n_features),
            everyone.positive,
            float(weights.sum()),
            lams=lams,
            loss=loss,
            bias=bias,
            threads=threads,
        )
        self._one_lam = lams
        self._bounds = np.concatenate([[0], np.cumsum(stream.chunk_rows)])
        self._entered: list[int] = []
        self._part: Problem | None = None

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return len(self._bounds) - 1

    def rows_of(self, chunks: list[int]) -> int:
        """Return how many rows these chunks have."""
        return sum(int(self._bounds[k + 1] - self._bounds[k]) for k in chunks)

    def read(self, chunks: list[int]) -> Problem:
        """Return the problem over the rows of some chunks, with the weight of all rows."""
        X, y = joined([self._checked(chunk) for chunk in chunks])
        target = encode_known(y, self.classes)
        return Problem(
            X,
            target,
            None if self._factors is None else self._factors[target.code],
            lams=self._one_lam,
            loss=self.loss,
            bias=self.bias,
            threads=self.threads,
            total_weight=self.total_weight,
        )

    def _checked(self, chunk: int) -> tuple[Any, Any]:
        X, y, _ = self.stream.chunk(chunk)
        n_rows = self.rows_of([chunk])
        X = checked_chunk(X, y, n_rows, self.n_features, look_at_values=self._looks_at_values)
        return X, y

    def enter(self, chunks: list[int], part: Problem) -> None:
        """Let draws number the rows of these chunks, one chunk after the other."""
        self._entered, self._part = chunks, part

    def leave(self) -> None:
        """Let go of the rows, so that there is room for others."""
        self._part = None

    @property
    def has_entered(self) -> bool:
        """Whether there are rows at hand that draws can number."""
        return self._part is not None

    @property
    def data(self) -> _core.Data:
        """The rows that draws number, as the core sees them: those of a few chunks."""
        assert self._part is not None
        return self._part.data

    def local(self, per_row: Any) -> Any:
        """Return the part of an array over problems and all rows that belongs to ``data``."""
        blocks = [self._block(per_row, chunk) for chunk in self._entered]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def put_back(self, per_row: Any, part: Any) -> None:
        """Take over what has become of the local part of an array."""
        if len(self._entered) > 1:
            rows = np.cumsum([self.rows_of([chunk]) for chunk in self._entered])[:-1]
            for chunk, block in zip(self._entered, np.split(part, rows, axis=1), strict=True):
                self._block(per_row, chunk)[:] = block

    def work_per_draw(self) -> float:
        """Return how many numbers a draw touches, on average over all problems."""
        assert self._part is not None
        return self._part.work_per_draw()

    def loss_sums(self, w: Floats) -> Floats:
        """Return ``sum_i s_i loss(y_i <w, x_i>)`` of each problem."""
        return sum((part.loss_sums(w) for _, part in self._parts()), np.zeros(self.n_problems))

    def gain(self, masses: Floats) -> Floats:
        """Return the dual gain of each problem's masses (a fraction of the weight, per row)."""
        gains = (part.gain(self._block(masses, chunk)) for chunk, part in self._parts())
        return sum(gains, np.zeros(self.n_problems))

    def objective_and_gain(self, w: Floats, masses: Floats) -> tuple[Floats, Floats]:
        """Return the primal objective at ``w`` and the dual gain of the masses, in one pass."""
        losses, gain = np.zeros(self.n_problems), np.zeros(self.n_problems)
        for chunk, part in self._parts():
            losses += part.loss_sums(w)
            gain += part.gain(self._block(masses, chunk))
        return self.objective(w, losses), gain

    def dual_rows(self, masses: Floats) -> Floats:
        """Return the sum of the rows times their masses, labels and weights."""
        sums = self.zeros()
        for chunk, part in self._parts():
            sums += part.dual_rows(self._block(masses, chunk))
        return sums

    def guess_masses(
        self, w: Floats, masses: Floats, width: float = 1 / 8
    ) -> tuple[Floats, Floats]:
        """Write masses that suit the margins at ``w``; return its losses and their dual rows."""
        losses, sums = np.zeros(self.n_problems), self.zeros()
        for chunk, part in self._parts():
            more_losses, more = part.guess_masses(w, self._block(masses, chunk), width)
            losses += more_losses
            sums += more
        return losses, sums

    def newton_terms(
        self, w: Floats, width: float, *, curvature: bool, masses: Floats | None = None
    ) -> Floats:
        """Return the sums of all rows for a step of Newton's method (newton.hpp); write masses."""
        return add_up(
            part.newton_terms(
                w,
                width,
                curvature=curvature,
                masses=None if masses is None else self._block(masses, chunk),
            )
            for chunk, part in self._parts()
        )

    def line_slopes(self, w: Floats, steps: Floats, width: float) -> Floats:
        """Return how steep the losses are at some fractions of the steps."""
        return add_up(part.line_slopes(w, steps, width) for _, part in self._parts())

    def typical_row(self) -> tuple[float, float]:
        """Return the means of ``||x_i||^2`` and of the number of its entries that are not 0.

        Over the same rows as if all were in memory.
        """
        step = sample_step(self.n_rows)
        square = nonzero = 0.0
        for chunk, part in self._parts():
            first = -int(self._bounds[chunk]) % step
            more = part.sums_of_rows(np.arange(first, part.n_rows, step))
            square += more[0]
            nonzero += more[1]
        n_looked_at = -(-self.n_rows // step)
        return square / n_looked_at, nonzero / n_looked_at

    def refuse_overflow(self, what: str) -> None:
        """Say why this is not finite: look for bad values in all chunks, then for the largest."""
        largest: Any = None
        for _, part in self._parts():
            values = part.X.data if is_sparse(part.X) else part.X
            peak = np.abs(values).max(initial=0)
            if not np.isfinite(peak):
                refuse_non_finite(part.X, what)
            if largest is None or peak > largest:
                largest = peak
        refuse_non_finite(np.array([[largest]]), what)

    def _parts(self) -> Generator[tuple[int, Problem]]:
        """Yield all chunks with their numbers, in the order of the file."""
        self.leave()
        chunks = range(self.n_chunks)
        yield from zip(chunks, read_ahead(self.read, ([k] for k in chunks)), strict=True)

    def _block(self, per_row: Any, chunk: int) -> Any:
        first, last = self._bounds[chunk : chunk + 2] * self.n_problems
        return per_row.reshape(-1)[first:last].reshape(self.n_problems, -1)


def add_up(parts: Iterable[Floats]) -> Floats:
    """Return the sum of arrays of the same shape, in their order."""
    return reduce(np.add, parts)


def joined(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return the rows and labels of several chunks as one."""
    if len(parts) == 1:
        return parts[0]
    rows = [X for X, _ in parts]
    stack = partial(sp.vstack, format="csr") if is_sparse(rows[0]) else np.concatenate
    return stack(rows), np.concatenate([y for _, y in parts])
