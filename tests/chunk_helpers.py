"""A stream of chunks that are in memory: what `pegasos.io.stream` is to files."""

import hashlib

import numpy as np
from scipy import sparse as sp

from pegasos.io import Data


class Chunks:
    """Rows cut into chunks; `fails_at` says at which read Ctrl-C is pressed."""

    def __init__(self, X, y, cuts, *, names=None, fails_at=None):
        self.X, self.y, self.names = X, np.asarray(y), names
        self.bounds = [0, *cuts, X.shape[0]]
        self.n_rows, self.n_features = X.shape
        self.chunk_rows = np.diff(self.bounds)
        self.labels, self.label_counts = np.unique(self.y, return_counts=True)
        self.fails_at = fails_at
        self.reads = 0

    def __len__(self):
        return len(self.chunk_rows)

    @property
    def fingerprint(self):
        values = self.X.toarray() if sp.issparse(self.X) else self.X
        parts = (np.ascontiguousarray(values).tobytes(), self.y.tobytes(), str(self.bounds))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def chunk(self, k):
        self.reads += 1
        if self.reads == self.fails_at:
            raise KeyboardInterrupt
        rows = slice(self.bounds[k], self.bounds[k + 1])
        return Data(self.X[rows], self.y[rows], self.names)


def make_rows(n_rows=3000, n_features=7, n_classes=2, *, seed=0, kind="dense", dtype=np.float32):
    """Return noisy rows that a linear machine can half learn, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.7)
    scores = X @ rng.normal(size=(n_features, n_classes)) + rng.normal(size=(n_rows, n_classes))
    X = X.astype(dtype)
    return (sp.csr_matrix(X) if kind == "csr" else X), scores.argmax(axis=1)
