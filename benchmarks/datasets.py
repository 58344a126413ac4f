"""The data of the benchmarks: X in float32, dense or CSR with int32 indices.

y is -1 and +1, or 0 to 9 for digits. A test part has the name of its training part and "-test".

Real data is found through PEGASOS_DATA. What has been read or generated is kept as .npy files in a
cache folder: the next run starts at once, and a fresh process can load it without any detour that
would blur its peak of memory.
"""

import bz2
import gzip
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rcv1_like
import scipy.sparse as sp

Matrix = npt.NDArray[np.float32] | sp.csr_matrix
Labels = npt.NDArray[np.int8]
Read = Callable[[list[Path]], tuple[Matrix, Labels]]

# Part of every cache key: raise it when the preparation of a set changes.
_VERSION = 2
_COV1_ROWS = 522_911  # the training rows of the Pegasos paper
_QUICK_ROWS = 20_000


class MissingDataError(Exception):
    """A file of the data, or what reads it, is not there; the message says which."""


@dataclass(frozen=True)
class DataSet:
    """A set on disk, in the cache."""

    key: str
    folder: Path

    def load(self) -> tuple[Matrix, Labels]:
        y = np.load(self.folder / "labels.npy")
        if (self.folder / "dense.npy").exists():
            return np.load(self.folder / "dense.npy"), y
        values, indices, indptr, shape = (
            np.load(self.folder / f"{part}.npy")
            for part in ("values", "indices", "indptr", "shape")
        )
        X = sp.csr_matrix((values, indices, indptr), shape=tuple(shape), copy=False)
        X.has_canonical_format = True  # checked when it was stored: nobody has to check it again
        return X, y


def default_cache() -> Path:
    return Path(tempfile.gettempdir()) / f"pegasos-benchmarks-{os.getuid()}"


def n_bytes(X: Matrix, y: Labels) -> int:
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return sum(part.nbytes for part in (*parts, y))


def facts(X: Matrix, y: Labels) -> dict[str, Any]:
    return {
        "is_sparse": sp.issparse(X),
        "n_rows": X.shape[0],
        "n_features": X.shape[1],
        "n_nonzeros": int(X.nnz if sp.issparse(X) else (X != 0).sum()),
        "n_bytes": n_bytes(X, y),
    }


def one_vs_rest(y: Labels) -> npt.NDArray[np.float64]:
    """Return the labels -1 and +1 of each binary problem: one, or as many as there are classes."""
    classes = np.unique(y)
    positive = classes[1:] if len(classes) == 2 else classes
    return np.where(y == positive[:, np.newaxis], 1.0, -1.0)


def prepare(name: str, cache: Path, *, quick: bool = False) -> DataSet:
    """Return the set of this name, read or generated if the cache does not have it yet."""
    source = _SOURCES[name]
    paths = [_find(file) for file in source.files]
    stamps = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    identity = repr((name, _VERSION, quick, stamps))
    key = f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    folder = cache / key
    if not folder.exists():
        X, y = source.read_quick(paths) if quick else source.read(paths)
        _store(folder, X, y)
    return DataSet(key, folder)


def _find(file: str) -> Path:
    root = os.environ.get("PEGASOS_DATA")
    if not root:
        raise MissingDataError(f"{file} is needed; set PEGASOS_DATA to the folder that holds it")
    path = Path(root) / file
    if not path.exists():
        raise MissingDataError(f"{file} is not in the folder that PEGASOS_DATA names")
    return path


def _store(folder: Path, X: Matrix, y: Labels) -> None:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Renamed when complete, so that an interrupted run leaves no half set behind.
    part = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        np.save(part / "labels.npy", y.astype(np.int8))
        if sp.issparse(X):
            X.sum_duplicates()
            np.save(part / "values.npy", X.data.astype(np.float32, copy=False))
            np.save(part / "indices.npy", X.indices.astype(np.int32, copy=False))
            np.save(part / "indptr.npy", X.indptr.astype(np.int32, copy=False))
            np.save(part / "shape.npy", np.array(X.shape))
        else:
            np.save(part / "dense.npy", np.ascontiguousarray(X, dtype=np.float32))
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@dataclass(frozen=True)
class _Source:
    files: tuple[str, ...]
    read: Read
    quick: Read | None = None

    def read_quick(self, paths: list[Path]) -> tuple[Matrix, Labels]:
        if self.quick is not None:
            return self.quick(paths)
        X, y = self.read(paths)
        return X[:_QUICK_ROWS], y[:_QUICK_ROWS]


def _cov1(paths: list[Path]) -> tuple[Matrix, Labels]:
    """Class 2 against the rest, columns scaled to [0, 1], rows to unit length, a random part."""
    table = np.loadtxt(paths[0], delimiter=",", skiprows=1, dtype=np.float32)
    X, kind = table[:, :-1], table[:, -1]
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(kind == 2, 1, -1).astype(np.int8)
    some = np.random.default_rng(1).permutation(len(X))[:_COV1_ROWS]
    return X[some], y[some]


def _svmlight(n_features: int, *, dense: bool = False) -> Read:
    """Read with so many features: a part of the rows may lack the last ones."""

    def read(paths: list[Path]) -> tuple[Matrix, Labels]:
        from sklearn.datasets import load_svmlight_file

        with bz2.open(paths[0]) as file:
            X, y = load_svmlight_file(file, n_features=n_features, dtype=np.float32)
        y = np.where(y > 0, 1, -1).astype(np.int8)
        return X.toarray() if dense else sp.csr_matrix(X), y

    return read


def _usps(part: str) -> Read:
    def read(paths: list[Path]) -> tuple[Matrix, Labels]:
        try:
            import h5py
        except ImportError:
            raise MissingDataError("h5py is needed (it comes with the extra 'bench')") from None
        with h5py.File(paths[0]) as file:
            return file[part]["data"][:], file[part]["target"][:].astype(np.int8)

    return read


def _mnist(paths: list[Path]) -> tuple[Matrix, Labels]:
    """Pixels from 0 to 1. The files begin with a header of 16 and of 8 bytes."""
    pixels, digits = (gzip.decompress(path.read_bytes()) for path in paths)
    y = np.frombuffer(digits, dtype=np.int8, offset=8)
    X = np.frombuffer(pixels, dtype=np.uint8, offset=16).reshape(len(y), -1)
    return X.astype(np.float32) / 255, y


def _reviews(paths: list[Path]) -> tuple[Matrix, Labels]:
    """tf-idf of the tokens. A text that comes again under another id is dropped."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    verdicts: dict[str, str] = {}
    for line in paths[0].read_text(encoding="utf-8").splitlines():
        _category, verdict, _id, text = line.split(" ", 3)
        verdicts.setdefault(text, verdict)
    X = TfidfVectorizer(analyzer=str.split, dtype=np.float32).fit_transform(verdicts)
    y = np.array([1 if verdict == "pos" else -1 for verdict in verdicts.values()], dtype=np.int8)
    return sp.csr_matrix(X), y


_SOURCES = {
    "cov1": _Source(("covtype/covtype.csv.gz",), _cov1),
    "a9a": _Source(("adult/adult.trn.bz2",), _svmlight(123)),
    "a9a-test": _Source(("adult/adult.tst.bz2",), _svmlight(123)),
    "reuters": _Source(("reuters/reuters.trn.bz2",), _svmlight(8315)),
    "reuters-test": _Source(("reuters/reuters.tst.bz2",), _svmlight(8315)),
    "ijcnn1": _Source(("ijcnn1/ijcnn1.trn.bz2",), _svmlight(22, dense=True)),
    "ijcnn1-test": _Source(("ijcnn1/ijcnn1.tst.bz2",), _svmlight(22, dense=True)),
    "usps": _Source(("usps.h5",), _usps("train")),
    "usps-test": _Source(("usps.h5",), _usps("test")),
    **{
        f"mnist{suffix}": _Source(
            (f"mnist/{part}-images-idx3-ubyte.gz", f"mnist/{part}-labels-idx1-ubyte.gz"), _mnist
        )
        for suffix, part in {"": "train", "-test": "t10k"}.items()
    },
    "reviews": _Source(("reviews/reviews.txt",), _reviews),
    **{
        name: _Source(
            (),
            lambda _, n_rows=n_rows: rcv1_like.generate(n_rows),
            quick=lambda _: rcv1_like.generate(_QUICK_ROWS),
        )
        for name, n_rows in {"sparse": 1_000_000, "sparse-200k": 200_000}.items()
    },
}
