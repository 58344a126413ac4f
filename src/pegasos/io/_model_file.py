"""``pegasos.save`` and ``pegasos.load``: one file for a fitted model, safe to open from anyone."""

import os
import platform
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pegasos
from pegasos.io._model_common import refuse_unfitted
from pegasos.io._model_container import from_bytes, read_file, to_bytes
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Array, Entries, Sheets
from pegasos.io._model_write import replace_file

__all__ = ["load", "save"]

_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")
_PIPELINE = "Pipeline"
_ZERO_BASED = "zero_based_"  # an attribute of the model, until it is fitted anew

# Where an estimator is described and restored: imported when it is needed, and not before.
_CODECS = {
    "PegasosClassifier": ("_model_linear", "describe_pegasos", "restore_pegasos"),
    "PerceptronClassifier": ("_model_linear", "describe_perceptron", "restore_perceptron"),
    "KernelPegasosClassifier": (
        "_model_kernel",
        "describe_kernel_pegasos",
        "restore_kernel_pegasos",
    ),
    "KernelPerceptronClassifier": (
        "_model_kernel",
        "describe_kernel_perceptron",
        "restore_kernel_perceptron",
    ),
    "PegasosCV": ("_model_grid", "describe_grid", "restore_linear_grid"),
    "KernelPegasosCV": ("_model_grid", "describe_grid", "restore_kernel_grid"),
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
    if type(model).__name__ == _PIPELINE:
        from pegasos.io._model_pipeline import describe_pipeline

        node = describe_pipeline(model, sheets, _describe)
    else:
        node = _describe(model, sheets)
    versions = {name: version(name) for name in _PACKAGES}
    record = {"model": node, "versions": versions | {"python": platform.python_version()}}
    zero_based = getattr(_last(model), _ZERO_BASED, None)
    if zero_based is not None:
        record["zero_based"] = zero_based
    return record, sheets.arrays


def _restored(record: dict[str, Any], arrays: dict[str, Array]) -> Any:
    entries = Entries(record, arrays)
    versions = entries.take("versions")
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise damaged("the versions are not texts")
    node = entries.take("model")
    # Only data with indices has it, and files older than this entry have none.
    zero_based = entries.flag("zero_based") if "zero_based" in record else None
    entries.finish()
    if isinstance(node, dict) and node.get("estimator") == _PIPELINE:
        from pegasos.io._model_pipeline import restore_pipeline

        model = restore_pipeline(Entries(node, arrays), _restore)
    else:
        model = _restore(Entries(node, arrays))
    if arrays:
        raise damaged(f"array {min(arrays)} is unknown")
    if zero_based is not None:
        setattr(_last(model), _ZERO_BASED, zero_based)
    return model


def _last(model: Any) -> Any:
    """Return the model at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if type(model).__name__ == _PIPELINE else model


def _describe(model: Any, sheets: Sheets) -> dict[str, Any]:
    if hasattr(model, "to_local"):  # of pegasos.dask: a file knows of no cluster
        refuse_unfitted(model)
        model = model.to_local()
    name = type(model).__name__
    if name not in _CODECS or type(model) is not getattr(pegasos, name):
        raise ModelError(
            f"{name} cannot be stored",
            f"a model file holds one of {', '.join(_CODECS)}, or a Pipeline that ends in one",
        )
    refuse_unfitted(model)
    home, describe, _ = _CODECS[name]
    record: dict[str, Any] = getattr(_codec(home), describe)(model, sheets)
    return record


def _restore(entries: Entries) -> Any:
    home, _, restore = _CODECS[entries.text("estimator", _CODECS)]
    return getattr(_codec(home), restore)(entries)


def _codec(home: str) -> Any:
    return import_module(f"pegasos.io.{home}")
