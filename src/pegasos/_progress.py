"""Progress of a fit on stderr: objective, gap, time left."""

from types import TracebackType
from typing import Any, Self


class FitProgress:
    """A progress bar over the steps of a fit, or nothing at all when not verbose."""

    def __init__(self, name: str, n_steps: int, verbose: int | bool) -> None:
        self._bar: Any = None
        if verbose:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TextColumn("{task.fields[status]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(name, total=n_steps, status="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, n_steps: int) -> None:
        """Count steps as done."""
        if self._bar is not None:
            self._bar.advance(self._task, n_steps)

    def say(self, status: str) -> None:
        """Show the latest figures beside the bar."""
        if self._bar is not None:
            self._bar.update(self._task, status=status)
