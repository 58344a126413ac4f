"""What the errors share that a user can mend: what is wrong, and what to do about it."""

__all__ = ["MendableError"]


class MendableError(ValueError):
    """Something that whoever meets it can mend.

    Parameters
    ----------
    message : str
        What is wrong.
    hint : str
        What to do about it.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}"
