"""What a worker of a cluster does with a piece of a task."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import Any

from pegasos.studies._tasks import Row

__all__ = ["Heard", "Outcome", "do_piece"]

Heard = tuple[str, str]  # kind and text of a warning


@dataclass(frozen=True)
class Outcome:
    """What has become of a piece: its rows, and the warnings on the way."""

    rows: list[Row]
    warnings: list[Heard]


def do_piece(work: Callable[[Any], list[Row]], data: Any) -> Outcome:
    """Do a piece of work, and listen to its warnings."""
    with _warnings_of_this_thread() as heard:
        return Outcome(work(data), heard)


class _Ears:
    """Who is listening, by thread: filters and output of warnings belong to the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heard: dict[int, list[Heard]] = {}
        self._before = warnings.catch_warnings()

    def begin(self) -> list[Heard]:
        with self._lock:
            if not self._heard:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                warnings.simplefilter("always")
                warnings.showwarning = self._hear
            return self._heard.setdefault(get_ident(), [])

    def end(self) -> None:
        with self._lock:
            del self._heard[get_ident()]
            if not self._heard:
                self._before.__exit__(None, None, None)

    def _hear(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if get_ident() in self._heard:
            self._heard[get_ident()].append((category.__name__, str(message)))


_EARS = _Ears()


@contextmanager
def _warnings_of_this_thread() -> Iterator[list[Heard]]:
    """Collect warnings, while other threads of the worker may be collecting theirs."""
    heard = _EARS.begin()
    try:
        yield heard
    finally:
        _EARS.end()
