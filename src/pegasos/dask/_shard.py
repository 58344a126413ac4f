"""The rows of a shard as the core takes them, and what all shards must know."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos._draws import DrawStream, Rows, as_generator
from pegasos._problem import Problem
from pegasos._training import draws_per_call
from pegasos._validation import Floats, Target, class_weights, encode_known, largest_value
from pegasos.dask._read import Part, threads_of


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
        """Threads of one task."""
        return threads_of(self.n_jobs)


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
class Everyone:
    """What the labels and weights of all shards together are."""

    classes: npt.NDArray[Any]
    totals: Floats
    unit: float
    class_weight: Any


class Shard:
    """Rows with their codes and weights: what the core works on, task after task."""

    def __init__(self, part: Part, everyone: Everyone) -> None:
        self.view = part.view
        self.blocks = part.blocks
        self.X = part.view.X
        self.target = _as_everyone(part.target, everyone.classes)
        self.weight = part.weight
        if everyone.unit != 1 and self.weight is not None:
            self.weight = self.weight / everyone.unit
        factors = class_weights(everyone.class_weight, self.target, everyone.totals)
        if factors is not None:
            self.weight = factors if self.weight is None else self.weight * factors
        self.active = None if self.weight is None else np.flatnonzero(self.weight > 0)
        self._problems: dict[Any, Problem] = {}
        self._kept: tuple[Any, Any] | None = None
        self._lock = Lock()

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
                rows=self.view.rows(setting.bias, setting.threads),
            )
        return self._problems[key]

    def once(self, name: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(self, *args)`` to both of two tasks, and compute it but once.

        One task cannot give one result to its own worker and another to the rest, so two share the
        work. If they meet on different workers, or one comes again, it is computed again.
        """
        with self._lock:
            if self._kept is not None and self._kept[0] == name:
                result, self._kept = self._kept[1], None
            else:
                result = function(self, *args)
                self._kept = name, result
        return result

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


def at_shard(function: Callable[..., Any], everyone: Everyone, part: Part, *args: Any) -> Any:
    """Call ``function(shard, *args)``; the first task at a part makes the shard of it."""
    if not part.shards:
        part.shards.append(Shard(part, everyone))
    return function(part.shards[0], *args)


def _as_everyone(own: Target, classes: npt.NDArray[Any]) -> Target:
    """Return the codes that labels have among those of all shards."""
    if np.array_equal(own.classes, classes):
        return Target(classes, own.code)
    among = encode_known(own.classes, classes, strict=False)
    return Target(classes, among.code[own.code])


def largest_of(shard: Shard) -> float:
    """Return the largest value in these rows; say which partition has one that is not finite."""
    first, largest = 0, 0.0
    for number, n_rows in shard.blocks:
        try:
            largest = max(largest, largest_value(shard.X[first : first + n_rows]))
        except ValueError as error:
            raise ValueError(f"partition {number}: {error}") from None
        first += n_rows
    return largest
