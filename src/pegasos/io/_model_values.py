"""Parameters and labels as JSON, and back: exactly, and nothing that could run."""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._model_errors import ModelError, damaged

__all__ = ["labels_from_json", "labels_to_json", "value_from_json", "value_to_json"]

_LARGEST_WHOLE = 2**64
# The widest label; a damaged width must not make room for gigabytes.
_LONGEST_LABEL = 2**16
_NUMBER_TYPES = {
    np.dtype(kind).name: np.dtype(kind) for kind in "?bhilqBHILQefd"
}  # bool to uint64, float16 to float64


def value_to_json(value: Any, name: str) -> Any:
    """Return the value of a parameter as JSON has it; what JSON has not is tagged."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral) and abs(int(value)) < _LARGEST_WHOLE:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral | np.longdouble):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    if isinstance(value, list):
        return [value_to_json(entry, name) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [value_to_json(entry, name) for entry in value]}
    if isinstance(value, dict):
        pairs = value.items()
        return {"dict": [[value_to_json(k, name), value_to_json(v, name)] for k, v in pairs]}
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.name in _NUMBER_TYPES:
        entries = [value_to_json(entry, name) for entry in value.tolist()]
        return {"array": entries, "dtype": value.dtype.name}
    raise ModelError(
        f"{name}={value!r} cannot be stored: a model file holds numbers, texts and lists of them, "
        "and no code",
        f"change it before saving, with set_params({name}=...): what is fitted stays as it is",
    )


def value_from_json(value: Any) -> Any:
    """Return the value of a parameter."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return [value_from_json(entry) for entry in value]
    if isinstance(value, dict) and len(value) == 1:
        (tag, content), *_ = value.items()
        if tag in _TAGGED:
            return _TAGGED[tag](content)
    if isinstance(value, dict) and set(value) == {"array", "dtype"}:
        return _array(value["array"], value["dtype"])
    raise damaged(f"{_short(value)} is not the value of a parameter")


def labels_to_json(classes: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the classes of a model as JSON has them."""
    values = classes.tolist()
    if classes.dtype.name in _NUMBER_TYPES and np.all(np.isfinite(classes)):
        return {"dtype": classes.dtype.name, "values": values}
    if classes.dtype.kind == "U" and _width(classes.dtype) <= _LONGEST_LABEL:
        return {"dtype": "str", "width": _width(classes.dtype), "values": values}
    if classes.dtype == object and _are_plain(values):
        return {"dtype": "object", "values": values}
    raise ModelError(
        f"classes of type {classes.dtype} cannot be stored",
        f"use labels that are whole numbers, finite floats, bools or texts of at most "
        f"{_LONGEST_LABEL} characters",
    )


def labels_from_json(record: Any) -> npt.NDArray[Any]:
    """Return the classes of a model: two or more, all different, in order."""
    if not isinstance(record, dict) or not isinstance(record.get("values"), list):
        raise damaged("there are no classes")
    width = {"width"} if record.get("dtype") == "str" else set()
    if set(record) != {"dtype", "values", *width}:
        raise damaged(f"the classes have entries {sorted(record)}")
    values: list[Any] = record["values"]
    if record["dtype"] == "str":
        classes = _texts(values, record["width"])
    elif record["dtype"] == "object":
        if not _are_plain(values):
            raise damaged("its classes are of several kinds")
        classes = np.array(values, dtype=object)
    else:
        classes = _array(values, record["dtype"])
        if not np.all(np.isfinite(classes)):
            raise damaged("not all classes are finite")
    if len(classes) < 2 or not np.all(classes[:-1] < classes[1:]):
        raise damaged("the classes are not two or more different labels in order")
    return classes


def _number(value: Any) -> int | float:
    if isinstance(value, int) and abs(value) < _LARGEST_WHOLE:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise damaged(f"{_short(value)} is too large a number")


def _entries(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise damaged(f"{_short(content)} is not a list of values")
    return [value_from_json(entry) for entry in content]


def _dict(content: Any) -> dict[Any, Any]:
    pairs = _entries(content)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise damaged(f"{_short(content)} is not a list of pairs")
    if any(isinstance(key, list | dict | np.ndarray) for key, _ in pairs):
        raise damaged(f"{_short(content)} has keys that are lists")
    return dict(pairs)


def _not_finite(content: Any) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise damaged(f"{_short(content)} is not a number")
    return float(content)


_TAGGED: dict[str, Callable[[Any], Any]] = {
    "float": _not_finite,
    "tuple": lambda content: tuple(_entries(content)),
    "dict": _dict,
}


def _array(content: Any, dtype: Any) -> npt.NDArray[Any]:
    if not isinstance(dtype, str) or dtype not in _NUMBER_TYPES:
        raise damaged(f"{_short(dtype)} is not a type of numbers")
    entries = _entries(content)
    to = _NUMBER_TYPES[dtype]
    kinds = {"b": bool, "i": int, "u": int, "f": float}
    if not all(type(entry) is kinds[to.kind] for entry in entries):
        raise damaged(f"{_short(content)} are not all numbers of type {dtype}")
    try:
        array = np.array(entries, dtype=to)
    except OverflowError:
        raise damaged(f"{_short(content)} are not all numbers of type {dtype}") from None
    if array.tolist() != entries and not np.isnan(array.astype(float)).any():
        raise damaged(f"{_short(content)} are not all numbers of type {dtype}")
    return array


def _texts(values: list[Any], width: Any) -> npt.NDArray[Any]:
    if not all(isinstance(value, str) for value in values):
        raise damaged("not all classes are texts")
    if type(width) is not int or not max(map(len, values), default=1) <= width <= _LONGEST_LABEL:
        raise damaged(f"texts of {_short(width)} characters cannot hold the classes")
    return np.array(values, dtype=f"U{width}")


def _are_plain(values: list[Any]) -> bool:
    """Tell whether all values are texts, or all bools, or all whole numbers."""
    return len({type(value) for value in values}) == 1 and type(values[0]) in (str, bool, int)


def _width(dtype: Any) -> int:
    return int(dtype.itemsize) // np.dtype("U1").itemsize


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
