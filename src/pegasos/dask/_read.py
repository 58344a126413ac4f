"""The rows of a shard as they are read, on the worker that holds them, and what they are like."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y, column_or_1d

from pegasos import _core
from pegasos._problem import sample_step, work_per_row
from pegasos._validation import (
    Floats,
    Target,
    class_totals,
    encode_labels,
    float_dtypes,
    is_sparse,
    make_rows,
)


class View:
    """Rows as the core sees them: their indices are looked at once, not by every task."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._rows: dict[float, _core.Rows] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return View, (self.X,)  # the core's view is of this process's memory

    def rows(self, bias: float, threads: int) -> _core.Rows:
        """Return the rows with a constant feature of this value."""
        if bias not in self._rows:
            self._rows[bias] = make_rows(self.X, bias, threads)
        return self._rows[bias]


@dataclass(frozen=True)
class Part:
    """Rows as they were read: checked, joined, the labels encoded as if there were no others."""

    view: View
    target: Target
    weight: Floats | None
    blocks: tuple[tuple[int, int], ...]  # number and rows of each partition
    shards: list[Any] = field(default_factory=list)  # what the first task has made of it

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"shards": []}

    def __sizeof__(self) -> int:  # so that Dask knows what it costs to move it
        return n_bytes(self.view.X) + self.target.code.nbytes + n_bytes(self.weight)


@dataclass(frozen=True)
class Survey:
    """What the client learns of a part: a few numbers per class."""

    n_active: int
    labels: npt.NDArray[Any]
    totals: Floats
    largest_weight: float
    typical_row: Floats  # means of ||x||^2, of the entries that are not 0, of the work of a draw


def read_part(
    first: int, n_features: int, look_at_values: bool, blocks: dict[str, list[Any]]
) -> Part:
    """Check the blocks of a shard and join them; ``first`` numbers them in messages.

    Values need not be looked at where an objective that is not finite will tell.
    """
    columns = zip(*blocks.values(), strict=True)
    read = [
        _read_block(first + k, n_features, look_at_values, *column)
        for k, column in enumerate(columns)
    ]
    full = [block for block in read if len(block[1])] or read[:1]
    Xs, ys, weights, targets = zip(*full, strict=True)
    target = targets[0] if len(full) == 1 else encode_labels(np.concatenate(ys))
    numbered = tuple((first + k, len(y)) for k, (_, y, *_) in enumerate(read))
    return Part(View(_stacked(Xs)), target, _joined(weights), numbered)


def _stacked(Xs: tuple[Any, ...]) -> Any:
    if len(Xs) > 1 and any(is_sparse(X) for X in Xs):
        return sp.vstack(Xs, format="csr")
    return _joined(Xs)


def _joined(arrays: tuple[Any, ...]) -> Any:
    return arrays[0] if len(arrays) == 1 or arrays[0] is None else np.concatenate(arrays)


def _read_block(
    number: int, n_features: int, look_at_values: bool, X: Any, y: Any, weight: Any = None
) -> tuple[Any, npt.NDArray[Any], Floats | None, Target]:
    try:
        X, y = check_X_y(
            X,
            y,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=float_dtypes(X),
            order="C",
            ensure_all_finite=look_at_values,
            ensure_min_samples=0,
        )
        if X.shape[1] != n_features:
            raise ValueError(f"X has {X.shape[1]} features, {n_features} were announced")
        target = encode_labels(y)
        weight = None if weight is None else _read_weights(weight, len(y))
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from None
    return X, y, weight, target


def _read_weights(weight: Any, n_rows: int) -> Floats:
    """Check the sample weights of a block: unlike those of all rows they may all be 0."""
    checked: Floats = check_array(
        column_or_1d(weight),
        ensure_2d=False,
        dtype=np.float64,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if len(checked) != n_rows:
        raise ValueError(f"sample_weight has {len(checked)} rows, X has {n_rows}")
    if np.any(checked < 0):
        raise ValueError("Negative values in data passed to `sample_weight`")
    return checked


def threads_of(n_jobs: int | None) -> int:
    """Return the threads of one task; -1 means all cores of the machine that runs it."""
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def survey(part: Part, bias: float) -> Survey:
    """Return the classes of a part with their weights, and what its rows are like."""
    totals = class_totals(part.target, part.weight)
    some, weight = totals > 0, part.weight
    active = range(len(part.target.code)) if weight is None else np.flatnonzero(weight)
    return Survey(
        n_active=len(active),
        labels=part.target.classes[some],
        totals=totals[some],
        largest_weight=1.0 if weight is None else float(weight.max(initial=0.0)),
        typical_row=_typical_row(part.view.X, active, bias) if len(active) else np.zeros(3),
    )


def _typical_row(X: Any, active: Any, bias: float) -> Floats:
    """Estimate the means of ``||x||^2`` and of the entries that are not 0; with the work of a draw.

    The indices of a CSR matrix may not have been looked at yet: nothing here trusts them.
    """
    rows = np.asarray(active[:: sample_step(len(active))])
    if is_sparse(X):
        spans = zip(X.indptr[rows].tolist(), X.indptr[rows + 1].tolist(), strict=True)
        data = X.data
        entries = np.concatenate([data[first:last] for first, last in spans]).astype(np.float64)
    else:
        entries = X[rows].astype(np.float64).ravel()
    with np.errstate(over="ignore", invalid="ignore"):  # the objective will tell
        square, nonzero = float(entries @ entries), np.count_nonzero(entries)
    return np.array([square / len(rows) + bias**2, nonzero / len(rows), work_per_row(X)])


def look_at_indices(part: Part, bias: float, n_jobs: int | None) -> None:
    """Make the view that the tasks will use, while the client learns what the parts are like."""
    part.view.rows(bias, threads_of(n_jobs))


def n_bytes(data: Any) -> int:
    """Return the size of an array or a CSR matrix."""
    if data is None:
        return 0
    if is_sparse(data):
        return int(data.data.nbytes + data.indices.nbytes + data.indptr.nbytes)
    return int(data.nbytes)
