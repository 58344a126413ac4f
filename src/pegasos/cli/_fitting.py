"""The work of `fit`: rows are divided and prepared, the model is judged, fitted and certified."""

import sys
import warnings
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any

from pegasos._errors import MendableError
from pegasos.cli._complaints import complaints
from pegasos.cli._machines import Settings
from pegasos.cli._matching import as_fitted
from pegasos.cli._output import messages
from pegasos.cli._portrait import parts_of
from pegasos.cli._reading import filling

__all__ = ["Facts", "Work", "fit_model", "judged", "scaler"]

Facts = dict[str, Any]
_FOLDS = 5  # of a grid, unless the user says how many


@dataclass(frozen=True)
class Work:
    """What is to be done, beside the machine itself.

    Attributes
    ----------
    scale : {"standard", "minmax"} or None
        What the features are brought to.
    impute : str or None
        "mean", "median" or a number, for values that are missing.
    folds : int or None
        How many, to judge the model by.
    test_size : float or None
        Part of the rows that is kept back to judge the model by.
    seed : int
        Decides all draws.
    jobs : int
        Threads; -1 is all cores.
    """

    scale: str | None
    impute: str | None
    folds: int | None
    test_size: float | None
    seed: int
    jobs: int


def fit_model(
    settings: Settings, work: Work, data: Any, classes: Any, test: Any, path: Path
) -> tuple[Any, Facts]:
    """Return a fitted model and what there is to say about it.

    Parameters
    ----------
    settings : Settings
        The machine and its parameters.
    work : Work
        What else is to be done.
    data, test : Data
        Rows to learn from, and rows to judge by or None.
    classes : ndarray
        The different labels of the data, sorted.
    path : Path
        Where the model will be.
    """
    import numpy as np

    X, y, names = data
    if work.test_size is not None:
        X, y, test = _divided(X, y, work)
    facts: Facts = {
        "model": str(path),
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": classes.tolist(),
        "cross_validation": None,
        "grid": None,
    }
    if work.folds is not None or settings.is_grid:
        _refuse_too_many_folds(y, work)
    model = _pipeline(settings, work, X, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap that is left is said in other words
        if work.folds is not None and not settings.is_grid:
            facts["cross_validation"] = _cross_validated(model, X, y, work)
        started = perf_counter()
        _fit(model, X, y)
        facts["seconds"] = perf_counter() - started
        if settings.is_grid:
            model, facts["grid"] = _best(model)
        # How the fit was shown is no part of the model.
        parts_of(model)[-1].set_params(verbose=0)
        if names is not None:
            parts_of(model)[0].feature_names_in_ = np.array(names, dtype=object)
        if data.zero_based is not None:
            parts_of(model)[-1].zero_based_ = data.zero_based
        facts["test"] = None if test is None else judged(model, test)
    return model, facts


def _pipeline(settings: Settings, work: Work, X: Any, classes: Any) -> Any:
    estimator = settings.estimator(
        classes,
        cv=_folds(work) if settings.is_grid else None,
        random_state=work.seed,
        n_jobs=work.jobs,
        verbose=int(sys.stderr.isatty()),
    )
    steps: list[Any] = []
    if work.impute is not None:
        from sklearn.impute import SimpleImputer

        value = filling(work.impute)
        how = {"strategy": value} if isinstance(value, str) else {"fill_value": value}
        steps.append(SimpleImputer(**{"strategy": "constant", **how}, keep_empty_features=True))
    if work.scale is not None:
        steps.append(scaler(work.scale, X))
    if not steps:
        return estimator
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*steps, estimator)


def scaler(scale: str, X: Any) -> Any:
    """Return what brings features to one scale. What is sparse stays so: zeros are not moved."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    from pegasos.io._data import is_sparse

    if scale == "standard":
        return StandardScaler(with_mean=not is_sparse(X))
    return MaxAbsScaler() if is_sparse(X) else MinMaxScaler()


def _folds(work: Work) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(work.folds or _FOLDS, shuffle=True, random_state=work.seed)


def _fit(model: Any, X: Any, y: Any) -> None:
    with complaints():
        model.fit(X, y)


def _divided(X: Any, y: Any, work: Work) -> tuple[Any, Any, tuple[Any, Any]]:
    from sklearn.model_selection import train_test_split

    if (reason := _cannot_be_divided(y, work)) is not None:
        raise MendableError(
            f"--test-size {work.test_size:g} cannot be had: {reason}",
            "choose another part, or name rows to test by with --test FILE",
        )
    train, test, labels, test_labels = train_test_split(
        X, y, test_size=work.test_size, stratify=y, random_state=work.seed
    )
    return train, labels, (test, test_labels)


def _cannot_be_divided(y: Any, work: Work) -> str | None:
    """Return why there are no rows of each class to learn from and to test by, if so."""
    import numpy as np

    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        return f"class {classes[counts.argmin()]} has one row only"
    n_test = ceil(len(y) * (work.test_size or 0))
    for n_rows, purpose in ((n_test, "test by"), (len(y) - n_test, "learn from")):
        if n_rows < len(classes):
            return f"of {len(y)} rows it leaves {n_rows} to {purpose}, for {len(classes)} classes"
    return None


def _cross_validated(model: Any, X: Any, y: Any, work: Work) -> Facts:
    from sklearn.base import clone

    console = messages()
    accuracies = []
    for train, test in _folds(work).split(y, y):
        part = clone(model)
        _fit(part, X[train], y[train])
        accuracies.append(float((part.predict(X[test]) == y[test]).mean()))
        console.print(f"fold {len(accuracies)} of {work.folds}: accuracy {accuracies[-1]:.4f}")
    return _spread(accuracies)


def _refuse_too_many_folds(y: Any, work: Work) -> None:
    import numpy as np

    folds, most = work.folds or _FOLDS, int(np.unique(y, return_counts=True)[1].max())
    if folds > most:
        what = f"--cv {folds}" if work.folds else f"{folds} folds, as a grid has unless --cv says"
        raise MendableError(
            f"{what}: no class has as many rows; the largest has {most}",
            f"take fewer folds, as in --cv {most}" if most > 1 else "give it more rows",
        )


def _spread(accuracies: Any) -> Facts:
    import numpy as np

    return {
        "folds": len(accuracies),
        "accuracy": float(np.mean(accuracies)),
        "spread": float(np.std(accuracies)),
        "accuracies": list(accuracies),
    }


def _best(model: Any) -> tuple[Any, Facts]:
    """Return the best of a grid in place of the grid, and the results of all cells."""
    grid = parts_of(model)[-1]
    results = grid.cv_results_
    cells = [
        {
            "parameters": parameters,
            "accuracy": float(results["mean_test_score"][i]),
            "spread": float(results["std_test_score"][i]),
        }
        for i, parameters in enumerate(results["params"])
    ]
    best = grid.best_estimator_
    if grid is not model:
        model.steps[-1] = (model.steps[-1][0], best)
    else:
        model = best
    return model, {"folds": grid.n_splits_, "best": cells[grid.best_index_], "cells": cells}


def judged(model: Any, test: Any) -> Facts:
    """Return how good a model is on rows that it was not fitted to."""
    X, y = test[:2]
    accuracy = float((model.predict(as_fitted(model, X)) == y).mean())
    return {"rows": X.shape[0], "accuracy": accuracy, "error": 1 - accuracy}
