"""The scheduler of a Dask cluster, found at its address."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from pegasos._errors import MendableError
from pegasos.studies._errors import StudyError

__all__ = ["connected"]

_PATIENCE = 5  # seconds


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address; what is wrong with its cluster is clear."""
    try:
        from distributed import Client
    except ImportError:
        raise StudyError(
            "a scheduler needs distributed, which is not installed", "pip install 'pegasos[dask]'"
        ) from None
    _refuse_silent(address)
    with Client(address, set_as_default=False) as client:
        try:
            yield client
        except StudyError:
            raise
        except MendableError as error:
            raise StudyError(error.message, error.hint) from None
        except OSError as error:
            if client.status == "running":
                raise
            raise StudyError(
                f"the Dask scheduler at {address} is gone ({error})",
                "what is finished is kept; start it again, and then the same study",
            ) from None


def _refuse_silent(address: str) -> None:
    """Make sure that a scheduler answers; a client that finds none would be long in going."""
    with ThreadPoolExecutor(1) as thread:  # which has no event loop yet, as a notebook's has
        try:
            thread.submit(asyncio.run, _identity(address)).result()
        except (OSError, ValueError, MemoryError) as error:
            # Out of memory: an answer in another language, whose first bytes are no length.
            unclear = isinstance(error, MemoryError) or not str(error)
            reason = "something else is there" if unclear else error
            raise StudyError(
                f"no Dask scheduler answers at {address!r} ({reason})",
                "give the address that 'dask scheduler' prints when it starts: tcp://host:8786",
            ) from None


async def _identity(address: str) -> None:
    from distributed import rpc

    async with rpc(address, timeout=_PATIENCE) as scheduler:
        identity = await asyncio.wait_for(scheduler.identity(), _PATIENCE + 1)
    if identity["type"] != "Scheduler":
        raise ValueError(f"it is a {identity['type']}")
