"""How far a study is and how long it will take: a bar on a terminal, else a line now and then."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.text import Text

from pegasos.cli._output import messages

__all__ = ["StudyProgress", "TimeLeft"]

_LINES = 10  # about so many, where there is no terminal


class TimeLeft:
    """Seconds until all work is done, if it goes on at the pace of this run so far.

    Parameters
    ----------
    work, done : float
        All the work, and what was done of it before this run.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, work: float, done: float, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._work, self._before, self._done = work, done, done
        self._began = self._latest = clock()

    @property
    def fraction(self) -> float:
        """What part of the work is done."""
        return self._done / self._work if self._work else 1.0

    def finish(self, work: float) -> None:
        """Count a piece of work as done by now."""
        self._done += work
        self._latest = self._clock()

    def __str__(self) -> str:
        """Write it as in "1:05 left"; nothing where there is nothing yet to judge by."""
        done_here = self._done - self._before
        if done_here <= 0:
            return ""
        pace = (self._latest - self._began) / done_here
        # Between two pieces the clock runs down.
        seconds = pace * (self._work - self._done) - (self._clock() - self._latest)
        minutes, seconds = divmod(round(max(0.0, seconds)), 60)
        hours, minutes = divmod(minutes, 60)
        whole = f"{hours}:{minutes:02}" if hours else f"{minutes}"
        return f"{whole}:{seconds:02} left"


class StudyProgress:
    """What :func:`pegasos.studies.run` tells its progress to, shown on stderr."""

    def __init__(self) -> None:
        self._left = TimeLeft(0, 0)
        self._view: _Bar | _Lines = _Lines(messages())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._view.stop()

    def begin(self, work: float, done: float) -> None:
        """Show how much there is to do, and how much of it is done already."""
        console = messages()
        if done >= work:
            console.print("all of it was done before")
            return
        if done > 0:
            console.print(f"going on: {done / work:.0%} was done before")
        self._left = TimeLeft(work, done)
        if console.is_terminal:
            self._view = _Bar(console, self._left)

    def start(self, title: str) -> None:
        """Show what is being done."""
        self._view.title = title
        self._view.update(self._left)

    def finish(self, work: float, rows: list[dict[str, Any]]) -> None:
        """Show that it is done, and stored."""
        self._left.finish(work)
        self._view.update(self._left)


class _Bar:
    def __init__(self, console: Console, left: TimeLeft) -> None:
        self.title = ""
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            _TimeLeftColumn(left),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=1.0)
        self.update(left)
        self._progress.start()

    def update(self, left: TimeLeft) -> None:
        self._progress.update(self._task, description=self.title, completed=left.fraction)

    def stop(self) -> None:
        self._progress.stop()


class _TimeLeftColumn(ProgressColumn):
    def __init__(self, left: TimeLeft) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Text:
        return Text(str(self._left))


class _Lines:
    def __init__(self, console: Console) -> None:
        self.title = ""
        self._console = console
        self._shown = 0

    def update(self, left: TimeLeft) -> None:
        tenths = int(left.fraction * _LINES)
        if tenths > self._shown:
            self._shown = tenths
            words = (f"{left.fraction:4.0%} done", str(left), self.title)
            self._console.print(", ".join(word for word in words if word))

    def stop(self) -> None:
        pass
