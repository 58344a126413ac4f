"""Small files that a user of the program may have."""

import gzip

import numpy as np
from sklearn.datasets import load_iris

from pegasos.io import write

PEOPLE = """age,town,works,income
31,Pisa,1,low
?,Bari,0,high
47,Pisa,1,high
22,Roma,1,low
25,Pisa,0,low
61,Bari,1,high
"""
IRIS_NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def iris():
    """Return three classes of flowers, by name, in an order that is not sorted."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    return X[order].astype(np.float32), labels[order]


def write_files(folder):
    """Write the same flowers in every format that the program reads; return the names."""
    X, labels = iris()
    numbers = np.unique(labels, return_inverse=True)[1]
    for name in ("iris.csv", "iris.tsv", "iris.parquet", "iris.arrow"):
        write(folder / name, X, labels, IRIS_NAMES, target="species")
    for name in ("iris.svm", "iris.svm.bz2", "iris.svm.zst", "iris.npz", "iris.h5"):
        write(folder / name, X, numbers)
    np.save(folder / "iris.npy", np.column_stack([X, numbers]))
    (folder / "iris.csv.gz").write_bytes(gzip.compress((folder / "iris.csv").read_bytes()))
    pixels = np.clip(X * 10, 0, 255).astype(np.uint8).reshape(-1, 2, 2)
    (folder / "iris-images-idx3-ubyte").write_bytes(_idx(pixels))
    (folder / "iris-labels-idx1-ubyte").write_bytes(_idx(numbers.astype(np.uint8)))
    (folder / "people.csv").write_text(PEOPLE)
    return [path.name for path in sorted(folder.glob("iris*")) if "labels" not in path.name]


def _idx(array):
    header = bytes([0, 0, 8, array.ndim])
    return header + b"".join(size.to_bytes(4, "big") for size in array.shape) + array.tobytes()
