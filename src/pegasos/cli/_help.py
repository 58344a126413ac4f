"""How help texts are written."""

__all__ = ["examples"]


def examples(*lines: str) -> str:
    """Return the end of a help text, with examples of how a command is called."""
    # \b keeps the lines that follow as they are.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
