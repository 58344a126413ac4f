"""``pegasos.save`` and ``pegasos.load``: one file for a fitted model, safe to open from anyone."""

import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos._kernel import KernelPegasosClassifier
from pegasos._kernel_cv import KernelPegasosCV
from pegasos._kernel_perceptron import KernelPerceptronClassifier
from pegasos._linear import PegasosClassifier
from pegasos._linear_cv import PegasosCV
from pegasos._perceptron import PerceptronClassifier
from pegasos.io import _model_grid, _model_kernel, _model_linear
from pegasos.io._model_common import refuse_unfitted
from pegasos.io._model_container import from_bytes, read_file, to_bytes
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Array, Entries, Sheets
from pegasos.io._model_steps import describe_step, n_features_out, restore_step
from pegasos.io._model_write import replace_file

__all__ = ["load", "save"]

_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")
_Describe = Callable[[Any, Sheets], dict[str, Any]]
_Restore = Callable[[Entries], Any]

_CODECS: dict[str, tuple[type, _Describe, _Restore]] = {
    cls.__name__: (cls, describe, restore)
    for cls, describe, restore in (
        (PegasosClassifier, _model_linear.describe_pegasos, _model_linear.restore_pegasos),
        (PerceptronClassifier, _model_linear.describe_perceptron, _model_linear.restore_perceptron),
        (
            KernelPegasosClassifier,
            _model_kernel.describe_kernel_pegasos,
            _model_kernel.restore_kernel_pegasos,
        ),
        (
            KernelPerceptronClassifier,
            _model_kernel.describe_kernel_perceptron,
            _model_kernel.restore_kernel_perceptron,
        ),
        (PegasosCV, _model_grid.describe_grid, _model_grid.restore_linear_grid),
        (KernelPegasosCV, _model_grid.describe_grid, _model_grid.restore_kernel_grid),
    )
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file is replaced at once: if anything stops the program, the old one is still there.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of this package, or a pipeline of SimpleImputer, StandardScaler,
        MinMaxScaler and MaxAbsScaler that ends in one.
    path : str or path
        The file; ``.safetensors`` is the usual ending.

    Raises
    ------
    ModelError
        If the model is not fitted, holds code (a callable kernel) or cannot be written.

    See Also
    --------
    load : The way back. docs/model_files.md says what is kept.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import pegasos
    >>> X, y = load_iris(return_X_y=True)
    >>> model = pegasos.PegasosClassifier(lam=0.1, solver="sdca").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     pegasos.save(model, Path(folder) / "iris.safetensors")
    ...     again = pegasos.load(Path(folder) / "iris.safetensors")
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    record, arrays = _described(model)
    # What would be refused later is refused now.
    _restored(record, dict(arrays))
    replace_file(Path(path), to_bytes(record, arrays))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` has written.

    Opening a file runs nothing that it contains, and all that it contains is checked: it is safe
    to open a model from anyone.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or Pipeline
        The fitted model, with the same predictions to the last bit.

    Raises
    ------
    ModelError
        If the file is not a model file, damaged, edited, or of a newer format.

    Examples
    --------
    >>> import pegasos
    >>> try:
    ...     pegasos.load("not there")
    ... except pegasos.io.ModelError as error:
    ...     print(error.message)
    not there: cannot read the file: No such file or directory
    """
    try:
        record, arrays = from_bytes(read_file(Path(path)))
        return _restored(record, arrays)
    except ModelError as error:
        raise ModelError(f"{path}: {error.message}", error.hint) from None


def _described(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    sheets = Sheets()
    node = (
        _describe_pipeline(model, sheets) if type(model) is Pipeline else _describe(model, sheets)
    )
    versions = {name: version(name) for name in _PACKAGES}
    return {"model": node, "versions": versions | {"python": platform.python_version()}}, (
        sheets.arrays
    )


def _restored(record: dict[str, Any], arrays: dict[str, Array]) -> Any:
    entries = Entries(record, arrays)
    versions = entries.take("versions")
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise damaged("the versions are not texts")
    node = entries.take("model")
    entries.finish()
    is_pipeline = isinstance(node, dict) and node.get("estimator") == "Pipeline"
    model = (_restore_pipeline if is_pipeline else _restore)(Entries(node, arrays))
    if arrays:
        raise damaged(f"array {min(arrays)} is unknown")
    return model


def _describe(model: Any, sheets: Sheets) -> dict[str, Any]:
    name = type(model).__name__
    if name not in _CODECS or type(model) is not _CODECS[name][0]:
        raise ModelError(
            f"{name} cannot be stored",
            f"a model file holds one of {', '.join(_CODECS)}, or a Pipeline that ends in one",
        )
    refuse_unfitted(model)
    return _CODECS[name][1](model, sheets)


def _restore(entries: Entries) -> Any:
    return _CODECS[entries.text("estimator", _CODECS)][2](entries)


def _describe_pipeline(model: Pipeline, sheets: Sheets) -> dict[str, Any]:
    if model.memory is not None or getattr(model, "transform_input", None) is not None:
        raise ModelError(
            "a pipeline with memory or transform_input cannot be stored",
            "set_params(memory=None, transform_input=None) before saving",
        )
    *steps, (last_name, last) = model.steps
    try:
        for _, step in steps:
            check_is_fitted(step)
    except (NotFittedError, TypeError):
        raise ModelError(
            "the pipeline is not fitted, or has steps that are none", "call fit before saving"
        ) from None
    nodes = [describe_step(step, sheets.within(f"steps.{i}")) for i, (_, step) in enumerate(steps)]
    nodes.append(_describe(last, sheets.within(f"steps.{len(steps)}")))
    names = [name for name, _ in steps] + [last_name]
    return {
        "estimator": "Pipeline",
        "verbose": bool(model.verbose),
        "names": names,
        "steps": {str(i): node for i, node in enumerate(nodes)},
    }


def _restore_pipeline(entries: Entries) -> Pipeline:
    entries.text("estimator", ["Pipeline"])
    verbose = entries.flag("verbose")
    names = entries.take("names")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise damaged("the names of the steps are not a list of texts")
    taken = set(Pipeline([]).get_params())
    if len(set(names)) < len(names) or any("__" in name or name in taken for name in names):
        raise damaged("the names of the steps are not allowed in a pipeline")
    steps = entries.within("steps")
    restored: list[Any] = []
    for i in range(len(names)):
        is_last = i == len(names) - 1
        restored.append((_restore if is_last else restore_step)(steps.within(str(i))))
    steps.finish()
    entries.finish()
    for before, after in pairwise(restored):
        if n_features_out(before) != after.n_features_in_:
            raise damaged("the steps of the pipeline do not fit each other")
    return Pipeline(list(zip(names, restored, strict=True)), verbose=verbose)
