"""``pegasos evaluate``: how often a model is right, class by class."""

from typing import Annotated, Any

import typer

from pegasos.cli import _reading as source
from pegasos.cli._help import examples
from pegasos.cli._matching import ModelFile, quietly, read_for, same_labels
from pegasos.cli._output import write, write_json, write_table

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = examples(
    "pegasos evaluate model.safetensors test.svm",
    "pegasos evaluate model.safetensors test.csv --target income --json",
)
_MOST_CLASSES = 30  # of a confusion matrix that is shown as a table

Facts = dict[str, Any]


def evaluate(
    context: typer.Context,
    model: ModelFile,
    data: source.DataFile,
    format: source.Format = None,  # noqa: A002 - what everybody calls it
    target: source.Target = None,
    no_header: source.Header = False,
    key: source.Key = None,
    zero_based: source.ZeroBasedLikeTraining = None,
    dtype: source.Dtype = "float32",
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the result for other programs to read.")
    ] = False,
) -> None:
    """Compare what a model says with the labels of a file.

    Accuracy, error, the confusion matrix, precision and recall of each class. The labels are the
    last column of a table, unless --target names another.
    """
    reading = source.Reading.of(context.params)
    fitted, rows = read_for(model, data, reading, needs_labels=True)
    y = same_labels(data, rows.y, fitted.classes_)
    with quietly():
        facts = _compared(y, fitted.predict(rows.X), fitted.classes_)
    if as_json:
        write_json(facts)
    else:
        _write(facts)


def _compared(y: Any, predicted: Any, classes: Any) -> Facts:
    import numpy as np

    labels = np.union1d(classes, y)  # the data may have classes that the model never met
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(matrix, (np.searchsorted(labels, y), np.searchsorted(labels, predicted)), 1)
    right = int(matrix.trace())
    per_class = [
        {
            "label": label,
            "rows": int(matrix[k].sum()),
            "precision": _ratio(matrix[k, k], matrix[:, k].sum()),
            "recall": _ratio(matrix[k, k], matrix[k].sum()),
        }
        for k, label in enumerate(labels.tolist())
    ]
    return {
        "rows": len(y),
        "wrong": len(y) - right,
        "accuracy": right / len(y),
        "error": (len(y) - right) / len(y),
        "labels": labels.tolist(),
        "confusion": matrix.tolist(),
        "classes": per_class,
    }


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


def _write(facts: Facts) -> None:
    write(f"accuracy  {facts['accuracy']:.4f}")
    write(f"error     {facts['error']:.4f} ({facts['wrong']} of {facts['rows']} rows)\n")
    rows = [
        (str(c["label"]), str(c["rows"]), _share(c["precision"]), _share(c["recall"]))
        for c in facts["classes"]
    ]
    write_table(("class", "rows", "precision", "recall"), rows, "Classes")
    labels = [str(label) for label in facts["labels"]]
    if len(labels) > _MOST_CLASSES:
        write(f"The confusion matrix of {len(labels)} classes is in the output of --json.")
        return
    lines = [
        (label, *(str(count) for count in counts))
        for label, counts in zip(labels, facts["confusion"], strict=True)
    ]
    write_table(("true \\ predicted", *labels), lines, "Confusion matrix")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
