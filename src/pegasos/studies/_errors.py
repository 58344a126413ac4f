"""Errors that whoever runs a study can mend."""

from pegasos._errors import MendableError

__all__ = ["DataMissing", "StudyError"]


class StudyError(MendableError):
    """Something about a study, its data or its folder that the user can mend.

    A ``ValueError`` with a ``message``, what is wrong, and a ``hint``, what to do about it.
    """


class DataMissing(StudyError):  # noqa: N818 - reads like what it says
    """A data file, or what reads it, is not there; the text says which, and the remedy."""
