"""Options of the estimators in memory that have no meaning on a cluster."""

from typing import Any

_REASONS = {
    "batch_size": (1, "every shard takes one row at a time; use batch_size=1"),
    "sampling": (
        "permutation",
        "every row of a shard comes once per epoch; use sampling='permutation'",
    ),
    "project": (False, "the steps of a shard are not projected; use project=False"),
    "warm_start": (
        False,
        "a fit leaves no state on the workers to go on from; use warm_start=False",
    ),
}


def refuse_options(estimator: Any) -> None:
    """Refuse an option that would have to be ignored."""
    for option, (only, reason) in _REASONS.items():
        given = getattr(estimator, option, only)
        if given != only:
            raise ValueError(f"{option}={given!r} has no meaning in pegasos.dask: {reason}")
