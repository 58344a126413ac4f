"""``pegasos convert``: data from one format to another."""

import contextlib
from typing import Annotated, Any, Literal

import typer

from pegasos._errors import MendableError
from pegasos.cli import _reading as source
from pegasos.cli._help import examples
from pegasos.cli._output import say, to_stdout

__all__ = ["EXAMPLES", "convert"]

EXAMPLES = examples(
    "pegasos convert people.csv people.svm --target income --one-hot",
    "pegasos convert train.svm.bz2 train.parquet",
    "pegasos convert usps.h5 - --key test --to csv | head",
)


def convert(
    context: typer.Context,
    data: Annotated[
        str, typer.Argument(metavar="IN", help="A file, or - for standard input with --format.")
    ],
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="A file, or - for standard output with --to.")
    ],
    to: Annotated[
        Literal["svmlight", "csv", "tsv", "parquet", "arrow", "npz", "npy", "hdf5"] | None,
        typer.Option(
            "--to", show_default="by the ending of the name", help="What OUT is written in."
        ),
    ] = None,
    format: source.Format = None,  # noqa: A002 - what everybody calls it
    target: source.Target = None,
    no_target: Annotated[
        bool, typer.Option("--no-target", help="There are no labels: all columns are features.")
    ] = False,
    no_header: source.Header = False,
    one_hot: source.OneHot = False,
    categorical: source.Categorical = None,
    impute: Annotated[
        str | None,
        typer.Option(
            "--impute",
            metavar="mean|median|NUMBER",
            help="What stands for values that are missing.",
        ),
    ] = None,
    key: source.Key = None,
    zero_based: source.ZeroBased = None,
    dtype: source.Dtype = "float64",
) -> None:
    """Write the rows and labels of a file in another format.

    Sparse rows stay sparse where the format has them. The labels come last in a table. Formats that
    have no texts for labels get 1, 2, 3 in the order of the alphabet; what they stand for is said.
    """
    if target is not None and no_target:
        raise MendableError("--target and --no-target do not go together", "choose one of them")
    from pegasos.io import DataError
    from pegasos.io._open import STDIN
    from pegasos.io._write import write as write_data
    from pegasos.io._write import written_format

    try:
        kind = written_format(output, to)
    except DataError as error:
        message = error.message.replace("standard input", "standard output")
        hint = error.hint.replace("format=", "--to").replace("idx, ", "")  # which is only read
        raise MendableError(message, hint) from None
    source.refuse_to_overwrite(output, data)
    reading = source.Reading.of(context.params)
    hot = source.one_hot(one_hot, categorical)
    reading.refuse_idle(data, one_hot=hot, impute=impute, imputable=source.TABLES)
    place = reading.place_of_labels
    rows = reading.read(
        data,
        target=None if no_target else -1 if place is None else place,
        one_hot=hot,
        missing="error" if impute is None else source.filling(impute),
    )
    try:
        y = _numbered(rows.y) if kind in ("svmlight", "npy") else rows.y
        named = place if isinstance(place, str) and rows.names is not None else "label"
        with to_stdout() if output == STDIN else contextlib.nullcontext():
            write_data(
                output,
                rows.X,
                y,
                rows.names,
                format=kind,
                target=named,
                zero_based=bool(rows.zero_based),  # so that indices mean the same as before
            )
    except DataError as error:
        raise MendableError(error.message, source.in_options(error.hint)) from None


def _numbered(y: Any) -> Any:
    """Return numbers in place of texts, and say what they stand for."""
    import numpy as np

    if y is None or y.dtype.kind != "U":
        return y
    texts, numbers = np.unique(y, return_inverse=True)
    meanings = ", ".join(f"{k + 1} is {text}" for k, text in enumerate(texts.tolist()))
    say("note", f"the labels became numbers: {meanings}")
    return numbers + 1
