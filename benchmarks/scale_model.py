"""On paper: how long a fit takes on more workers than there are here, from measured constants.

    seconds = rows a worker * prepare
            + rounds(K) * (rows a worker * round + base + K * shard + (K - 1) * moved / bandwidth)

K is the number of workers, each with one shard. ``rounds(K)`` is c K^p, a line through the logs of
what was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Constants:
    """Seconds and bytes, as measured on this machine."""

    prepare: float  # of a fit before its first round, per row of a worker
    round: float  # of a round, per row of a worker
    base: float  # of a round, beside the steps
    shard: float  # the same, for each shard
    moved: float  # bytes of a round, for each shard but one
    rounds: tuple[float, float]  # c and p


@dataclass(frozen=True)
class Forecast:
    """A fit, and what a round of it is made of."""

    rounds: float
    computing: float
    dask: float
    moving: float
    seconds: float


def power_law(measured: Mapping[float, float]) -> tuple[float, float]:
    """Return c and p of ``c K^p``, by least squares on the logs."""
    x, y = np.log(list(measured)), np.log(list(measured.values()))
    p, log_c = np.polyfit(x, y, 1)
    return float(np.exp(log_c)), float(p)


def line(measured: Mapping[float, float]) -> tuple[float, float]:
    """Return a and b of ``a + b K``, by least squares; neither below 0."""
    b, a = np.polyfit(list(measured), list(measured.values()), 1)
    return max(0.0, float(a)), max(0.0, float(b))


def forecast(constants: Constants, n_workers: int, n_rows: int, bandwidth: float) -> Forecast:
    """Return how long a fit takes on so many workers, which send so many bytes a second."""
    rows = n_rows / n_workers
    c, p = constants.rounds
    rounds = max(1.0, c * n_workers**p)
    computing = rows * constants.round
    dask = constants.base + n_workers * constants.shard
    moving = (n_workers - 1) * constants.moved / bandwidth
    seconds = rows * constants.prepare + rounds * (computing + dask + moving)
    return Forecast(rounds, computing, dask, moving, seconds)
