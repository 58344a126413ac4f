"""Results that fit a model only once, however many parts of the report are about it."""

from functools import cache
from typing import Any


class Remembering:
    """Results of a study, with what takes long remembered."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self.dataset = cache(results.dataset)
        self.refit = cache(results.refit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._results, name)
