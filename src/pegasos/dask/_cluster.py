"""The cluster as a fit sees it: tasks go out, small results come back, nothing stays behind."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import Any
from uuid import uuid4
from weakref import WeakSet

# How many updates one task adds up; with more shards the sums are a tree. It must not depend on the
# cluster: the order of a sum decides its last bits.
_FAN_IN = 8
# A result that takes long is asked for again and again, to see whether anyone still works on it.
_PULSE_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0


class ClusterLostError(RuntimeError):
    """No worker is left to do the work."""


def find_client(client: Any) -> Any:
    """Return the client that was given, or the one that is in use here."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "pegasos.dask trains on a Dask cluster, but distributed is not installed; "
            "pip install 'pegasos[dask]' brings it"
        ) from error
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client; connect one first, client = "
                "distributed.Client('tcp://scheduler:8786'), or distributed.Client() for this "
                "machine alone, or pass client="
            ) from None
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(
            f"client must be a distributed.Client that is not asynchronous; got {client!r}"
        )
    return client


class Cluster:
    """Submits tasks, keeps account of them, and lets go of all when a fit fails."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._futures: WeakSet[Any] = WeakSet()

    @classmethod
    @contextmanager
    def of(cls, client: Any) -> Any:
        """Work on the cluster of this client; an error, or Ctrl-C, takes the tasks back."""
        cluster = cls(find_client(client))
        try:
            yield cluster
        except BaseException:
            cluster.let_go()
            raise

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Begin to compute these, each of them once and for this fit alone."""
        return self._noted(self.client.compute(list(delayed), sync=False))

    def submit(
        self,
        function: Callable[..., Any],
        *args: Any,
        home: str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> Any:
        """Return the future of a call. It shares its key, and so its result, with no other.

        ``home`` is the worker to run it while there is this worker. ``name`` is what Dask's
        dashboard shows in place of the function's. The highest ``priority`` runs first.
        """
        future = self.client.submit(
            function,
            *args,
            key=f"{name or function.__name__}-{uuid4().hex}",
            pure=False,
            priority=priority,
            workers=home and [home],
            allow_other_workers=home is not None,
        )
        self._futures.add(future)
        return future

    def homes(self, futures: Sequence[Any]) -> list[str | None]:
        """Return a worker for each of these: the one that has it, unless that has its share."""
        threads = self.client.nthreads()
        holders = self.client.who_has(futures)
        share = ceil(len(futures) / max(1, sum(threads.values())))
        places = {worker: share * n for worker, n in sorted(threads.items())}
        homes: list[str | None] = [None] * len(futures)
        for k, future in enumerate(futures):
            homes[k] = next((w for w in holders.get(future.key, ()) if places.get(w)), None)
            if homes[k] is not None:
                places[homes[k]] -= 1
        for k, home in enumerate(homes):
            if home is None and places:
                homes[k] = max(places, key=lambda worker: places[worker])
                places[homes[k]] -= 1
        return homes

    def added(self, updates: Sequence[Any]) -> list[Any]:
        """Return these updates, or sums of them if they are many."""
        updates = list(updates)
        while len(updates) > _FAN_IN:
            updates = [
                self.submit(add, *updates[first : first + _FAN_IN])
                for first in range(0, len(updates), _FAN_IN)
            ]
        return updates

    def fold(self, finish: Callable[..., Any], updates: Sequence[Any], *args: Any) -> Any:
        """Submit ``finish(*args, *updates)``, where sums stand for the updates if they are many."""
        return self.submit(finish, *args, *self.added(updates))

    def result(self, future: Any) -> Any:
        """Return a result, and wait no longer than there are workers."""
        return self.results([future])[0]

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Return several results, in order: all in one message, for it takes as long as one."""
        alone_since: float | None = None

        async def gathered() -> list[Any]:
            return list(await self.client.gather(list(futures), asynchronous=True))

        while True:
            try:
                found: list[Any] = self.client.sync(gathered, callback_timeout=_PULSE_SECONDS)
                return found
            except TimeoutError:
                if all(future.done() for future in futures):  # a task's own error
                    raise
            if self.client.scheduler_info()["workers"]:
                alone_since = None
                continue
            alone_since = alone_since or monotonic()
            if monotonic() - alone_since >= _PATIENCE_SECONDS:
                raise ClusterLostError(
                    f"the scheduler {self.client.scheduler.address} has had no worker for "
                    f"{_PATIENCE_SECONDS:.0f} seconds; start workers and fit again"
                )

    def let_go(self) -> None:
        """Want nothing any more: what waits is forgotten, what runs ends with its task.

        An error keeps the frames it came through, and with them the futures, perhaps for long.
        Client.cancel would take along what depends on a task even if it was let go before, and
        then the scheduler closes the connection.
        """
        for future in list(self._futures):
            future.release()

    def _noted(self, futures: list[Any]) -> list[Any]:
        self._futures.update(futures)
        return futures


def add(*updates: dict[str, Any]) -> dict[str, Any]:
    """Add up updates, in the order given."""
    first, *others = updates
    total = dict(first)
    for update in others:
        for name, value in update.items():
            total[name] = total[name] + value
    return total


def made(recipe: list[Any]) -> Any:
    """Return ``gather(*args)`` of a recipe ``[gather, *args]``.

    With it every shard adds up for itself what a round has found: it takes less time than to wait
    until a worker has done so for all.
    """
    gather, *args = recipe
    return gather(*args)
