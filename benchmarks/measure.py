"""The clock, the judge and the scales: none of them asks the solver what it thinks of itself."""

import contextlib
import ctypes
import gc
import multiprocessing
import resource
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from datasets import Labels, Matrix

Result = TypeVar("Result")

_ROWS_A_CHUNK = 1 << 16
_NUMBERS_A_TILE = 1 << 23  # 64 MB


def hinge_objective(X: Matrix, y: Labels, w: npt.ArrayLike, lam: float) -> float:
    """Return ``lam/2 ||w||^2 + mean(max(0, 1 - y <w, x>))`` in float64, whatever X is."""
    w = np.asarray(w, dtype=np.float64).ravel()
    total = 0.0
    for start in range(0, len(y), _ROWS_A_CHUNK):
        rows = slice(start, start + _ROWS_A_CHUNK)
        margins = y[rows] * (X[rows].astype(np.float64) @ w)
        total += float(np.maximum(0, 1 - margins).sum())
    return lam / 2 * float(w @ w) + total / len(y)


def kernel_hinge_objectives(
    kernel: Callable[[Matrix, Matrix], npt.NDArray[np.float64]],
    X: Matrix,
    signs: npt.NDArray[np.float64],
    support: npt.NDArray[np.intp],
    coef: npt.NDArray[np.float64],
    lam: float,
    bias: float = 0.0,
) -> npt.NDArray[np.float64]:
    """Return ``lam/2 ||w||^2 + mean(max(0, 1 - sign (f(x) + bias)))`` of several problems.

    Each has a row of ``signs`` and one of ``coef``: ``f(x) = sum_j coef_j K(X[support_j], x)``. As
    w is made of rows of X, ``||w||^2 = sum_j coef_j f(X[support_j])``: one pass over the rows
    serves both terms, in tiles, so that the kernel matrix is never there as a whole.
    """
    vectors = X[support].astype(np.float64)
    rows_a_tile = max(1, _NUMBERS_A_TILE // max(1, len(support)))
    scores = np.empty(signs.shape)
    for start in range(0, X.shape[0], rows_a_tile):
        rows = slice(start, start + rows_a_tile)
        scores[:, rows] = coef @ kernel(vectors, X[rows].astype(np.float64))
    squared_norms = (coef * scores[:, support]).sum(axis=1)
    losses = np.maximum(0, 1 - signs * (scores + bias)).mean(axis=1)
    objectives: npt.NDArray[np.float64] = lam / 2 * squared_norms + losses
    return objectives


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return how many seconds the work took, and its result."""
    gc.collect()  # what earlier work left behind is not this one's cost
    with warnings.catch_warnings():
        # A short budget is meant: "failed to converge" is no news.
        warnings.simplefilter("ignore")
        started = perf_counter()
        result = work()
        return perf_counter() - started, result


def in_fresh_process(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run the work in a process of its own, which has done nothing before."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


def repeated(
    work: Callable[[int], Result], repeats: int, limit: float
) -> tuple[list[float], Result]:
    """Time the work with the seeds 0, 1, ...; return the seconds of all runs and the last result.

    What is long is done once: no run begins that is expected to end beyond the limit.
    """
    seconds: list[float] = []
    while True:
        result = None  # the one before is not in the way of the next
        one, result = timed(partial(work, len(seconds)))
        seconds.append(one)
        if len(seconds) >= repeats or sum(seconds) + median(seconds) > limit:
            return seconds, result


def peak_beyond(work: Callable[[], Result]) -> tuple[int, Result]:
    """Return by how many bytes the process grew at most while it did the work, and its result.

    Memory that was freed before is given back first, or the work could use it unnoticed.
    """
    gc.collect()
    _trim()
    exact = _forget_peak()
    before = _status("VmRSS") if exact else _peak_ever()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = work()
    after = _status("VmHWM") if exact else _peak_ever()
    return max(0, after - before), result


def _forget_peak() -> bool:
    """Reset the kernel's high-water mark of this process, where there is such a thing (Linux).

    Without the reset the mark may stem from the time before the work, even from the parent process.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/self/status has no line {field}")


def _peak_ever() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _trim() -> None:
    with contextlib.suppress(AttributeError):  # only glibc has it, and needs it
        ctypes.CDLL(None).malloc_trim(0)
