"""Labels, and what the classes are called."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def class_names(labels: Any, names: Mapping[Any, str] | None) -> list[str]:
    """Return what each label is called; itself where it has no name."""
    known = names or {}
    return [str(known.get(label, label)) for label in np.asarray(labels).tolist()]


def as_dense(X: Any) -> npt.NDArray[Any]:
    """Return a few rows as an array, whatever they were."""
    rows: Any = X
    return np.asarray(rows.toarray() if sp.issparse(X) else rows)


def check_rows_and_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Refuse rows without labels and labels without rows."""
    y = np.asarray(y)
    shape = getattr(X, "shape", None)
    if shape is None:
        X = np.asarray(X)
        shape = X.shape
    if len(shape) != 2 or y.shape != (shape[0],) or shape[0] == 0:
        raise ValueError(
            f"X must be a matrix and y a label for each of its rows; got shapes {tuple(shape)} and "
            f"{y.shape}"
        )
    return X, y
