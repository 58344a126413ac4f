"""The workers of a Dask cluster, looked at before they get data or work.

One that cannot read what it is sent would be asked to take it again and again, without an end.
"""

from collections.abc import Mapping
from time import monotonic, sleep
from typing import Any

from pegasos._errors import MendableError
from pegasos._packages import PACKAGES, packages

__all__ = ["Workers"]

# Seconds until the first worker must be there, and between two looks for it.
_PATIENCE = 30
_PAUSE = 0.2


class Workers:
    """The workers that have the same packages as this process.

    Parameters
    ----------
    client : distributed.Client
        Knows the cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._fit: dict[str, int] = {}

    @property
    def addresses(self) -> list[str]:
        """Where they are."""
        return list(self._fit)

    @property
    def n_threads(self) -> int:
        """How many threads they have together."""
        return sum(self._fit.values())

    def find(self) -> None:
        """Find those that are there now; wait a while for the first, refuse those unfit."""
        self._look()
        if not self._fit:
            self._wait_for_one()

    def _look(self) -> None:
        threads = self._client.nthreads()
        new = [worker for worker in threads if worker not in self._fit]
        gone = self._refuse_unfit(new) if new else []
        self._fit = {worker: n for worker, n in threads.items() if worker not in gone}

    def _wait_for_one(self) -> None:
        # A cluster that grows with its work needs some to do.
        probe = self._client.submit(len, (), pure=False)
        until = monotonic() + _PATIENCE
        while not self._fit:
            if monotonic() > until:
                address = self._client.scheduler.address
                raise MendableError(
                    f"the Dask scheduler at {address} has no workers",
                    f"start some with 'dask worker {address}'",
                )
            sleep(_PAUSE)
            self._look()
        probe.cancel()

    def _refuse_unfit(self, workers: list[str]) -> list[str]:
        """Refuse workers with other packages; return those that have gone meanwhile."""
        answers = self._client.run(_finder(), workers=workers, on_error="return")
        for worker, found in answers.items():
            if isinstance(found, dict) and found != packages():
                raise _other_packages(worker, found, packages())
        return [worker for worker in workers if not isinstance(answers.get(worker), dict)]


def _finder() -> Any:
    """Return a function that finds versions; it is sent whole, to workers without this package."""
    names = PACKAGES

    def find() -> dict[str, str | None]:
        from importlib.metadata import PackageNotFoundError, version

        found: dict[str, str | None] = {}
        for name in names:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = None
        return found

    return find


def _other_packages(
    worker: str, found: Mapping[str, str | None], expected: dict[str, str]
) -> MendableError:
    differences = ", ".join(
        f"{f'{name} {found[name]}' if found[name] else f'no {name}'} instead of {version}"
        for name, version in expected.items()
        if found[name] != version
    )
    wanted = " ".join(f"{name}=={version}" for name, version in expected.items())
    return MendableError(
        f"the Dask worker {worker} has {differences}",
        f"install on all workers what is here, so that results are the same: {wanted}",
    )
