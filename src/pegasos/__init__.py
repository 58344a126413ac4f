"""Support vector machines that say how close to optimal they are."""

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes a while to import: Ctrl-C is heard sooner
if TYPE_CHECKING:
    from typing import Any

    from pegasos import dask, io, kernels, reference, report, studies
    from pegasos._kernel import KernelPegasosClassifier
    from pegasos._kernel_cv import KernelPegasosCV
    from pegasos._kernel_perceptron import KernelPerceptronClassifier
    from pegasos._linear import PegasosClassifier
    from pegasos._linear_cv import PegasosCV
    from pegasos._perceptron import PerceptronClassifier
    from pegasos.io._model_file import load, save

    __version__: str

__all__ = [
    "KernelPegasosCV",
    "KernelPegasosClassifier",
    "KernelPerceptronClassifier",
    "PegasosCV",
    "PegasosClassifier",
    "PerceptronClassifier",
    "dask",
    "io",
    "kernels",
    "load",
    "reference",
    "report",
    "save",
    "studies",
]

# Where classes and functions are; all other public names are subpackages. Each is imported when it
# is first asked for: the command line answers before NumPy and scikit-learn would be there.
_HOMES = {
    "KernelPegasosCV": "pegasos._kernel_cv",
    "KernelPegasosClassifier": "pegasos._kernel",
    "KernelPerceptronClassifier": "pegasos._kernel_perceptron",
    "PegasosCV": "pegasos._linear_cv",
    "PegasosClassifier": "pegasos._linear",
    "PerceptronClassifier": "pegasos._perceptron",
    "load": "pegasos.io._model_file",
    "save": "pegasos.io._model_file",
}


def __getattr__(name: str) -> "Any":
    value: Any
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"pegasos.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("pegasos")
    else:
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")
    globals()[name] = value  # from now on it is found without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
