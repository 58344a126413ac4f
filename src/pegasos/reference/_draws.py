"""Which rows to visit."""

from __future__ import annotations

import numpy as np

from pegasos.reference._checks import Ints


def draw_rows(rng: np.random.Generator, n_rows: int, n_draws: int, sampling: str) -> Ints:
    """Draw the rows to visit, in order; advances `rng`.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_rows, n_draws : int
        Rows of the data; how many visits.
    sampling : {"uniform", "permutation"}
        "uniform" draws with replacement, as published; the stream is the same as drawing one by
        one. "permutation" visits every row once per epoch, in a fresh order each time; to go on
        with the same stream later, draw whole epochs.
    """
    if n_rows < 1 or n_draws < 1:
        raise ValueError(f"n_rows and n_draws must be at least 1; got {n_rows} and {n_draws}.")
    if sampling == "uniform":
        return rng.integers(n_rows, size=n_draws)
    if sampling == "permutation":
        n_epochs = -(-n_draws // n_rows)  # rounded up
        return np.concatenate([rng.permutation(n_rows) for _ in range(n_epochs)])[:n_draws]
    raise ValueError(f'sampling must be "uniform" or "permutation"; got {sampling!r}.')
