"""What is wrong with a data file, and the remedy."""

from pathlib import Path

from pegasos._errors import MendableError

__all__ = ["DataError", "needs"]


class DataError(MendableError):
    """A file that cannot be read as data, or not as asked.

    A ``ValueError`` with a ``message``, which names the file, the place in it (line and column,
    counted from 1, where there are any) and what is wrong there, and a ``hint``, what to do about
    it.
    """


def needs(path: Path | str, package: str, extra: str = "io", work: str = "reading") -> DataError:
    """Return the error for a package that is not installed."""
    return DataError(
        f"{path}: {work} it needs {package}, which is not installed",
        f"pip install 'pegasos[{extra}]'",
    )
