"""The backend of joblib that the user has chosen: this machine, or a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)

from pegasos._cluster import Cluster

__all__ = ["chosen_cluster", "threads_here"]

# Our own threads, which share rows and kernel matrices, do better than any of these.
_HERE = (LokyBackend, MultiprocessingBackend, SequentialBackend, ThreadingBackend)
# Threads beyond the cores only wait; ten thousand of them stop the machine.
_MANY_THREADS = 64


@contextmanager
def chosen_cluster() -> Iterator[Cluster | None]:
    """Give the cluster under ``joblib.parallel_config(backend="dask")``, else None.

    Whatever is under way when the context ends is given up.
    """
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)  # Dask's backend has one
    if client is None:
        yield None
        return
    with backend.retrieval_context():  # on a worker: its thread is free for other work meanwhile
        cluster = Cluster(client, **backend.submit_kwargs)
        cluster.workers.find()
        try:
            yield cluster
        finally:
            cluster.cancel()


def threads_here(n_jobs: int | None) -> int:
    """Return how many threads of this machine ``n_jobs`` stands for; None is 1.

    Fewer than asked for if it has far fewer cores: no result depends on their number.
    """
    backend, _ = get_active_backend()
    if isinstance(backend, _HERE):
        wanted = int(effective_n_jobs(n_jobs))
    else:
        # A cluster would count all its cores, wherever it is asked; a task of it has one thread.
        threads, by_default = get_active_backend(require="sharedmem")
        wanted = int(threads.effective_n_jobs(by_default if n_jobs is None else n_jobs))
    return min(wanted, max(_MANY_THREADS, int(cpu_count())))
