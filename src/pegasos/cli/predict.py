"""``pegasos predict``: the class of each row, by a model."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from pegasos._errors import MendableError
from pegasos.cli import _reading as source
from pegasos.cli._errors import need
from pegasos.cli._help import examples
from pegasos.cli._matching import ModelFile, quietly, read_for
from pegasos.cli._output import write

__all__ = ["EXAMPLES", "predict"]

EXAMPLES = examples(
    "pegasos predict model.safetensors new.csv > answers.csv",
    "pegasos predict model.safetensors new.svm -o answers.parquet --scores",
    "pegasos predict model.safetensors - --format csv --proba < new.csv",
)
_ROWS_AT_ONCE = 16_384

Columns = dict[str, Any]


def predict(
    context: typer.Context,
    model: ModelFile,
    data: source.DataFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default="standard output",
            help="A file that ends in .csv or .parquet.",
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Write scores too: one if there are two classes, else all."),
    ] = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write probabilities too, of models with --loss log.")
    ] = False,
    format: source.Format = None,  # noqa: A002 - what everybody calls it
    target: source.Target = None,
    no_header: source.Header = False,
    key: source.Key = None,
    zero_based: source.ZeroBasedLikeTraining = None,
    dtype: source.Dtype = "float32",
) -> None:
    """Write the class that a model gives to each row.

    Columns are found by name if model and data have names, else they are counted. Labels in the
    data are ignored; where nothing tells them from features, --target says which they are.
    """
    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise MendableError(
            f"{output}: predictions are written as .csv or .parquet", "name a file that ends so"
        )
    if output is not None and output.suffix == ".parquet":
        need("writing parquet", "pyarrow", instead=", or write .csv")
    if output is not None:
        source.refuse_to_overwrite(output, model, data)
    reading = source.Reading.of(context.params)
    fitted, rows = read_for(model, data, reading, needs_labels=False)
    if proba and not hasattr(fitted, "predict_proba"):
        raise MendableError(
            f"{model}: this model has no probabilities",
            "fit it with --loss log, or ask for --scores",
        )
    columns = _columns(fitted, rows.X, scores=scores, proba=proba)
    if output is None:
        for text in _csv(columns):
            write(text.removesuffix("\n"))
    else:
        _write_file(output, columns)


def _columns(model: Any, X: Any, *, scores: bool, proba: bool) -> Columns:
    with quietly():
        columns = {"label": model.predict(X)}
        if scores:
            found = model.decision_function(X)
            columns |= {"score": found} if found.ndim == 1 else _named("score", model, found)
        if proba:
            columns |= _named("probability", model, model.predict_proba(X))
    return columns


def _named(what: str, model: Any, values: Any) -> Columns:
    return {f"{what}_{label}": values[:, k] for k, label in enumerate(model.classes_.tolist())}


def _csv(columns: Columns) -> Iterator[str]:
    """Yield the text some rows at a time; each number reads back exactly."""
    n_rows = len(columns["label"])
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        part = [values[start : start + _ROWS_AT_ONCE].tolist() for values in columns.values()]
        writer.writerows(zip(*part, strict=True))
        yield text.getvalue()


def _write_file(path: Path, columns: Columns) -> None:
    from pegasos.io import DataError
    from pegasos.io._model_write import new_file

    with new_file(path, DataError) as file:
        if path.suffix == ".csv":
            for text in _csv(columns):
                file.write(text.encode())
            return
        import pyarrow as pa
        import pyarrow.parquet

        content = pa.BufferOutputStream()
        lists = {name: values.tolist() for name, values in columns.items()}
        pyarrow.parquet.write_table(pa.table(lists), content)
        file.write(memoryview(content.getvalue()))
