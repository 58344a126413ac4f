"""Scores of linear and kernel models, in ONNX."""

from typing import Any

import numpy as np

from pegasos._base import LinearModel
from pegasos._kernel_base import KernelModel
from pegasos._validation import is_sparse
from pegasos.io._model_onnx_graph import Graph
from pegasos.kernels._functions import VectorKernel, Vectors, needs_float64

__all__ = ["kernel_scores", "linear_scores"]


def linear_scores(graph: Graph, rows: str, model: LinearModel) -> str:
    """Add ``<w, x> + b``."""
    coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
    scores = graph.add("MatMul", rows, graph.floats(_columns(coef)))
    if np.any(model.intercept_):
        b = model.intercept_[0] if graph.n_problems == 1 else model.intercept_
        scores = graph.add("Add", scores, graph.floats(b))
    return scores


def kernel_scores(graph: Graph, rows: str, model: KernelModel) -> str:
    """Add ``sum_i dual_coef_i K(support_i, x)``."""
    kernel: Any = model._kernel
    if kernel == "precomputed":
        used = graph.add("Gather", rows, graph.whole_numbers(model.support_), axis=1)
        scores = graph.add("MatMul", used, graph.floats(_columns(model.dual_coef_)))
    elif kernel.name == "linear":
        weights = np.asarray(model.support_vectors_.T @ model.dual_coef_.T).T
        scores = graph.add("MatMul", rows, graph.floats(_columns(weights)))
    else:
        scores = _vector_scores(graph, rows, model)
    if isinstance(kernel, VectorKernel) and kernel.added:
        bias = kernel.added * np.asarray(model.dual_coef_).sum(axis=1)
        scores = graph.add("Add", scores, graph.floats(bias[0] if len(bias) == 1 else bias))
    if hasattr(model, "intercept_"):
        scores = graph.add("Add", scores, graph.floats(model.intercept_[0]))
    return scores


def _vector_scores(graph: Graph, rows: str, model: KernelModel) -> str:
    kernel: Any = model._kernel
    support = model.support_vectors_
    # Where float32 would lose the distances, the kernel is computed in float64, as our own is.
    wide = graph.dtype == np.float32 and needs_float64(kernel, Vectors(support, 1))
    dtype = np.dtype(np.float64) if wide else graph.dtype
    if wide:
        rows = graph.add("Cast", rows, to=graph.type_of(dtype))
    dense = (support.toarray() if is_sparse(support) else support).astype(np.float64)

    def floats(values: Any) -> str:
        return graph.floats(values, dtype)

    if kernel.name == "rbf":
        # gamma ||x||^2 + gamma ||s||^2 - 2 gamma <x, s>, which rounding may bring below 0
        squares = graph.add(
            "ReduceSum", graph.add("Mul", rows, rows), graph.whole_numbers([1]), keepdims=1
        )
        near = graph.add("MatMul", rows, floats(2 * kernel.gamma * dense.T))
        far = graph.add(
            "Add",
            graph.add("Mul", squares, floats(kernel.gamma)),
            floats(kernel.gamma * np.einsum("ij,ij->i", dense, dense)),
        )
        distance = graph.add("Max", graph.add("Sub", far, near), floats(0))
        values = graph.add("Exp", graph.add("Neg", distance))
    else:
        inner = graph.add("MatMul", rows, floats(kernel.gamma * dense.T))
        inner = graph.add("Add", inner, floats(kernel.coef0))
        values = graph.add("Pow", inner, floats(kernel.degree))
    scores = graph.add("MatMul", values, floats(_columns(model.dual_coef_)))
    return graph.add("Cast", scores, to=graph.FLOATS) if wide else scores


def _columns(coef: Any) -> Any:
    """Return coefficients to multiply rows with: a vector for two classes."""
    coef = np.asarray(coef)
    return coef[0] if len(coef) == 1 else coef.T
