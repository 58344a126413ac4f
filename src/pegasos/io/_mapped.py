"""Text that is mapped into memory on its way to a reader in C++, block by block."""

import mmap
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

__all__ = ["BLOCK", "feed_mapped"]

# Between two blocks Python can stop. Large enough for many threads, small beside a large file.
BLOCK = 32 << 20


def feed_mapped(
    file: IO[bytes],
    begin: Callable[[npt.NDArray[np.uint8]], int],
    feed: Callable[[npt.NDArray[np.uint8], bool], int],
) -> None:
    """Feed all of a file.

    Parameters
    ----------
    file : binary file
        Not empty.
    begin : callable
        Is shown all of the text, and returns where to begin.
    feed : callable
        Takes a block, and whether it is the last; returns how much of it is done. The rest comes
        again, with more behind it.
    """
    # Not closed here but with the array, which an error on its way up may still hold.
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    text: Any = np.frombuffer(mapped, dtype=np.uint8)
    done, size = begin(text), BLOCK
    while done < len(text):
        is_last = done + size >= len(text)
        used = feed(text[done : done + size], is_last)
        done += used
        size = BLOCK if used else 2 * size  # a line is longer than that
        _let_go(mapped, done)


def _let_go(mapped: mmap.mmap, n_bytes: int) -> None:
    """Give the pages back that have been read: the text need not be in memory as a whole."""
    whole_pages = n_bytes // mmap.PAGESIZE * mmap.PAGESIZE
    if whole_pages and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED, 0, whole_pages)
