"""Pipelines: steps of scikit-learn that prepare rows, and a model at the end."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Entries, Sheets
from pegasos.io._model_steps import describe_step, n_features_out, restore_step

__all__ = ["describe_pipeline", "restore_pipeline"]


def describe_pipeline(
    model: Any, sheets: Sheets, describe: Callable[[Any, Sheets], dict[str, Any]]
) -> dict[str, Any]:
    """Return the header of a pipeline; ``describe`` returns that of its last step."""
    if type(model) is not Pipeline:
        return describe(model, sheets)  # which refuses it
    if model.memory is not None or getattr(model, "transform_input", None) is not None:
        raise ModelError(
            "a pipeline with memory or transform_input cannot be stored",
            "set_params(memory=None, transform_input=None) before saving",
        )
    *steps, (last_name, last) = model.steps
    try:
        for _, step in steps:
            check_is_fitted(step)
    except (NotFittedError, TypeError):
        raise ModelError(
            "the pipeline is not fitted, or has steps that are none", "call fit before saving"
        ) from None
    nodes = [describe_step(step, sheets.within(f"steps.{i}")) for i, (_, step) in enumerate(steps)]
    nodes.append(describe(last, sheets.within(f"steps.{len(steps)}")))
    names = [name for name, _ in steps] + [last_name]
    return {
        "estimator": "Pipeline",
        "verbose": bool(model.verbose),
        "names": names,
        "steps": {str(i): node for i, node in enumerate(nodes)},
    }


def restore_pipeline(entries: Entries, restore: Callable[[Entries], Any]) -> Pipeline:
    """Return the pipeline of a header; ``restore`` returns its last step."""
    entries.text("estimator", ["Pipeline"])
    verbose = entries.flag("verbose")
    names = entries.take("names")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise damaged("the names of the steps are not a list of texts")
    taken = set(Pipeline([]).get_params())
    if len(set(names)) < len(names) or any("__" in name or name in taken for name in names):
        raise damaged("the names of the steps are not allowed in a pipeline")
    steps = entries.within("steps")
    restored: list[Any] = []
    for i in range(len(names)):
        is_last = i == len(names) - 1
        restored.append((restore if is_last else restore_step)(steps.within(str(i))))
    steps.finish()
    entries.finish()
    for before, after in pairwise(restored):
        if n_features_out(before) != after.n_features_in_:
            raise damaged("the steps of the pipeline do not fit each other")
    return Pipeline(list(zip(names, restored, strict=True)), verbose=verbose)
