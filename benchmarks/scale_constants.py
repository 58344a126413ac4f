"""What a round on a cluster costs beside the steps, and how fast workers send to each other."""

from statistics import median
from typing import Any

import measure
import numpy as np
import scale_cluster
import scipy.sparse as sp

# So few rows that a round is all overhead; of so few rounds each gets a certificate, as in a fit.
_ROWS_A_SHARD, _ENTRIES_A_ROW, _ROUNDS = 64, 10, 8
_EPOCHS_A_ROUND = 4  # the most that pegasos.dask makes of small shards
_NO_TOLERANCE = 1e-15
_BYTES_TO_MOVE = 1 << 26


def seconds_a_round(client: Any, n_shards: int, n_features: int, repeats: int) -> float:
    """Time rounds over next to no rows: what is left is Dask, and what moves the weights."""
    import dask.array as da

    rng = np.random.default_rng(0)
    n_rows = n_shards * _ROWS_A_SHARD
    rows = sp.csr_matrix(
        (
            rng.standard_normal(n_rows * _ENTRIES_A_ROW, dtype=np.float32),
            rng.integers(n_features, size=n_rows * _ENTRIES_A_ROW, dtype=np.int32),
            np.arange(0, n_rows * _ENTRIES_A_ROW + 1, _ENTRIES_A_ROW, dtype=np.int32),
        ),
        shape=(n_rows, n_features),
    )
    rows.sum_duplicates()
    X = da.from_array(rows, chunks=(_ROWS_A_SHARD, -1), asarray=False)
    y = da.from_array(rng.integers(2, size=n_rows), chunks=_ROWS_A_SHARD)
    X, y = client.persist([X, y])
    seconds = []
    for _ in range(repeats + 1):
        with scale_cluster.counted_rounds() as ticks:
            _, model = measure.timed(
                lambda: scale_cluster.fit(
                    X, y, 1e-6, "sdca", _NO_TOLERANCE, max_iter=_ROUNDS * _EPOCHS_A_ROUND
                )
            )
        seconds.append(model.history_[-1]["seconds"] / ticks[-1])
    return median(seconds[1:])  # the first fit warms up


def bandwidth(client: Any, repeats: int) -> float:
    """Return the bytes per second that one worker sends to another."""
    from distributed import wait

    here, there = sorted(client.nthreads())[:2]
    rates = []
    for _ in range(repeats + 1):
        array = client.submit(np.ones, _BYTES_TO_MOVE, np.uint8, workers=[here], pure=False)
        wait(array)
        seconds, _ = measure.timed(
            lambda array=array: client.submit(len, array, workers=[there], pure=False).result()
        )
        rates.append(_BYTES_TO_MOVE / seconds)
    return median(rates[1:])
