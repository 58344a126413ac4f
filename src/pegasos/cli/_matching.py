"""Rows for a model: the columns of a file are matched to the features it was fitted to."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegasos._errors import MendableError
from pegasos.cli._output import say
from pegasos.cli._portrait import parts_of, refuse_unfitted
from pegasos.cli._reading import TABLES, Reading

if TYPE_CHECKING:
    from pegasos.io import Data

__all__ = [
    "Features",
    "ModelFile",
    "as_fitted",
    "load_model",
    "quietly",
    "read_for",
    "same_labels",
]

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that 'pegasos fit' has written.")
]

_IF_ZERO = (
    "say --zero-based if only this file counts from 0; if the training data did as well, and just "
    "had no 0, fit the model again with --zero-based"
)
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
    zero_based : bool or None
        Whether indices begin with 0, if the model was fitted to svmlight.
    """

    names: list[str] | None
    number: int
    fills: bool
    zero_based: bool | None

    @classmethod
    def of(cls, model: Any) -> "Features":
        """Return what a fitted model says about its features."""
        steps = parts_of(model)
        names = getattr(steps[0], "feature_names_in_", None)
        return cls(
            names=None if names is None else [str(name) for name in names],
            number=int(model.n_features_in_),
            fills=type(steps[0]).__name__ == "SimpleImputer",
            zero_based=getattr(steps[-1], "zero_based_", None),
        )

    def read(
        self,
        path: str,
        reading: Reading,
        *,
        target: str | int | None,
        n_jobs: int = -1,
        if_zero: str = _IF_ZERO,
    ) -> "Data":
        """Read the rows of a file with the features of the model, in its order.

        ``if_zero`` is the hint for an index 0 where those of the training data begin with 1.
        """
        names = self.names if self._goes_by_names(path, reading) else None
        if reading.guesses_first_index(path):  # the model knows: this file may lack what tells it
            reading = replace(reading, zero_based=self.zero_based)
        else:
            if_zero = ""
        try:
            data = reading.read(
                path,
                target=target,
                names=names,
                missing=float("nan") if self.fills else "error",
                n_jobs=n_jobs,
            )
        except MendableError as error:
            may_be_labels = names is None and target is None
            raise self._in_other_words(error, if_zero, may_be_labels) from None
        if names is not None and data.names != names:
            raise MendableError(
                f"{path}: the labels are taken from a column that is a feature of the model",
                "name the column of the labels with --target",
            )
        for column, rows in (data.unseen or {}).items():
            say(
                "note",
                f"{path}: column {column} has values that the training data had not, in "
                f"{len(rows)} of {data.X.shape[0]} rows (the first is row {rows[0] + 1})",
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

    def _in_other_words(
        self, error: MendableError, if_zero: str, may_be_labels: bool
    ) -> MendableError:
        """Return what is wrong as seen from the model, without options that only `fit` has."""
        message, hint = error.message, error.hint
        if "--zero-based" in hint and if_zero:
            message = message.replace("indices are said to", "those of the training data")
            hint = if_zero
        elif "--impute" in hint:
            hint = "mend the file, or fit the model with --impute: then it fills them itself"
        elif "--one-hot" in hint:
            hint = "mend the value: the model takes numbers here"
            if may_be_labels:
                hint = "if the column holds the labels, name it with --target; else mend the value"
        return MendableError(message, hint)

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


def load_model(path: Path) -> Any:
    """Open a model file; what is wrong with it is said in the words of the command line."""
    from pegasos import load
    from pegasos.io import ModelError

    try:
        return load(path)
    except ModelError as error:
        hint = error.hint.partition("; for text models")[0].replace("pegasos.save", "'pegasos fit'")
        raise MendableError(error.message, hint) from None


def read_for(model_path: Path, path: str, reading: Reading, *, needs_labels: bool) -> Any:
    """Return a model, and the rows of a file with its features."""
    reading.refuse_idle(path)
    model = load_model(model_path)
    refuse_unfitted(model, model_path)
    target = reading.place_of_labels
    if target is None and needs_labels:
        target = -1
    rows = Features.of(model).read(path, reading, target=target)
    return model, rows._replace(X=as_fitted(model, rows.X))


def as_fitted(model: Any, X: Any) -> Any:
    """Return rows as the model takes them: a scaler that moves zeros takes no sparse ones."""
    from pegasos.io._data import is_sparse

    moves_zeros = any(
        getattr(step, "with_mean", type(step).__name__ == "MinMaxScaler")
        for step in parts_of(model)
    )
    return X.toarray() if moves_zeros and is_sparse(X) else X


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
