"""Models of a study: an estimator, its parameters, and the grid of those that are tried out."""

import inspect
import math
import re
import warnings
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from pegasos import (
    KernelPegasosClassifier,
    KernelPerceptronClassifier,
    PegasosClassifier,
    PerceptronClassifier,
)
from pegasos.kernels import memory_bytes
from pegasos.studies._fields import FieldError, Fields, closest
from pegasos.studies._prepare import Preparation, read_preparation
from pegasos.studies._textbook import LaplaceSquared

__all__ = ["AXES", "ESTIMATORS", "Cell", "Model", "read_model", "read_single"]

Cell = dict[str, Any]  # the parameters that a cell of the grid has of its own

ESTIMATORS = {
    estimator.__name__: estimator
    for estimator in (
        PegasosClassifier,
        KernelPegasosClassifier,
        PerceptronClassifier,
        KernelPerceptronClassifier,
    )
}
# What a grid may vary: the table of results has a column for each. The last two run in lockstep.
AXES = ("gamma", "degree", "coef0", "loss", "max_iter", "lam", "max_steps")
_LOCKSTEP = ("loss", "lam", "max_steps")
# What the study decides for all its models.
_NOT_HERE = {
    "random_state": "seed, at the top of the file, decides what is drawn",
    "n_jobs": "it changes no result; say it when the study is run",
    "verbose": "it changes no result; say it when the study is run",
    "warm_start": "every cell starts anew",
}
# A kernel that the estimators have no name for: they get it as a callable.
_WRONG_NORM = "laplace-squared"
_KERNEL_NEEDS = {
    "rbf": ("gamma", "coef0"),
    "poly": ("gamma", "degree", "coef0"),
    "linear": ("coef0",),
    _WRONG_NORM: ("gamma",),
}


@dataclass(frozen=True)
class Model:
    """An estimator and the grid of its parameters.

    Attributes
    ----------
    name : str
        What the results call it.
    estimator : str
        Name of the class.
    params : dict
        Parameters that all cells share.
    grid : dict
        Values of the parameters that are varied, in the order of ``AXES``.
    prepare : Preparation
        What becomes of the features.
    """

    name: str
    estimator: str
    params: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    prepare: Preparation = field(default_factory=Preparation)

    def make(self, cell: Cell, **others: Any) -> Any:
        """Return the estimator of a cell, not fitted."""
        fixed = {"tol": None} if self.in_lockstep else {}
        params = {**fixed, **self.params, **cell, **others}
        if params.get("kernel") == _WRONG_NORM:
            params["kernel"] = LaplaceSquared(params.pop("gamma"))
        return ESTIMATORS[self.estimator](**params)

    def row_names(self) -> list[str]:
        """Return what the results call its rows."""
        return [self.name]

    @property
    def is_kernel(self) -> bool:
        """Whether the estimator has a kernel."""
        return self.estimator.startswith("Kernel")

    @property
    def in_lockstep(self) -> bool:
        """Whether all lam and T make their steps together, as PegasosCV does.

        They do if the number of steps is all that ends a run.
        """
        return (
            "Pegasos" in self.estimator
            and self.params.get("solver", "pegasos") == "pegasos"
            and self.params.get("tol") is None
            and self.has_steps
        )

    @property
    def has_steps(self) -> bool:
        """Whether the number of steps is given, not that of epochs."""
        return "max_steps" in self.grid or self.params.get("max_steps") is not None

    def cells(self) -> list[Cell]:
        """Return all cells of the grid."""
        return [
            dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())
        ]

    def batches(self) -> list[list[Cell]]:
        """Return the cells that are best computed together: those of one kernel, or one by one."""
        if not self.in_lockstep:
            return [[cell] for cell in self.cells()]
        groups: dict[tuple[Any, ...], list[Cell]] = {}
        for cell in self.cells():
            kernel = tuple(value for name, value in cell.items() if name not in _LOCKSTEP)
            groups.setdefault(kernel, []).append(cell)
        return list(groups.values())

    def columns(self, cell: Cell) -> dict[str, Any]:
        """Return what identifies the cell in the table of results.

        A gamma that is a rule ("scale") leaves its column empty, for its value differs by fold; so
        does a constant that is 0 and not varied, where the kernel is known without one.
        """
        made = self.make(cell).get_params()
        if isinstance(made.get("kernel"), LaplaceSquared):
            made |= {"kernel": _WRONG_NORM, "gamma": made["kernel"].gamma}
        used = _KERNEL_NEEDS[made["kernel"]] if self.is_kernel else ()
        columns = {name: made[name] for name in used if not isinstance(made[name], str)}
        if "coef0" not in self.grid and made.get("kernel") != "poly" and not columns.get("coef0"):
            columns.pop("coef0", None)
        for name in ("loss", "kernel", "lam"):
            if name in made:
                columns[name] = made[name]
        steps = "max_iter" if made["max_steps"] is None else "max_steps"
        return {**columns, steps: made[steps]}


def read_model(fields: Fields, prepare: Preparation) -> Model:
    """Check one of [[models]]; names and values of parameters are checked by the estimator."""
    name = fields.text("name")
    estimator = fields.text("estimator", choices=ESTIMATORS)
    own = fields.table("prepare")
    prepare = read_preparation(own, prepare)
    if own is not None:
        own.done()
    grid = fields.table("grid") or Fields({}, (*fields.path, "grid"))
    varied = {axis: grid.values(axis) for axis in AXES if axis in grid}
    params = fields.rest()
    _refuse_unknown(fields, estimator, params)
    for key, value in params.items():
        params[key] = _checked(estimator, key, value, (*fields.path, key))
    for key in grid.rest():
        raise grid.error(key, _no_axis(estimator, key))
    for axis, values in varied.items():
        path = (*grid.path, axis)
        _refuse_unknown(grid, estimator, {axis: values})
        if axis in params:
            raise grid.error(axis, "is both here and among the model's parameters; leave one out")
        varied[axis] = tuple(
            _checked(estimator, axis, value, (*path, i)) for i, value in enumerate(values)
        )
    model = Model(name, estimator, params, varied, prepare)
    _refuse_idle_axes(grid, model)
    _refuse_clashes(fields, model)
    return model


def read_single(fields: Fields, what: str, decided: tuple[str, ...]) -> Model:
    """Check the model of a clock or a race: one cell, rows as they are.

    ``what`` it is, and the parameters that are ``decided`` by it, go into the errors.
    """
    model = read_model(fields, Preparation())
    for key in decided:
        if key in model.params:
            raise fields.error(key, f"the {what} decides about it; leave it out")
    if model.grid:
        raise fields.error("grid", f"a {what} runs with one set of parameters; leave it out")
    if "prepare" in fields:
        raise fields.error("prepare", f"a {what} takes rows as they are; leave it out")
    return model


def _refuse_unknown(fields: Fields, estimator: str, params: dict[str, Any]) -> None:
    known = set(inspect.signature(ESTIMATORS[estimator]).parameters) - _NOT_HERE.keys()
    for key in params:
        if key in _NOT_HERE:
            raise fields.error(key, f"cannot be set for one model: {_NOT_HERE[key]}; leave it out")
        if key not in known:
            others = {"name", "estimator", "grid", "prepare"} if len(fields.path) == 2 else set()
            remedy = closest(key, known | others)
            raise fields.error(key, f"{estimator} has no such parameter; {remedy}")


def _no_axis(estimator: str, key: str) -> str:
    known = inspect.signature(ESTIMATORS[estimator]).parameters
    axes = [axis for axis in AXES if axis in known]
    if key in known:
        return f"a grid varies {', '.join(axes)}; make one model for each value of {key}"
    return f"{estimator} has no such parameter; {closest(key, axes)}"


def _checked(estimator: str, key: str, value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value of a parameter as the estimator takes it, or say why it does not."""
    default = inspect.signature(ESTIMATORS[estimator]).parameters[key].default
    if value == "none":
        value = None
    if key == "kernel" and value == _WRONG_NORM:
        return value
    if key == "class_weight" and isinstance(value, dict):
        value = {_as_label(label): weight for label, weight in value.items()}
    if isinstance(value, bool) != isinstance(default, bool) or value == "precomputed":
        raise FieldError(path, f"got {value!r}; a value such as {default!r} may stand here")
    if isinstance(value, int) and not -(2**63) < value < 2**63:
        raise FieldError(path, "got a number of more than 64 bits; take a smaller one")
    is_real = isinstance(default, float) or key == "gamma"  # whose default is a rule
    if isinstance(value, int) and not isinstance(value, bool) and is_real:
        value = float(value)
    if isinstance(value, float):
        value = float(value)  # as plain as can be
        if not math.isfinite(value):
            raise FieldError(path, f"must be finite; got {value}")
    made = ESTIMATORS[estimator]().set_params(**{key: value})
    try:
        made._validate_params()
        if key == "memory":
            memory_bytes(value)
    except ValueError as error:
        raise FieldError(path, str(error)) from None
    return value


def _as_label(key: str) -> int | str:
    """Return the label that a key of TOML, always a text, stands for."""
    return int(key) if re.fullmatch(r"[+-]?\d{1,18}", key) else key


def _refuse_idle_axes(grid: Fields, model: Model) -> None:
    """Refuse axes along which nothing would change, or nothing could be told apart."""
    kernel = model.params.get("kernel", "rbf") if model.is_kernel else "linear"
    if kernel == _WRONG_NORM and not all(
        isinstance(value, float) for value in model.grid.get("gamma", (model.params.get("gamma"),))
    ):
        path = (*grid.path[:-1], "kernel")
        raise FieldError(path, f"{kernel!r} has no rule for gamma; give gamma as numbers")
    for axis in ("gamma", "degree", "coef0"):
        if axis in model.grid and axis not in _KERNEL_NEEDS[kernel]:
            raise grid.error(axis, f"the {kernel} kernel has no {axis}; leave it out")
    texts = [value for value in model.grid.get("gamma", ()) if isinstance(value, str)]
    if len(texts) > 1:
        raise grid.error(
            "gamma", f"holds several rules, {texts}; give numbers, and one rule at most"
        )
    if "max_iter" in model.grid and model.has_steps:
        raise grid.error("max_iter", "does nothing beside max_steps; leave one of the two out")
    if None in model.grid.get("max_steps", ()):
        raise grid.error("max_steps", "must hold numbers of steps; leave the none out")


def _refuse_clashes(fields: Fields, model: Model) -> None:
    """Refuse parameters that do not go together: a step on four rows tells."""
    made = model.make(model.cells()[0], max_steps=1)
    if "class_weight" in made.get_params():
        made.set_params(class_weight=None)  # these rows have other classes
    try:
        with warnings.catch_warnings(action="ignore"):
            made.fit(np.eye(4, dtype=np.float32), [0, 0, 1, 1])
    except ValueError as error:
        raise fields.error("estimator", str(error)) from None
