"""Tables become features, labels and names: target, one-hot columns, missing values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data, converted, labels_of
from pegasos.io._errors import DataError
from pegasos.io._table_files import Lines, is_number

__all__ = ["Wishes", "data_of_table"]

_ROWS_AT_ONCE = 16_384  # written to X while they are in the cache
_FILLINGS: dict[str, Any] = {"mean": np.nanmean, "median": np.nanmedian}


@dataclass(frozen=True)
class Wishes:
    """What the caller of `read` asked for: ``target``, ``dtype``, ``one_hot`` and so on."""

    target: str | int | None
    dtype: npt.DTypeLike
    one_hot: bool | Sequence[str]
    missing: str | float
    names: Sequence[str] | None

    def check(self) -> None:
        if isinstance(self.missing, str) and self.missing not in ("error", *_FILLINGS):
            raise DataError(
                f"missing={self.missing!r} is not known",
                "use 'error', 'mean', 'median' or a number",
            )


def data_of_table(path: str, table: Any, lines: Lines, wishes: Wishes, *, has_names: bool) -> Data:
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

    Returns
    -------
    Data
    """
    wishes.check()
    columns = _Columns(path, table, lines, wishes)
    y = columns.labels()
    features = columns.features()
    names = [name for feature in features for name in feature.names]
    if not any(feature.categories for feature in features):
        X = _dense(table.num_rows, features, wishes.dtype)
    else:
        X = _sparse(table.num_rows, features, wishes.dtype)
        has_names = True  # else nobody could tell which text a column stands for
    return Data(X, y, names if has_names or wishes.names is not None else None)


@dataclass(frozen=True)
class _Feature:
    """A column: its values; or, one-hot, the numbers of its categories (-1: none of them)."""

    values: npt.NDArray[Any]
    names: list[str]
    categories: list[str] | None = None


class _Columns:
    def __init__(self, path: str, table: Any, lines: Lines, wishes: Wishes) -> None:
        self.path = path
        self.table = table
        self.lines = lines
        self.wishes = wishes
        self.names: list[str] = table.column_names
        self.target = self._target()

    def _target(self) -> int | None:
        target, n = self.wishes.target, len(self.names)
        if target is None:
            return None
        if isinstance(target, str):
            if target not in self.names:
                raise self._no_column(target, "target=None if there are no labels")
            return self.names.index(target)
        if not -n <= target < n:
            raise DataError(
                f"{self.path}: there is no column {target}, as there are {n}",
                "count from 0, or from -1 for the last",
            )
        return target % n

    def _no_column(self, name: str, otherwise: str) -> DataError:
        some = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
        return DataError(f"{self.path}: there is no column {name!r}", f"it has {some}; {otherwise}")

    def labels(self) -> npt.NDArray[Any] | None:
        if self.target is None:
            return None
        column = self.table.column(self.target)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(
                f"{self._place(row, self.target)}: the label is missing",
                "give every row a label, or leave such rows out",
            )
        return labels_of(self.path, self._plain(column, self.target))

    def features(self) -> list[_Feature]:
        found = [self._feature(j) for j in self._wanted() if j != self.target]
        if not found:
            raise DataError(
                f"{self.path}: there is no column beside the labels", self._one_column()
            )
        return found

    def _one_column(self) -> str:
        if any(";" in name for name in self.names):
            return "the delimiter must be a comma, or a tab with format='tsv'"
        return "check the delimiter and the target"

    def _wanted(self) -> list[int]:
        """Return the columns to be read, in order: all, or those that the names are of."""
        if isinstance(self.wishes.one_hot, Sequence):
            for name in self.wishes.one_hot:
                if name not in self.names:
                    raise self._no_column(name, "one_hot= names columns")
        if self.wishes.names is None:
            return list(range(len(self.names)))
        wanted: list[int] = []
        for name in self.wishes.names:
            column = name if name in self.names else name.partition("=")[0]
            if column not in self.names:
                raise self._no_column(name, "all features are needed")
            if (j := self.names.index(column)) not in wanted:
                wanted.append(j)
        return wanted

    def _feature(self, j: int) -> _Feature:
        name, column = self.names[j], self.table.column(j)
        is_text = _is_text(column.type)
        if self._becomes_one_hot(name, is_text):
            return self._one_hot(j, column)
        if is_text:
            raise self._not_a_number(j, column)
        values = self._filled(j, self._plain(column, j))
        values = converted(values, self.wishes.dtype, lambda row, _: self._place(row, j))
        return _Feature(values, [name])

    def _becomes_one_hot(self, name: str, is_text: bool) -> bool:
        one_hot, names = self.wishes.one_hot, self.wishes.names
        if names is not None and name not in names:
            return True  # what is wanted of this column are its texts, as in "town=Pisa"
        return name in one_hot if isinstance(one_hot, Sequence) else one_hot and is_text

    def _one_hot(self, j: int, column: Any) -> _Feature:
        import pyarrow as pa

        name = self.names[j]
        self._refuse_missing(j, column.is_null().to_numpy(zero_copy_only=False))
        texts = column.cast(pa.string())
        if self.wishes.names is None:
            kinds = sorted(kind for kind in texts.unique().to_pylist() if kind is not None)
        else:
            begin = f"{name}="
            kinds = [n.removeprefix(begin) for n in self.wishes.names if n.startswith(begin)]
        codes = pa.compute.index_in(texts, pa.array(kinds, pa.string())).fill_null(-1)
        return _Feature(codes.to_numpy(), [f"{name}={kind}" for kind in kinds], kinds)

    def _plain(self, column: Any, j: int) -> npt.NDArray[Any]:
        """Return numbers or texts; what is missing is NaN or None."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
            kind = column.type
        if pa.types.is_boolean(kind):
            column = column.cast(pa.int8())
        elif pa.types.is_decimal(kind) or pa.types.is_float16(kind) or pa.types.is_null(kind):
            column = column.cast(pa.float64())
        elif pa.types.is_large_string(kind) or pa.types.is_string(kind):
            return np.array(column.to_pylist(), dtype=object)
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            if pa.types.is_binary(kind):
                raise self._not_utf8(j, column)
            raise DataError(
                f"{self.path}: column {self.names[j]!r} holds {kind}, not numbers or texts",
                "leave the column out, or make numbers of it",
            )
        return np.asarray(column.to_numpy())

    def _not_utf8(self, j: int, column: Any) -> DataError:
        values = column.to_pylist()
        row = next(i for i, value in enumerate(values) if value and not _is_utf8(value))
        return DataError(
            f"{self._place(row, j)}: {values[row][:40]!r} is not UTF-8", "convert the file to UTF-8"
        )

    def _not_a_number(self, j: int, column: Any) -> DataError:
        values = column.to_pylist()
        row = next((i for i, v in enumerate(values) if v is not None and not is_number(v)), 0)
        return DataError(
            f"{self._place(row, j)}: {str(values[row])[:40]!r} is not a number",
            "mend the value, or read columns of texts with one_hot=True",
        )

    def _filled(self, j: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.dtype.kind != "f" or np.isfinite(values).all():
            return values
        missing = np.isnan(values)
        infinite = np.isinf(values)
        if infinite.any():
            row = int(np.flatnonzero(infinite)[0])
            raise DataError(
                f"{self._place(row, j)}: the value is not finite",
                "mend the value, or leave it empty",
            )
        if not missing.any():
            return values
        self._refuse_missing(j, missing)
        if not isinstance(self.wishes.missing, str):
            filling = float(self.wishes.missing)
        elif missing.all():
            filling = 0.0  # nothing to take a mean of
        else:
            filling = float(_FILLINGS[self.wishes.missing](values))
        return np.where(missing, filling, values)

    def _refuse_missing(self, j: int, missing: npt.NDArray[np.bool_]) -> None:
        if self.wishes.missing != "error" or not missing.any():
            return
        row = int(np.flatnonzero(missing)[0])
        raise DataError(
            f"{self._place(row, j)}: the value is missing, as are {int(missing.sum())} in all of "
            "this column",
            "fill them with missing='mean', missing='median' or a number",
        )

    def _place(self, row: int, j: int) -> str:
        return f"{self.path}{self.lines(row)}, column {j + 1} ({self.names[j]})"


def _is_utf8(value: bytes) -> bool:
    return "\ufffd" not in value.decode("utf-8", "replace")


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _dense(n_rows: int, features: list[_Feature], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    X = np.empty((n_rows, len(features)), dtype=dtype)
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        for j, feature in enumerate(features):
            X[rows, j] = feature.values[rows]
    return X


def _sparse(n_rows: int, features: list[_Feature], dtype: npt.DTypeLike) -> Any:
    """Return a CSR matrix without the zeros."""
    import scipy.sparse as sp

    blocks = []
    for feature in features:
        if feature.categories is None:
            blocks.append(sp.csc_matrix(feature.values[:, np.newaxis]))
            continue
        rows = np.flatnonzero(feature.values >= 0)
        places = (rows, feature.values[rows])
        shape = (n_rows, len(feature.categories))
        blocks.append(sp.csc_matrix((np.ones(len(rows), dtype=dtype), places), shape=shape))
    X = sp.csr_matrix(sp.hstack(blocks, format="csc"))
    X.sort_indices()
    return X
