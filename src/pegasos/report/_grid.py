"""Errors over lam and T: what heat-maps and curves are drawn of."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.report._display import Display
from pegasos.report._kinds import VALUES
from pegasos.report._table import (
    DIGITS,
    Columns,
    choose,
    columns_of_estimator,
    columns_of_results,
    describe_choice,
    of_model,
    opened,
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ErrorGrid:
    """Means over folds and repeats, and their standard deviations; NaN where nothing is known."""

    lams: Floats
    steps: Floats
    errors: Floats
    spread: Floats


class GridDisplay(Display):
    """A figure of errors over lam and T."""

    def __init__(
        self,
        errors: Any,
        *,
        lams: Any,
        steps: Any,
        spread: Any = None,
        value: str = "test_error",
        title: str = "",
    ) -> None:
        _check_value(value)
        self.errors = np.asarray(errors, dtype=np.float64)
        self.lams = np.asarray(lams, dtype=np.float64)
        self.steps = np.asarray(steps, dtype=np.float64)
        self.spread = None if spread is None else np.asarray(spread, dtype=np.float64)
        self.value = value
        self.title = title
        shape = (self.lams.size, self.steps.size)
        for name, array in (("errors", self.errors), ("spread", self.spread)):
            if array is not None and array.shape != shape:
                raise ValueError(
                    f"{name} must have a row per lam and a column per T, shape {shape}; got shape "
                    f"{array.shape}"
                )
        if not np.isfinite(self.errors).any():
            raise ValueError("there is nothing to draw: no cell of the grid has an error yet")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        value: str = "test_error",
        loss: str | None = None,
        gamma: Any = None,
        degree: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the grid of a fitted estimator.

        Parameters
        ----------
        estimator : PegasosCV or KernelPegasosCV
            Fitted.
        value : {"test_error", "train_error"}, default="test_error"
            Which zero-one error, mean over the folds.
        loss, gamma, degree : default=None
            Which part of the grid, where there are several; None: that of the best cell.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Display
            Already drawn.
        """
        _check_value(value)
        columns = columns_of_estimator(estimator)
        wanted = {"loss": loss, "gamma": gamma, "degree": degree}
        return cls._of(columns, value, wanted, type(estimator).__name__).plot(ax)

    @classmethod
    def from_results(
        cls,
        results: Any,
        model: str,
        *,
        value: str = "test_error",
        loss: str | None = None,
        gamma: float | None = None,
        degree: int | None = None,
        subset: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the grid of a model of a study.

        Parameters
        ----------
        results : pegasos.studies.Results, str or path
            Of a study that has run, or is running; or the folder with them.
        model : str
            Name of the model in the study file.
        value : {"test_error", "train_error"}, default="test_error"
            Which zero-one error, mean over folds and repeats.
        loss, gamma, degree, subset : default=None
            Which part of the grid, where there are several; None: that of the best cell.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Display
            Already drawn.
        """
        wanted = {"loss": loss, "gamma": gamma, "degree": degree, "subset": subset}
        return cls._from_study(opened(results), model, value, wanted).plot(ax)

    @classmethod
    def _from_study(cls, results: Any, model: str, value: str, wanted: dict[str, Any]) -> Self:
        _check_value(value)
        columns = of_model(columns_of_results(results, "grid"), model)
        if not (columns["max_steps"] > 0).any() or not np.isfinite(columns["lam"]).any():
            raise ValueError(
                f"model {model!r} has no grid over lam and max_steps; heat-maps and curves are for "
                "Pegasos models that have one"
            )
        return cls._of(columns, value, wanted, model)

    @classmethod
    def _of(cls, columns: Columns, value: str, wanted: dict[str, Any], name: str) -> Self:
        columns, chosen = choose(columns, wanted)
        grid = means(columns, value)
        choice = describe_choice(chosen)
        return cls(
            grid.errors,
            lams=grid.lams,
            steps=grid.steps,
            spread=grid.spread,
            value=value,
            title=f"{name} ({choice})" if choice else name,
        )

    @property
    def _what(self) -> str:
        return self.value.replace("_", " ")

    @property
    def best_(self) -> tuple[int, int]:
        """Row and column of the smallest error."""
        row, column = np.unravel_index(np.nanargmin(self.errors.round(DIGITS)), self.errors.shape)
        return int(row), int(column)


def means(columns: Columns, value: str) -> ErrorGrid:
    """Return mean and standard deviation of the rows of each cell."""
    lams, row = np.unique(columns["lam"].astype(np.float64), return_inverse=True)
    steps, column = np.unique(columns["max_steps"].astype(np.float64), return_inverse=True)
    errors = columns[value].astype(np.float64)
    mean = np.full((lams.size, steps.size), np.nan)
    spread = mean.copy()
    for i in range(lams.size):
        for j in range(steps.size):
            cell = errors[(row == i) & (column == j)]
            if cell.size and np.isfinite(cell).all():
                mean[i, j], spread[i, j] = cell.mean(), cell.std()
    return ErrorGrid(lams, steps, mean, spread)


def _check_value(value: str) -> None:
    if value not in VALUES:
        raise ValueError(f"value must be one of {', '.join(VALUES)}; got {value!r}")
