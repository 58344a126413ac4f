"""What the text models of liblinear and libsvm have in common: lines of a keyword and values."""

import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from pegasos.io._model_errors import ModelError

__all__ = ["TextModel", "text_number", "whole_labels"]

_LARGEST_LABEL = 2**31 - 1


class TextModel:
    """A text model being read: header lines up to ``end``, and the lines after it."""

    def __init__(self, path: str | os.PathLike[str], package: str, end: str) -> None:
        self.path = Path(path)
        self.package = package
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):  # a pipe or a device might never end
                self.refuse(1, "it is not a file")
            text = self.path.read_text(encoding="ascii")
        except OSError as error:
            raise ModelError(
                f"cannot read {path}: {error.strerror}", "check the name and the permissions"
            ) from None
        except UnicodeDecodeError:
            self.refuse(1, "it is not text")
        if "_" in text.partition(f"\n{end}\n")[2]:  # Python would take 1_0 for a number
            self.refuse(1, "it holds an underscore where numbers are expected")
        self._lines = text.split("\n")
        self._header: dict[str, tuple[int, list[str]]] = {}
        for number, line in enumerate(self._lines, 1):
            keyword, *values = line.split() or [""]
            if keyword == end:
                self._first = number
                return
            if not keyword or keyword in self._header:
                self.refuse(number, f"a line of the header was expected; got {line[:40]!r}")
            self._header[keyword] = (number, values)
        self.refuse(len(self._lines), f"the line {end!r} is missing")

    def refuse(self, line: int, what: str) -> NoReturn:
        """Say what is wrong with a line."""
        raise ModelError(
            f"{self.path}, line {line}: not a model of {self.package}: {what}",
            f"export the model again with {self.package}",
        ) from None

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Return number and words of the lines after the header."""
        for number, line in enumerate(self._lines[self._first :], self._first + 1):
            words = line.split()
            if words:
                yield number, words

    def has(self, keyword: str) -> bool:
        """Tell whether the header has a line of this keyword."""
        return keyword in self._header

    def word(self, keyword: str) -> str:
        """Return the one word of a line."""
        line, values = self._line(keyword)
        if len(values) != 1:
            self.refuse(line, f"{keyword} has {len(values)} values, not 1")
        return values[0]

    def number(self, keyword: str) -> float:
        """Return the one number of a line."""
        return self.as_number(self._line(keyword)[0], self.word(keyword))

    def whole(self, keyword: str, at_least: int) -> int:
        """Return the one whole number of a line."""
        return self.wholes(keyword, 1, at_least)[0]

    def wholes(self, keyword: str, n: int, at_least: int = -_LARGEST_LABEL) -> list[int]:
        """Return the n whole numbers of a line."""
        line, values = self._line(keyword)
        if len(values) != n:
            self.refuse(line, f"{keyword} has {len(values)} values, not {n}")
        try:
            numbers = [int(value) for value in values]
        except ValueError:
            self.refuse(line, f"{keyword} is not made of whole numbers")
        if min(numbers) < at_least or max(numbers) > _LARGEST_LABEL:
            self.refuse(line, f"{keyword} has values outside {at_least}..{_LARGEST_LABEL}")
        return numbers

    def as_number(self, line: int, word: str) -> float:
        """Return a finite number."""
        try:
            number = float(word)
        except ValueError:
            self.refuse(line, f"{word[:40]!r} is not a number")
        if not math.isfinite(number):
            self.refuse(line, f"{word[:40]!r} is not finite")
        return number

    def finish(self, *known: str) -> None:
        """Refuse keywords whose meaning is not known."""
        unknown = set(self._header) - set(known)
        if unknown:
            keyword = min(unknown)
            self.refuse(self._header[keyword][0], f"{keyword[:40]!r} is unknown")

    def _line(self, keyword: str) -> tuple[int, list[str]]:
        if keyword not in self._header:
            self.refuse(self._first, f"{keyword!r} is missing")
        return self._header[keyword]


def text_number(value: Any) -> str:
    """Return the shortest text that reads as exactly this number."""
    return repr(float(value))


def whole_labels(classes: npt.NDArray[Any], package: str) -> list[int]:
    """Return the classes as the whole numbers that text models have for labels."""
    if classes.dtype.kind in "biuf" and np.all(np.abs(classes.astype(float)) <= _LARGEST_LABEL):
        labels = classes.astype(np.int64)
        if np.array_equal(labels, classes):
            return [int(label) for label in labels]
    raise ModelError(
        f"{package} knows whole numbers as labels only; the classes are {classes.tolist()[:5]}",
        "fit the model to numbers, for example with sklearn.preprocessing.LabelEncoder, or use "
        "pegasos.save or ONNX",
    )
