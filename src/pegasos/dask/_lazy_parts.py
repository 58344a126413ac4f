"""What a model makes of a partition, and Dask arrays of such results."""

from typing import Any

import numpy as np

from pegasos._validation import Floats


def call(block: Any, *, model: Any, method: str) -> Any:
    """Call a method of the model on a block of rows, which may be empty."""
    if block.shape[0] > 0:
        return getattr(model, method)(block)
    stand_in = np.zeros((1, block.shape[1]))
    if hasattr(block, "columns"):
        stand_in = type(block)(stand_in, columns=block.columns)
    return getattr(model, method)(stand_in)[:0]


def scored_frame(model: Any, X: Any, method: str, meta: Any) -> Any:
    """Return an array of what the method makes of a dataframe; its chunks' sizes are not known."""
    import dask.array as da
    from dask.delayed import delayed

    lazy_call = delayed(call, pure=False)
    blocks = [
        da.from_delayed(
            lazy_call(part, model=model, method=method), shape=(np.nan, *meta.shape[1:]), meta=meta
        )
        for part in np.ravel(X.to_delayed())
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def accuracy(model: Any, parts: dict[str, list[Any]]) -> Any:
    """Return the weighted part of the rows that are classified right: an array of one number."""
    import dask.array as da
    from dask.delayed import delayed

    lazy_count = delayed(_right_and_all, pure=False)
    counts = [lazy_count(model, *part) for part in zip(*parts.values(), strict=True)]
    share = delayed(_share, pure=False)(counts)
    return da.from_delayed(share, shape=(), dtype=np.float64)


def _right_and_all(model: Any, X: Any, y: Any, weight: Any = None) -> Floats:
    labels = call(X, model=model, method="predict")
    right = labels == np.asarray(y).ravel()
    weight = np.ones(len(labels)) if weight is None else np.asarray(weight).ravel()
    return np.array([weight[right].sum(), weight.sum()])


def _share(counts: list[Floats]) -> np.float64:
    right, everything = np.sum(counts, axis=0)
    return np.float64(right / everything)
