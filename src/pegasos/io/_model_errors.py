"""What is wrong with a model or a model file, and the remedy."""

__all__ = ["ModelError", "damaged"]


class ModelError(ValueError):
    """A model that cannot be stored, or a model file that is not to be trusted.

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


def damaged(what: str) -> ModelError:
    """Return the error for a file that says something it cannot mean."""
    return ModelError(
        f"the model file is damaged or was edited: {what}", "get the file again, or save it anew"
    )
