"""Which labels there are, quickly: two numbers are told apart without sorting."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["different_labels", "two_numbers"]

Labels = npt.NDArray[Any]


def different_labels(y: Labels) -> Labels:
    """Return each label once, sorted."""
    two = two_numbers(y)
    return np.unique(y) if two is None else two[0]


def two_numbers(y: Labels) -> tuple[Labels, npt.NDArray[np.bool_]] | None:
    """Return both labels and which are the larger one, if there are two and both whole numbers."""
    if y.dtype.kind not in "iufb" or len(y) == 0:
        return None
    low, high = y.min(), y.max()
    is_high = y == high
    whole = y.dtype.kind != "f" or (low.is_integer() and high.is_integer())
    if low == high or not whole or not np.all(is_high | (y == low)):
        return None
    return np.array([low, high]), is_high
