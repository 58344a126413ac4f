"""Reads one table of a TOML file: types and ranges are checked, and errors name their key."""

import math
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from typing import Any, Final, TypeVar

__all__ = ["REQUIRED", "FieldError", "Fields", "Path", "closest"]

Path = tuple[str | int, ...]
T = TypeVar("T")
D = TypeVar("D")


class _Required:
    """Stands for "there is no default"."""


REQUIRED: Final = _Required()


class FieldError(ValueError):
    """A key of a study file that is wrong.

    ``path`` leads to the key, through names of tables and positions in arrays, so that the line
    can be found; the text says what is wrong, what was there and what would be right.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{_dotted(path)}: {message}" if path else message)
        self.path = path


def closest(name: str, known: Iterable[str]) -> str:
    """Return a remedy for a name that is not known: the closest one, or all there are."""
    known = sorted(known)
    alike = get_close_matches(name, known, n=1)
    if alike:
        return f"did you mean {alike[0]!r}?"
    return f"known are {', '.join(map(repr, known))}" if known else "leave it out"


class Fields:
    """The keys of one table, asked for one by one.

    Every method that returns a value takes the name of the key and what to return where it is
    absent; without a default the key is required.
    """

    def __init__(self, table: dict[str, Any], path: Path = ()) -> None:
        self._table = table
        self._asked: set[str] = set()
        self.path = path

    def __contains__(self, name: str) -> bool:
        """Tell whether the key is there; this counts as asking for it."""
        self._asked.add(name)
        return name in self._table

    def text(
        self,
        name: str,
        default: D | _Required = REQUIRED,
        choices: Collection[str] | None = None,
    ) -> str | D:
        """Return a text, perhaps one of a few."""
        return self._one(name, default, lambda value, path: _text(value, path, choices))

    def number(
        self,
        name: str,
        default: D | _Required = REQUIRED,
        *,
        above: float | None = None,
        at_least: float | None = None,
    ) -> float | D:
        """Return a finite number."""
        return self._one(name, default, lambda value, path: _number(value, path, above, at_least))

    def whole(
        self, name: str, default: D | _Required = REQUIRED, *, at_least: int | None = None
    ) -> int | D:
        """Return a whole number."""
        return self._one(name, default, lambda value, path: _whole(value, path, at_least))

    def flag(self, name: str, default: D | _Required = REQUIRED) -> bool | D:
        """Return true or false."""
        return self._one(name, default, _flag)

    def texts(
        self,
        name: str,
        default: D | _Required = REQUIRED,
        choices: Collection[str] | None = None,
    ) -> tuple[str, ...] | D:
        """Return an array of different texts, at least one."""
        return self._many(name, default, lambda value, path: _text(value, path, choices))

    def numbers(
        self,
        name: str,
        default: D | _Required = REQUIRED,
        *,
        above: float | None = None,
        at_least: float | None = None,
    ) -> tuple[float, ...] | D:
        """Return an array of different finite numbers, at least one."""
        return self._many(name, default, lambda value, path: _number(value, path, above, at_least))

    def wholes(
        self, name: str, default: D | _Required = REQUIRED, *, at_least: int | None = None
    ) -> tuple[int, ...] | D:
        """Return an array of different whole numbers, at least one."""
        return self._many(name, default, lambda value, path: _whole(value, path, at_least))

    def values(self, name: str, default: D | _Required = REQUIRED) -> tuple[Any, ...] | D:
        """Return an array of different values of any kind, at least one."""
        return self._many(name, default, lambda value, path: value)

    def anything(self, name: str, default: Any = REQUIRED) -> Any:
        """Return what stands there, as TOML has it."""
        return self._one(name, default, lambda value, path: value)

    def table(self, name: str) -> "Fields | None":
        """Return a table; None where it is absent."""
        value = self._one(name, None, _table)
        return None if value is None else Fields(value, (*self.path, name))

    def tables(self, name: str) -> "list[Fields]":
        """Return an array of tables; an empty list where it is absent."""
        value = self._one(name, [], _array)
        paths = [(*self.path, name, i) for i in range(len(value))]
        return [Fields(_table(item, path), path) for item, path in zip(value, paths, strict=True)]

    def rest(self) -> dict[str, Any]:
        """Return all keys that nobody has asked for yet; they now count as asked for."""
        rest = {name: value for name, value in self._table.items() if name not in self._asked}
        self._asked.update(rest)
        return rest

    def done(self) -> None:
        """Refuse the keys that nobody has asked for."""
        for name in self._table:
            if name not in self._asked:
                unused = self._asked - self._table.keys()
                raise self.error(name, f"there is no such key here; {closest(name, unused)}")

    def error(self, name: str, message: str) -> FieldError:
        """Return an error about a key, for checks of one's own."""
        return FieldError((*self.path, name), message)

    def _one(self, name: str, default: D | _Required, check: Callable[[Any, Path], T]) -> T | D:
        self._asked.add(name)
        if name in self._table:
            return check(self._table[name], (*self.path, name))
        if isinstance(default, _Required):
            near = get_close_matches(name, self._table.keys() - self._asked, n=1)
            spelt = f" (is {near[0]!r} meant for it?)" if near else ""
            raise self.error(name, f"is missing, and there is no default{spelt}; add it")
        return default

    def _many(
        self, name: str, default: D | _Required, check: Callable[[Any, Path], T]
    ) -> tuple[T, ...] | D:
        return self._one(name, default, lambda value, path: _different(value, path, check))


def _dotted(path: Path) -> str:
    """Write a path as in ``models[0].grid.lam``."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(parts).lstrip(".")


def _array(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise FieldError(path, f"must be an array in [ ]; got {_shown(value)}")
    return value


def _different(value: Any, path: Path, check: Callable[[Any, Path], T]) -> tuple[T, ...]:
    array = _array(value, path)
    if not array:
        raise FieldError(path, "is an empty array; give at least one value")
    values: list[T] = []
    for i, item in enumerate(array):
        checked = check(item, (*path, i))
        if checked in values:
            raise FieldError((*path, i), f"{_shown(item)} is there twice; leave one out")
        values.append(checked)
    return tuple(values)


def _table(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FieldError(path, f"must be a table of keys and values; got {_shown(value)}")
    return value


def _text(value: Any, path: Path, choices: Collection[str] | None) -> str:
    if not isinstance(value, str):
        raise FieldError(path, f'must be a text in " "; got {_shown(value)}')
    if choices is not None and value not in choices:
        raise FieldError(path, f"{_shown(value)} is not known here; {closest(value, choices)}")
    return value


def _number(value: Any, path: Path, above: float | None, at_least: float | None) -> float:
    range_ = _range(above, at_least)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(path, f"must be a number{range_}; got {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    inside = math.isfinite(number)
    inside = inside and (above is None or number > above)
    inside = inside and (at_least is None or number >= at_least)
    if not inside:
        raise FieldError(path, f"must be a finite number{range_}; got {_shown(value)}")
    return number


def _whole(value: Any, path: Path, at_least: int | None) -> int:
    # Beyond 64 bits nothing that is counted here makes sense, and no table holds it.
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    if not is_whole or (at_least is not None and value < at_least):
        range_ = _range(None, at_least)
        raise FieldError(path, f"must be a whole number{range_}; got {_shown(value)}")
    return int(value)


def _flag(value: Any, path: Path) -> bool:
    if not isinstance(value, bool):
        raise FieldError(path, f"must be true or false; got {_shown(value)}")
    return value


def _range(above: float | None, at_least: float | None) -> str:
    if above is not None:
        return f" above {above:g}"
    return "" if at_least is None else f" of at least {at_least:g}"


def _shown(value: Any) -> str:
    """Write a value as short as a message needs it, in TOML's way where the two differ."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, int) and abs(value) >= 2**63:
        return "a number of more than 64 bits"  # Python may refuse to write it out
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
