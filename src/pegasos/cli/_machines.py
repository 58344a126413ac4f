"""Which machine `fit` trains, which options it takes, and the estimator that they make."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from pegasos._errors import MendableError
from pegasos.cli._numbers import number, whole

__all__ = ["MACHINES", "Machine", "Settings", "settings_of", "size_of"]

_STEPS = {"max_iter", "max_steps", "sampling", "average"}
_OBJECTIVE = {"lam", "loss", "solver", "class_weight", "tol"}
_INTERCEPT = {"fit_intercept", "intercept_scaling"}
_KERNEL = {"kernel", "gamma", "degree", "coef0", "memory"}
_NOT_IN_A_GRID = ("solver", "max_iter", "tol")
_LAM = 1e-3  # of a grid over other things: what the help says, and what the estimators take
_NONE = "none"
# The one parameter whose option is called otherwise, because it says the contrary.
_OPTIONS = {"fit_intercept": "no_intercept"}
# Options that take several values, and the parameters of the grid that they then are.
_AXES = {"lam": "lams", "max_steps": "steps", "gamma": "gammas", "degree": "degrees"}


@dataclass(frozen=True)
class Machine:
    """An estimator: its name, in words, its parameters, and the grid of many of them."""

    estimator: str
    words: str
    parameters: frozenset[str]
    grid: str = ""


MACHINES = {
    machine.estimator: machine
    for machine in (
        Machine(
            "PegasosClassifier",
            "the linear machine",
            frozenset(_STEPS | _OBJECTIVE | _INTERCEPT | {"batch_size", "project"}),
            "PegasosCV",
        ),
        Machine(
            "KernelPegasosClassifier",
            "the kernel machine",
            frozenset(_STEPS | _OBJECTIVE | _KERNEL),
            "KernelPegasosCV",
        ),
        Machine("PerceptronClassifier", "the perceptron", frozenset(_STEPS | _INTERCEPT)),
        Machine("KernelPerceptronClassifier", "the kernel perceptron", frozenset(_STEPS | _KERNEL)),
    )
}
PARAMETERS = sorted(set().union(*(machine.parameters for machine in MACHINES.values())))


@dataclass(frozen=True)
class Settings:
    """A machine with the parameters that the user gave."""

    machine: Machine
    given: dict[str, Any]
    is_grid: bool
    class_weight: str | None

    def estimator(self, classes: Any, cv: Any, **common: Any) -> Any:
        """Return the estimator, or the grid of estimators, not fitted."""
        import pegasos

        name = self.machine.grid if self.is_grid else self.machine.estimator
        parameters = {**self.given, **common}
        if self.class_weight is not None:
            parameters["class_weight"] = _weights(self.class_weight, classes)
        if self.is_grid:
            parameters["cv"] = cv
        return getattr(pegasos, name)(**parameters)


def settings_of(context: typer.Context) -> Settings:
    """Return what the options of `fit` ask for; what does not belong together is refused."""
    options = {name: context.params[_OPTIONS.get(name, name)] for name in PARAMETERS}
    if context.params["stream"]:
        options.pop("memory")  # that of the chunks, not of a kernel
    given = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    is_kernel, is_perceptron = "kernel" in given, context.params["perceptron"]
    kind = ("Kernel" * is_kernel) + ("Perceptron" if is_perceptron else "Pegasos") + "Classifier"
    machine = MACHINES[kind]
    for name in given:
        if name not in machine.parameters:
            raise MendableError(
                f"{_flag(context, name)} is no option of {machine.words}", _remedy(name, is_kernel)
            )
    _refuse_idle(context, given)
    class_weight = given.pop("class_weight", None)
    parameters = {name: _PARSERS.get(name, _same)(name, given[name]) for name in given}
    several = [name for name in _AXES if len(parameters.get(name, [])) > 1]
    for name in _AXES.keys() & parameters.keys() if not several else ():
        parameters[name] = parameters[name][0]
    if several:
        parameters = _as_grid(context, machine, parameters, several[0])
    return Settings(machine, parameters, bool(several), class_weight)


def _refuse_idle(context: typer.Context, given: dict[str, Any]) -> None:
    """Refuse options that have nothing to say beside others."""
    kernel = given.get("kernel")
    of_kernels = {
        "gamma": ("rbf", "poly"),
        "degree": ("poly",),
        "coef0": ("rbf", "poly", "linear"),
        "memory": ("rbf", "poly", "linear"),
    }
    idle = [
        (name, f"--kernel {kernel}", f"leave it out, or say --kernel {' or '.join(kernels)}")
        for name, kernels in of_kernels.items()
        if kernel not in (None, *kernels)
    ]
    if given.get("solver") == "sdca":
        names = ("batch_size", "project") if kernel is None else ("average",)
        hint = "leave it out, or leave --solver sdca out: only the steps of Pegasos have it"
        idle += [(name, "--solver sdca", hint) for name in names]
    if "fit_intercept" in given:
        hint = "leave one of them out: without an intercept there is nothing to scale"
        idle.append(("intercept_scaling", "--no-intercept", hint))
    if "max_steps" in given:
        idle.append(("max_iter", "--max-steps", "leave one of them out: both say how long to run"))
    for name, beside, hint in idle:
        if name in given:
            raise MendableError(f"{_flag(context, name)} does nothing beside {beside}", hint)
    if context.params["perceptron"] and given.get("average") == "weighted":
        raise MendableError(
            "--average weighted is no option of perceptrons: their steps all weigh the same",
            "write none or uniform",
        )


def _as_grid(
    context: typer.Context, machine: Machine, parameters: dict[str, Any], axis: str
) -> dict[str, Any]:
    flag = _flag(context, axis)
    if not machine.grid:
        raise MendableError(
            f"{flag} has several values, and {machine.words} has no grid", "give it one value"
        )
    for name in _NOT_IN_A_GRID:
        if name in parameters:
            raise MendableError(
                f"{_flag(context, name)} does not go with several values of {flag}: a grid runs "
                "Pegasos for fixed numbers of steps",
                f"give {flag} one value, or leave {_flag(context, name)} out",
            )
    grid = {"lams": [_LAM]} | {_AXES.get(name, name): value for name, value in parameters.items()}
    if "loss" in grid:
        grid["losses"] = [grid.pop("loss")]
    return grid


def _flag(context: typer.Context, name: str) -> str:
    """Return a parameter as the user writes it."""
    wanted = _OPTIONS.get(name, name)
    return next(option.opts[0] for option in context.command.params if option.name == wanted)


def _remedy(name: str, is_kernel: bool) -> str:
    if name in _KERNEL:
        return "choose a kernel, as in --kernel rbf"
    if name in _OBJECTIVE:
        return "leave it out, or leave --perceptron out"
    return "leave it out, or leave --kernel out" if is_kernel else "leave it out"


def _same(name: str, value: Any) -> Any:
    return value


def _several(text: str, flag: str, read: Callable[[str, str], Any]) -> list[Any]:
    values = [read(item, flag) for item in text.split(",")]
    if len(set(values)) < len(values):
        raise MendableError(f"{flag} {text}: a value is there twice", "write each value once")
    return values


def _lams(name: str, text: str) -> list[float]:
    return _several(text, "--lam", lambda item, flag: number(item, flag, above=0))


def _gammas(name: str, text: str) -> list[float | str]:
    def gamma(item: str, flag: str) -> float | str:
        return item if item in ("scale", "auto") else number(item, flag, above=0)

    return _several(text, "--gamma", gamma)


def _wholes(name: str, text: str) -> list[int]:
    return _several(text, f"--{name.replace('_', '-')}", whole)


def _tolerance(name: str, text: str) -> float | None:
    return None if text == _NONE else number(text, "--tol", above=0)


def _mean(name: str, text: str) -> str | None:
    return None if text == _NONE else text


def _memory(name: str, text: str) -> int | str:
    size_of("--memory", text)
    return int(text) if text.isdecimal() else text


def size_of(flag: str, text: str) -> int:
    """Return a size in bytes."""
    from pegasos._memory import memory_bytes

    try:
        return memory_bytes(text)
    except ValueError:
        raise MendableError(
            f"{flag} {text}: this is not a size",
            "write bytes, or a size such as 500MB, 4GB or 2GiB",
        ) from None


def _without(name: str, is_left_out: bool) -> bool:
    return not is_left_out


_PARSERS: dict[str, Callable[[str, Any], Any]] = {
    "fit_intercept": _without,
    "lam": _lams,
    "gamma": _gammas,
    "degree": _wholes,
    "max_steps": _wholes,
    "tol": _tolerance,
    "average": _mean,
    "memory": _memory,
}


def _weights(text: str, classes: Any) -> Any:
    """Return weights of classes: "balanced", or as in ham=1,spam=5."""
    if text == "balanced":
        return text
    labels = {str(label): label for label in classes.tolist()}
    weights = {}
    for item in text.split(","):
        label, sign, weight = item.rpartition("=")
        if not sign or label not in labels or labels[label] in weights:
            raise MendableError(
                f"--class-weight {item}: this is no class with a weight, or it is there twice",
                f"write balanced, or as in {next(iter(labels))}=2; "
                f"the classes are {', '.join(list(labels)[:8])}",
            )
        weights[labels[label]] = _weight(label, weight)
    return weights


def _weight(label: str, text: str) -> float:
    try:
        return number(text, "", above=0)
    except MendableError:
        raise MendableError(
            f"--class-weight {label}={text}: this is not a number above 0",
            f"write one, as in --class-weight {label}=2",
        ) from None
