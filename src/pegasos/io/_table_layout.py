"""What was asked for of a table, and which of its columns that means."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from pegasos.io._errors import DataError

__all__ = ["Layout", "Wishes"]

_FILLINGS = ("mean", "median")


@dataclass(frozen=True)
class Wishes:
    """What the caller of `read` asked for: ``target``, ``dtype``, ``one_hot`` and so on."""

    target: str | int | None
    dtype: npt.DTypeLike
    one_hot: bool | Sequence[str]
    missing: str | float
    names: Sequence[str] | None

    def check(self) -> None:
        """Refuse what is not known."""
        if isinstance(self.missing, str) and self.missing not in ("error", *_FILLINGS):
            raise DataError(
                f"missing={self.missing!r} is not known",
                "use 'error', 'mean', 'median' or a number",
            )


class Layout:
    """The columns that are wanted, by their names.

    Parameters
    ----------
    path : str
        For messages.
    names : list of str
        Of all columns.
    wishes : Wishes
        What was asked for.
    """

    def __init__(self, path: str, names: list[str], wishes: Wishes) -> None:
        self.path = path
        self.names = names
        self.wishes = wishes
        # Looked up by name: there may be many, and as many are asked for.
        self._places = {name: j for j, name in reversed(list(enumerate(names)))}
        self._asked_for = None if wishes.names is None else frozenset(wishes.names)
        self.target = self._target()

    def _target(self) -> int | None:
        target, n = self.wishes.target, len(self.names)
        if target is None:
            return None
        if isinstance(target, str):
            if target not in self._places:
                raise self._no_column(target, "target=None if there are no labels")
            return self._places[target]
        if not -n <= target < n:
            raise DataError(
                f"{self.path}: there is no column {target}, as there are {n}",
                "count from 0, or from -1 for the last",
            )
        return target % n

    def _no_column(self, name: str, otherwise: str) -> DataError:
        some = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
        return DataError(f"{self.path}: there is no column {name!r}", f"it has {some}; {otherwise}")

    def wanted(self) -> list[int]:
        """Return the columns of the features, in order: all, or those that the names are of."""
        if isinstance(self.wishes.one_hot, Sequence):
            for name in self.wishes.one_hot:
                if name not in self._places:
                    raise self._no_column(name, "one_hot= names columns")
        if self.wishes.names is None:
            return [j for j in range(len(self.names)) if j != self.target]
        wanted: dict[int, None] = {}  # in the order in which they are named, each once
        for name in self.wishes.names:
            column = name if name in self._places else name.partition("=")[0]
            if column not in self._places:
                raise self._no_column(name, "all features are needed")
            wanted[self._places[column]] = None
        return [j for j in wanted if j != self.target]

    def wanted_as_numbers(self) -> list[int] | None:
        """Return the same, if nothing has to become 0 and 1 where all columns are numbers."""
        wanted = self.wanted()
        if not wanted or any(self.becomes_one_hot(self.names[j], is_text=False) for j in wanted):
            return None
        return wanted

    def becomes_one_hot(self, name: str, is_text: bool) -> bool:
        """Tell whether a column, of texts or not, becomes columns of 0 and 1."""
        one_hot = self.wishes.one_hot
        if self._asked_for is not None and name not in self._asked_for:
            return True  # what is wanted of this column are its texts, as in "town=Pisa"
        return name in one_hot if isinstance(one_hot, Sequence) else one_hot and is_text
