"""The steps of scikit-learn that may come before a model, with what they have learned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from pegasos.io._model_common import describe_features, describe_parameters, restore_features
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Entries, Sheets
from pegasos.io._model_values import value_from_json

__all__ = ["STEPS", "describe_step", "n_features_out", "restore_step"]

_FLOATS = ("float64", "float32")
_SEEN = (np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True)
class _Step:
    """A transformer: its class, its arrays (one number per feature), and which may be absent."""

    cls: Callable[..., Any]
    arrays: tuple[str, ...]
    may_lack: bool = False
    counts_rows: bool = True


STEPS = {
    "SimpleImputer": _Step(SimpleImputer, ("statistics_",), counts_rows=False),
    "StandardScaler": _Step(StandardScaler, ("mean_", "var_", "scale_"), may_lack=True),
    "MinMaxScaler": _Step(
        MinMaxScaler, ("min_", "scale_", "data_min_", "data_max_", "data_range_")
    ),
    "MaxAbsScaler": _Step(MaxAbsScaler, ("max_abs_", "scale_")),
}


def describe_step(step: Any, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a step before the model."""
    name = type(step).__name__
    if name not in STEPS or type(step) is not STEPS[name].cls:
        raise ModelError(
            f"a pipeline with {name} cannot be stored",
            f"use {', '.join(STEPS)} before the model, or save the model alone",
        )
    kind = STEPS[name]
    record = {
        "estimator": name,
        "parameters": describe_parameters(step),
        **describe_features(step),
    }
    there = [a for a in kind.arrays if getattr(step, a) is not None]
    if kind.may_lack:
        record["arrays"] = there
    for attribute in there:
        sheets.put(attribute.rstrip("_"), getattr(step, attribute))
    if kind.counts_rows:
        sheets.put("n_samples_seen", step.n_samples_seen_)
        record["n_samples_seen"] = _kind_of_count(step.n_samples_seen_)
    else:
        record["dtype"] = _imputed_type(step)
    return record


def restore_step(entries: Entries) -> Any:
    """Return the fitted step of a header."""
    name = entries.text("estimator", STEPS)
    kind = STEPS[name]
    step = _with_parameters(name, kind.cls, entries.take("parameters"))
    restore_features(step, entries)
    n = step.n_features_in_
    there = entries.take("arrays") if kind.may_lack else list(kind.arrays)
    if not isinstance(there, list) or any(attribute not in kind.arrays for attribute in there):
        raise damaged(f"{name} has other arrays")
    for attribute in kind.arrays:
        # An imputer that drops empty columns has NaN for their statistics.
        finite = name != "SimpleImputer"
        array = None
        if attribute in there:
            array = entries.array(attribute.rstrip("_"), (n,), dtypes=_dtypes(), finite=finite)
        setattr(step, attribute, array)
    if kind.counts_rows:
        step.n_samples_seen_ = _take_count(entries, n)
    else:
        _restore_imputer(step, entries)
    _refuse_what_cannot_work(name, step)
    entries.finish()
    return step


def n_features_out(step: Any) -> int:
    """Return how many features a fitted step hands on."""
    if isinstance(step, SimpleImputer) and not step.keep_empty_features:
        return int(np.count_nonzero(~np.isnan(step.statistics_)))
    return int(step.n_features_in_)


def _with_parameters(name: str, cls: Callable[..., Any], record: Any) -> Any:
    """Return the step; a parameter that this scikit-learn does not know would change its work."""
    step = cls()
    unknown = set(record) - set(step.get_params()) if isinstance(record, dict) else {"?"}
    if unknown:
        raise ModelError(
            f"{name} of scikit-learn {sklearn.__version__} has no parameter {min(unknown)}",
            "update scikit-learn, or save the model anew",
        )
    step.set_params(**{key: value_from_json(value) for key, value in record.items()})
    try:
        step._validate_params()
    except (ValueError, TypeError) as error:
        raise damaged(str(error)) from None
    return step


def _imputed_type(step: SimpleImputer) -> str:
    dtype = step.statistics_.dtype.name
    fitted = str(np.dtype(step._fit_dtype).name)
    if step.add_indicator or dtype not in _FLOATS or fitted not in _FLOATS:
        raise ModelError(
            f"{step!r} fitted to values of type {step._fit_dtype} cannot be stored",
            "impute float columns, and without add_indicator",
        )
    return fitted


def _restore_imputer(step: Any, entries: Entries) -> None:
    dtype = np.dtype(entries.text("dtype", _FLOATS))
    if step.add_indicator or not isinstance(step.strategy, str):
        raise damaged("SimpleImputer has parameters that are never stored")
    # What else a fit to rows of this type sets depends on the version of scikit-learn.
    like = vars(SimpleImputer().fit(np.zeros((1, 1), dtype=dtype)))
    private = {name: value for name, value in like.items() if name.startswith("_")}
    vars(step).update(private, indicator_=None)


def _refuse_what_cannot_work(name: str, step: Any) -> None:
    if name == "StandardScaler":
        lacks = (step.with_mean and step.mean_ is None) or (step.with_std and step.scale_ is None)
        if lacks:
            raise damaged("StandardScaler lacks what it scales with")
    if name == "MinMaxScaler":
        pair = [v for v in step.feature_range if isinstance(v, int | float)]
        if len(step.feature_range) != 2 or len(pair) != 2 or not pair[0] < pair[1]:
            raise damaged(f"MinMaxScaler scales to {step.feature_range}")
    divides = name in ("StandardScaler", "MaxAbsScaler") and step.scale_ is not None
    if divides and np.any(step.scale_ == 0):
        raise damaged(f"{name} divides by zero")


def _kind_of_count(count: Any) -> str:
    """Tell the types apart that scikit-learn counts rows with."""
    if isinstance(count, np.ndarray):
        return "array"
    return "int" if isinstance(count, int) else np.dtype(type(count)).name


def _take_count(entries: Entries, n: int) -> Any:
    kind = entries.text("n_samples_seen", ("array", "int", "int64", "float32", "float64"))
    count = entries.array("n_samples_seen", (n,) if kind == "array" else (), dtypes=_SEEN)
    if np.any(count < 0):
        raise damaged("a scaler has seen fewer than no rows")
    if kind == "array":
        return count
    return int(count) if kind == "int" else count[()]


def _dtypes() -> tuple[Any, ...]:
    return tuple(np.dtype(name) for name in _FLOATS)
