"""Reading the next while the present is used."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_ahead(read: Callable[[Key], Value], keys: Iterable[Key]) -> Generator[Value]:
    """Yield ``read(key)`` for each key; a thread reads the next one meanwhile.

    Two values are held at most, if the caller lets go of one before asking for the next.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="pegasos-read-ahead")
    try:
        future: Future[Value] | None = None
        for key in keys:
            following = pool.submit(read, key)
            if future is not None:
                yield future.result()
            future = following
        if future is not None:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
