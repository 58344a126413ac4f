"""Fits on a Dask cluster of this machine: their time, their rounds, and what the workers send."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any
from unittest.mock import patch

import measure

_MOST_EPOCHS = 100


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Start workers, each a process with one thread, and Dask's one thread for BLAS."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def fit(X: Any, y: Any, lam: float, solver: str, tol: float, max_iter: int = _MOST_EPOCHS) -> Any:
    """Fit until the gap is certified; the seed is always the same, and so is the model."""
    from pegasos.dask import PegasosClassifier

    return PegasosClassifier(
        lam,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        fit_intercept=False,
        random_state=0,
        n_jobs=1,  # one thread of a worker, with one worker as with two
    ).fit(X, y)


def timed_fits(
    client: Any, X: Any, y: Any, lam: float, solver: str, tol: float, repeats: int, limit: float
) -> dict[str, Any]:
    """Time fits after a first one, of which rounds and bytes are counted."""
    client.run(_forget_transfers)
    with counted_rounds() as ticks:
        measure.timed(lambda: fit(X, y, lam, solver, tol))
    sent = sum(client.run(_bytes_sent).values())
    here: list[float] = []

    def counted(_: int) -> Any:
        before = process_time()
        model = fit(X, y, lam, solver, tol)
        here.append(process_time() - before)
        return model

    before = client.run(process_time)
    seconds, model = measure.repeated(counted, repeats, limit)
    used = [after - before[worker] for worker, after in client.run(process_time).items()]
    return {
        "seconds": seconds,
        "cpu_here": sum(here) / len(seconds),  # client and scheduler
        "cpu_workers": sum(used) / len(used) / len(seconds),
        "rounds": ticks[-1],
        "round_seconds": model.history_[-1]["seconds"] / ticks[-1],  # of the last fit
        "bytes_a_round": sent / ticks[-1],
        **outcome(model, tol),
    }


def outcome(model: Any, tol: float) -> dict[str, Any]:
    """Return what became of a fit."""
    return {
        "epochs": model.n_iter_,
        "objective": model.objective_,
        "reached": model.duality_gap_ <= tol * model.objective_,
        "fingerprint": hashlib.sha256(model.coef_.tobytes()).hexdigest()[:16],
    }


def fits_in_memory(
    X: Any, y: Any, lam: float, solver: str, tol: float, repeats: int, limit: float
) -> dict[str, Any]:
    """Time the same fit without Dask, on one thread."""
    from pegasos import PegasosClassifier

    model = PegasosClassifier(
        lam, solver=solver, tol=tol, max_iter=_MOST_EPOCHS, fit_intercept=False, random_state=0
    )
    seconds, _ = measure.repeated(lambda _: model.fit(X, y), repeats, limit)
    return {"seconds": seconds, **outcome(model, tol)}


@contextmanager
def counted_rounds() -> Iterator[list[int]]:
    """Give a list that gets the number of every round."""
    from pegasos.dask import _methods

    ticks: list[int] = []

    def counting(advance: Any) -> Any:
        def counted(self: Any, tick: int, n_draws: int, *, certified: bool) -> None:
            ticks.append(tick)
            advance(self, tick, n_draws, certified=certified)

        return counted

    with (
        patch.object(_methods.Ascending, "advance", counting(_methods.Ascending.advance)),
        patch.object(_methods.Stepping, "advance", counting(_methods.Stepping.advance)),
    ):
        yield ticks


def _forget_transfers(dask_worker: Any) -> None:
    dask_worker.transfer_outgoing_log.clear()


def _bytes_sent(dask_worker: Any) -> int:
    """Return the bytes that went over the wire to other workers."""
    return sum(entry["compressed"] for entry in dask_worker.transfer_outgoing_log)
