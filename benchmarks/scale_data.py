"""The data of scale.py: as files for streams and for Spark, and as Dask arrays on workers."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from datasets import DataSet

_DENSE_FEATURES = 100
_WRONG_LABELS = 0.1


def svmlight_file(dataset: DataSet, cache: Path) -> Path:
    """Return the set as svmlight text with the labels 0 and 1, the ones that Spark takes."""

    def rows() -> tuple[Any, Any]:
        X, y = dataset.load()
        return X, (y > 0).astype(np.int64)

    return _written(cache / f"scale-{dataset.key}.svm", rows)


def parquet_file(n_rows: int, cache: Path) -> Path:
    """Return a dense set: Gaussian rows on either side of a plane, some labels wrong."""

    def rows() -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n_rows, _DENSE_FEATURES), dtype=np.float32)
        side = X @ rng.standard_normal(_DENSE_FEATURES) > 0
        return X, (side ^ (rng.random(n_rows) < _WRONG_LABELS)).astype(np.int64)

    return _written(cache / f"scale-dense-{n_rows}x{_DENSE_FEATURES}.parquet", rows)


def _written(path: Path, rows: Callable[[], tuple[Any, Any]]) -> Path:
    from pegasos.io import write

    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(path, *rows())
    return path


def placed(client: Any, dataset: DataSet, n_parts: int) -> tuple[Any, Any]:
    """Return X and y as Dask arrays whose blocks are on the workers, as many on each.

    The workers read them from the cache folder: no row passes through this process.
    """
    n_rows, n_features = shape(dataset)
    ends = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    workers = sorted(client.nthreads())
    homes = [workers[k * len(workers) // n_parts] for k in range(n_parts)]
    blocks = list(zip(homes, pairwise(ends), strict=True))
    if (dataset.folder / "dense.npy").exists():
        X = _joined(client, dense_block, dataset.folder, blocks, (n_features,), dtype=np.float32)
    else:
        empty = sp.csr_matrix((0, 0), dtype=np.float32)
        X = _joined(client, csr_block, dataset.folder, blocks, (n_features,), meta=empty)
    y = _joined(client, label_block, dataset.folder, blocks, (), dtype=np.int8)
    return X, y


def _joined(
    client: Any,
    read: Callable[..., Any],
    folder: Path,
    blocks: list[tuple[str, tuple[int, int]]],
    shape: tuple[int, ...],
    **kind: Any,
) -> Any:
    import dask.array as da
    from distributed import wait

    # Keys as of an array that was persisted: there is no task between a block and who uses it.
    name = f"{read.__name__}-{uuid4().hex}"
    futures = {
        (name, k, *(0 for _ in shape)): client.submit(
            read, folder, *rows, key=(name, k, *(0 for _ in shape)), workers=[home], pure=False
        )
        for k, (home, rows) in enumerate(blocks)
    }
    wait(list(futures.values()))
    chunks = (tuple(last - first for _, (first, last) in blocks), *((n,) for n in shape))
    return da.Array(futures, name, chunks, **kind)


def shape(dataset: DataSet) -> tuple[int, int]:
    """Return the rows and columns of a set without reading it."""
    if (dataset.folder / "dense.npy").exists():
        n_rows, n_features = np.load(dataset.folder / "dense.npy", mmap_mode="r").shape
    else:
        n_rows, n_features = (int(n) for n in np.load(dataset.folder / "shape.npy"))
    return n_rows, n_features


def dense_block(folder: Path, first: int, last: int) -> npt.NDArray[np.float32]:
    """Read some rows of a dense set."""
    return np.array(np.load(folder / "dense.npy", mmap_mode="r")[first:last])


def csr_block(folder: Path, first: int, last: int) -> sp.csr_matrix:
    """Read some rows of a sparse set."""
    indptr = np.load(folder / "indptr.npy", mmap_mode="r")[first : last + 1]
    values, columns = (
        np.array(np.load(folder / f"{part}.npy", mmap_mode="r")[indptr[0] : indptr[-1]])
        for part in ("values", "indices")
    )
    n_features = int(np.load(folder / "shape.npy")[1])
    shape = (last - first, n_features)
    X = sp.csr_matrix((values, columns, indptr - indptr[0]), shape=shape, copy=False)
    X.has_canonical_format = True  # as the set has: nobody has to check it again
    return X


def label_block(folder: Path, first: int, last: int) -> npt.NDArray[np.int8]:
    """Read some labels."""
    return np.array(np.load(folder / "labels.npy", mmap_mode="r")[first:last])
