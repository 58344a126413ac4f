"""A fold of the cross-validated grids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegasos._validation import Floats

RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, rows to judge by, and the weights of all rows while learning."""

    n_rows: int  # of the data
    train: RowNumbers
    test: RowNumbers
    drawn: RowNumbers  # the training rows of positive weight, in order
    weight: Floats | None
    absent: RowNumbers  # classes that the drawn rows do not have
