"""The built-in studies, and whether the data is there that they need."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegasos.studies import Study
    from pegasos.studies._data import DataSpec

__all__ = ["catalogue", "data_text"]

Row = dict[str, Any]


def catalogue() -> list[Row]:
    """Return name, title and data of every built-in study, as plain values."""
    from pegasos import studies

    found = []
    for name in studies.names():
        study = studies.load(name)
        data = {row["name"]: row for row in (_described(spec, study) for spec in _data_of(study))}
        found.append({"name": name, "title": study.title, "data": list(data.values())})
    return found


def data_text(data: list[Row]) -> str:
    """Write what data a study needs in one line."""
    needed = [row for row in data if row["files"]]
    if not needed:
        return "no files needed"
    return ", ".join(f"{row['name']} {'found' if row['found'] else 'not found'}" for row in needed)


def _data_of(study: "Study") -> "list[DataSpec]":
    clocks = [timing.data for timing in study.timings] + [race.data for race in study.races]
    return clocks if study.data is None else [study.data, *clocks]


def _described(spec: "DataSpec", study: "Study") -> Row:
    from pegasos.studies._errors import DataMissing
    from pegasos.studies._sources import SOURCES

    try:
        spec.files(study.folder)
        is_found = True
    except DataMissing:
        is_found = False
    files = [spec.file] if spec.file else list(SOURCES[spec.name].files)
    return {"name": spec.name or Path(spec.file).name, "files": files, "found": is_found}
