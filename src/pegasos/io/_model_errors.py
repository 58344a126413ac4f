"""What is wrong with a model or a model file, and the remedy."""

from pegasos._errors import MendableError

__all__ = ["ModelError", "damaged"]


class ModelError(MendableError):
    """A model that cannot be stored, or a model file that is not to be trusted.

    A ``ValueError`` with a ``message``, what is wrong, and a ``hint``, what to do about it.
    """


def damaged(what: str) -> ModelError:
    """Return the error for a file that says something it cannot mean."""
    return ModelError(
        f"the model file is damaged or was edited: {what}", "get the file again, or save it anew"
    )
