"""Rows of the kernel matrix: already there, or made on demand and kept below a limit of bytes."""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._memory import size_text
from pegasos._validation import Floats, is_sparse
from pegasos.kernels._blas import blas_on_one_thread
from pegasos.kernels._functions import (
    VectorKernel,
    Vectors,
    needs_float64,
    refuse_far_away,
    refuse_overflow,
    refuse_swamped,
    without_zeros,
)

Matrix = npt.NDArray[Any]
RowNumbers = npt.NDArray[np.int64]

# Rows made per call: enough for matrix products at full speed, few enough for Ctrl-C. For a matrix
# unit all rows are packed anew in every call, which takes as long as making a hundred of them.
_MADE_AT_ONCE = 512
_MADE_AT_ONCE_BY_UNIT = 4096
# So few rows are brought before it is known that they are needed.
_LITTLE = 0.1
# Rows begin where cache lines do, for a load that spans two lines takes as long as two. Not where
# they are shorter than so many lines: the space between them would take room for more rows.
_LINE_BYTES = 64
_WORTH_ALIGNING = 64
# New memory is dear, and a matrix unit quick: rows of so few products for each value are not worth
# keeping. To write a row of MNIST (800 products) took as long as to make it six times, to read it
# from memory a quarter of that.
_NOT_WORTH_KEEPING = 1024
# A row is forgotten when so many times the room has been asked for without it.
_FORGOTTEN = 4


class KernelRows(Protocol):
    """Where the kernel machines get their rows.

    Row i of the kernel matrix is ``values[slots[i]]`` (``values[i]`` where slots is None); a
    negative slot means that the row is not there, until :meth:`fetch` has brought it.
    """

    n_rows: int
    diagonal: Floats
    values: Matrix
    slots: RowNumbers | None

    @property
    def by_unit(self) -> bool:
        """Whether a matrix unit makes the rows: several times as fast as otherwise."""

    def add_unkept(self, which: RowNumbers, coef: Floats, scores: Floats) -> bool:
        """Add ``sum_k coef[p, k] K(x_which[k], .)`` to the scores without keeping any row.

        Do nothing, and say so, where rows are worth keeping.
        """

    def bring_the_rest(self, which: RowNumbers) -> bool:
        """Bring what is missing of these rows, if that is little; tell whether all are there."""

    def has(self, which: RowNumbers) -> bool:
        """Tell whether all of these rows are there."""

    def parts(self, which: RowNumbers) -> Iterator[RowNumbers]:
        """Bring rows, as many at a time as there is room for; each part is there when it comes."""

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone.

        ``out`` may be taken for it: the system clears new memory page by page, which takes long.
        """


class StoredMatrix:
    """A kernel matrix that somebody else has computed: dense, perhaps memory-mapped."""

    by_unit = False
    slots: RowNumbers | None = None

    def __init__(self, K: Matrix) -> None:
        self.values = K
        self.n_rows = K.shape[0]
        self.diagonal: Floats = np.array(K.diagonal(), dtype=np.float64)

    def add_unkept(self, which: RowNumbers, coef: Floats, scores: Floats) -> bool:
        """All rows are always there."""
        return False

    def bring_the_rest(self, which: RowNumbers) -> bool:
        """All rows are always there."""
        return True

    def has(self, which: RowNumbers) -> bool:
        """All rows are always there."""
        return True

    def parts(self, which: RowNumbers) -> Iterator[RowNumbers]:
        """Return the rows as one part."""
        yield which

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone."""
        return np.ascontiguousarray(self.values[np.ix_(which, which)])


class RowMaker(Protocol):
    """Computes kernel rows."""

    n_rows: int
    n_bytes: int  # that it keeps for itself
    dtype: Any
    diagonal: Floats

    def make(self, which: RowNumbers, out: Matrix, slots: RowNumbers) -> None:
        """Write row ``which[k]`` to ``out[slots[k]]``."""

    def make_symmetric(self, first: int, last: int, out: Matrix) -> None:
        """Write rows ``first`` to ``last - 1`` of the whole matrix to their places in ``out``.

        Called for all rows in order. Columns before ``first`` may be left to earlier calls.
        """

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone, perhaps in ``out``."""


class CachedRows:
    """Rows made on demand, in a limited number of slots.

    The solvers come back to a row about once an epoch. So when room is needed, rows that nobody has
    asked for in a long time go first, and then those asked for last: their next turn is furthest
    away. (Evicting the least recently used would throw out each row just before its turn.)
    The space is asked for once, but the system gives it row by row, as rows are written.
    """

    def __init__(self, maker: RowMaker, room: int, needed: int) -> None:
        """Keep rows in ``room`` bytes of memory; ``needed`` more go into other things."""
        self.maker = maker
        self.n_rows = maker.n_rows
        self.diagonal = maker.diagonal
        row_bytes = _with_space_between(maker.n_rows * np.dtype(maker.dtype).itemsize)
        needed += maker.n_bytes
        n_slots = min(maker.n_rows, max(0, room - needed) // row_bytes)
        if n_slots < 1:
            raise ValueError(
                f"memory={size_text(room)} is too small: scores take {size_text(needed)} and one "
                f"row of the kernel matrix {size_text(row_bytes)}; give at least "
                f"{size_text(1.01 * (needed + row_bytes))}, better room for as many rows as there "
                "will be support vectors"
            )
        self.values = _space_for_rows(n_slots, maker.n_rows, row_bytes, maker.dtype)
        self.slots: RowNumbers | None = np.empty(maker.n_rows, dtype=np.int64)
        self._slot_of = self.slots
        self._row_in = np.empty(n_slots, dtype=np.int64)
        self._used = np.empty(n_slots, dtype=np.int64)  # when each slot was last asked for
        self._forget()

    def change_maker(self, maker: RowMaker) -> None:
        """Go on with another kernel of the same objects, in the same space.

        New memory is dear: the system clears it page by page, which takes as long as making rows.
        """
        assert (maker.n_rows, maker.dtype) == (self.n_rows, self.maker.dtype)
        self.maker = maker
        self.diagonal = maker.diagonal
        self._forget()

    @property
    def by_unit(self) -> bool:
        """Whether a matrix unit makes the rows."""
        return isinstance(self.maker, VectorRows) and self.maker.depth > 0

    @property
    def holds_all(self) -> bool:
        """Whether there is room for the whole matrix."""
        return len(self.values) == self.n_rows

    @property
    def is_full(self) -> bool:
        """Whether all rows are there: then nothing changes any more."""
        return bool(np.all(self._slot_of >= 0))

    @property
    def _made_at_once(self) -> int:
        return _MADE_AT_ONCE_BY_UNIT if self.by_unit else _MADE_AT_ONCE

    def fill(self) -> None:
        """Make the whole matrix."""
        self._forget()  # should making fail, no row is there
        for first in range(0, self.n_rows, self._made_at_once):
            last = min(self.n_rows, first + self._made_at_once)
            self.maker.make_symmetric(first, last, self.values)
        self._slot_of[:] = self._row_in[:] = np.arange(self.n_rows)

    def add_unkept(self, which: RowNumbers, coef: Floats, scores: Floats) -> bool:
        """Add rows to scores without keeping them, if they are not worth it; tell whether."""
        maker = self.maker
        if not isinstance(maker, VectorRows) or not 0 < maker.depth <= _NOT_WORTH_KEEPING:
            return False
        if self.has(which):
            return False
        maker.add(which, coef, scores)
        return True

    def bring_the_rest(self, which: RowNumbers) -> bool:
        """Bring what is missing of these rows, if that is little; tell whether all are there."""
        missing = np.count_nonzero(self._slot_of[which] < 0)
        if len(which) > len(self.values) or missing > _LITTLE * len(which):
            return False
        self._fetch(which)
        return True

    def has(self, which: RowNumbers) -> bool:
        """Tell whether all of these rows are there."""
        return bool(np.all(self._slot_of[which] >= 0))

    def parts(self, which: RowNumbers) -> Iterator[RowNumbers]:
        """Bring rows, as many at a time as there is room for; each part is there when it comes."""
        size = min(len(self.values), self._made_at_once)
        for first in range(0, len(which), size):
            part = which[first : first + size]
            self._fetch(part)
            yield part

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone, perhaps in ``out``."""
        return self.maker.local(which, out)

    def _forget(self) -> None:
        self._slot_of[:] = self._row_in[:] = -1
        self._used[:] = self._now = 0  # rows asked for so far

    def _fetch(self, which: RowNumbers) -> None:
        there = self._slot_of[which] >= 0
        missing = np.unique(which[~there])
        if len(missing):
            slots = self._slots_to_spare(len(missing), self._slot_of[which[there]])
            evicted = self._row_in[slots]
            self._slot_of[evicted[evicted >= 0]] = -1
            self._row_in[slots] = -1  # should making fail, the slots are empty
            self.maker.make(missing, self.values, slots)
            self._slot_of[missing] = slots
            self._row_in[slots] = missing
        self._now += len(which)
        self._used[self._slot_of[which]] = self._now

    def _slots_to_spare(self, n: int, needed: RowNumbers) -> RowNumbers:
        age = self._now - self._used
        forgotten = age > _FORGOTTEN * len(self.values)
        order = np.where(forgotten, self._now + age, -age)
        order[self._row_in < 0] = np.iinfo(np.int64).max
        order[needed] = np.iinfo(np.int64).min
        return np.argpartition(order, len(order) - n)[len(order) - n :]


def _with_space_between(row_bytes: int) -> int:
    n_lines = ceil(row_bytes / _LINE_BYTES)
    return row_bytes if n_lines < _WORTH_ALIGNING else n_lines * _LINE_BYTES


def _space_for_rows(n_slots: int, n_rows: int, row_bytes: int, dtype: Any) -> Matrix:
    space = np.empty(n_slots * row_bytes + _LINE_BYTES, dtype=np.uint8)
    first = -space.ctypes.data % _LINE_BYTES
    rows: Matrix = space[first : first + n_slots * row_bytes].view(dtype)
    return rows.reshape(n_slots, -1)[:, :n_rows]


class VectorRows:
    """Makes rows of a kernel of vectors, dense or sparse."""

    def __init__(self, X: Any, kernel: VectorKernel, threads: int) -> None:
        self.kernel = kernel
        self.threads = threads
        self.n_rows = X.shape[0]
        self.dtype = X.dtype
        rows = without_zeros(X, threads)
        self.n_bytes = 0 if rows is X else rows.data.nbytes + rows.indices.nbytes
        self._vectors = Vectors(rows, threads)
        refuse_overflow(kernel, X.dtype, self._vectors)
        refuse_far_away(kernel, self._vectors)
        refuse_swamped(kernel, X.dtype, self._vectors)
        self._in_double = needs_float64(kernel, self._vectors)
        self.diagonal = kernel.diagonal(self._vectors.squares)
        # Products of the matrix unit for one value; 0: it is not used.
        self.depth = _core.unit_depth(
            self._vectors.rows,
            self._vectors.squares,
            **kernel.options(),
            in_double=self._in_double,
        )

    def add(self, which: RowNumbers, coef: Floats, scores: Floats) -> None:
        """Add ``sum_k coef[p, k] K(x_which[k], .)`` to the scores, tile by tile in cache."""
        vectors = self._vectors
        for first in range(0, len(which), _MADE_AT_ONCE_BY_UNIT):
            part = slice(first, first + _MADE_AT_ONCE_BY_UNIT)
            _core.kernel_scores(
                vectors.rows,
                vectors.squares,
                which[part],
                np.ascontiguousarray(coef[:, part]),
                vectors.rows,
                vectors.squares,
                scores,
                **self.kernel.options(),
                same_matrix=True,
                in_double=self._in_double,
                n_threads=self.threads,
            )

    def make_symmetric(self, first: int, last: int, out: Matrix) -> None:
        """Write rows from the diagonal on, and the same as columns: half the work."""
        self._symmetric(None, first, last, out)

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone, in ``out`` if that is given."""
        K: Matrix = np.empty((len(which), len(which)), self.dtype) if out is None else out
        self._symmetric(which, 0, len(which), K)
        return K

    def _symmetric(self, which: RowNumbers | None, first: int, last: int, out: Matrix) -> None:
        vectors = self._vectors
        with blas_on_one_thread():
            _core.kernel_matrix(
                vectors.rows,
                vectors.squares,
                which,
                first,
                last,
                out,
                **self.kernel.options(),
                in_double=self._in_double,
                n_threads=self.threads,
            )

    def make(self, which: RowNumbers, out: Matrix, slots: RowNumbers) -> None:
        """Write row ``which[k]`` to ``out[slots[k]]``."""
        vectors = self._vectors
        with blas_on_one_thread():
            _core.kernel_rows(
                vectors.rows,
                vectors.squares,
                which,
                vectors.rows,
                vectors.squares,
                None,
                out,
                slots,
                **self.kernel.options(),
                same_matrix=True,
                in_double=self._in_double,
                n_threads=self.threads,
            )


class SparseMatrixRows:
    """Rows of a precomputed sparse kernel matrix, written out in full."""

    n_bytes = 0

    def __init__(self, K: Any) -> None:
        self.n_rows = K.shape[0]
        self.dtype = K.dtype
        self.diagonal: Floats = np.array(K.diagonal(), dtype=np.float64)
        self._matrix = K

    def make(self, which: RowNumbers, out: Matrix, slots: RowNumbers) -> None:
        """Write row ``which[k]`` to ``out[slots[k]]``."""
        out[slots] = self._matrix[which].toarray()

    def make_symmetric(self, first: int, last: int, out: Matrix) -> None:
        """Write whole rows."""
        out[first:last] = self._matrix[first:last].toarray()

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone."""
        K: Matrix = np.ascontiguousarray(self._matrix[which][:, which].toarray())
        return K


class CallableRows:
    """Rows of a kernel that the user has written: ``function(A, B)`` returns a matrix."""

    n_bytes = 0

    def __init__(self, X: Any, function: Callable[[Any, Any], Any]) -> None:
        self.n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        self._X = X
        self._function = function
        self.dtype = np.float64
        self.diagonal: Floats = np.array(
            [self._values(pick(X, [i]), pick(X, [i]))[0, 0] for i in range(self.n_rows)]
        )

    def make(self, which: RowNumbers, out: Matrix, slots: RowNumbers) -> None:
        """Write row ``which[k]`` to ``out[slots[k]]``."""
        out[slots] = self._values(pick(self._X, which), self._X)

    def make_symmetric(self, first: int, last: int, out: Matrix) -> None:
        """Write whole rows: the user's function may see to symmetry, or not."""
        out[first:last] = self._values(pick(self._X, range(first, last)), self._X)

    def local(self, which: RowNumbers, out: Matrix | None = None) -> Matrix:
        """Return the kernel among these rows alone."""
        some = pick(self._X, which)
        return np.ascontiguousarray(self._values(some, some))

    def _values(self, A: Any, B: Any) -> Floats:
        return call_kernel(self._function, A, B)


def call_kernel(function: Callable[[Any, Any], Any], A: Any, B: Any) -> Floats:
    """Return the user's kernel of A and B, checked."""
    K = function(A, B)
    K = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
    shape = (count(A), count(B))
    if K.shape != shape:
        raise ValueError(
            f"the kernel function must return a matrix of shape {shape} for {shape[0]} and "
            f"{shape[1]} objects; it returned shape {K.shape}"
        )
    if not np.all(np.isfinite(K)):
        raise ValueError(
            "the kernel function returned NaN or infinity; scale the features, or see that it is "
            "defined for all pairs of rows"
        )
    return K


def count(objects: Any) -> int:
    """Return how many rows or objects there are."""
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def pick(objects: Any, which: Any) -> Any:
    """Return some rows of a matrix, or some objects of a list."""
    if hasattr(objects, "shape"):
        return objects[which]
    return [objects[int(i)] for i in which]
