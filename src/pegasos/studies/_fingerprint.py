"""What results depend on, in a form that can be compared with what it was before."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

from pegasos.studies._data import DataSpec
from pegasos.studies._file import Study
from pegasos.studies._sources import SOURCES

__all__ = ["Prints", "changes", "fingerprint"]

Prints = dict[str, dict[str, str]]  # of the study, by table; of the data, by file

_CHUNK = 1 << 20


def fingerprint(study: Study) -> Prints:
    """Return the fingerprints of a study's settings and of its data.

    Raises
    ------
    DataMissing
        A file is not there.
    """
    return {
        "study": {key: _of_settings(value) for key, value in study.settings.items()},
        "data": {
            name: print_
            for spec in _specs(study)
            for name, print_ in _of_data(spec, study.folder).items()
        },
    }


def changes(before: Prints, now: Prints) -> str:
    """Return what is not as it was, in words; empty if all is.

    Another study may read other data, so if the study has changed nothing is said of the data.
    """
    for what in ("study", "data"):
        keys = before[what] | now[what]
        different = [key for key in sorted(keys) if before[what].get(key) != now[what].get(key)]
        if different:
            return f"the {what} ({', '.join(different)})"
    return ""


def _of_settings(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _specs(study: Study) -> list[DataSpec]:
    own = [] if study.data is None or not study.models else [study.data]
    own += [timing.data for timing in study.timings]
    return own + [race.data for race in study.races]


def _of_data(spec: DataSpec, folder: Path) -> dict[str, str]:
    paths = spec.files(folder)
    if not paths:
        makers = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn"))
        return {f"{spec.name}, made by numpy and scikit-learn": makers}
    # Data may be moved to another folder: it is known by its name in the study.
    names = [spec.file] if spec.file else SOURCES[spec.name].files
    return {
        str(PurePath(spec.folder) / name): _of_file(path)
        for name, path in zip(names, paths, strict=True)
    }


def _of_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return f"{path.stat().st_size} bytes, sha256 {digest.hexdigest()}"
