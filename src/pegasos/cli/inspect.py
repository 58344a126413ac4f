"""``pegasos inspect``: what a model file holds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pegasos.cli._help import examples
from pegasos.cli._matching import Features, ModelFile, load_model
from pegasos.cli._numbers import whole_of
from pegasos.cli._output import write, write_json, write_table
from pegasos.cli._portrait import certificate_text, parts_of, portrait, refuse_unfitted

__all__ = ["EXAMPLES", "inspect"]

EXAMPLES = examples(
    "pegasos inspect model.safetensors",
    "pegasos inspect model.safetensors --top 30",
    "pegasos inspect model.safetensors --json",
)
_SHOWN_CLASSES = 10

Facts = dict[str, Any]


def inspect(
    model: ModelFile,
    top: Annotated[
        int,
        typer.Option(
            "--top",
            metavar="N",
            parser=whole_of("--top", low=0, example=30),
            help="How many features to show.",
        ),
    ] = 10,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write all of it for other programs to read.")
    ] = False,
) -> None:
    """Show what a model is: parameters, certificate, the features that weigh most, versions.

    Opening a model runs nothing that the file contains.
    """
    facts = _facts(model, top)
    if as_json:
        write_json(facts)
    else:
        _write(facts)


def _facts(path: Path, top: int) -> Facts:
    from pegasos.io._model_container import from_bytes, read_file

    model = load_model(path)  # checks everything
    refuse_unfitted(model, path)
    record, _ = from_bytes(read_file(path))
    return {
        "model": str(path),
        **portrait(model),
        "feature_names": Features.of(model).names,
        "top_features": _top_features(model, top),
        "versions": record["versions"],
    }


def _top_features(model: Any, top: int) -> list[Facts] | None:
    """Return the largest weights of each linear function; None if the model has no weights."""
    import numpy as np

    last = parts_of(model)[-1]
    if not hasattr(last, "coef_"):
        return None
    features = Features.of(model)
    names, first = features.names, 0 if features.zero_based else 1
    weights = last.coef_ if isinstance(last.coef_, np.ndarray) else last.coef_.toarray()
    classes = last.classes_.tolist()
    found = []
    for label, row in zip(classes[1:] if len(weights) == 1 else classes, weights, strict=True):
        largest = np.argsort(-np.abs(row), kind="stable")[:top]
        found.append(
            {
                "class": label,
                "features": [
                    {
                        "feature": str(j + first) if names is None else names[j],
                        "weight": float(row[j]),
                    }
                    for j in largest
                    if row[j] != 0
                ],
            }
        )
    return found


def _features_text(facts: Facts) -> str:
    if facts["zero_based"] is None:
        return str(facts["features"])
    return f"{facts['features']}; indices of svmlight begin with {0 if facts['zero_based'] else 1}"


def _write(facts: Facts) -> None:
    classes = [str(label) for label in facts["classes"]]
    more = ", ..." if len(classes) > _SHOWN_CLASSES else ""
    shown = {
        "model": " + ".join([*facts["preparation"], facts["estimator"]]),
        "classes": f"{len(classes)}: {', '.join(classes[:_SHOWN_CLASSES])}{more}",
        "features": _features_text(facts),
        "training": f"{facts['epochs']} epochs, {facts['steps']} steps",
        "certificate": certificate_text(facts["certificate"]),
        "versions": ", ".join(f"{name} {value}" for name, value in facts["versions"].items()),
    }
    if "support_vectors" in facts:
        shown["support"] = f"{facts['support_vectors']} vectors"
    write("\n".join(f"{name:12} {value}" for name, value in shown.items()) + "\n")
    parameters = [(name, str(value)) for name, value in facts["parameters"].items()]
    write_table(("parameter", "value"), parameters, "Parameters")
    rows = [
        (str(entry["class"]), feature["feature"], f"{feature['weight']:.6g}")
        for entry in facts["top_features"] or []
        for feature in entry["features"]
    ]
    if rows:
        write_table(("for class", "feature", "weight"), rows, "Features that weigh most")
