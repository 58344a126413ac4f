"""ONNX: a fitted model as a graph of plain operators, for any runtime."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pegasos._base import LinearModel, ScoringClassifier
from pegasos._kernel_base import KernelModel
from pegasos.io._model_common import refuse_unfitted
from pegasos.io._model_errors import ModelError
from pegasos.io._model_kernel import refuse_callable
from pegasos.io._model_onnx_graph import Graph
from pegasos.io._model_onnx_scores import kernel_scores, linear_scores
from pegasos.io._model_onnx_steps import ONNX_STEPS
from pegasos.io._model_write import replace_file

__all__ = ["to_onnx"]

_LARGEST = 2**31 - 2**20  # protobuf holds less than 2 GiB


def to_onnx(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
    """Write a fitted model as an ONNX graph.

    The graph takes ``X`` of shape (n, n_features) and returns ``label``, ``scores`` (as
    decision_function has them) and, with ``loss="log"``, ``probabilities``.

    Parameters
    ----------
    model : estimator or Pipeline
        As for :func:`pegasos.save`; a kernel must have a name.
    path : str or path
        The file; ``.onnx`` is the usual ending.
    dtype : {"float32", "float64"}, default="float32"
        The type of X and of the scores, and what the graph computes in.

    Raises
    ------
    ModelError
        If there is no such graph, it would be larger than ONNX allows, or the package onnx (the
        extra ``onnx``) is not installed.
    """
    if dtype not in ("float32", "float64"):
        raise ModelError(
            f"dtype must be 'float32' or 'float64'; got {dtype!r}", "choose one of the two"
        )
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    *before, last = steps
    _refuse(before, last)
    graph = Graph(np.dtype(dtype), _size(last))
    rows = graph.input("X", steps[0].n_features_in_)
    for step in before:
        rows = ONNX_STEPS[type(step).__name__](graph, rows, step)
    scores = (linear_scores if isinstance(last, LinearModel) else kernel_scores)(graph, rows, last)
    _add_outputs(graph, scores, last)
    content = graph.finish()
    replace_file(Path(path), content)


def _refuse(before: list[Any], last: Any) -> None:
    for step in before:
        if type(step).__name__ not in ONNX_STEPS:
            raise ModelError(
                f"a pipeline with {type(step).__name__} cannot be exported",
                f"use {', '.join(ONNX_STEPS)} before the model, or export the model alone",
            )
    if not isinstance(last, LinearModel | KernelModel):
        raise ModelError(
            f"{type(last).__name__} cannot be exported",
            "export a classifier of pegasos, or a Pipeline that ends in one",
        )
    refuse_unfitted(last, ["coef_", "dual_coef_"])
    if isinstance(last, KernelModel):
        refuse_callable(last)
        n_bytes = 8 * max(1, len(last.support_)) * last.n_features_in_
        if last._kernel not in ("precomputed",) and n_bytes > _LARGEST:
            raise ModelError(
                f"ONNX would hold {len(last.support_)} dense support vectors of "
                f"{last.n_features_in_} features, more than its 2 GB",
                "use pegasos.save, or a linear model",
            )


def _size(last: ScoringClassifier) -> int:
    return 1 if len(last.classes_) == 2 else len(last.classes_)


def _add_outputs(graph: Graph, scores: str, model: Any) -> None:
    """Add class, scores and probabilities."""
    if graph.n_problems == 1:
        best = graph.add("Greater", scores, graph.number(0))
        best = graph.add("Cast", best, to=graph.INT64)
    else:
        best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    label = graph.add("Gather", graph.labels(model.classes_), best, axis=0)
    graph.output("label", label, graph.type_of_labels(model.classes_), ["n"])
    each = [] if graph.n_problems == 1 else [graph.n_problems]
    graph.output("scores", scores, graph.FLOATS, ["n", *each])
    if getattr(model, "loss", "hinge") == "log":
        probabilities = _probabilities(graph, scores)
        graph.output("probabilities", probabilities, graph.FLOATS, ["n", len(model.classes_)])


def _probabilities(graph: Graph, scores: str) -> str:
    if graph.n_problems == 1:
        column = graph.add("Unsqueeze", scores, graph.whole_numbers([1]))
        negative = graph.add("Sigmoid", graph.add("Neg", column))
        return graph.add("Concat", negative, graph.add("Sigmoid", column), axis=1)
    # log(sigmoid(s)) = min(s, 0) - log(1 + exp(-|s|)); the softmax of these is the sigmoids scaled
    # to sum to 1. Softplus would say it in one word, but onnxruntime has none for float64.
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", scores)))
    rest = graph.add("Log", graph.add("Add", small, graph.number(1)))
    logarithms = graph.add("Sub", graph.add("Min", scores, graph.number(0)), rest)
    return graph.add("Softmax", logarithms, axis=1)
