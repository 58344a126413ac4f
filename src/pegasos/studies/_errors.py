"""Errors that whoever runs a study can mend."""

__all__ = ["StudyError"]


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
