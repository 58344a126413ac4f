"""What the files of all estimators share: parameters, classes, features, counts, certificate."""

from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pegasos._problem import TALLY, as_floats
from pegasos._training import one_or_all
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Entries, Sheets
from pegasos.io._model_values import (
    labels_from_json,
    labels_to_json,
    value_from_json,
    value_to_json,
)

__all__ = [
    "describe_classifier",
    "describe_features",
    "describe_parameters",
    "describe_totals",
    "n_problems",
    "refuse_unfitted",
    "restore_classifier",
    "restore_features",
    "restore_parameters",
    "restore_tally",
    "restore_totals",
    "tally_of",
]

# Entries of the header, and the attributes that they become.
_COUNTS = {"n_iter": "n_iter_", "n_steps": "n_steps_"}
_CERTIFICATE = {"objective": "objective_", "dual": "dual_objective_", "gap": "duality_gap_"}
_HISTORY = ("objective", "dual", "gap")
_WHOLE = (np.dtype(np.int64),)
_MOST_THREADS = 1024
# As parts of the objective: a gap is a difference of two numbers, but each of these is a sum over
# all rows, of kernel values in single precision perhaps.
_OFF_DIFFERENCE = 1e-12
_BELOW_ZERO = 1e-4


def refuse_unfitted(model: Any, attributes: list[str] | None = None) -> None:
    """Refuse a model that has none of these attributes; None: nothing fitted at all."""
    try:
        check_is_fitted(model, attributes, all_or_any=any)
    except NotFittedError:
        raise ModelError(
            f"{type(model).__name__} is not fitted", "call fit first; a grid needs refit=True"
        ) from None


def describe_parameters(model: Any) -> dict[str, Any]:
    """Return all parameters of an estimator."""
    parameters = model.get_params(deep=False)
    return {name: value_to_json(value, name) for name, value in parameters.items()}


def restore_parameters(cls: type, entries: Entries) -> Any:
    """Return an estimator that is not fitted yet; every parameter is there, known and in range."""
    record = entries.take("parameters")
    known = set(cls().get_params(deep=False))
    if not isinstance(record, dict) or set(record) != known:
        odd = sorted(set(record) ^ known)[:5] if isinstance(record, dict) else record
        raise damaged(f"{cls.__name__} has no such parameters, or lacks some: {odd}")
    parameters = {name: value_from_json(value) for name, value in record.items()}
    model = cls(**parameters)
    try:
        model._validate_params()
    except (ValueError, TypeError) as error:
        raise damaged(str(error)) from None
    if abs(model.n_jobs or 1) > _MOST_THREADS:
        raise damaged(f"it asks for {model.n_jobs} threads")
    return model


def describe_features(model: Any) -> dict[str, Any]:
    """Return number and names of the features."""
    names = getattr(model, "feature_names_in_", None)
    return {
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
    }


def restore_features(model: Any, entries: Entries) -> None:
    """Set number and names of the features."""
    model.n_features_in_ = entries.whole("n_features", at_least=1)
    names = entries.take("feature_names")
    if names is None:
        return
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise damaged("the names of the features are not a list of texts")
    if len(names) != model.n_features_in_:
        raise damaged(f"there are {len(names)} names for {model.n_features_in_} features")
    if len(set(names)) < len(names):
        raise damaged("two features have the same name")
    model.feature_names_in_ = np.array(names, dtype=object)


def describe_classifier(model: Any, sheets: Sheets) -> dict[str, Any]:
    """Return what every fitted classifier of ours has."""
    record = {
        "estimator": type(model).__name__,
        "parameters": describe_parameters(model),
        "classes": labels_to_json(model.classes_),
        **describe_features(model),
        **{entry: int(getattr(model, name)) for entry, name in _COUNTS.items()},
        "n_violations": np.asarray(model.n_violations_).tolist(),
        "certificate": None,
        "history": None,
    }
    if hasattr(model, "objective_"):
        values = {entry: getattr(model, name) for entry, name in _CERTIFICATE.items()}
        record["certificate"] = {entry: _plain(value) for entry, value in values.items()}
    if hasattr(model, "history_"):
        columns = list(model.history_[0])
        record["history"] = columns
        for column in columns:
            sheets.put(f"history.{column}", [entry[column] for entry in model.history_])
    return record


def restore_classifier(cls: type, entries: Entries) -> Any:
    """Return an estimator with all that :func:`describe_classifier` has kept of it."""
    model = restore_parameters(cls, entries)
    model.classes_ = labels_from_json(entries.take("classes"))
    restore_features(model, entries)
    for entry, name in _COUNTS.items():
        setattr(model, name, entries.whole(entry))
    k = n_problems(model)
    violations = entries.take("n_violations")
    several = violations if isinstance(violations, list) else [violations]
    each = isinstance(violations, list) == (k > 1) and len(several) == k
    if not each or not all(_is_count(n) for n in several):
        raise damaged("n_violations is not a whole number for each class")
    model.n_violations_ = np.array(violations) if k > 1 else violations
    if entries.has("certificate"):
        certificate = entries.within("certificate")
        for entry, name in _CERTIFICATE.items():
            setattr(model, name, _certified(certificate.take(entry), k))
        certificate.finish()
        _refuse_impossible(model)
    columns = entries.take("history")
    if columns is not None:
        model.history_ = _history(columns, entries, k)
    return model


def n_problems(model: Any) -> int:
    """Return how many functions a model is made of: one for two classes, else one for each."""
    return 1 if len(model.classes_) == 2 else len(model.classes_)


def tally_of(tally: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the counts as a table of floats, a row for each problem."""
    return as_floats(np.ascontiguousarray(tally))


def restore_tally(entries: Entries, name: str, k: int) -> npt.NDArray[Any]:
    """Return the counts, with some weight that the steps of each problem have moved."""
    fields = TALLY.names or ()
    tally = entries.array(name, (k, len(fields))).view(TALLY)[:, 0]
    if np.any(tally["clock"] <= 0):
        raise damaged(f"{name} counts no steps")
    return tally


def describe_totals(model: Any, sheets: Sheets) -> dict[str, Any]:
    """Return what calls to come have to know of the weights so far."""
    sheets.put("class_totals", model._class_totals)
    return {"weight_unit": float(model._weight_unit)}


def restore_totals(model: Any, entries: Entries) -> None:
    """Set what :func:`describe_totals` has kept."""
    model._class_totals = entries.array("class_totals", (len(model.classes_),))
    model._weight_unit = entries.number("weight_unit")
    if model._weight_unit <= 0:
        raise damaged("the unit of the weights is not positive")


def _plain(value: Any) -> Any:
    """Return numbers as JSON has them; infinite ones as texts."""
    if np.ndim(value):
        return [_plain(entry) for entry in np.asarray(value).tolist()]
    if isnan(value):
        raise ModelError("the certificate of the model is not a number", "fit the model again")
    return float(value) if np.isfinite(value) else str(float(value))


def _certified(value: Any, k: int) -> Any:
    several = value if isinstance(value, list) else [value]
    numbers = [float(entry) if entry in ("inf", "-inf") else entry for entry in several]
    if isinstance(value, list) != (k > 1) or len(numbers) != k:
        raise damaged("the certificate is not a number for each class")
    if not all(type(number) is float and not isnan(number) for number in numbers):
        raise damaged("the certificate is not made of numbers")
    return one_or_all(np.array(numbers))


def _refuse_impossible(model: Any) -> None:
    """Refuse a gap that is not what lies between objective and bound, or is negative."""
    objective, dual, gap = (np.atleast_1d(getattr(model, name)) for name in _CERTIFICATE.values())
    unbounded = np.isfinite(objective) & (dual == -np.inf) & (gap == np.inf)
    scale = np.abs(objective)
    with np.errstate(invalid="ignore"):
        is_difference = np.abs(objective - dual - gap) <= _OFF_DIFFERENCE * scale
        possible = is_difference & (gap >= -_BELOW_ZERO * scale)
    if not np.all(unbounded | possible):
        raise damaged("the certificate is impossible: its gap is not objective - dual, or below 0")


def _history(columns: Any, entries: Entries, k: int) -> list[dict[str, Any]]:
    certified = ["step", "seconds", *_HISTORY, "violations"]
    if columns not in (certified, ["step", "seconds", "violations"]):
        raise damaged("the history has other columns")
    each = () if k == 1 else (k,)
    table = {
        "step": entries.array("history.step", (-1,), dtypes=_WHOLE),
        "seconds": entries.array("history.seconds", (-1,)),
        "violations": entries.array("history.violations", (-1, *each), dtypes=_WHOLE),
    }
    for name in columns[2:-1]:
        table[name] = entries.array(f"history.{name}", (-1, *each), finite=False)
    if len({len(values) for values in table.values()}) > 1 or not len(table["step"]):
        raise damaged("the columns of the history have different lengths")
    return [{name: _entry(table[name][i]) for name in columns} for i in range(len(table["step"]))]


def _entry(value: Any) -> Any:
    return value.copy() if np.ndim(value) else value.item()


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
