"""How many threads read a file."""

import os
import sys

__all__ = ["threads_of"]


def threads_of(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for, as joblib counts them.

    joblib takes long to import, and a program may want to read while it imports. If nobody has
    imported it yet, then nobody has asked it for something special either.
    """
    count = getattr(sys.modules.get("joblib"), "effective_n_jobs", None)
    if count is not None:
        return int(count(n_jobs))
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 in Parallel has no meaning")
    return max(1, n_cores() + 1 + n_jobs)


def n_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
