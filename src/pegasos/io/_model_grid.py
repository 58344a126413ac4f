"""PegasosCV and KernelPegasosCV: the results of all cells, and the best estimator."""

from typing import Any

import numpy as np

from pegasos._cv import GridClassifier
from pegasos._grid import Grid, Table
from pegasos._kernel_cv import KernelPegasosCV
from pegasos._linear_cv import PegasosCV
from pegasos._validation import grid_values
from pegasos.io._model_common import (
    describe_features,
    describe_parameters,
    restore_features,
    restore_parameters,
)
from pegasos.io._model_errors import ModelError, damaged
from pegasos.io._model_fields import Entries, Sheets
from pegasos.io._model_kernel import (
    describe_kernel_pegasos,
    restore_kernel_pegasos,
)
from pegasos.io._model_linear import describe_pegasos, restore_pegasos
from pegasos.io._model_values import labels_from_json, labels_to_json, value_from_json

__all__ = ["describe_grid", "restore_kernel_grid", "restore_linear_grid"]

# Axes of a grid, and the parameters whose entries they are.
_LINEAR_AXES = {"loss": "losses", "lam": "lams", "max_steps": "steps"}
_KERNEL_AXES = {
    "loss": "losses",
    "gamma": "gammas",
    "degree": "degrees",
    "lam": "lams",
    "max_steps": "steps",
}
_BY_FOLD = ("test_error", "train_error", "fit_seconds", "test_score", "train_score")
_SCORE_TIME = ("mean_score_time", "std_score_time")


def describe_grid(model: GridClassifier, sheets: Sheets) -> dict[str, Any]:
    """Return the header of a fitted grid."""
    if callable(getattr(model, "kernel", None)):
        raise ModelError(
            f"{type(model).__name__} has a kernel that is a function, and a model file holds no "
            "code",
            "use a kernel by name, or compute its matrix and use kernel='precomputed'",
        )
    axes = _axes(model.cv_results_["params"])
    shape = (*(len(values) for values in axes.values()), model.n_splits_)
    results = sheets.within("results")
    for name in ("test_error", "train_error", "fit_seconds"):
        results.put(name, getattr(model, f"{name}_"))
    for name in ("test_score", "train_score"):
        folds = [model.cv_results_[f"split{f}_{name}"] for f in range(model.n_splits_)]
        results.put(name, np.stack(folds, axis=-1).reshape(shape))
    for name in _SCORE_TIME:
        results.put(name, model.cv_results_[name])
    record = {
        "estimator": type(model).__name__,
        "parameters": describe_parameters(model),
        "classes": labels_to_json(model.classes_),
        **describe_features(model),
        "axes": {name: [_plain(value) for value in values] for name, values in axes.items()},
        "n_splits": int(model.n_splits_),
        "best": None,
    }
    if hasattr(model, "best_estimator_"):
        is_linear = isinstance(model, PegasosCV)
        describe: Any = describe_pegasos if is_linear else describe_kernel_pegasos
        record["best"] = describe(model.best_estimator_, sheets.within("best"))
    return record


def restore_linear_grid(entries: Entries) -> Any:
    """Return the PegasosCV of a header."""
    return _restore(PegasosCV, entries, _LINEAR_AXES, restore_pegasos)


def restore_kernel_grid(entries: Entries) -> Any:
    """Return the KernelPegasosCV of a header."""
    return _restore(KernelPegasosCV, entries, _KERNEL_AXES, restore_kernel_pegasos)


def _restore(cls: type, entries: Entries, axes: dict[str, str], restore_best: Any) -> Any:
    model = restore_parameters(cls, entries)
    model.classes_ = labels_from_json(entries.take("classes"))
    restore_features(model, entries)
    grid = Grid(_checked_axes(cls.__name__, entries.take("axes"), axes))
    model.n_splits_ = entries.whole("n_splits", at_least=1)
    _restore_results(model, entries, grid)
    has_best = entries.has("best")
    if has_best != model.refit:
        raise damaged("the best estimator is missing, or there in vain")
    if has_best:
        best = entries.within("best")
        best.text("estimator", [cls.__name__.replace("CV", "Classifier")])
        model.best_estimator_ = restore_best(best)
        _share(model, model.best_estimator_)
    entries.finish()
    return model


def _restore_results(model: Any, entries: Entries, grid: Grid) -> None:
    """Set all that follows from the errors and scores of every cell, as a fit does."""
    table = Table(grid, model.n_splits_)
    shape = (*grid.shape, model.n_splits_)
    for name in _BY_FOLD:
        setattr(table, name, entries.array(f"results.{name}", shape, finite=False))
    with np.errstate(all="ignore"):  # scores may be infinite, their deviation is then no number
        results = table.cv_results()
    n_cells = int(np.prod(grid.shape))
    for name in _SCORE_TIME:
        results[name] = entries.array(f"results.{name}", (n_cells,), finite=False)
    best = int(results["rank_test_score"].argmin())
    model.cv_results_ = results
    model.test_error_, model.train_error_ = table.test_error, table.train_error
    model.fit_seconds_ = table.fit_seconds
    model.best_index_ = best
    model.best_params_ = results["params"][best]
    model.best_score_ = float(results["mean_test_score"][best])


def _share(model: Any, best: Any) -> None:
    same = np.array_equal(best.classes_, model.classes_)
    if not same or best.n_features_in_ != model.n_features_in_:
        raise damaged("the best estimator is of other data")
    own = set(best.get_params()) | set(vars(model))
    model.__dict__.update({name: v for name, v in vars(best).items() if name not in own})


def _axes(cells: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in cells[0]}


def _checked_axes(estimator: str, record: Any, names: dict[str, str]) -> dict[str, Any]:
    if not isinstance(record, dict) or list(record) != list(names):
        raise damaged(f"the grid has other axes than {list(names)}")
    axes = {}
    for name, values in record.items():
        if not isinstance(values, list):
            raise damaged(f"the values of {name} are not a list")
        try:
            axes[name] = grid_values(estimator, names[name], [value_from_json(v) for v in values])
        except (ValueError, TypeError) as error:
            raise damaged(str(error)) from None
    return axes


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
