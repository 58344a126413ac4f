"""What of a column depends on all of its rows: its categories, and what stands for missing values.

`Learned` is asked when all rows are at hand. Where they come in parts, `Gathered` goes through all
of them first, and `Known` says the same of every part afterwards.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ExactSum", "Gathered", "Known", "Learned"]

_ROWS_AT_ONCE = 1 << 20  # sums of as many numbers below 2^27 are exact
_UNIT = 1127  # every double is a whole multiple of 2^-1127, as written here


class ExactSum:
    """The sum of doubles without any error, so that neither their order nor parts matter."""

    def __init__(self) -> None:
        self._total = 0  # in units of 2^-_UNIT
        self._n = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Add numbers; what is missing (NaN) is left out."""
        for start in range(0, len(values), _ROWS_AT_ONCE):
            part = values[start : start + _ROWS_AT_ONCE].astype(np.float64)
            part = part[~np.isnan(part)]
            self._n += len(part)
            fraction, exponent = np.frexp(part)
            digits = (fraction * 2.0**53).astype(np.int64)
            self._add_digits(digits >> 27, exponent, 27)
            self._add_digits(digits & (2**27 - 1), exponent, 0)

    def _add_digits(
        self, digits: npt.NDArray[np.int64], exponent: npt.NDArray[Any], shift: int
    ) -> None:
        sums = np.bincount(exponent + 1074, weights=digits)
        for place in np.flatnonzero(sums).tolist():
            self._total += int(sums[place]) << (place + shift)

    def mean(self) -> float:
        """Return the double nearest to the mean; 0 of nothing."""
        return self._total / (self._n << _UNIT) if self._n else 0.0


class Learned:
    """Answers from the rows at hand, which are all there are."""

    extent = "in all of this column"
    remedy = "fill them with missing='mean', missing='median' or a number"

    def look(self, j: int, column: Any, values: npt.NDArray[Any]) -> None:
        """See a column of numbers."""

    def filling(self, j: int, how: str, values: npt.NDArray[Any]) -> float:
        """Return what stands for a missing value: "mean" or "median" of column ``j``."""
        if np.isnan(values).all():
            return 0.0  # nothing to take a mean of
        if how == "median":
            return float(np.nanmedian(values))
        total = ExactSum()
        total.add(values)
        return total.mean()

    def categories(self, j: int, texts: Any, wanted: list[str] | None) -> list[str]:
        """Return the categories of column ``j``: those wanted, or the different texts, in order."""
        if wanted is not None:
            return wanted
        return sorted(text for text in texts.unique().to_pylist() if text is not None)


class Gathered(Learned):
    """Answers from a part of the rows, and keeps what is needed to know of all."""

    extent = "in this part of the column"
    remedy = "fill them with missing='mean' or a number"

    def __init__(self, *, with_means: bool) -> None:
        self.with_means = with_means
        self.sums: dict[int, ExactSum] = {}
        self.texts: dict[int, set[str]] = {}
        self.with_missing: set[int] = set()

    def look(self, j: int, column: Any, values: npt.NDArray[Any]) -> None:
        if column.null_count:
            self.with_missing.add(j)
        if self.with_means:
            self.sums.setdefault(j, ExactSum()).add(values)

    def categories(self, j: int, texts: Any, wanted: list[str] | None) -> list[str]:
        found = super().categories(j, texts, wanted)
        self.texts.setdefault(j, set()).update(found)
        return found

    def known(self) -> "Known":
        """Return what has been learned of all parts."""
        fillings = {j: total.mean() for j, total in self.sums.items()}
        return Known(fillings, {j: sorted(texts) for j, texts in self.texts.items()})


class Known(Learned):
    """Answers from what `Gathered` has seen."""

    extent, remedy = Gathered.extent, Gathered.remedy

    def __init__(self, fillings: dict[int, float], texts: dict[int, list[str]]) -> None:
        self.fillings = fillings
        self.texts = texts

    def filling(self, j: int, how: str, values: npt.NDArray[Any]) -> float:
        return self.fillings[j]

    def categories(self, j: int, texts: Any, wanted: list[str] | None) -> list[str]:
        return self.texts[j] if wanted is None else wanted
