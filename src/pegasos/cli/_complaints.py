"""What estimators complain of in Python's words, in those of the command line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pegasos._errors import MendableError

__all__ = ["complaints", "in_words_of_the_program"]

_OPTIONS = "kernel|solver|memory|degree|coef0|loss|average|sampling"
_IN_OPTIONS = (
    (r"\w+\((kernel='\w+')\)", r"\1"),
    (rf"\b({_OPTIONS})='?([\w.]+)'?", r"--\1 \2"),
    (r"\bintercept_scaling\b", "--intercept-scaling"),
    (r"(?<!-)\b(lam|gamma)\b", r"--\1"),
    (r"sklearn\.preprocessing\.\w+( or \w+)?", "--scale standard"),
    (r"pass X as float64", "say --dtype float64"),
    (r"\bin X\b", "in the data"),
    (r", or cv=StratifiedKFold\(\.\.\.\)", ""),
)


@contextmanager
def complaints() -> Iterator[None]:
    """Say what an estimator complains of in the words of the command line."""
    try:
        yield
    except MendableError:
        raise
    except ValueError as error:
        raise in_words_of_the_program(error) from error


def in_words_of_the_program(error: ValueError) -> MendableError:
    """Return what is wrong, and apart from it what to do, which messages have at their end."""
    text = str(error).partition("\n")[0].removesuffix(".")
    for python, option in _IN_OPTIONS:
        text = re.sub(python, option, text)
    found = re.match(r"(.*)(?:; (?!got )|\. (?=[A-Z]))(.*)", text)
    if found is None:
        return MendableError(text, "'pegasos fit --help' lists the options")
    return MendableError(found[1], f"{found[2][:1].lower()}{found[2][1:]}")
