"""Runs a study: task by task, each of them safe on disk before the next begins."""

import warnings
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from pegasos.studies._errors import StudyError
from pegasos.studies._facts import machine, versions
from pegasos.studies._file import Study, load
from pegasos.studies._fingerprint import changes, fingerprint
from pegasos.studies._plan import plan
from pegasos.studies._results import Results
from pegasos.studies._store import Saved, locked, new_table, read, with_rows, write, write_study
from pegasos.studies._tasks import Row, Task

__all__ = ["Progress", "run"]


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
        What is wrong with the study file, its data, the folder or the results in it. What is
        finished stays.
    """
    study = study if isinstance(study, Study) else load(study)
    folder = Path(folder)
    prints = fingerprint(study)  # needs the data: what is missing is found before anything is made
    new = Saved(study.text, study.name, str(study.folder.resolve()), prints, new_table())
    with locked(folder):
        saved = _resumed(new, folder, fresh)
        tasks = plan(study, n_jobs, lambda: saved.table)
        _Run(saved, folder, progress).all(tasks)
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

    def __init__(self, saved: Saved, folder: Path, progress: Progress | None) -> None:
        self._saved = saved
        self._folder = folder
        self._progress = progress
        self._facts: dict[str, Any] = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": 0.0,
            "tasks": 0,
            "versions": versions(),
            "machine": machine(),
        }

    def all(self, tasks: list[Task]) -> None:
        """Do what is not done yet."""
        done = set(self._saved.done)
        if self._progress is not None:
            work = sum(task.work for task in tasks)
            self._progress.begin(work, sum(task.work for task in tasks if task.key in done))
        for task in tasks:
            if task.key not in done:
                self._one(task)

    def _one(self, task: Task) -> None:
        if self._progress is not None:
            self._progress.start(task.title)
        start = perf_counter()
        rows = self._rows(task)
        self._facts["seconds"] += perf_counter() - start
        self._facts["tasks"] += 1
        saved = self._saved
        if self._facts["tasks"] == 1:
            saved.facts["runs"].append(self._facts)
        saved.table = with_rows(saved.table, rows)
        saved.done.append(task.key)
        write(self._folder, saved)
        if self._progress is not None:
            self._progress.finish(task.work, rows)

    def _rows(self, task: Task) -> list[Row]:
        """Do a task; its warnings go to the facts, once for each model and kind."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                rows = task.run()
        except StudyError:
            raise
        except ValueError as error:
            raise StudyError(
                f"{task.title}: {error}", "what is finished is kept; mend this and run it again"
            ) from error
        known = self._saved.facts["warnings"]
        for warning in caught:
            kind = f"{task.name}: {warning.category.__name__}: "
            if not any(text.startswith(kind) for text in known):
                known.append(f"{kind}{warning.message}")
        return rows
