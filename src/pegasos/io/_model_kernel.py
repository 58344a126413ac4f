"""KernelPegasosClassifier and KernelPerceptronClassifier: kernel, support vectors, coefficients."""

from typing import Any

import numpy as np

from pegasos._kernel import KernelPegasosClassifier, _Function
from pegasos._kernel_perceptron import KernelPerceptronClassifier
from pegasos.io._model_common import (
    describe_classifier,
    describe_totals,
    n_problems,
    restore_classifier,
    restore_tally,
    restore_totals,
    tally_of,
)
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Entries, Sheets
from pegasos.kernels import VectorKernel, memory_bytes

__all__ = [
    "describe_kernel_pegasos",
    "describe_kernel_perceptron",
    "refuse_callable",
    "restore_kernel_pegasos",
    "restore_kernel_perceptron",
]

_KINDS = ("dense", "csr_matrix", "csr_array")
_NAMES = ("rbf", "poly", "linear", "precomputed")


def describe_kernel_pegasos(model: KernelPegasosClassifier, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a KernelPegasosClassifier."""
    record = _describe(model, sheets) | describe_totals(model, sheets)
    function = getattr(model, "_function", None)
    record["state"] = None
    if function is not None:
        record["state"] = {"keeps_mean": function.mean is not None}
        state = sheets.within("state")
        _put_state(state, function.signed, function.mean, function.tally)
        state.put("lams", function.lams)
    return record


def restore_kernel_pegasos(entries: Entries) -> KernelPegasosClassifier:
    """Return the KernelPegasosClassifier of a header."""
    model: KernelPegasosClassifier = _restore(KernelPegasosClassifier, entries)
    restore_totals(model, entries)
    if entries.has("state"):
        state = entries.within("state")
        lams = state.array("lams", (n_problems(model),))
        model._function = _Function(*_take_state(state, model), lams)
        if np.any(lams <= 0):
            raise damaged("lam is not positive")
        state.finish()
    entries.finish()
    return model


def describe_kernel_perceptron(model: KernelPerceptronClassifier, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a KernelPerceptronClassifier."""
    record = _describe(model, sheets)
    record["state"] = {"keeps_mean": model._mean is not None}
    _put_state(sheets.within("state"), model._signed, model._mean, model._tally)
    return record


def restore_kernel_perceptron(entries: Entries) -> KernelPerceptronClassifier:
    """Return the KernelPerceptronClassifier of a header."""
    model: KernelPerceptronClassifier = _restore(KernelPerceptronClassifier, entries)
    state = entries.within("state")
    model._signed, model._mean, model._tally = _take_state(state, model)
    state.finish()
    entries.finish()
    return model


def refuse_callable(model: Any) -> None:
    """Refuse a kernel that is the user's own code."""
    if callable(model.kernel) or callable(model._kernel):
        raise ModelError(
            f"{type(model).__name__} has a kernel that is a function, and a model file holds no "
            "code",
            "use a kernel by name, or compute its matrix and use kernel='precomputed'",
        )


def _describe(model: Any, sheets: Sheets) -> dict[str, Any]:
    refuse_callable(model)
    record = describe_classifier(model, sheets)
    kernel = model._kernel
    record["kernel"] = {"name": kernel} if isinstance(kernel, str) else kernel.options()
    if not isinstance(kernel, str):
        record["kernel"]["name"] = record["kernel"].pop("kernel")
    record["rows_seen"] = int(model._rows_seen)
    record["support_vectors"] = None
    if kernel != "precomputed":
        record["support_vectors"] = sheets.put_matrix("support_vectors", model.support_vectors_)
    sheets.put("support", model.support_)
    sheets.put("dual_coef", model.dual_coef_)
    record["intercept"] = float(model.intercept_[0]) if hasattr(model, "intercept_") else None
    return record


def _restore(cls: type, entries: Entries) -> Any:
    model = restore_classifier(cls, entries)
    try:
        memory_bytes(model.memory)
    except ValueError as error:
        raise damaged(str(error)) from None
    model._keep_kernel(_restore_kernel(entries.within("kernel")))
    if (model.kernel == "precomputed") != (model._kernel == "precomputed"):
        raise damaged("kernel and parameters do not fit each other")
    model._rows_seen = entries.whole("rows_seen", at_least=1)
    n_support = _restore_support(model, entries)
    model.dual_coef_ = entries.array("dual_coef", (n_problems(model), n_support))
    if entries.has("intercept"):
        model.intercept_ = np.array([entries.number("intercept")])
        if n_problems(model) > 1:
            raise damaged("there is one intercept for several classes")
    return model


def _restore_kernel(entries: Entries) -> Any:
    name = entries.text("name", _NAMES)
    kernel: Any = name
    if name != "precomputed":
        gamma, coef0 = entries.number("gamma"), entries.number("coef0")
        kernel = VectorKernel(name, gamma, coef0, entries.whole("degree", at_least=1))
        if gamma <= 0:
            raise damaged("gamma is not positive")
    entries.finish()
    return kernel


def _restore_support(model: Any, entries: Entries) -> int:
    support = entries.array("support", (-1,), dtypes=(np.dtype(np.int64),))
    precomputed = model._kernel == "precomputed"
    n_rows = min(model._rows_seen, model.n_features_in_) if precomputed else model._rows_seen
    if len(support) and (support.min() < 0 or support.max() >= n_rows):
        raise damaged(f"support vectors are not among the {n_rows} rows")
    model.support_ = support
    if entries.has("support_vectors") == precomputed:
        raise damaged("support vectors are missing, or there in vain")
    if precomputed:
        model.support_vectors_ = np.empty((0, 0))
    else:
        kind = entries.text("support_vectors", _KINDS)
        shape = (len(support), model.n_features_in_)
        model.support_vectors_ = entries.matrix("support_vectors", kind, shape)
    return len(support)


def _put_state(sheets: Sheets, signed: Any, mean: Any, tally: Any) -> None:
    sheets.put("signed", signed)
    sheets.put("tally", tally_of(tally))
    if mean is not None:
        sheets.put("mean", mean)


def _take_state(state: Entries, model: Any) -> tuple[Any, Any, Any]:
    shape = model.dual_coef_.shape
    signed = state.array("signed", shape)
    mean = state.array("mean", shape) if state.flag("keeps_mean") else None
    return signed, mean, restore_tally(state, "tally", shape[0])
