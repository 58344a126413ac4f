"""BLAS for the core: SciPy's own, on one thread, for the core spreads tiles over threads."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg.cython_blas as blas
from threadpoolctl import ThreadpoolController

from pegasos import _core

_core.use_blas(blas.__pyx_capi__["sgemm"], blas.__pyx_capi__["dgemm"])


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """The limit, which belongs to the process: whoever comes first sets it, the last lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._limit: AbstractContextManager[Any]

    def enter(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.__exit__(None, None, None)


_LIMIT = _Limit()


@contextmanager
def blas_on_one_thread() -> Iterator[None]:
    """Return a context in which BLAS starts no threads of its own.

    Fits may run side by side, as on a worker of several threads.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
