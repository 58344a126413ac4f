"""Numbers as the user writes them: what is wrong with one is said with the option it belongs to."""

from collections.abc import Callable
from math import inf, isfinite
from typing import Any

from pegasos._errors import MendableError

__all__ = ["LARGEST", "number", "number_of", "whole", "whole_of"]

LARGEST = 2**63 - 1  # what a model file can hold, and no run will reach


def number(text: str, flag: str, above: float = -inf, example: str = "0.001") -> float:
    """Return a finite number above another."""
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not isfinite(value) or value <= above:
        what = "a number" if above == -inf else f"a number above {above:g}"
        raise MendableError(
            f"{flag} {_shown(text)}: this is not {what}", f"write {what}, as in {flag} {example}"
        )
    return value


def whole(text: str, flag: str, low: int = 1, high: int = LARGEST, example: int = 3) -> int:
    """Return a whole number within bounds."""
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        to = "on" if high == LARGEST and value <= high else f"to {high}"
        raise MendableError(
            f"{flag} {_shown(text)}: this is not a whole number from {low} {to}",
            f"write one, as in {flag} {example}",
        )
    return value


def _shown(text: str) -> str:
    return text or repr(text)


class _SaidAsItIs(Exception):  # noqa: N818 - what it does
    """A complaint around which typer, which takes any ValueError for its own, puts no words."""

    def __init__(self, error: MendableError) -> None:
        super().__init__(str(error))
        self.message = error.message
        self.hint = error.hint


def _parser(read: Callable[..., Any], flag: str, **bounds: Any) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:  # a text, or a default that is a number already
        try:
            return read(str(value), flag, **bounds)
        except MendableError as error:
            raise _SaidAsItIs(error) from None

    return parse


def number_of(flag: str, above: float = -inf, example: str = "1.5") -> Callable[[Any], Any]:
    """Return what makes a number of the text of an option."""
    return _parser(number, flag, above=above, example=example)


def whole_of(
    flag: str, low: int = 1, high: int = LARGEST, example: int = 3
) -> Callable[[Any], Any]:
    """Return what makes a whole number of the text of an option."""
    return _parser(whole, flag, low=low, high=high, example=example)
