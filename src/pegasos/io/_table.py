"""Tables become features, labels and names: target, one-hot columns, missing values."""

from typing import Any

import numpy.typing as npt

from pegasos.io._data import Data
from pegasos.io._errors import DataError
from pegasos.io._table_columns import Columns, UncertainError
from pegasos.io._table_files import Lines
from pegasos.io._table_layout import Wishes
from pegasos.io._table_learned import Gathered, Learned
from pegasos.io._table_rows import dense_rows, sparse_rows

__all__ = ["data_of_table", "look_at_table"]


def data_of_table(
    path: str,
    table: Any,
    lines: Lines,
    wishes: Wishes,
    *,
    has_names: bool,
    learned: Learned | None = None,
) -> Data:
    """Return the columns as features and labels.

    Parameters
    ----------
    path : str
        For messages.
    table : pyarrow.Table
        The columns.
    lines : callable
        Where in the file a row is, in words.
    wishes : Wishes
        What was asked for.
    has_names : bool
        Whether the names of the columns are those of the file.
    learned : Learned or None
        If these are not all rows, what is known of all.

    Returns
    -------
    Data
    """
    wishes.check()
    columns = Columns(path, table, lines, wishes, learned or Learned())
    try:
        y = columns.labels()
        X, names = columns.numbers()
        if X is None:
            features = columns.features()
            names = [name for feature in features for name in feature.names]
            if not any(feature.categories for feature in features):
                X = dense_rows(table.num_rows, features, wishes.dtype)
            else:
                X = sparse_rows(table.num_rows, features, wishes.dtype)
                has_names = True  # else nobody could tell which text a column stands for
    except UncertainError as error:  # here the types are those of all rows
        raise DataError(error.message, error.hint) from None
    data = Data(X, y, names if has_names or wishes.names is not None else None)
    data.unseen = columns.unseen
    return data


def look_at_table(
    path: str, table: Any, lines: Lines, wishes: Wishes, gathered: Gathered
) -> npt.NDArray[Any] | None:
    """Gather what has to be known of all rows from some; refuse what `data_of_table` refuses.

    If the types of the columns are not yet those of all rows, an `UncertainError` decides nothing.

    Parameters
    ----------
    path, table, lines, wishes
        As there.
    gathered : Gathered
        What is known so far.

    Returns
    -------
    ndarray or None
        The labels.
    """
    columns = Columns(path, table, lines, wishes, gathered)
    columns.features()
    return columns.labels()
