"""Text models of libsvm: kernel machines for two classes."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos._kernel import KernelPegasosClassifier
from pegasos._kernel_base import KernelModel
from pegasos._validation import Floats
from pegasos.io._model_common import refuse_unfitted
from pegasos.io._model_errors import ModelError
from pegasos.io._model_kernel import refuse_callable
from pegasos.io._model_text import TextModel, text_number, whole_labels
from pegasos.io._model_write import replace_file
from pegasos.kernels import VectorKernel

__all__ = ["from_libsvm", "to_libsvm"]

_NAMES = {
    "linear": "linear",
    "poly": "polynomial",
    "rbf": "rbf",
    "precomputed": "precomputed",
}
_LARGEST_INDEX = 2**31 - 1


def to_libsvm(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a kernel model of two classes as a text model of libsvm.

    libsvm's ``predict`` gives the same classes and scores. Every number reads back exactly.

    Parameters
    ----------
    model : KernelPegasosClassifier, KernelPerceptronClassifier or KernelPegasosCV
        A fitted model of two classes that are whole numbers, with a kernel by name.
    path : str or path
        The file.

    Raises
    ------
    ModelError
        If the model is not a kernel machine or has more classes: libsvm holds a function for each
        pair of classes, and ours is one for each class.
    """
    if not isinstance(model, KernelModel):
        raise ModelError(
            f"{type(model).__name__} is not a kernel machine",
            "libsvm takes KernelPegasosClassifier, KernelPerceptronClassifier and KernelPegasosCV; "
            "linear models can be exported to liblinear; of a pipeline, export the last step",
        )
    refuse_unfitted(model, ["dual_coef_"])
    refuse_callable(model)
    labels = whole_labels(model.classes_, "libsvm")
    if len(labels) > 2:
        raise ModelError(
            f"libsvm compares classes in pairs, this model each of its {len(labels)} classes with "
            "all others",
            "export a model of two classes, or use pegasos.save or ONNX",
        )
    coef = model.dual_coef_[0]
    order = np.concatenate([np.flatnonzero(coef > 0), np.flatnonzero(coef <= 0)])
    n_positive = int(np.count_nonzero(coef > 0))
    intercept = float(model.intercept_[0]) if hasattr(model, "intercept_") else 0.0
    if isinstance(model._kernel, VectorKernel):  # libsvm's kernels, but poly, have no constant
        intercept += model._kernel.added * float(coef.sum())
    lines = [
        "svm_type c_svc",
        *_kernel_lines(model._kernel),
        "nr_class 2",
        f"total_sv {len(coef)}",
        f"rho {text_number(-intercept)}",
        f"label {labels[1]} {labels[0]}",  # its scores are positive for the first label
        f"nr_sv {n_positive} {len(coef) - n_positive}",
        "SV",
        *(f"{text_number(coef[i])} {_vector(model, i)}" for i in order),
    ]
    replace_file(Path(path), ("\n".join(lines) + "\n").encode("ascii"))


def from_libsvm(
    path: str | os.PathLike[str], *, n_features: int | None = None
) -> KernelPegasosClassifier:
    """Read a text model of libsvm: C-SVC or nu-SVC of two classes.

    Parameters
    ----------
    path : str or path
        The file.
    n_features : int, default=None
        Number of features, which the file does not say. None: the largest that a support vector
        has. For ``kernel="precomputed"`` the number of training rows.

    Returns
    -------
    KernelPegasosClassifier
        It predicts as libsvm does; its bias, which our own models have not, is in ``intercept_``.
        There is no certificate, and parameters other than those of the kernel mean nothing.

    Raises
    ------
    ModelError
        If the file is not such a model, or has a sigmoid kernel.
    """
    text = TextModel(path, "libsvm", "SV")
    parameters = ("degree", "gamma", "coef0")
    text.finish(
        "svm_type", "kernel_type", *parameters, "nr_class", "total_sv", "rho", "label", "nr_sv",
        "probA", "probB", "prob_density_marks",
    )  # fmt: skip
    kernel = _read_kernel(text)
    if text.word("svm_type") not in ("c_svc", "nu_svc") or text.whole("nr_class", 2) > 2:
        raise ModelError(
            f"{path}: a classifier of two classes was expected; got {text.word('svm_type')[:40]} "
            f"of {text.whole('nr_class', 0)}",
            "train one model for each class against the rest, or use its own predict",
        )
    labels = np.array(text.wholes("label", 2))
    n_support = text.whole("total_sv", at_least=0)
    if labels[0] == labels[1] or sum(text.wholes("nr_sv", 2, at_least=0)) != n_support:
        text.refuse(1, "labels or numbers of support vectors contradict each other")
    coef, vectors = _read_vectors(text, n_support, n_features, kernel == "precomputed")
    sign = 1 if labels[0] > labels[1] else -1
    name = kernel if isinstance(kernel, str) else kernel.name
    model = KernelPegasosClassifier(kernel=name, solver="sdca")
    if isinstance(kernel, VectorKernel):
        model.set_params(gamma=kernel.gamma, coef0=kernel.coef0, degree=kernel.degree)
    model._keep_kernel(kernel)
    model.classes_ = np.sort(labels)
    model.dual_coef_ = sign * coef[np.newaxis]
    model.intercept_ = np.array([-sign * text.number("rho")])
    _set_support(model, vectors)
    model.n_iter_ = model.n_steps_ = model.n_violations_ = 0
    model._class_totals, model._weight_unit = np.zeros(2), 1.0
    return model


def _kernel_lines(kernel: Any) -> list[str]:
    if isinstance(kernel, str):
        return [f"kernel_type {_NAMES[kernel]}"]
    lines = [f"kernel_type {_NAMES[kernel.name]}"]
    if kernel.name == "poly":
        lines.append(f"degree {kernel.degree}")
    if kernel.name != "linear":
        lines.append(f"gamma {text_number(kernel.gamma)}")
    if kernel.name == "poly":
        lines.append(f"coef0 {text_number(kernel.coef0)}")
    return lines


def _vector(model: KernelModel, i: int) -> str:
    if model._kernel == "precomputed":
        return f"0:{model.support_[i] + 1}"
    vectors = model.support_vectors_
    row = sp.csr_matrix(vectors[[i]])  # a copy, with entries in order and none that is zero
    row.sum_duplicates()
    row.eliminate_zeros()
    entries = zip(row.indices, row.data, strict=True)
    return " ".join(f"{j + 1}:{text_number(value)}" for j, value in entries)


def _read_kernel(text: TextModel) -> VectorKernel | str:
    names = {theirs: ours for ours, theirs in _NAMES.items()}
    theirs = text.word("kernel_type")
    if theirs not in names:
        raise ModelError(
            f"{text.path}: the kernel {theirs[:40]!r} is not one of {', '.join(names)}",
            "train the model with one of these",
        )
    name = names[theirs]
    if name == "precomputed":
        return name
    if name == "linear":
        return VectorKernel("linear")
    gamma = text.number("gamma")
    if gamma <= 0:
        text.refuse(1, f"gamma must be positive; got {gamma}")
    if name == "rbf":
        return VectorKernel("rbf", gamma)
    degree = text.whole("degree", at_least=1)
    return VectorKernel("poly", gamma, text.number("coef0"), degree)


def _read_vectors(
    text: TextModel, n_support: int, n_features: int | None, precomputed: bool
) -> tuple[Floats, Any]:
    """Return the coefficients, and the support vectors as CSR (precomputed: numbers of rows)."""
    coef: list[float] = []
    values: list[float] = []
    columns: list[int] = []
    starts = [0]
    for line, (first, *pairs) in text.rows():
        coef.append(text.as_number(line, first))
        before = 0 if precomputed else 1
        for pair in pairs:
            index, colon, value = pair.partition(":")
            number = int(index) if index.isdecimal() and len(index) < 11 else -1
            if not colon or not before <= number <= _LARGEST_INDEX:
                text.refuse(line, f"{pair[:40]!r} is not a feature that follows the one before it")
            before = number + 1
            columns.append(number - 1)
            values.append(text.as_number(line, value))
        starts.append(len(values))
    if len(coef) != n_support:
        text.refuse(len(coef), f"there are {len(coef)} support vectors, not {n_support}")
    if precomputed:
        return np.array(coef), _row_numbers(text, values, columns, n_support, n_features)
    width = max([*columns, 0]) + 1
    if n_features is not None and n_features < width:
        raise ModelError(
            f"{text.path}: a support vector has feature {width}; got n_features={n_features}",
            f"pass n_features={width} or more",
        )
    parts = (np.array(values), np.array(columns, np.int32), np.array(starts, np.int32))
    return np.array(coef), sp.csr_matrix(parts, shape=(n_support, n_features or width))


def _row_numbers(
    text: TextModel, values: list[float], columns: list[int], n: int, n_rows: int | None
) -> tuple[Any, int]:
    support = np.array(values) - 1
    whole = np.array_equal(support, support.astype(np.int64))
    if columns != [-1] * n or not whole or np.any((support < 0) | (support >= _LARGEST_INDEX)):
        text.refuse(1, "a support vector of a precomputed kernel is 0: and the number of a row")
    most = int(support.max(initial=0)) + 1
    if n_rows is not None and n_rows < most:
        raise ModelError(
            f"{text.path}: row {most} is a support vector; got n_features={n_rows}",
            f"pass n_features={most} or more: the number of training rows",
        )
    return support.astype(np.int64), n_rows or most


def _set_support(model: KernelPegasosClassifier, vectors: Any) -> None:
    if isinstance(vectors, tuple):
        model.support_, model._rows_seen = vectors
        model.n_features_in_ = model._rows_seen
        model.support_vectors_ = np.empty((0, 0))
    else:
        model.support_ = np.arange(vectors.shape[0])
        model._rows_seen = max(1, vectors.shape[0])
        model.n_features_in_ = vectors.shape[1]
        model.support_vectors_ = vectors
