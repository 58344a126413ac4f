"""Rows for a model: the columns of a file are matched to the features it was fitted to."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegasos._errors import MendableError
from pegasos.cli._output import say
from pegasos.cli._portrait import parts_of, refuse_unfitted
from pegasos.cli._reading import TABLES, Reading

if TYPE_CHECKING:
    from pegasos.io import Data

__all__ = ["Features", "ModelFile", "quietly", "read_for", "same_labels"]

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that 'pegasos fit' has written.")
]

_TEXT_TABLES = ("csv", "tsv")
_NUMBERED = re.compile(r"f\d+(=.*)?", re.DOTALL)  # what columns without names are called


@dataclass(frozen=True)
class Features:
    """What the rows of a model must be like.

    Attributes
    ----------
    names : list of str or None
        Names of the features, if they are known.
    number : int
        How many there are.
    fills : bool
        Whether the model fills in values that are missing.
    """

    names: list[str] | None
    number: int
    fills: bool

    @classmethod
    def of(cls, model: Any) -> "Features":
        """Return what a fitted model says about its features."""
        first = parts_of(model)[0]
        names = getattr(first, "feature_names_in_", None)
        return cls(
            names=None if names is None else [str(name) for name in names],
            number=int(model.n_features_in_),
            fills=type(first).__name__ == "SimpleImputer",
        )

    def read(
        self, path: str, reading: Reading, *, target: str | int | None, n_jobs: int = -1
    ) -> "Data":
        """Read the rows of a file with the features of the model, in its order."""
        names = self.names if self._goes_by_names(path, reading) else None
        try:
            data = reading.read(
                path,
                target=target,
                names=names,
                missing=float("nan") if self.fills else "error",
                n_jobs=n_jobs,
            )
        except MendableError as error:
            raise MendableError(error.message, self._hint(error.hint)) from None
        if names is not None and data.names != names:
            raise MendableError(
                f"{path}: the labels are taken from a column that is a feature of the model",
                "name the column of the labels with --target",
            )
        if data.X.shape[1] < self.number and reading.guesses_first_index(path):
            say("note", f"{path}: {data.X.shape[1]} of {self.number} features occur")
            say("hint", "if its indices begin with 0, and 0 itself is not there, say --zero-based")
        return data._replace(X=self._fitted_to(path, data.X, target))

    def _goes_by_names(self, path: str, reading: Reading) -> bool:
        kind = reading.kind(path)
        if self.names is None or kind not in TABLES:
            return False
        has_names = reading.header or kind not in _TEXT_TABLES
        return has_names or all(_NUMBERED.fullmatch(name) for name in self.names)

    def _hint(self, hint: str) -> str:
        """Return a hint without options that only `fit` has."""
        if "--impute" in hint:
            return "mend the file, or fit the model with --impute: then it fills them itself"
        return "mend the value: the model takes numbers here" if "--one-hot" in hint else hint

    def _fitted_to(self, path: str, X: Any, target: str | int | None) -> Any:
        from pegasos.io._data import is_sparse

        found = X.shape[1]
        if found == self.number:
            return X
        if is_sparse(X) and found < self.number:
            # Text for sparse rows does not tell of columns at the end that are all zeros.
            padded = X.copy()
            padded.resize((X.shape[0], self.number))
            return padded
        if is_sparse(X):  # their weights would be 0: no row of the fit had them
            say("note", f"{path}: the model has {self.number} features; those beyond are ignored")
            return X[:, : self.number]
        hint = "give it rows like those it was fitted to"
        if found == self.number + 1 and target is None:
            hint = "if a column holds the labels, name it with --target, as in --target -1"
        raise MendableError(
            f"{path}: there are {found} features; the model has {self.number}", hint
        )


def read_for(model_path: Path, path: str, reading: Reading, *, needs_labels: bool) -> Any:
    """Return a model, and the rows of a file with its features."""
    from pegasos import load

    reading.refuse_idle(path)
    model = load(model_path)
    refuse_unfitted(model, model_path)
    target = reading.place_of_labels
    if target is None and needs_labels:
        target = -1
    return model, Features.of(model).read(path, reading, target=target)


def same_labels(path: str, y: Any, classes: Any) -> Any:
    """Return labels of the kind that a model has; refuse what cannot be compared."""
    if y is None:
        raise MendableError(f"{path}: there are no labels", "name them with --target")
    are_texts = [labels.dtype.kind in "UO" for labels in (y, classes)]
    if are_texts[0] != are_texts[1]:
        kinds = ["texts" if is_text else "numbers" for is_text in are_texts]
        raise MendableError(
            f"{path}: the labels are {kinds[0]}, such as {y[0]}; those of the model are "
            f"{kinds[1]}, such as {classes[0]}",
            "name the labels with --target, or write them as the model knows them",
        )
    return y


@contextmanager
def quietly() -> Iterator[None]:
    """Use a model that knows names with rows that have been matched already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield
