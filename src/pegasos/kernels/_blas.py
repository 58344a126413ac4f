"""BLAS for the core: SciPy's own, on one thread, for the core spreads tiles over threads."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg.cython_blas as blas
from threadpoolctl import ThreadpoolController

from pegasos import _core

_core.use_blas(blas.__pyx_capi__["sgemm"], blas.__pyx_capi__["dgemm"])


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_on_one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS starts no threads of its own."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context
