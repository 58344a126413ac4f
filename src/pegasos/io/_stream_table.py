"""Chunks of tables, of text or of parquet: labels, categories and means are those of all rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from pegasos.io._data import Data, is_sparse
from pegasos.io._errors import DataError
from pegasos.io._stream_chunks import LabelCounts, StreamOptions
from pegasos.io._stream_files import SourceFile
from pegasos.io._table import data_of_table, look_at_table
from pegasos.io._table_columns import UncertainError
from pegasos.io._table_files import Lines
from pegasos.io._table_layout import Wishes
from pegasos.io._table_learned import Gathered, Known

__all__ = ["TableChunks"]


class TableChunks(ABC):
    """Chunks of tables.

    Parameters
    ----------
    files : list of SourceFile
        The files; their columns must have the same names.
    options : StreamOptions
        What was asked for.
    """

    has_names = True
    zero_based: bool | None = None  # tables have no indices

    def __init__(self, files: list[SourceFile], options: StreamOptions) -> None:
        self.files = files
        self.options = options
        self.wishes = Wishes(
            options.target, options.dtype, options.one_hot, options.missing, options.names
        )
        self.names: list[str] | None = None
        self.n_features = 0
        self.begin()

    @abstractmethod
    def refusal(self) -> DataError | None:
        """Return why the pieces cannot be read in any order, if so."""

    @abstractmethod
    def pieces(self) -> Iterator[Any]:
        """Yield all pieces in order."""

    @abstractmethod
    def tables(self, piece: Any) -> Iterator[tuple[Any, Lines]]:
        """Yield the rows of a piece, as tables that are not too large, and where they are."""

    @abstractmethod
    def settle(self, exact: set[int], with_missing: set[int]) -> bool:
        """Decide on the types of the columns when all have been seen.

        Parameters
        ----------
        exact : set of int
            The columns whose values are names: labels and categories.
        with_missing : set of int
            The other columns that lack values somewhere.

        Returns
        -------
        bool
            Whether no part has to be read in another way than it was.
        """

    @abstractmethod
    def empty(self) -> Any:
        """Return a table without rows, of the types that were decided on."""

    def begin(self) -> None:
        self.labels = None if self.options.target is None else LabelCounts()
        self._gathered = Gathered(with_means=self.options.missing == "mean")
        self._known: Known | None = None
        self._doubt: UncertainError | None = None  # a fault, unless other rows show that it is none

    def look(self, piece: Any) -> int:
        n_rows = 0
        for table, lines in self.tables(piece):
            n_rows += table.num_rows
            try:
                y = look_at_table(piece.path, table, lines, self.wishes, self._gathered)
            except UncertainError as error:
                self._doubt = self._doubt or error
                continue
            if self.labels is not None and y is not None:
                self.labels.add(y)
        return n_rows

    def conclude(self) -> bool:
        exact = set(self._gathered.texts)
        if self.options.target is not None:
            exact.add(self._target())
        if not self.settle(exact, self._gathered.with_missing):
            return False
        if self._doubt is not None:
            raise DataError(self._doubt.message, self._doubt.hint)
        self._known = self._gathered.known()
        nothing = self._data(self.files[0].path, self.empty(), lambda row: "")
        self.n_features, self.names = nothing.X.shape[1], nothing.names
        return True

    def _target(self) -> int:
        names, target = self.empty().column_names, self.options.target
        return names.index(target) if isinstance(target, str) else range(len(names))[target or 0]

    def data(self, piece: Any, n_rows: int) -> Data:
        tables = self.tables(piece)
        parts = (self._data(piece.path, table, lines) for table, lines in tables)
        first = next(parts)
        if first.X.shape[0] == n_rows:
            return first
        X = _rows_of(first.X, n_rows)
        ys = [] if first.y is None else [first.y]
        for part in parts:
            X.add(part.X)
            if part.y is not None:
                ys.append(part.y)
        return Data(X.all(), np.concatenate(ys) if ys else None, first.names)

    def _data(self, path: str, table: Any, lines: Lines) -> Data:
        return data_of_table(
            path, table, lines, self.wishes, has_names=self.has_names, learned=self._known
        )


class _DenseRows:
    """An array that is filled part by part: they are never there twice."""

    def __init__(self, first: Any, n_rows: int) -> None:
        self._X = np.empty((n_rows, first.shape[1]), dtype=first.dtype)
        self._n = 0
        self.add(first)

    def add(self, X: Any) -> None:
        self._X[self._n : self._n + len(X)] = X
        self._n += len(X)

    def all(self) -> Any:
        return self._X


class _SparseRows:
    def __init__(self, first: Any, n_rows: int) -> None:
        self._parts = [first]

    def add(self, X: Any) -> None:
        self._parts.append(X)

    def all(self) -> Any:
        import scipy.sparse as sp

        X: Any = sp.vstack(self._parts, format="csr")
        X.has_canonical_format = True  # as all parts have
        return X


def _rows_of(first: Any, n_rows: int) -> _DenseRows | _SparseRows:
    return _SparseRows(first, n_rows) if is_sparse(first) else _DenseRows(first, n_rows)
