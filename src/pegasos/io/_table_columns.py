"""The columns of a table, one by one: what they hold, and what it becomes."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._data import converted, labels_of
from pegasos.io._errors import DataError
from pegasos.io._table_files import Lines, is_number
from pegasos.io._table_layout import Layout, Wishes
from pegasos.io._table_learned import Learned
from pegasos.io._table_rows import Feature, rows_of_numbers

__all__ = ["Columns", "UncertainError"]


class UncertainError(DataError):
    """A fault that is none if other rows show that the column holds texts."""


class Columns(Layout):
    """The columns of a table.

    Parameters
    ----------
    path, table, lines, wishes, learned
        As in `data_of_table`.
    """

    def __init__(
        self, path: str, table: Any, lines: Lines, wishes: Wishes, learned: Learned
    ) -> None:
        super().__init__(path, table.column_names, wishes)
        self.table = table
        self.lines = lines
        self.learned = learned
        self.unseen: dict[str, npt.NDArray[np.intp]] = {}

    def labels(self) -> npt.NDArray[Any] | None:
        """Return the labels, if there are any."""
        if self.target is None:
            return None
        column = self._column(self.target)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(
                f"{self._place(row, self.target)}: the label is missing",
                "give every row a label, or leave such rows out",
            )
        with self._of_type(self.target):
            values = self._plain(column, self.target)
            if values.dtype.kind == "f" and (bad := ~np.isfinite(values)).any():
                row = int(np.flatnonzero(bad)[0])
                raise DataError(
                    f"{self._place(row, self.target)}: the label is {values[row]}",
                    "give every row a label, or leave such rows out",
                )
            return labels_of(self.path, values)

    def _column(self, j: int) -> Any:
        """Return a column; bytes, which a text with one value that is no UTF-8 is, are refused."""
        import pyarrow as pa

        column = self.table.column(j)
        if not pa.types.is_binary(column.type):
            return column
        for row, value in enumerate(column.to_pylist()):
            if value and not _is_utf8(value):
                raise DataError(
                    f"{self._place(row, j)}: {value[:40]!r} is not UTF-8",
                    "convert the file to UTF-8",
                )
        return column.cast(pa.string())

    def numbers(self) -> tuple[Any, list[str]]:
        """Return rows and names if all columns are plain numbers; else None for the rows."""
        wanted = self.wanted_as_numbers()
        if wanted is None:
            return None, []
        names = [self.names[j] for j in wanted]
        return rows_of_numbers(self.table.select(wanted), self.wishes.dtype), names

    def features(self) -> list[Feature]:
        """Return the columns that are wanted as features."""
        found = [self._feature(j) for j in self.wanted()]
        if not found:
            raise DataError(
                f"{self.path}: there is no column beside the labels", self._one_column()
            )
        return found

    def _one_column(self) -> str:
        if any(";" in name for name in self.names):
            return "the delimiter must be a comma, or a tab with format='tsv'"
        return "check the delimiter and the target"

    def _feature(self, j: int) -> Feature:
        name, column = self.names[j], self._column(j)
        is_text = _is_text(column.type)
        if self.becomes_one_hot(name, is_text):
            return self._one_hot(j, column)
        if is_text:
            raise self._not_a_number(j, column)
        with self._of_type(j):
            values = self._finite(j, self._plain(column, j))
        self.learned.look(j, column, values)
        values = self._filled(j, values)
        with self._of_type(j):
            values = converted(values, self.wishes.dtype, lambda row, _: self._place(row, j))
        return Feature(values, [name])

    @contextlib.contextmanager
    def _of_type(self, j: int) -> Iterator[None]:
        """Mark errors of a column that might hold texts."""
        try:
            yield
        except DataError as error:
            if j == self.target or self.becomes_one_hot(self.names[j], True):
                raise UncertainError(error.message, error.hint) from None
            raise

    def _one_hot(self, j: int, column: Any) -> Feature:
        import pyarrow as pa

        name = self.names[j]
        missing = column.is_null().to_numpy(zero_copy_only=False)
        self._refuse_missing(j, missing)
        texts = column.cast(pa.string())
        begin, wanted = f"{name}=", self.wishes.names
        if wanted is not None:
            wanted = [n.removeprefix(begin) for n in wanted if n.startswith(begin)]
        kinds = self.learned.categories(j, texts, wanted)
        found = pa.compute.index_in(texts, pa.array(kinds, pa.string())).fill_null(-1)
        codes = found.to_numpy()
        unseen = np.flatnonzero((codes < 0) & ~missing)
        if len(unseen):
            self.unseen[name] = unseen
        return Feature(codes, [f"{name}={kind}" for kind in kinds], kinds)

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
            raise DataError(
                f"{self.path}: column {self.names[j]!r} holds {kind}, not numbers or texts",
                "leave the column out, or make numbers of it",
            )
        return np.asarray(column.to_numpy())

    def _not_a_number(self, j: int, column: Any) -> DataError:
        values = column.to_pylist()
        row = next((i for i, v in enumerate(values) if v is not None and not is_number(v)), 0)
        return DataError(
            f"{self._place(row, j)}: {str(values[row])[:40]!r} is not a number",
            "mend the value, or read columns of texts with one_hot=True",
        )

    def _finite(self, j: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.dtype.kind == "f" and (infinite := np.isinf(values)).any():
            row = int(np.flatnonzero(infinite)[0])
            raise DataError(
                f"{self._place(row, j)}: the value is not finite",
                "mend the value, or leave it empty",
            )
        return values

    def _filled(self, j: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.dtype.kind != "f" or not (missing := np.isnan(values)).any():
            return values
        self._refuse_missing(j, missing)
        if not isinstance(self.wishes.missing, str):
            filling = float(self.wishes.missing)
        else:
            filling = self.learned.filling(j, self.wishes.missing, values)
        return np.where(missing, filling, values)

    def _refuse_missing(self, j: int, missing: npt.NDArray[np.bool_]) -> None:
        if self.wishes.missing != "error" or not missing.any():
            return
        row = int(np.flatnonzero(missing)[0])
        raise DataError(
            f"{self._place(row, j)}: the value is missing ({int(missing.sum())} "
            f"{self.learned.extent})",
            self.learned.remedy,
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
