"""[data] of a study file: a set known by name or a file, and which of its rows are wanted."""

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.studies._dataset import Dataset
from pegasos.studies._errors import DataMissing, StudyError
from pegasos.studies._fields import Fields
from pegasos.studies._sources import SOURCES, Options
from pegasos.studies._tables import read_csv, read_npz

__all__ = ["DataMissing", "DataSpec", "Dataset", "read_data"]

# Sets kept in memory: a study works on one, a race on one after the other.
_SETS_KEPT = 2


@dataclass(frozen=True)
class DataSpec:
    """What [data] asks for, checked.

    Attributes
    ----------
    name : str
        A set of ``SOURCES``; empty if it is a file.
    file : str
        A table, relative to the study file: .csv with the labels in its last column, or .npz with
        X and y, and X_test and y_test if it has a test part.
    folder : str
        Where the files of a set by name are; empty: where PEGASOS_DATA says.
    options : dict
        Keys of a generator's own.
    part : {"train", "all"}
        The training part, with the set's test part beside it, or both as one.
    positive : label or None
        This class becomes +1, all others -1.
    classes : tuple of labels
        Only these; empty: all.
    rows : int or None
        So many rows, drawn with the seed.
    pairs : tuple of pairs of labels
        See :meth:`subsets`.
    subset : str
        Which of the subsets this is; empty if there is but one.
    """

    name: str = ""
    file: str = ""
    folder: str = ""
    options: Options = field(default_factory=dict)
    part: str = "train"
    positive: Any = None
    classes: tuple[Any, ...] = ()
    rows: int | None = None
    pairs: tuple[tuple[Any, Any], ...] = ()
    subset: str = ""

    def subsets(self) -> tuple["DataSpec", ...]:
        """Return what is to be worked on one after the other: itself, or each pair of classes."""
        if not self.pairs:
            return (self,)
        return tuple(
            replace(self, classes=pair, pairs=(), subset=f"{pair[0]} against {pair[1]}")
            for pair in self.pairs
        )

    def files(self, folder: Path) -> tuple[Path, ...]:
        """Return where the files are; ``folder`` is that of the study file."""
        if self.file:
            path = folder / self.file
            if not path.exists():
                raise DataMissing(
                    f"the study reads {self.file}, which is not in {folder}",
                    "names of files are relative to the study file",
                )
            return (path,)
        names = SOURCES[self.name].files
        return tuple(self._find(name, folder) for name in names)

    def load(self, folder: Path, seed: int) -> Dataset:
        """Read or generate the data; ``folder`` is that of the study file."""
        paths = self.files(folder)
        stamps = tuple((path, path.stat().st_mtime_ns) for path in paths)
        is_random = not self.file and SOURCES[self.name].is_random
        key = (self.name, tuple(self.options.items()), seed if is_random else 0)
        data = _joined(_read(stamps, *key)) if self.part == "all" else _read(stamps, *key)
        if self.classes:
            data = _some(data, self._of_classes(data.y), self._of_classes(data.y_test))
        if self.rows is not None:
            data = _some(data, self._drawn(len(data.y), seed), None)
        if self.positive is not None:
            data = self._one_against_the_rest(data)
        return data

    def _find(self, name: str, folder: Path) -> Path:
        root = str(folder / self.folder) if self.folder else os.environ.get("PEGASOS_DATA")
        if root and (Path(root) / name).exists():
            return Path(root) / name
        state = f"is not in {root}" if root else "is nowhere: PEGASOS_DATA is not set"
        remedy = (
            "put it there"
            if root
            else (
                "put it into a folder, and set the environment variable PEGASOS_DATA to that folder"
            )
        )
        raise DataMissing(
            f"the data set {self.name} needs the file {name}, which {state}",
            f"{remedy}; it is part of {SOURCES[self.name].origin}",
        )

    def _of_classes(self, y: Any) -> Any:
        if y is None:
            return None
        wanted = np.isin(y, self.classes)
        if not wanted.any():
            raise StudyError(
                f"the data has no rows of the classes {list(self.classes)}",
                f"its classes are {np.unique(y).tolist()}",
            )
        return np.flatnonzero(wanted)

    def _drawn(self, n_rows: int, seed: int) -> Any:
        assert self.rows is not None
        if self.rows > n_rows:
            raise StudyError(
                f"[data] asks for {self.rows} rows, but there are {n_rows}",
                "lower rows, or leave it out for all of them",
            )
        return np.random.default_rng(seed).permutation(n_rows)[: self.rows]

    def _one_against_the_rest(self, data: Dataset) -> Dataset:
        if self.positive not in data.y:
            raise StudyError(
                f"the data has no class {self.positive!r} to set against the rest",
                f"its classes are {np.unique(data.y).tolist()}",
            )
        y_test = None if data.y_test is None else np.where(data.y_test == self.positive, 1, -1)
        y = np.where(data.y == self.positive, 1, -1)
        name = data.names.get(self.positive, str(self.positive))
        return replace(data, y=y, y_test=y_test, names={1: name, -1: "the rest"})


def read_data(fields: Fields, *, of_models: bool = True) -> DataSpec:
    """Check a table [data]; only models are worked on for one pair of classes after the other."""
    if "file" in fields:
        spec = DataSpec(file=_file(fields))
    else:
        name = fields.text("name", choices=SOURCES)
        spec = DataSpec(name, folder=fields.text("folder", ""), options=_options(fields, name))
    spec = replace(
        spec,
        part=fields.text("part", "train", choices=("train", "all")),
        positive=_label(fields, "positive"),
        classes=_classes(fields),
        rows=fields.whole("rows", None, at_least=2),
        pairs=_pairs(fields, spec),
    )
    if len(spec.classes) == 1:
        raise fields.error("classes", f"must name at least two classes; got {list(spec.classes)}")
    if spec.pairs and not of_models:
        raise fields.error("pairs", "pairs are for models only; name one pair with classes")
    if spec.pairs and (spec.classes or spec.positive is not None):
        raise fields.error("pairs", "goes without classes and positive; leave them out")
    fields.done()
    return spec


def _file(fields: Fields) -> str:
    file = fields.text("file")
    if Path(file).suffix not in (".csv", ".npz"):
        raise fields.error("file", f"must be a .csv or an .npz file; got {file!r}")
    return file


def _options(fields: Fields, name: str) -> Options:
    options: dict[str, float] = {}
    for key, default in SOURCES[name].options.items():
        if isinstance(default, int):
            options[key] = fields.whole(key, default, at_least=1)
        else:
            options[key] = fields.number(key, default, at_least=0)
    return options


def _label(fields: Fields, name: str) -> Any:
    value = fields.anything(name, None)
    if value is not None and not _is_label(value):
        raise fields.error(name, f"must be a label, a whole number or a text; got {value!r}")
    return value


def _is_label(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _classes(fields: Fields) -> tuple[Any, ...]:
    classes = fields.values("classes", ())
    for label in classes:
        if not _is_label(label):
            raise fields.error(
                "classes", f"must hold labels, whole numbers or texts; got {label!r}"
            )
    return classes


def _pairs(fields: Fields, spec: DataSpec) -> tuple[tuple[Any, Any], ...]:
    value = fields.anything("pairs", [])
    if value == "all":
        classes = SOURCES[spec.name].classes if spec.name else ()
        if not classes:
            raise fields.error("pairs", "the classes are not known beforehand; list the pairs")
        return tuple(combinations(classes, 2))
    if not isinstance(value, list) or not all(map(_is_pair, value)):
        raise fields.error(
            "pairs", f'must be "all", or pairs of labels such as [[0, 6], [2, 4]]; got {value!r}'
        )
    # Results tell subsets apart by the labels as texts.
    if len({frozenset(map(str, pair)) for pair in value}) < len(value):
        raise fields.error("pairs", f"a pair is there twice; leave one out of {value!r}")
    return tuple((first, second) for first, second in value)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(map(_is_label, value))
        and value[0] != value[1]
    )


@lru_cache(_SETS_KEPT)
def _read(
    stamps: tuple[tuple[Path, int], ...],
    name: str,
    options: tuple[tuple[str, float], ...],
    seed: int,
) -> Dataset:
    """Read a set whole. The times of the files are part of the key: a changed file is read anew."""
    paths = [path for path, _ in stamps]
    if not name:
        return read_csv(paths[0]) if paths[0].suffix == ".csv" else read_npz(paths[0])
    return SOURCES[name].read(paths, dict(options), np.random.default_rng(seed))


def _joined(data: Dataset) -> Dataset:
    """Return training and test part as one."""
    if data.X_test is None or data.y_test is None:
        return data
    parts = [data.X, data.X_test]
    X: Any = sp.vstack(parts, format="csr") if sp.issparse(data.X) else np.concatenate(parts)
    return replace(data, X=X, y=np.concatenate([data.y, data.y_test]), X_test=None, y_test=None)


def _some(data: Dataset, rows: Any, test_rows: Any) -> Dataset:
    data = replace(data, X=data.X[rows], y=data.y[rows])
    if test_rows is None or data.y_test is None:
        return data
    return replace(data, X_test=data.X_test[test_rows], y_test=data.y_test[test_rows])
