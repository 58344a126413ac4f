"""A study file becomes a Study, or an error that names the line."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegasos.report import check_figure
from pegasos.studies._data import DataSpec, read_data
from pegasos.studies._errors import StudyError
from pegasos.studies._fields import FieldError, Fields, closest
from pegasos.studies._find import found
from pegasos.studies._locate import line_of
from pegasos.studies._models import AXES, Model, read_model
from pegasos.studies._prepare import Preparation, read_preparation
from pegasos.studies._race import Race, read_race
from pegasos.studies._reported import Reported, Written, read_reported
from pegasos.studies._splits import Splits, read_splits
from pegasos.studies._timing import Timing, read_timing

__all__ = ["Study", "load", "parse"]

_EXAMPLE = "'pegasos study show digits' prints an example of a study file"
# What may change without changing a result.
_WORDS = ("title", "about", "source", "reported", "figures")


@dataclass(frozen=True)
class Study:
    """What a study file says, checked. See the guide on writing a study for the meaning of it all.

    Attributes
    ----------
    name : str
        Name of the file, without its ending.
    text : str
        The file itself.
    folder : Path
        Where the file is: names of data files are relative to it.
    title, about, source : str
        For the reader.
    seed, repeats : int
        Repeat r draws with ``seed + r``.
    data : DataSpec or None
        What the models learn from; None if there are no models.
    splits : Splits
        Test part, folds or validation split.
    models, timings, races : tuple
        What is computed.
    reported : tuple of Reported
        Published values to stand beside ours.
    figures : tuple of dict
        Pictures for the report.
    settings : dict
        All of the file that has a say in the results.
    """

    name: str
    text: str
    folder: Path
    title: str
    about: str
    source: str
    seed: int
    repeats: int
    data: DataSpec | None
    splits: Splits
    models: tuple[Model, ...]
    timings: tuple[Timing, ...]
    races: tuple[Race, ...]
    reported: tuple[Reported, ...]
    figures: tuple[dict[str, Any], ...]
    settings: dict[str, Any]


def load(name_or_path: str | Path) -> Study:
    """Read and check a study file.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a built-in study, or a TOML file.

    Returns
    -------
    Study
        All its keys are known, their values in range, and parameters such as the estimators take.

    Raises
    ------
    StudyError
        With file, line, key, what is wrong, and the remedy.
    """
    text, name, path = found(name_or_path)
    return parse(text, name=name, folder=path.parent if path else Path(), file=path or name)


def parse(text: str, *, name: str, folder: Path, file: str | Path) -> Study:
    """Check the text of a study; ``file`` is what errors call it."""
    try:
        document = tomllib.loads(text, parse_float=Written)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{file}{_place_of(str(error), text)}", _EXAMPLE) from None
    except RecursionError:
        raise StudyError(f"{file} is nested too deep", _EXAMPLE) from None
    if not document:
        raise StudyError(f"{file} is empty", _EXAMPLE)
    settings = {key: value for key, value in document.items() if key not in _WORDS}
    try:
        return _study(Fields(document), settings, text, name, folder)
    except FieldError as error:
        line = line_of(error.path, text)
        raise StudyError(f"{file}, line {line}: {error}", _EXAMPLE) from None


def _study(fields: Fields, settings: dict[str, Any], text: str, name: str, folder: Path) -> Study:
    title, about = fields.text("title"), fields.text("about", "")
    source = fields.text("source", "")
    seed, repeats = fields.whole("seed", 0, at_least=0), fields.whole("repeats", 1, at_least=1)
    if seed + repeats > 2**32:
        raise fields.error("seed", f"must be below 2**32 - repeats; got {seed}")
    prepare, evaluate = fields.table("prepare"), fields.table("evaluate")
    splits = read_splits(prepare, evaluate)
    preparation = read_preparation(prepare, Preparation())
    if prepare is not None:
        prepare.done()
    models = tuple(read_model(table, preparation) for table in fields.tables("models"))
    timings = tuple(read_timing(table) for table in fields.tables("timings"))
    races = tuple(read_race(table) for table in fields.tables("races"))
    known = _different_names(fields, models, timings, races)
    data_fields = fields.table("data")
    data = None if data_fields is None else read_data(data_fields)
    subsets = [] if data is None else [part.subset for part in data.subsets()]
    reported = tuple(
        _reported(table, known, models, timings, subsets) for table in fields.tables("reported")
    )
    figures = tuple(_figure(table, known, subsets) for table in fields.tables("figures"))
    fields.done()
    if models:
        _refuse_what_cannot_be_judged(fields, data, splits, models)
    elif not timings and not races:
        raise fields.error("models", "there is nothing to compute; add one of [[models]]")
    return Study(
        name=name,
        text=text,
        folder=folder,
        title=title,
        about=about,
        source=source,
        seed=seed,
        repeats=repeats,
        data=data,
        splits=splits,
        models=models,
        timings=timings,
        races=races,
        reported=reported,
        figures=figures,
        settings=settings,
    )


def _different_names(fields: Fields, *groups: tuple[Any, ...]) -> list[str]:
    """Return what the results call their rows; each name may come from one table only."""
    known: list[str] = []
    for key, group in zip(("models", "timings", "races"), groups, strict=True):
        for i, item in enumerate(group):
            for name in item.row_names():
                if name in known:
                    path = (*fields.path, key, i, "name")
                    raise FieldError(path, f"{name!r} is there twice; give each its own name")
                known.append(name)
    return known


def _reported(
    fields: Fields,
    known: list[str],
    models: tuple[Model, ...],
    timings: tuple[Timing, ...],
    subsets: list[str],
) -> Reported:
    reported = read_reported(fields, known)
    if reported.quantity == "slope":
        _refuse_what_has_no_slope(fields, reported, timings)
    _refuse_unknown_subset(fields, "at", reported.at.get("subset"), subsets)
    model = next((model for model in models if model.name == reported.model), None)
    if model is None:
        return reported
    place = {axis: value for axis, value in reported.at.items() if axis in (*AXES, "kernel")}
    cells = [model.columns(cell) for cell in model.cells()]
    if not any(all(cell.get(axis) == place[axis] for axis in place) for cell in cells):
        raise fields.error(
            "at", f"model {model.name!r} has no cell at {place}; name values of its grid"
        )
    return reported


def _refuse_what_has_no_slope(
    fields: Fields, reported: Reported, timings: tuple[Timing, ...]
) -> None:
    clock = next((timing for timing in timings if timing.name == reported.model), None)
    if clock is None:
        raise fields.error(
            "quantity", f"only clocks have a slope; {reported.model!r} is none of [[timings]]"
        )
    if len(set(clock.values)) < 2:
        raise fields.error(
            "quantity", f"a slope needs two sizes; give clock {clock.name!r} more values"
        )
    if clock.axis in reported.at:
        raise fields.error(
            "at", f"a slope is over all sizes of its clock; leave {clock.axis} out of at"
        )


def _figure(fields: Fields, known: list[str], subsets: list[str]) -> dict[str, Any]:
    figure = fields.rest()
    try:
        check_figure(figure)
    except ValueError as error:
        raise fields.error(getattr(error, "key", "kind"), str(error)) from None
    for key in ("model", "models"):
        named = figure.get(key, [])
        for name in [named] if isinstance(named, str) else named:
            if name not in known:
                raise fields.error(key, f"no model is called {name!r}; {closest(name, known)}")
    _refuse_unknown_subset(fields, "subset", figure.get("subset"), subsets)
    return figure


def _refuse_unknown_subset(
    fields: Fields, key: str, subset: str | None, subsets: list[str]
) -> None:
    if subset is not None and subset not in subsets:
        named = ", ".join(map(repr, filter(None, subsets))) or "none: [data] has no pairs"
        raise fields.error(key, f"there is no subset {subset!r}; there are {named}")


def _refuse_what_cannot_be_judged(
    fields: Fields, data: DataSpec | None, splits: Splits, models: tuple[Model, ...]
) -> None:
    if data is None:
        raise fields.error("data", "is missing: the models have nothing to learn from; add [data]")
    if splits.n_folds > 0:
        return
    remedy = "set folds or validation under [evaluate]"
    if splits.test is None:
        raise fields.error("evaluate", f"no rows are held out to judge the models by; {remedy}")
    for model in models:
        if len(model.cells()) > 1:
            raise fields.error(
                "evaluate",
                f"the {len(model.cells())} cells of model {model.name!r} cannot be told apart "
                f"without looking at the test part; {remedy}",
            )


def _place_of(message: str, text: str) -> str:
    """Turn a message of tomllib into ", line 3: ..."."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.S)
    if match is None:
        return f": {message}"
    line = match[2] or str(text.rstrip("\n").count("\n") + 1)
    column = f", column {match[3]}" if match[3] else ""
    return f", line {line}{column}: {match[1]}"
