"""Fitted models of every kind, and what it means that two are the same."""

import json
import warnings
from hashlib import sha256

import numpy as np
import safetensors.numpy
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosCV,
    KernelPerceptronClassifier,
    PegasosClassifier,
    PegasosCV,
    PerceptronClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 5))
Y2 = (X[:, 0] + 0.3 * RNG.standard_normal(90) > 0).astype(int)
Y3 = np.array(["ant", "bee", "cat"])[Y2 + (X[:, 1] > 0.5)]
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)

CASES = {
    "pegasos": (PegasosClassifier(max_steps=300, tol=None, random_state=0), X, Y2),
    "pegasos log": (PegasosClassifier(0.01, loss="log", max_steps=300, tol=None), X, Y3),
    "pegasos projected": (PegasosClassifier(project=True, average=None, max_steps=200), X, Y2),
    "sdca": (PegasosClassifier(solver="sdca", random_state=0, warm_start=True), X, Y3),
    "sdca of float32": (PegasosClassifier(solver="sdca", loss="log"), X.astype("f"), Y2),
    "perceptron": (PerceptronClassifier(max_iter=5, random_state=0), X, Y3),
    "perceptron mean": (PerceptronClassifier(average="uniform", max_iter=3), X, Y2),
    "rbf": (KernelPegasosClassifier(max_steps=300, tol=None, random_state=0), X, Y3),
    "rbf of float32": (KernelPegasosClassifier(max_steps=300, tol=None), X.astype("f"), Y2),
    "rbf of csr_array": (KernelPegasosClassifier(solver="sdca"), sp.csr_array(X * (X > 0)), Y3),
    "poly of csr_matrix": (
        KernelPegasosClassifier(0.1, kernel="poly", degree=2, coef0=1, loss="log", solver="sdca"),
        sp.csr_matrix(X * (X > 0), dtype=np.float32),
        Y2,
    ),
    "indefinite": (
        KernelPegasosClassifier(1, kernel="poly", coef0=-1, max_steps=50, average=None),
        X,
        Y3,
    ),
    "linear kernel": (KernelPegasosClassifier(kernel="linear", max_steps=200, tol=None), X, Y2),
    "rbf and a constant": (KernelPegasosClassifier(coef0=1, solver="sdca", random_state=0), X, Y3),
    "linear kernel and a constant": (
        KernelPegasosClassifier(0.1, kernel="linear", coef0=2, solver="sdca", random_state=0),
        X,
        Y2,
    ),
    "precomputed": (KernelPegasosClassifier(kernel="precomputed", max_steps=200), X @ X.T, Y3),
    "kernel perceptron": (KernelPerceptronClassifier(random_state=0), X, Y3),
    "kernel perceptron mean": (KernelPerceptronClassifier(average="uniform", gamma=1.0), X, Y2),
    "grid": (PegasosCV((0.01, 0.1), steps=(50, 100), cv=3, random_state=0), X, Y3),
    "kernel grid": (
        KernelPegasosCV(
            np.array([0.01, 0.1]), steps=[50], gammas=("scale", 1.0), losses=("log",), cv=3
        ),
        X,
        Y2,
    ),
    "grid without refit": (PegasosCV((0.1, 1.0), steps=(50,), refit=False, cv=3), X, Y2),
    "imputer, scaler, model": (
        make_pipeline(SimpleImputer(), StandardScaler(), PegasosClassifier(solver="sdca")),
        HOLES,
        Y3,
    ),
    "two scalers, kernel": (
        make_pipeline(
            MinMaxScaler((-1, 1), clip=True), MaxAbsScaler(), KernelPegasosClassifier(solver="sdca")
        ),
        X.astype("f"),
        Y2,
    ),
    "scaler of sparse rows": (
        make_pipeline(StandardScaler(with_mean=False), PerceptronClassifier(max_iter=3)),
        sp.csr_matrix(X),
        Y2,
    ),
    "scaler that does nothing, grid": (
        make_pipeline(
            StandardScaler(with_mean=False, with_std=False), PegasosCV((0.1,), steps=(20,))
        ),
        X,
        Y2,
    ),
}


def fitted(name):
    """Return a new fitted model, and the rows it has learned from."""
    from sklearn.base import clone

    model, rows, labels = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps: nothing converges
        return clone(model).fit(rows, labels), rows


def assert_same(a, b, path="model"):
    """Two values are the same to the last bit: of the same type, and all they hold.

    Only a single NumPy number counts as the Python number that it is.
    """
    a, b = (value.item() if isinstance(value, np.generic) else value for value in (a, b))
    assert type(a) is type(b), (path, a, b)
    if isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            assert_same(a[key], b[key], f"{path}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), path
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            assert_same(left, right, f"{path}[{i}]")
    elif sp.issparse(a):
        assert a.shape == b.shape, path
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(a, part), getattr(b, part), f"{path}.{part}")
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, path
        np.testing.assert_array_equal(a, b, err_msg=path)
    elif a is None or isinstance(a, str | bool | int):
        assert a == b, path
    elif isinstance(a, float):
        assert a == b or (np.isnan(a) and np.isnan(b)), path
    elif isinstance(a, np.dtype | np.random.Generator):
        pass
    else:
        assert_same(by_name(vars(a)), by_name(vars(b)), f"{path}.{type(a).__name__}")


def by_name(attributes):
    """Return attributes in an order that does not depend on when they were set."""
    return dict(sorted(attributes.items()))


def opened(content):
    """Return header and arrays of a model file, by the description in docs/model_files.md."""
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    arrays = {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    return json.loads(metadata["model"]), by_name(arrays)


def closed(header, arrays, **metadata):
    """Return a model file with right checksums, whatever it says."""
    names = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32"}
    header["arrays"] = {
        name: {
            "dtype": names.get(array.dtype.name, "?"),
            "shape": list(array.shape),
            "sha256": sha256(array.tobytes()).hexdigest(),
        }
        for name, array in sorted(arrays.items())
    }
    text = json.dumps(header)
    about = {
        "format": "pegasos-model",
        "version": "1",
        "model": text,
        "sha256": sha256(text.encode()).hexdigest(),
    }
    return safetensors.numpy.save(arrays, about | metadata)


def assert_same_rows(found, expected):
    """Compare rows bit by bit, whether they are sparse or not."""
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.dtype == expected.dtype
    np.testing.assert_array_equal(dense, expected)
