"""The steps of scikit-learn before a model, in ONNX."""

from typing import Any

import numpy as np

from pegasos.io._model_errors import ModelError
from pegasos.io._model_onnx_graph import Graph

__all__ = ["ONNX_STEPS"]


def _impute(graph: Graph, rows: str, step: Any) -> str:
    missing_is_nan = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    if step.add_indicator or not missing_is_nan:
        raise ModelError(
            f"{step!r} cannot be exported", "impute values that are NaN, and without add_indicator"
        )
    statistics = np.asarray(step.statistics_, dtype=np.float64)
    empty = np.isnan(statistics)
    if empty.any():  # features of which no value was ever seen are left out
        kept = np.flatnonzero(~empty)
        rows = graph.add("Gather", rows, graph.whole_numbers(kept), axis=1)
        statistics = statistics[kept]
    return graph.add("Where", graph.add("IsNaN", rows), graph.floats(statistics), rows)


def _standardise(graph: Graph, rows: str, step: Any) -> str:
    if step.with_mean:
        rows = graph.add("Sub", rows, graph.floats(step.mean_))
    if step.with_std:
        rows = graph.add("Div", rows, graph.floats(step.scale_))
    return rows


def _to_range(graph: Graph, rows: str, step: Any) -> str:
    rows = graph.add("Mul", rows, graph.floats(step.scale_))
    rows = graph.add("Add", rows, graph.floats(step.min_))
    return _clipped(graph, rows, *step.feature_range) if step.clip else rows


def _by_largest(graph: Graph, rows: str, step: Any) -> str:
    rows = graph.add("Div", rows, graph.floats(step.scale_))
    return _clipped(graph, rows, -1, 1) if getattr(step, "clip", False) else rows


def _clipped(graph: Graph, rows: str, low: float, high: float) -> str:
    return graph.add("Clip", rows, graph.floats(low), graph.floats(high))


ONNX_STEPS = {
    "SimpleImputer": _impute,
    "StandardScaler": _standardise,
    "MinMaxScaler": _to_range,
    "MaxAbsScaler": _by_largest,
}
