"""Errors that whoever runs a study can mend."""

__all__ = ["DataMissing", "StudyError"]


class StudyError(ValueError):
    """Something about a study, its data or its folder that the user can mend.

    Parameters
    ----------
    message : str
        What is wrong.
    hint : str
        What to do about it.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


class DataMissing(StudyError):  # noqa: N818 - reads like what it says
    """A data file, or what reads it, is not there; the text says which, and the remedy."""
