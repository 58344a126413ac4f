"""A real Dask cluster of two processes, and what tests do to it."""

import os
from contextlib import contextmanager
from time import monotonic, sleep


@contextmanager
def two_workers():
    """Start two workers of one thread each; give a client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        Client(cluster.scheduler_address) as client,
    ):
        yield client


def wait_until(is_so, seconds=30):
    end = monotonic() + seconds
    while not is_so():
        assert monotonic() < end, "it took too long"
        sleep(0.05)


def both_are_back(client):
    """Wait until the workers that were killed have been started again."""
    client.wait_for_workers(2, timeout=60)


def process_ids(client):
    return list(client.run(os.getpid).values())


def killing_kernel(folder, n_kills):
    """Return a kernel whose first calls kill their worker; each of them needs a file of its own."""
    folder = str(folder)

    def kernel(A, B):
        import os
        import signal
        from pathlib import Path

        for k in range(n_kills):
            try:
                Path(folder, str(k)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return A @ B.T

    return kernel
