"""Runs a study: task by task, each of them safe on disk as soon as it is done."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from pegasos.studies._distribute import distribute
from pegasos.studies._errors import StudyError
from pegasos.studies._facts import machine, versions
from pegasos.studies._file import Study, load
from pegasos.studies._fingerprint import changes, fingerprint
from pegasos.studies._piece import Heard
from pegasos.studies._plan import plan
from pegasos.studies._results import Results
from pegasos.studies._scheduler import connected
from pegasos.studies._store import Saved, locked, new_table, read, with_rows, write, write_study
from pegasos.studies._tasks import Row, Task

__all__ = ["Progress", "run"]

_KEPT = "what is finished is kept; mend this and run it again"


class Progress(Protocol):
    """Whoever wants to know how far a run is. Work has no unit; time left goes by its parts."""

    def begin(self, work: float, done: float) -> None:
        """Take note of all the work there is, and of what earlier runs have done of it."""

    def start(self, title: str) -> None:
        """Take note that a task begins."""

    def finish(self, work: float, rows: list[Row]) -> None:
        """Take note that it is done, and its rows safely on disk."""


def run(
    study: Study | str | Path,
    folder: str | Path,
    *,
    n_jobs: int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Run a study, or the part of it that earlier runs have not done.

    After each task all results so far are in ``results.parquet``; whatever ends the program, the
    next run goes on after the last finished task.

    Parameters
    ----------
    study : Study, str or Path
        The study, the name of a built-in one, or a TOML file.
    folder : str or Path
        Where the results are, or will be.
    n_jobs : int or None, default=None
        Threads (-1: all). No result but the seconds depends on it.
    scheduler : str or None, default=None
        Address of a Dask scheduler, as in "tcp://host:8786": its workers do the tasks, each fold a
        piece of its own on one thread. They are sent the rows; only this process reads data files
        and writes results. What stops the time (timings, races) stays here, and comes last. No
        result but the seconds depends on it: runs with and without may follow each other.
    fresh : bool, default=False
        Forget what is in the folder and begin anew.
    progress : Progress or None, default=None
        Told about each task.

    Returns
    -------
    Results
        All results, those of earlier runs among them.

    Raises
    ------
    StudyError
        What is wrong with the study file, its data, the folder or the results in it, the scheduler
        or its workers. What is finished stays.
    """
    study = study if isinstance(study, Study) else load(study)
    folder = Path(folder)
    prints = fingerprint(study)  # needs the data: what is missing is found before anything is made
    new = Saved(study.text, study.name, str(study.folder.resolve()), prints, new_table())
    with nullcontext() if scheduler is None else connected(scheduler) as client, locked(folder):
        saved = _resumed(new, folder, fresh)
        tasks = plan(study, n_jobs, lambda: saved.table)
        _Run(saved, folder, tasks, progress).all(client)
    return Results(study, folder, saved)


def _resumed(new: Saved, folder: Path, fresh: bool) -> Saved:
    """Return what to go on from; the words of the study are the new ones."""
    old = None if fresh else read(folder)
    if old is not None:
        changed = changes(old.prints, new.prints)
        if changed:
            raise StudyError(
                f"{changed} has changed since the results in {folder} were made",
                "choose another folder, or begin anew with fresh=True (--fresh)",
            )
        new.table, new.done, new.facts = old.table, old.done, old.facts
    if old is None or old.words != new.words:
        write(folder, new)
        write_study(folder, new.text)
    return new


class _Run:
    """One run of the program."""

    def __init__(
        self, saved: Saved, folder: Path, tasks: list[Task], progress: Progress | None
    ) -> None:
        self._saved = saved
        self._folder = folder
        self._tasks = tasks
        self._progress = progress
        self._since = perf_counter()
        self._facts: dict[str, Any] = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": 0.0,
            "tasks": 0,
            "versions": versions(),
            "machine": machine(),
        }

    def all(self, client: Any) -> None:
        """Do what is not done yet: on a cluster, if there is one, what can be done there."""
        left = [task for task in self._tasks if not self.is_done(task.key)]
        if self._progress is not None:
            work = sum(task.work for task in self._tasks)
            self._progress.begin(work, work - sum(task.work for task in left))
        if client is not None:
            there = [task for task in left if task.pieces is not None]
            left = [task for task in left if task.pieces is None]
            threads = client.nthreads().values()
            self._facts["cluster"] = {"workers": len(threads), "threads": sum(threads)}
            distribute(client, there, self)
        for task in left:
            self.start(task)
            self._since = perf_counter()
            with self.failures(task):
                rows, heard = _listened_to(task)
            self.finish(task, rows, heard)

    def is_done(self, key: str) -> bool:
        """Tell whether the rows of a task are on disk."""
        return key in self._saved.done

    def start(self, task: Task) -> None:
        """Tell that a task begins."""
        if self._progress is not None:
            self._progress.start(task.title)

    @contextmanager
    def failures(self, task: Task) -> Iterator[None]:
        """Name the task in what is wrong with it."""
        try:
            yield
        except StudyError:
            raise
        except ValueError as error:
            raise StudyError(f"{task.title}: {error}", _KEPT) from error

    def finish(self, task: Task, rows: list[Row], heard: list[Heard]) -> None:
        """Bring the rows of a task to the disk, to where they belong in the order of the study."""
        now = perf_counter()
        self._facts["seconds"] += now - self._since
        self._since = now
        self._facts["tasks"] += 1
        saved = self._saved
        if self._facts["tasks"] == 1:
            saved.facts["runs"].append(self._facts)
        self._keep_warnings(task.name, heard)
        before = self._done_before(task)
        saved.table = with_rows(saved.table, rows, sum(other.n_rows for other in before))
        saved.done.insert(len(before), task.key)
        write(self._folder, saved)
        if self._progress is not None:
            self._progress.finish(task.work, rows)

    def _done_before(self, task: Task) -> list[Task]:
        earlier = self._tasks[: self._tasks.index(task)]
        return [other for other in earlier if self.is_done(other.key)]

    def _keep_warnings(self, name: str, heard: list[Heard]) -> None:
        """Put warnings among the facts, once for each model and kind."""
        known = self._saved.facts["warnings"]
        for category, message in heard:
            kind = f"{name}: {category}: "
            if not any(text.startswith(kind) for text in known):
                known.append(f"{kind}{message}")


def _listened_to(task: Task) -> tuple[list[Row], list[Heard]]:
    """Do a task here; return its rows, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        rows = task.run()
    return rows, [(warning.category.__name__, str(warning.message)) for warning in caught]
