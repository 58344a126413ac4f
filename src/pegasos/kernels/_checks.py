"""What a kernel matrix must be, checked as far as that costs little."""

from typing import Any

import numpy as np

from pegasos._validation import is_sparse

# Larger matrices are looked at in places: reading all of a memory-mapped one could take longer
# than the fit, which needs few of its rows.
_ALL_UP_TO = 5000
_TILE = 256
_TILES = 100
_SAMPLE = 200


def refuse_asymmetric(K: Any) -> None:
    """Refuse a matrix that is no kernel matrix because ``K(a, b)`` differs from ``K(b, a)``."""
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity: the fit will tell
        if is_sparse(K):
            difference = abs(K - K.T)
            worst = float(difference.max()) if difference.nnz else 0.0
            size = float(abs(K).max()) if K.nnz else 0.0
        else:
            worst, size = _largest_difference(K)
    if worst > 1e-4 * size:
        raise ValueError(
            "kernel='precomputed' needs a symmetric matrix to fit, for K(a, b) = K(b, a); entries "
            f"differ from their mirror images by up to {worst:.3g}. If rounding is the reason, "
            "pass (K + K.T) / 2"
        )


def _largest_difference(K: Any) -> tuple[float, float]:
    n = K.shape[0]
    starts = range(0, n, _TILE)
    tiles = [(a, b) for a in starts for b in starts if b >= a]
    if n > _ALL_UP_TO:
        tiles = tiles[:: max(1, len(tiles) // _TILES)]
    worst = size = 0.0
    for a, b in tiles:
        upper = np.asarray(K[a : a + _TILE, b : b + _TILE])
        lower = np.asarray(K[b : b + _TILE, a : a + _TILE])
        worst = max(worst, float(np.abs(upper - lower.T).max()))
        size = max(size, float(np.abs(upper).max()))
    return worst, size


def looks_indefinite(source: Any) -> bool:
    """Tell whether the kernel among 200 rows has negative eigenvalues.

    If it has, the whole matrix has, too; few rows may not show it.
    """
    some = np.unique(np.linspace(0, source.n_rows - 1, _SAMPLE).astype(np.int64))
    K = np.asarray(source.local(some), dtype=np.float64)
    if not np.all(np.isfinite(K)):
        return False  # the objective will tell
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)
    return bool(eigenvalues[0] < -1e-5 * max(abs(eigenvalues[-1]), np.finfo(float).tiny))
