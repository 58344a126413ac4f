"""From Dask collections to shards on the workers; the client learns a few numbers per class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos._validation import (
    Floats,
    Target,
    class_weights,
    refuse_one_class,
    refuse_zero_weights,
    weight_unit,
)
from pegasos.dask._cluster import Cluster
from pegasos.dask._collections import partitions
from pegasos.dask._shard import Survey, Turn, encode_part, read_part, survey


@dataclass(frozen=True)
class Loaded:
    """The shards that have rows of positive weight, and what is known of all of them."""

    cluster: Cluster
    shards: list[Any]  # futures
    homes: list[str | None]  # the workers they are to stay on
    n_active: list[int]  # rows with weight, per shard
    n_features: int
    classes: npt.NDArray[Any]
    class_totals: Floats
    weight_unit: float
    total_weight: float

    @property
    def n_problems(self) -> int:
        """Binary problems: one for two classes, else one per class."""
        return len(Target(self.classes, np.empty(0, dtype=np.int32)).positive)

    def each(
        self, function: Callable[..., Any], *args: Any, own: Sequence[Any] = (), **kwargs: Any
    ) -> list[Any]:
        """Submit ``function(shard, own, *args)`` for every shard, at its home.

        Each shard gets its entry of every list in ``own``.
        """
        return [
            self.cluster.submit(
                function, shard, *(entries[k] for entries in own), *args, home=home, **kwargs
            )
            for k, (shard, home) in enumerate(zip(self.shards, self.homes, strict=True))
        ]

    def turns(self, tick: int, n_draws: int) -> list[Turn]:
        """Share out the draws of a round over the shards by their rows."""
        ends = np.cumsum([0, *self.n_active], dtype=object) * n_draws // sum(self.n_active)
        return [Turn(k, tick, int(quota)) for k, quota in enumerate(np.diff(ends))]


def load(
    cluster: Cluster, estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any
) -> Loaded:
    """Read the data on the workers, and encode it there."""
    from dask.delayed import delayed

    parts = partitions(X, y=y, sample_weight=sample_weight)
    groups = _consecutive(len(parts["X"]), estimator.shards)
    n_features = estimator.n_features_in_
    read = delayed(read_part, pure=False)
    rows = cluster.compute(
        [
            read(
                group[0],
                n_features,
                {name: part[group[0] : group[-1] + 1] for name, part in parts.items()},
            )
            for group in groups
        ]
    )
    surveys: list[Survey] = cluster.results([cluster.submit(survey, part) for part in rows])
    classes = _all_classes(surveys)
    if sample_weight is not None and not any(s.n_active for s in surveys):
        refuse_zero_weights()
    refuse_one_class(classes, type(estimator).__name__, weighted=sample_weight is not None)
    unit = weight_unit(np.array([max(s.largest_weight for s in surveys)]))
    totals: Floats = np.sum([_spread(s, classes) for s in surveys], axis=0) / unit
    everyone = Target(classes, np.arange(len(classes), dtype=np.int32))
    factors = class_weights(class_weight, everyone, totals)
    rows = [part for part, s in zip(rows, surveys, strict=True) if s.n_active]
    homes = cluster.homes(rows)
    return Loaded(
        cluster=cluster,
        shards=[
            cluster.submit(encode_part, part, classes, totals, unit, class_weight, home=home)
            for part, home in zip(rows, homes, strict=True)
        ],
        homes=homes,
        n_active=[s.n_active for s in surveys if s.n_active],
        n_features=n_features,
        classes=classes,
        class_totals=totals,
        weight_unit=unit,
        total_weight=float(totals.sum() if factors is None else totals @ factors),
    )


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
