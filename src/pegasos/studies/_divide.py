"""The rows of one subset in one repeat: what is learned from, what is judged by."""

from dataclasses import dataclass
from typing import Any

from pegasos.studies._dataset import Dataset
from pegasos.studies._errors import StudyError
from pegasos.studies._prepare import refuse_bad_values
from pegasos.studies._splits import GIVEN, Split, Splits

__all__ = ["Divided", "divide"]


@dataclass(frozen=True)
class Divided:
    """Data, divided.

    Attributes
    ----------
    X, y : matrix and array
        The training part: all rows if there is no test part.
    X_test, y_test : matrix and array, or None
        The test part.
    folds : list of pairs of row numbers
        Splits of the training part; empty if cells need no judging.
    """

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    folds: list[Split]


def divide(data: Dataset, splits: Splits, seed: int) -> Divided:
    """Divide data; what is drawn is drawn with ``seed``."""
    refuse_bad_values(data.X, data.y)
    X, y, X_test, y_test = data.X, data.y, None, None
    if splits.test == GIVEN:
        if data.X_test is None:
            raise StudyError(
                f'the data has no test part of its own, but [prepare] says test = "{GIVEN}"',
                "set test to a fraction such as 0.2",
            )
        X_test, y_test = data.X_test, data.y_test
    elif splits.test is not None:
        train, test = splits.test_split(y, seed)
        X, y, X_test, y_test = X[train], y[train], X[test], y[test]
    return Divided(X, y, X_test, y_test, splits.fold_splits(y, seed))
