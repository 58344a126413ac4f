"""The options of all commands that read data, and how a file is read with them."""

import re
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegasos._errors import MendableError

if TYPE_CHECKING:
    from pegasos.io import Data

__all__ = [
    "ARRAYS",
    "TABLES",
    "Categorical",
    "DataFile",
    "Dtype",
    "Format",
    "Header",
    "Key",
    "OneHot",
    "Reading",
    "Target",
    "ZeroBased",
    "ZeroBasedLikeTraining",
    "filling",
    "in_options",
    "one_hot",
    "refuse_to_overwrite",
]

DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="A file, or - for standard input with --format.")
]
Format = Annotated[
    Literal["svmlight", "csv", "tsv", "parquet", "arrow", "hdf5", "idx", "npy", "npz"] | None,
    typer.Option(
        "--format", show_default="by the ending of the name", help="What DATA is written in."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME|NUMBER",
        help="The labels: a column (-1 is the last), an array of HDF5 and npz, a file for idx.",
    ),
]
Header = Annotated[
    bool, typer.Option("--no-header", help="The first line of csv and tsv holds data, not names.")
]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="PATH", help="The array of features, or its group: HDF5, npz."),
]


def _zero_based(default: str) -> Any:
    return typer.Option(
        "--zero-based/--one-based",
        show_default=default,
        help="Whether indices of svmlight begin with 0 or with 1.",
    )


ZeroBased = Annotated[bool | None, _zero_based("0 if there is an index 0")]
ZeroBasedLikeTraining = Annotated[bool | None, _zero_based("as in the training data")]
Dtype = Annotated[
    Literal["float32", "float64"], typer.Option("--dtype", help="Precision of the features.")
]
OneHot = Annotated[
    bool, typer.Option("--one-hot", help="Make columns of 0 and 1 of every column of texts.")
]
Categorical = Annotated[
    str | None,
    typer.Option(
        "--categorical", metavar="NAMES", help="The same for these columns, as in town,street."
    ),
]

TABLES = ("csv", "tsv", "parquet", "arrow")
ARRAYS = ("hdf5", "npy", "npz")

# What the hints of pegasos.io say in Python, and the options that do the same.
_IN_OPTIONS = (
    (r"[;,] (or )?(read without labels: )?target=None( if there are no labels)?", ""),
    (r"header=False", "--no-header"),
    (r"one_hot=True", "--one-hot"),
    (r"one_hot= names", "--categorical names"),
    (r"missing='(\w+)'", r"--impute \1"),
    (r"zero_based=True", "--zero-based"),
    (r"dtype='(\w+)'", r"--dtype \1"),
    (r"format='(\w+)'", r"--format \1"),
    (r"\b(format|key|target)=", r"--\1"),
    (r"\(cache=\)", "(--cache)"),
)


@dataclass(frozen=True)
class Reading:
    """What the user said about the file."""

    format: str | None
    target: str | None
    header: bool
    key: str | None
    zero_based: bool | None
    dtype: str

    @classmethod
    def of(cls, options: dict[str, Any]) -> "Reading":
        """Return what the options of a command say."""
        return cls(
            header=not options["no_header"],
            **{name: options[name] for name in ("format", "target", "key", "zero_based", "dtype")},
        )

    @property
    def place_of_labels(self) -> str | int | None:
        """The labels as `pegasos.io.read` wants them; None if the user named none."""
        is_number = self.target is not None and re.fullmatch(r"-?\d+", self.target)
        return int(self.target) if is_number and self.target else self.target

    def refuse_idle(
        self,
        path: str,
        *,
        one_hot: bool | list[str] = False,
        impute: str | None = None,
        imputable: tuple[str, ...] = (),
    ) -> None:
        """Refuse options that mean nothing for the format of a file."""
        for given, option, kinds in (
            (self.zero_based is not None, "--zero-based or --one-based", ("svmlight",)),
            (not self.header, "--no-header", ("csv", "tsv")),
            (self.key is not None, "--key", ("hdf5", "npz")),
            (one_hot is not False, "--one-hot or --categorical", TABLES),
            (impute is not None, "--impute", imputable),
            (self.target is not None, "--target", (*TABLES, *ARRAYS, "idx")),
        ):
            if given and (kind := self.kind(path)) not in kinds:
                raise MendableError(
                    f"{path}: {option} means nothing for {kind} files", "leave it out"
                )

    def guesses_first_index(self, path: str) -> bool:
        """Tell whether only the indices in the file say if they begin with 0 or with 1."""
        return self.zero_based is None and self.kind(path) == "svmlight"

    def kind(self, path: str) -> str:
        """Return the format of a file."""
        from pegasos.io import DataError
        from pegasos.io._formats import format_of

        try:
            return format_of(path, self.format)
        except DataError as error:
            raise MendableError(error.message, in_options(error.hint)) from None

    def read(self, path: str, *, target: str | int | None, **more: Any) -> "Data":
        """Read a file; what is wrong with it is said in the words of the command line."""
        from pegasos.io import DataError
        from pegasos.io import read as read_file

        try:
            data: Data = read_file(
                path,
                format=self.format,
                target=target,
                dtype=self.dtype,
                key=self.key,
                header=self.header,
                zero_based=self.zero_based,
                **more,
            )
            return data
        except DataError as error:
            raise MendableError(error.message, in_options(error.hint)) from None


def one_hot(every_text: bool, categorical: str | None) -> bool | list[str]:
    """Return which columns become 0 and 1, as `pegasos.io.read` wants it."""
    if every_text and categorical is not None:
        raise MendableError(
            "--one-hot and --categorical do not go together",
            "name all such columns with --categorical",
        )
    return every_text if categorical is None else [name.strip() for name in categorical.split(",")]


def filling(text: str) -> str | float:
    """Return what stands for values that are missing: "mean", "median" or a number."""
    if text in ("mean", "median"):
        return text
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not isfinite(value):
        raise MendableError(f"--impute {text}: this is not known", "write mean, median or a number")
    return value


def refuse_to_overwrite(output: Path | str, *sources: Path | str | None) -> None:
    """Refuse to write to a file that is read."""
    output = Path(output)
    for source in (Path(source) for source in sources if source is not None):
        if output.exists() and source.exists() and output.samefile(source):
            raise MendableError(
                f"{output}: this is where the input is, which would be lost", "name another file"
            )


def in_options(hint: str) -> str:
    """Return a hint with options in place of Python's arguments."""
    for python, option in _IN_OPTIONS:
        hint = re.sub(python, option, hint)
    return hint
