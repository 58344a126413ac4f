"""What a round on a cluster costs beside the steps, how fast workers send, what no fit is below."""

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


def floor(client: Any, X: Any, y: Any, lam: float, repeats: int) -> dict[str, list[float]]:
    """Time what no fit can do without: work of the core on the blocks, and a way to them and back.

    Each worker works on its blocks at the same time as the others, and the slowest counts; the
    clock is the worker's own, so that nothing of Dask is in it.
    """
    blocks = client.compute([*X.to_delayed().ravel(), *y.to_delayed().ravel()])
    halves = list(zip(blocks[: len(blocks) // 2], blocks[len(blocks) // 2 :], strict=True))
    found: dict[str, list[float]] = {"steps": [], "certificate": [], "trip": []}
    for _ in range(repeats + 1):
        works = [client.submit(_work_on, *half, lam, pure=False) for half in halves]
        for name, seconds in zip(found, zip(*client.gather(works), strict=True), strict=False):
            found[name].append(max(seconds))
        seconds, _ = measure.timed(lambda: client.submit(int, pure=False).result())
        found["trip"].append(seconds)
    return {name: seconds[1:] for name, seconds in found.items()}  # the first warms up


def _work_on(X: Any, y: Any, lam: float) -> tuple[float, float]:
    """Time an epoch of steps over a block on one thread, and the pass that certifies."""
    from pegasos._problem import Problem
    from pegasos._sdca_run import Pace
    from pegasos._sdca_start import SgdStart
    from pegasos._validation import encode_labels

    problem = Problem(
        X,
        encode_labels(y),
        None,
        lams=np.array([lam]),
        loss="hinge",
        bias=0.0,
        threads=1,
        total_weight=float(len(y)),
    )
    masses = np.zeros((1, len(y)))
    square, entries = problem.typical_row()
    pace = Pace.over(square, entries, n_features=X.shape[1], lam=lam, n_active=len(y))
    steps = SgdStart(problem, masses, len(y), square, averages=pace.averages_start)
    draws = np.random.default_rng(0).permutation(len(y))
    in_steps, _ = measure.timed(lambda: steps.advance(draws))
    in_certificate, _ = measure.timed(lambda: problem.guess_masses(steps.weights(), masses))
    return in_steps, in_certificate
