"""Study files: the built-in ones by name, all others by path."""

from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

from pegasos.studies._errors import StudyError
from pegasos.studies._fields import closest

__all__ = ["found", "names", "text_of"]


def names() -> list[str]:
    """Return the names of the built-in studies.

    Returns
    -------
    list of str
        Sorted; each is a name that :func:`load` takes.
    """
    return sorted(
        path.name.removesuffix(".toml")
        for path in _built_in().iterdir()
        if path.name.endswith(".toml")
    )


def text_of(name_or_path: str | Path) -> str:
    """Return the text of a study file, as it is.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a built-in study, or a file.

    Returns
    -------
    str
        Not checked at all.
    """
    return found(name_or_path)[0]


def _built_in() -> Any:
    return resources.files("pegasos.studies") / "builtin"


def found(name_or_path: str | Path) -> tuple[str, str, Path | None]:
    """Return text and name of a study, and its path if it is a file of the user's."""
    path = Path(name_or_path)
    if name_or_path in names():
        return (_built_in() / f"{name_or_path}.toml").read_text("utf-8"), str(name_or_path), None
    looks_like_name = path.suffix == "" and path.name == name_or_path
    if looks_like_name and not path.exists():
        raise StudyError(
            f"no study is called {name_or_path!r}; {closest(str(name_or_path), names())}",
            "'pegasos study list' lists the built-in studies; a file of your own ends in .toml",
        )
    return _read(path), path.stem, path


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        _refuse(path, "is not there", "check the name of the study file")
    except IsADirectoryError:
        _refuse(path, "is a folder", "name the study file in it")
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror}", "check the study file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        _refuse(path, f"is not UTF-8 text: line {line} holds other bytes", "save it as UTF-8")


def _refuse(path: Path, what: str, remedy: str) -> NoReturn:
    raise StudyError(f"{path} {what}", remedy) from None
