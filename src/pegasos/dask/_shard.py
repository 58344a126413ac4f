"""The rows of a shard, on the worker that holds them: read, surveyed, encoded."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from pegasos._draws import DrawStream, Rows, as_generator
from pegasos._problem import Problem
from pegasos._training import draws_per_call
from pegasos._validation import (
    Floats,
    Target,
    class_weights,
    encode_known,
    float_dtypes,
    is_sparse,
    refuse_non_finite,
)


@dataclass(frozen=True)
class Setting:
    """What all shards must know: the problem, and where draws and means come from."""

    lam: float
    loss: str
    bias: float
    average: str | None
    n_jobs: int | None
    entropy: int
    n_shards: int
    total_weight: float

    @property
    def threads(self) -> int:
        """Threads of one task; -1 means all cores of the machine that runs it."""
        if self.n_jobs is None or self.n_jobs > 0:
            return self.n_jobs or 1
        return max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)


@dataclass(frozen=True)
class Turn:
    """The part that a shard has in a round."""

    shard: int
    tick: int
    n_draws: int


def entropy_of(random_state: Any) -> int:
    """Return the number that all draws of a fit come from; an integer is that number itself."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(as_generator(random_state).integers(2**63))


@dataclass(frozen=True)
class Part:
    """Rows as they were read: checked, joined, the labels not yet encoded."""

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None

    def __sizeof__(self) -> int:  # so that Dask knows what it costs to move it
        return n_bytes(self.X) + self.y.nbytes + n_bytes(self.weight)


@dataclass(frozen=True)
class Survey:
    """What the client learns of a part: a few numbers per class."""

    n_active: int
    labels: npt.NDArray[Any]
    totals: Floats
    largest_weight: float


def read_part(first: int, n_features: int, blocks: dict[str, list[Any]]) -> Part:
    """Check the blocks of a shard and join them; ``first`` numbers them in messages."""
    columns = zip(*blocks.values(), strict=True)
    parts = [_read_block(first + k, n_features, *column) for k, column in enumerate(columns)]
    full = [part for part in parts if len(part.y)] or parts[:1]
    if len(full) == 1:
        return full[0]
    Xs = [part.X for part in full]
    if any(is_sparse(X) for X in Xs):
        X = sp.vstack(Xs, format="csr")
    else:
        X = np.concatenate(Xs)
    weights = [part.weight for part in full if part.weight is not None]
    return Part(
        X, np.concatenate([part.y for part in full]), np.concatenate(weights) if weights else None
    )


def _read_block(number: int, n_features: int, X: Any, y: Any, weight: Any = None) -> Part:
    try:
        X, y = check_X_y(
            X,
            y,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=float_dtypes(X),
            order="C",
            ensure_all_finite=True,
            ensure_min_samples=0,
        )
        if X.shape[1] != n_features:
            raise ValueError(f"X has {X.shape[1]} features, {n_features} were announced")
        if len(y):
            check_classification_targets(y)
        weight = None if weight is None else _read_weights(weight, len(y))
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from None
    return Part(X, y, weight)


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


def survey(part: Part) -> Survey:
    """Return the classes of a part with their weights."""
    y, weight = part.y, part.weight
    active = None if weight is None else weight > 0
    if active is not None:
        y, weight = y[active], part.weight[active] if part.weight is not None else None
    labels, codes = np.unique(y, return_inverse=True)
    totals = np.bincount(codes.ravel(), weights=weight, minlength=len(labels)).astype(float)
    largest = 1.0 if weight is None else float(weight.max(initial=0.0))
    return Survey(len(y), labels, totals, largest)


class Shard:
    """Rows with their codes and weights: what the core works on, task after task."""

    def __init__(self, X: Any, target: Target, weight: Floats | None) -> None:
        self.X = X
        self.target = target
        self.weight = weight
        self.active = None if weight is None else np.flatnonzero(weight > 0)
        self._problems: dict[Any, Problem] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_problems": {}}  # views of this process's memory

    def __sizeof__(self) -> int:
        return n_bytes(self.X) + self.target.code.nbytes + n_bytes(self.weight)

    @property
    def n_active(self) -> int:
        """Rows that have weight."""
        return int(self.X.shape[0]) if self.active is None else len(self.active)

    @property
    def own_weight(self) -> float:
        """The sum of the weights of these rows."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum())

    def problem(self, setting: Setting, total_weight: float) -> Problem:
        """Return the problem of these rows, with this for S; the same one to every task."""
        key = (setting, total_weight)
        if key not in self._problems:
            self._problems[key] = Problem(
                self.X,
                self.target,
                self.weight,
                lams=np.array([setting.lam]),
                loss=setting.loss,
                bias=setting.bias,
                threads=setting.threads,
                total_weight=total_weight,
            )
        return self._problems[key]

    def stream(self, setting: Setting, turn: Turn) -> DrawStream:
        """Return the draws of a turn: they depend on seed, shard and round alone."""
        seed = np.random.SeedSequence(setting.entropy, spawn_key=(turn.shard, turn.tick))
        rng = np.random.default_rng(seed)
        return DrawStream(rng, self.X.shape[0], "permutation", self.active)


def in_parts(stream: DrawStream, problem: Problem, n_draws: int) -> Iterator[Rows]:
    """Yield so many draws, as many at a time as the core is to get at once."""
    part = draws_per_call(problem.work_per_draw())
    for first in range(0, n_draws, part):
        yield stream.take(min(part, n_draws - first))


def encode_part(
    part: Part, classes: npt.NDArray[Any], totals: Floats, unit: float, class_weight: Any
) -> Shard:
    """Turn labels into codes, and weights into what the core takes."""
    target = encode_known(part.y, classes, strict=False)
    weight = part.weight
    if unit != 1 and weight is not None:
        weight = weight / unit
    factors = class_weights(class_weight, target, totals)
    if factors is not None:
        weight = factors if weight is None else weight * factors
    return Shard(part.X, target, weight)


def typical_row(shard: Shard, setting: Setting) -> tuple[float, float, float]:
    """Return the means of ``||x||^2`` and of the entries that are not 0, and the work of a draw."""
    problem = shard.problem(setting, setting.total_weight)
    return *problem.typical_row(), problem.work_per_draw()


def explain_overflow(shard: Shard, what: str) -> None:
    """Say why a sum over these rows is not finite."""
    refuse_non_finite(shard.X, what)


def n_bytes(data: Any) -> int:
    """Return the size of an array or a CSR matrix."""
    if data is None:
        return 0
    if is_sparse(data):
        return int(data.data.nbytes + data.indices.nbytes + data.indptr.nbytes)
    return int(data.nbytes)
