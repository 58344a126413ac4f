"""The one error of this package: something about a file that its owner can mend."""

from pathlib import Path

__all__ = ["DataError", "needs"]


class DataError(ValueError):
    """A file that cannot be read as data, or not as asked.

    Parameters
    ----------
    message : str
        The file, the place in it (line and column, counted from 1, where there are any) and what
        is wrong there.
    hint : str
        What to do about it.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


def needs(path: Path | str, package: str, extra: str = "io", work: str = "reading") -> DataError:
    """Return the error for a package that is not installed."""
    return DataError(
        f"{path}: {work} it needs {package}, which is not installed",
        f"pip install 'pegasos[{extra}]'",
    )
