"""Tables of the user's own: .csv and .npz files as data sets."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from pegasos.studies._dataset import Dataset
from pegasos.studies._errors import StudyError

__all__ = ["read_csv", "read_npz"]

_ARRAYS = ("X", "y", "X_test", "y_test")


def read_csv(path: Path) -> Dataset:
    """Read a table with its labels in the last column; empty cells are missing values."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if lines and not _is_numeric(lines[0][:-1]):
        lines = lines[1:]  # headings
    try:
        X = np.array([[float(cell or "nan") for cell in line[:-1]] for line in lines])
    except ValueError as error:
        raise StudyError(
            f"{path.name} is not a table of numbers with a label at the end of each line: {error}",
            "mend that line of the file",
        ) from None
    return Dataset(X, _as_labels(line[-1] for line in lines))


def _is_numeric(cells: Iterable[str]) -> bool:
    try:
        return all(float(cell or "nan") is not None for cell in cells)
    except ValueError:
        return False


def _as_labels(cells: Iterable[str]) -> Any:
    """Return whole numbers if all are, else texts."""
    labels = np.array([cell.strip() for cell in cells])
    try:
        numbers = labels.astype(np.float64)
    except ValueError:
        return labels
    return numbers.astype(np.int64) if np.all(numbers == np.round(numbers)) else labels


def read_npz(path: Path) -> Dataset:
    try:
        with np.load(path) as arrays:
            found = {name: arrays[name] for name in _ARRAYS if name in arrays}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise StudyError(
            f"{path.name} cannot be read as a file of arrays: {error}",
            "write it with numpy.savez, without objects",
        ) from None
    if "X" not in found or "y" not in found:
        raise StudyError(
            f"{path.name} holds {sorted(found) or 'nothing that is known'}",
            "store the arrays X and y in it, and X_test and y_test if there is a test part",
        )
    return Dataset(**found)
