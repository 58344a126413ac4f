"""Pieces of work on the workers of a Dask cluster, and the data that they share."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from pegasos._errors import MendableError
from pegasos._workers import Workers

__all__ = ["Cluster", "Shared"]

# As often as Dask lets a piece of work lose its worker.
_ATTEMPTS = 4
# Seconds after which, if nothing is done, it may be that a piece waits for workers that are gone.
_LOOK_AFTER = 5


@dataclass(frozen=True)
class Shared:
    """Data that pieces of work have in common: by what it is known, and what makes it here."""

    key: Hashable
    make: Callable[[], Any]


@dataclass(frozen=True)
class _Piece:
    name: Any
    work: Callable[[Any], Any]
    shared: Shared
    data: Any  # the future of the shared data
    workers: list[str]  # who may do it
    attempt: int


class Cluster:
    """Pieces of work under way on a Dask cluster.

    Data goes to all workers that are there, once; those that come later get it from them. When a
    worker is lost, Dask gives its work to others. When all that had the data are lost, it is sent
    again, and the work begins anew.

    Parameters
    ----------
    client : distributed.Client
        Knows the cluster.
    **options
        For ``client.submit``.

    Attributes
    ----------
    workers : Workers
        Those that may get work. They must be found before the first, and may be found again.
    """

    def __init__(self, client: Any, **options: Any) -> None:
        self.workers = Workers(client)
        self._client = client
        self._options = options
        self._running: dict[Any, _Piece] = {}
        self._sent: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        """How many pieces are under way."""
        return len(self._running)

    def start(self, name: Any, work: Callable[[Any], Any], shared: Shared) -> None:
        """Have some worker call ``work`` with the shared data; its result comes with ``name``."""
        self._submit(name, work, shared, attempt=1)

    def finished(self) -> tuple[Any, Any]:
        """Wait for a piece that is done; return its name, and the future of its result."""
        while True:
            done = [future for future in self._running if future.done()]
            if not done:
                self._wait()
                continue
            piece = self._running.pop(done[0])
            if not done[0].cancelled() or piece.attempt == _ATTEMPTS:
                return piece.name, done[0]
            self._again(piece)

    def _wait(self) -> None:
        from distributed import CancelledError, wait

        try:
            with self._client.as_current():
                wait(list(self._running), timeout=_LOOK_AFTER, return_when="FIRST_COMPLETED")
        except CancelledError:  # which is one way of being done
            return
        except TimeoutError:
            self.workers.find()
            for future, piece in list(self._running.items()):
                if not set(piece.workers) & set(self.workers.addresses):
                    del self._running[future]
                    self._again(piece)

    def cancel(self) -> None:
        """Give up what is under way, and the data: no worker begins anything any more."""
        self._client.cancel([*self._running, *self._sent.values()])
        self._running.clear()
        self._sent.clear()

    def _submit(self, name: Any, work: Callable[[Any], Any], shared: Shared, attempt: int) -> None:
        data = self._future_of(shared)
        workers = self.workers.addresses
        options = {"workers": workers, **self._options}
        future = self._client.submit(work, data, pure=False, **options)
        self._running[future] = _Piece(name, work, shared, data, workers, attempt)

    def _again(self, piece: _Piece) -> None:
        key = piece.shared.key
        if self._sent.get(key) is piece.data:  # unless another piece has noticed before
            del self._sent[key]
            self.workers.find()
        self._submit(piece.name, piece.work, piece.shared, piece.attempt + 1)

    def _future_of(self, shared: Shared) -> Any:
        if shared.key not in self._sent:
            used = {piece.shared.key for piece in self._running.values()}
            self._sent = {key: data for key, data in self._sent.items() if key in used}
            self._sent[shared.key] = self._send(shared.make())
        return self._sent[shared.key]

    def _send(self, data: Any, attempt: int = 1) -> Any:
        """Bring data to all workers; again, if some of them go in this very moment."""
        try:
            # Under a name of its own: what was lost must not be taken for what is sent now.
            return self._client.scatter(
                data, workers=self.workers.addresses, broadcast=True, hash=False
            )
        except (KeyError, OSError) as error:
            if attempt == _ATTEMPTS:
                raise MendableError(
                    f"the Dask workers go before the data has reached them ({error})",
                    "see what they say, and whether they have enough memory",
                ) from error
            self.workers.find()
            return self._send(data, attempt + 1)
