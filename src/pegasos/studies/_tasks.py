"""What a study is made of: tasks, each of which makes some rows of the table of results."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pegasos._cluster import Shared

__all__ = ["COLUMNS", "Column", "Pieces", "Row", "Setting", "Task", "new_row"]

Row = dict[str, Any]


class Column(NamedTuple):
    """The type of a column of the results, and what stands where there is nothing."""

    type: type
    nothing: Any


_TEXT = Column(str, "")
_NUMBER = Column(float, math.nan)
_COUNT = Column(int, -1)

COLUMNS: dict[str, Column] = {
    "model": _TEXT,  # name of the model, timing or race
    "part": _TEXT,  # "grid", "final", "timing" or "race"
    "subset": _TEXT,  # which part of the data, where there are several
    "repeat": Column(int, 0),
    "fold": _COUNT,
    "loss": _TEXT,
    "kernel": _TEXT,
    "lam": _NUMBER,
    "gamma": _NUMBER,
    "coef0": _NUMBER,
    "degree": _COUNT,
    "max_steps": _COUNT,
    "max_iter": _COUNT,  # epochs of the perceptrons
    "n_rows": _COUNT,  # of the training part
    "n_features": _COUNT,
    "train_error": _NUMBER,  # zero-one
    "test_error": _NUMBER,  # of the held-out fold, the validation split or the test part
    "seconds": _NUMBER,  # of training
    "objective": _NUMBER,  # of the class with the largest gap, as are the next two
    "dual_objective": _NUMBER,
    "gap": _NUMBER,  # relative: (objective - dual_objective) / objective
    "n_support": _COUNT,
}


def new_row(**known: Any) -> Row:
    """Return a row of the results with these values, and "nothing" everywhere else."""
    unknown = known.keys() - COLUMNS.keys()
    if unknown:
        raise TypeError(f"the table of results has no column {sorted(unknown)}")
    return {
        name: column.type(known[name]) if name in known else column.nothing
        for name, column in COLUMNS.items()
    }


@dataclass(frozen=True)
class Pieces:
    """How a task is done by the workers of a cluster.

    Attributes
    ----------
    after : tuple of str
        Keys of the tasks whose rows it looks at.
    shared : Shared
        The data that all its pieces take.
    begin : callable
        Returns the pieces: functions of the data that may be called anywhere, at the same time.
        Each returns a row for each cell; those of a cell follow each other in the results.
    """

    after: tuple[str, ...]
    shared: Shared
    begin: Callable[[], list[Callable[[Any], list[Row]]]]


@dataclass(frozen=True)
class Task:
    """A piece of work that is done or not done: what is half done when a run ends is lost.

    Attributes
    ----------
    key : str
        Unique within the study and the same in every run: a finished task is known by it.
    name : str
        The model, timing or race that it belongs to.
    title : str
        For the progress bar, and for errors.
    work : float
        Cost, relative to the other tasks.
    n_rows : int
        How many rows it makes.
    run : callable
        Does it here, and returns its rows. Tasks are run in their order, and may look at the rows
        of those before them.
    pieces : Pieces or None
        How it is done on a cluster; None: it stops the time, and is never done beside others.
    """

    key: str
    name: str
    title: str
    work: float
    n_rows: int
    run: Callable[[], list[Row]]
    pieces: Pieces | None = None


@dataclass(frozen=True)
class Setting:
    """What experiments get from the runner.

    Attributes
    ----------
    seed : int
        Repeat r uses ``seed + r``.
    repeats : int
        How often everything is done.
    n_jobs : int or None
        Threads; no result depends on it.
    folder : Path
        Where the study file is: relative names of data files are relative to it.
    """

    seed: int
    repeats: int
    n_jobs: int | None
    folder: Path
