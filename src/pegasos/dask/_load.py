"""From Dask collections to shards on the workers; the client learns a few numbers per class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from pegasos._validation import (
    Floats,
    Target,
    class_factors,
    refuse_one_class,
    refuse_overflow,
    refuse_zero_weights,
    weight_unit,
)
from pegasos.dask._cluster import Cluster
from pegasos.dask._collections import partitions
from pegasos.dask._read import Survey, look_at_indices, read_part, survey
from pegasos.dask._shard import Everyone, Turn, at_shard, largest_of


@dataclass(frozen=True)
class Loaded:
    """The shards that have rows of positive weight, and what is known of all of them."""

    cluster: Cluster
    parts: list[Any]  # futures
    ready: list[Any]  # futures of the views of them: wanted as long as they are
    homes: list[str | None]  # the workers they are to stay on
    n_active: list[int]  # rows with weight, per shard
    n_features: int
    everyone: Everyone
    total_weight: float
    typical_row: Floats  # means of ||x||^2, of the entries that are not 0, of the work of a draw

    @property
    def n_problems(self) -> int:
        """Binary problems: one for two classes, else one per class."""
        return _n_problems(self.everyone.classes)

    def each(
        self,
        function: Callable[..., Any],
        *args: Any,
        own: Sequence[Any] = (),
        name: str | None = None,
    ) -> list[Any]:
        """Submit ``function(shard, own, *args)`` for every shard, at its home.

        Each shard gets its entry of every list in ``own``. ``name`` is for Dask's dashboard.
        """
        return [
            self.cluster.submit(
                at_shard,
                function,
                self.everyone,
                part,
                *(entries[k] for entries in own),
                *args,
                home=home,
                name=name or function.__name__,
            )
            for k, (part, home) in enumerate(zip(self.parts, self.homes, strict=True))
        ]

    def explain_overflow(self, what: str) -> None:
        """Say why a sum over all rows is not finite."""
        refuse_overflow(max(self.cluster.results(self.each(largest_of))), what)

    def turns(self, tick: int, n_draws: int) -> list[Turn]:
        """Share out the draws of a round over the shards by their rows."""
        ends = np.cumsum([0, *self.n_active], dtype=object) * n_draws // sum(self.n_active)
        return [Turn(k, tick, int(quota)) for k, quota in enumerate(np.diff(ends))]


def load(
    cluster: Cluster,
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Any = None,
    *,
    look_at_values: bool,
) -> Loaded:
    """Read the data on the workers, where it stays; learn which classes there are."""
    from dask.delayed import delayed

    parts = partitions(X, y=y, sample_weight=sample_weight)
    groups = _consecutive(len(parts["X"]), estimator.shards)
    n_features = estimator.n_features_in_
    read = delayed(read_part, pure=False)
    # Tasks of one name before a number are a group, here of this fit alone: Dask takes a large one
    # for tasks that produce data, and deals them out without regard to where the partitions are.
    name = f"read_part-{uuid4().hex}"
    rows = cluster.compute(
        [
            read(
                group[0],
                n_features,
                look_at_values,
                {name: part[group[0] : group[-1] + 1] for name, part in parts.items()},
                dask_key_name=(name, k),
            )
            for k, group in enumerate(groups)
        ]
    )
    surveyed = [cluster.submit(survey, part, estimator._bias, priority=1) for part in rows]
    # Until the client has answered, the workers do what it need not know of.
    ready = [
        cluster.submit(look_at_indices, part, estimator._bias, estimator.n_jobs) for part in rows
    ]
    surveys: list[Survey] = cluster.results(surveyed)
    classes = _all_classes(surveys)
    if sample_weight is not None and not any(s.n_active for s in surveys):
        refuse_zero_weights()
    refuse_one_class(classes, type(estimator).__name__, weighted=sample_weight is not None)
    unit = weight_unit(np.array([max(s.largest_weight for s in surveys)]))
    totals: Floats = np.sum([_spread(s, classes) for s in surveys], axis=0) / unit
    n_active = [s.n_active for s in surveys]
    typical = np.average([s.typical_row for s in surveys], axis=0, weights=n_active)
    factors = class_factors(class_weight, classes, totals)
    rows = [part for part, s in zip(rows, surveys, strict=True) if s.n_active]
    return Loaded(
        cluster=cluster,
        parts=rows,
        ready=ready,
        homes=cluster.homes(rows),
        n_active=[n for n in n_active if n],
        n_features=n_features,
        everyone=Everyone(classes, totals, unit, class_weight),
        total_weight=float(totals.sum() if factors is None else totals @ factors),
        typical_row=typical * [1, 1, _n_problems(classes)],
    )


def _n_problems(classes: npt.NDArray[Any]) -> int:
    return len(Target(classes, np.empty(0, dtype=np.int32)).positive)


def _consecutive(n_parts: int, n_shards: int | None) -> list[list[int]]:
    if n_shards is None:
        n_shards = n_parts
    if n_shards > n_parts:
        raise ValueError(
            f"shards={n_shards} is more than the {n_parts} partitions of X; a shard is one or more "
            "partitions. Use fewer shards, or cut X into more partitions"
        )
    return [part.tolist() for part in np.array_split(np.arange(n_parts), n_shards)]


def _all_classes(surveys: list[Survey]) -> npt.NDArray[Any]:
    labels = [s.labels for s in surveys if len(s.labels)]
    if not labels:
        return np.empty(0)
    kinds = {_kind(label) for part in labels for label in part.tolist()}
    if len(kinds) > 1:
        raise TypeError(
            f"y holds labels of kinds {sorted(kinds)}, which cannot be sorted together; bring all "
            "partitions of y to one kind"
        )
    return np.unique(np.concatenate(labels))


def _kind(label: Any) -> str:
    return "number" if isinstance(label, Number) else type(label).__name__


def _spread(survey: Survey, classes: npt.NDArray[Any]) -> Floats:
    totals = np.zeros(len(classes))
    totals[np.searchsorted(classes, survey.labels)] = survey.totals
    return totals
