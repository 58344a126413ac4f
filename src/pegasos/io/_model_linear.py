"""PegasosClassifier and PerceptronClassifier: weights, and what partial_fit goes on from."""

from typing import Any

import numpy as np

from pegasos._linear import PegasosClassifier
from pegasos._pegasos_run import PegasosState
from pegasos._perceptron import PerceptronClassifier, PerceptronState
from pegasos.io._model_common import (
    describe_classifier,
    describe_totals,
    n_problems,
    restore_classifier,
    restore_tally,
    restore_totals,
    tally_of,
)
from pegasos.io._model_fields import Entries, Sheets

__all__ = [
    "describe_pegasos",
    "describe_perceptron",
    "restore_pegasos",
    "restore_perceptron",
]

_KINDS = ("dense", "csr_matrix", "csr_array")
_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


def describe_pegasos(model: PegasosClassifier, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a PegasosClassifier."""
    record = _describe(model, sheets) | describe_totals(model, sheets)
    state = getattr(model, "_state", None)
    record["state"] = None
    if isinstance(state, PegasosState):  # that of sdca has an entry per training row
        record["state"] = {
            "lam": float(model._state_lam),
            "bias": float(model._state_bias),
            "keeps_norm": bool(state.keeps_norm),
            "keeps_mean": state.u is not None,
        }
        _put_state(sheets.within("state"), state.v, state.u, state.tally)
    return record


def restore_pegasos(entries: Entries) -> PegasosClassifier:
    """Return the PegasosClassifier of a header."""
    model: PegasosClassifier = _restore(PegasosClassifier, entries)
    restore_totals(model, entries)
    if entries.has("state"):
        state = entries.within("state")
        model._state_lam, model._state_bias = state.number("lam"), state.number("bias")
        keeps_norm = state.flag("keeps_norm")
        model._state = PegasosState(*_take_state(state, model), keeps_norm)
        state.finish()
    entries.finish()
    return model


def describe_perceptron(model: PerceptronClassifier, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a PerceptronClassifier."""
    record = _describe(model, sheets)
    state = model._state
    record["state"] = {"keeps_mean": state.u is not None}
    _put_state(sheets.within("state"), state.w, state.u, state.tally)
    return record


def restore_perceptron(entries: Entries) -> PerceptronClassifier:
    """Return the PerceptronClassifier of a header."""
    model: PerceptronClassifier = _restore(PerceptronClassifier, entries)
    state = entries.within("state")
    model._state = PerceptronState(n_problems(model), model.n_features_in_)
    model._state.w, model._state.u, model._state.tally = _take_state(state, model)
    state.finish()
    entries.finish()
    return model


def _describe(model: Any, sheets: Sheets) -> dict[str, Any]:
    record = describe_classifier(model, sheets)
    record["coef"] = sheets.put_matrix("coef", model.coef_)
    sheets.put("intercept", model.intercept_)
    return record


def _restore(cls: type, entries: Entries) -> Any:
    model = restore_classifier(cls, entries)
    k = n_problems(model)
    kind = entries.text("coef", _KINDS)
    model.coef_ = entries.matrix("coef", kind, (k, model.n_features_in_))
    model.intercept_ = entries.array("intercept", (k,), dtypes=_TYPES)
    return model


def _put_state(sheets: Sheets, weights: Any, mean: Any, tally: Any) -> None:
    sheets.put("weights", weights)
    sheets.put("tally", tally_of(tally))
    if mean is not None:
        sheets.put("mean", mean)


def _take_state(state: Entries, model: Any) -> tuple[Any, Any, Any]:
    k = n_problems(model)
    shape = (k, model.n_features_in_ + 1)
    weights = state.array("weights", shape)
    mean = state.array("mean", shape) if state.flag("keeps_mean") else None
    return weights, mean, restore_tally(state, "tally", k)
