"""Types of the columns of tables in text: what pyarrow would say of all rows, from parts of them.

pyarrow takes the first of a row of types that suits all values. A part may be content with an
earlier one than all rows together: whole numbers here, decimals there.
"""

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["ColumnTypes"]


class ColumnTypes:
    """The types that each column has had, part by part.

    Parameters
    ----------
    names : list of str
        Of the columns.
    suits : callable
        Tells whether all values of a column (its position) can be of a type; takes long.
    """

    def __init__(self, names: list[str], suits: Callable[[int, Any], bool]) -> None:
        self.names = names
        self.suits = suits
        self.seen: list[set[Any]] = [set() for _ in names]
        self.has_hex = False  # 0x1F is a whole number, but no decimal

    def see(self, table: Any, text: bytes) -> None:
        """Take note of a part, and of its text."""
        for seen, field in zip(self.seen, table.schema, strict=True):
            seen.add(field.type)
        self.has_hex |= b"0x" in text or b"0X" in text

    def of_all(self) -> list[Any]:
        """Return the type of each column."""
        return [self._of_all(j) for j in range(len(self.names))]

    def unlike(self, types: list[Any], exact: Iterable[int]) -> bool:
        """Tell whether some part was not read as it has to be.

        Whole numbers and decimals are the same numbers, except where it must be exact: there a
        value is not only a number, but also a name.
        """
        import pyarrow as pa

        names = set(exact)
        numbers = {pa.null(), pa.int64(), pa.float64()}
        for j, (seen, kind) in enumerate(zip(self.seen, types, strict=True)):
            same = kind == pa.float64() and j not in names and seen <= numbers
            if not (same or seen <= {kind, pa.null()}):
                return True
        return False

    def _of_all(self, j: int) -> Any:
        import pyarrow as pa

        ladder = _ladder()
        seen = self.seen[j] - {pa.null()}
        if len(seen) <= 1:
            return next(iter(seen), pa.null())
        first = max(ladder.index(kind) for kind in seen)
        for kind in ladder[first:]:
            if self._surely_suits(seen, kind) or self.suits(j, kind):
                return kind
        raise AssertionError("bytes suit everything")

    def _surely_suits(self, seen: set[Any], kind: Any) -> bool:
        import pyarrow as pa

        if kind in (pa.string(), pa.binary()):
            return True  # the ladder has no text below bytes that are none
        return not self.has_hex and seen <= {pa.int64(), pa.float64()} and kind == pa.float64()


def _ladder() -> list[Any]:
    """Return the types that pyarrow tries, in its order."""
    import pyarrow as pa

    return [
        pa.null(),
        pa.int64(),
        pa.bool_(),
        pa.date32(),
        pa.time32("s"),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.timestamp("s", "UTC"),
        pa.timestamp("ns", "UTC"),
        pa.float64(),
        pa.string(),
        pa.binary(),
    ]
