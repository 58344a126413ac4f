"""Chunks put together again, and what they must be equal to."""

import numpy as np
import scipy.sparse as sp

from pegasos.io import Data


def together(chunks):
    """Return all chunks as one."""
    chunks = list(chunks)
    Xs = [chunk.X for chunk in chunks]
    X = sp.vstack(Xs, format="csr") if sp.issparse(Xs[0]) else np.concatenate(Xs)
    y = None if chunks[0].y is None else np.concatenate([chunk.y for chunk in chunks])
    assert all(chunk.names == chunks[0].names for chunk in chunks)
    return Data(X, y, chunks[0].names)


def arrays_of(X):
    return (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)


def assert_same(a, b):
    """Bit for bit, types as well."""
    assert sp.issparse(a.X) == sp.issparse(b.X)
    assert a.X.shape == b.X.shape
    for one, other in zip(arrays_of(a.X), arrays_of(b.X), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert a.names == b.names
    assert (a.y is None) == (b.y is None)
    if a.y is not None:
        assert a.y.dtype == b.y.dtype
        np.testing.assert_array_equal(a.y, b.y)


def assert_streams(stream, whole):
    """The chunks are those of `whole`, and so is what the stream says of them."""
    assert_same(together(stream), whole)
    n_rows, n_features = whole.X.shape
    assert (stream.n_rows, stream.n_features) == (n_rows, n_features)
    assert stream.names == whole.names
    assert stream.zero_based is whole.zero_based
    assert all(chunk.zero_based is whole.zero_based for chunk in stream)
    assert [stream.chunk(k).X.shape for k in range(len(stream))] == [
        (n, n_features) for n in stream.chunk_rows
    ]
    if whole.y is None:
        assert stream.labels is None
        assert stream.label_counts is None
        return
    labels, counts = np.unique(whole.y, return_counts=True)
    assert stream.labels.dtype == labels.dtype
    np.testing.assert_array_equal(stream.labels, labels)
    np.testing.assert_array_equal(stream.label_counts, counts)
