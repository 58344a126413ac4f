"""Which rows are learned from, and which are judged by: test part, folds, validation split."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.studies._errors import StudyError
from pegasos.studies._fields import Fields

__all__ = ["GIVEN", "Rows", "Split", "Splits", "read_splits"]

Rows = npt.NDArray[np.int64]
Split = tuple[Rows, Rows]  # to learn from, to judge by
GIVEN = "given"


@dataclass(frozen=True)
class Splits:
    """How rows are divided. With ``shuffle`` the parts are drawn, else rows keep their order.

    Attributes
    ----------
    shuffle : bool
        Draw with the seed of the repeat, so that all parts have the classes in about the same
        proportion. Without it a test or validation part is the end of the table, and a fold the
        next rows of each class.
    test : float, "given" or None
        The part set aside for the last word: a fraction, or what the data set brings.
    folds : int or None
        Folds of the cross-validation of the training part.
    validation : float or None
        Fraction of the training part that is held out instead.
    """

    shuffle: bool = True
    test: float | str | None = None
    folds: int | None = None
    validation: float | None = None

    @property
    def n_folds(self) -> int:
        """How many splits the cells of a grid are judged by."""
        return self.folds or (0 if self.validation is None else 1)

    def test_split(self, y: Any, seed: int) -> Split:
        """Return the rows of training and test part; ``test`` must be a fraction."""
        assert isinstance(self.test, float)
        return self._part(y, self.test, seed, "test")

    def fold_splits(self, y: Any, seed: int) -> list[Split]:
        """Return the splits of a training part with labels ``y``."""
        if self.validation is not None:
            return [self._part(y, self.validation, seed, "validation")]
        if self.folds is None:
            return []
        from sklearn.model_selection import StratifiedKFold

        random_state = seed if self.shuffle else None
        folds = StratifiedKFold(self.folds, shuffle=self.shuffle, random_state=random_state)
        smallest = np.unique(y, return_counts=True)[1].min()
        if smallest < self.folds:
            raise StudyError(
                f"folds = {self.folds}, but the smallest class has only {smallest} rows to spread "
                "over them",
                "lower folds, or leave that class out with classes under [data]",
            )
        return list(folds.split(np.zeros(len(y)), y))

    def _part(self, y: Any, fraction: float, seed: int, name: str) -> Split:
        from sklearn.model_selection import train_test_split

        try:
            train, rest = train_test_split(
                np.arange(len(y)),
                test_size=fraction,
                shuffle=self.shuffle,
                stratify=y if self.shuffle else None,
                random_state=seed if self.shuffle else None,
            )
        except ValueError as error:
            raise StudyError(
                f"{name} = {fraction:g} cannot be split off {len(y)} rows: {error}",
                "take another fraction, or set shuffle = false under [prepare]",
            ) from None
        return train, rest


def read_splits(prepare: Fields | None, evaluate: Fields | None) -> Splits:
    """Check the keys of [prepare] and [evaluate] that divide the rows."""
    prepare = prepare or Fields({}, ("prepare",))
    evaluate = evaluate or Fields({}, ("evaluate",))
    folds = evaluate.whole("folds", None, at_least=2)
    validation = _fraction(evaluate, "validation")
    if folds is not None and validation is not None:
        raise evaluate.error("validation", "goes without folds; leave one of the two out")
    evaluate.done()
    test: float | str | None
    if prepare.anything("test", None) == GIVEN:
        test = GIVEN
    else:
        test = _fraction(prepare, "test", f', or the text "{GIVEN}"')
    return Splits(prepare.flag("shuffle", True), test, folds, validation)


def _fraction(fields: Fields, name: str, other: str = "") -> float | None:
    value = fields.anything(name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise fields.error(name, f"must be a number between 0 and 1{other}; got {value!r}")
    return float(value)
