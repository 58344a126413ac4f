"""What every set of data is, once it has been read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

__all__ = ["Dataset"]

Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Dataset:
    """Rows and labels.

    Attributes
    ----------
    X, y : matrix of shape (n_rows, n_features), dense or CSR, and array of shape (n_rows,)
        The rows to work with.
    X_test, y_test : same, or None
        The set's own test part.
    names : dict
        What the classes are called, by label; empty if they have no names.
    image_shape : tuple of two ints, or None
        Height and width, if rows are images.
    """

    X: Any
    y: Labels
    X_test: Any = None
    y_test: Labels | None = None
    names: Mapping[Any, str] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None
