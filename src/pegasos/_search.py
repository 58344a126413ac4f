"""The runs of a grid, kernel x fold: side by side on threads here, or as tasks of a cluster."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from threading import Event
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from pegasos._cluster import Cluster, Shared
from pegasos._draws import DrawStream
from pegasos._fold import Fold, RowNumbers
from pegasos._grid import Grid, Judged, Table
from pegasos._judge import Judge
from pegasos._progress import FitProgress
from pegasos._side_by_side import side_by_side
from pegasos._training import draws_per_call
from pegasos._validation import Floats, Target

Place = tuple[int, ...]


class LockstepRun(Protocol):
    """One fold under way, for all values of lam."""

    work_per_draw: float
    batch_size: int

    def advance(self, draws: RowNumbers) -> None:
        """Make the steps of these draws."""

    def scores(self, k: int) -> Floats:
        """Return the scores of all rows for the k-th lam: a row per class, one for two classes."""


class Lockstep(AbstractContextManager["Lockstep"], Protocol):
    """Starts the runs of a grid."""

    def prepare(self, params: dict[str, Any]) -> bool:
        """Get ready for runs with these parameters; tell whether several may run at once."""

    def start(self, params: dict[str, Any], fold: Fold, threads: int) -> LockstepRun:
        """Return a run before its first step."""


class Searching(Protocol):
    """A grid classifier, as far as its runs go."""

    sampling: str

    def _lockstep(self, X: Any, target: Target, grid: Grid) -> Lockstep:
        """Return what starts the runs."""


class Snapshot(NamedTuple):
    """A cell on one fold."""

    lam: int  # number of its lam
    T: int  # number of its T
    seconds: float  # of training
    judged: Judged


@dataclass(frozen=True)
class Search:
    """All that the runs of a grid need; no run depends on another."""

    model: Searching
    X: Any
    target: Target
    grid: Grid
    folds: list[Fold]
    judge: Judge
    seed: int

    def here(self, table: Table, progress: FitProgress, threads: int) -> None:
        """Fill the table: kernel by kernel, the folds of each side by side."""
        with self.model._lockstep(self.X, self.target, self.grid) as lockstep:
            for place, params in self.grid.runs():
                at_once = lockstep.prepare(params) and self.judge.may_be_asked_at_once
                work = partial(self._fold_here, lockstep, table, progress, place, params)
                side_by_side(work, len(self.folds), threads, at_once)

    def _fold_here(
        self,
        lockstep: Lockstep,
        table: Table,
        progress: FitProgress,
        place: Place,
        params: dict[str, Any],
        f: int,
        threads: int,
        stop: Event,
    ) -> None:
        run = lockstep.start(params, self.folds[f], threads)
        for snapshot in self._snapshots(run, params["loss"], f, progress, stop):
            _enter(table, place, f, snapshot)
        _say_smallest(progress, table)

    def elsewhere(self, table: Table, progress: FitProgress, cluster: Cluster) -> None:
        """Fill the table with what the workers of a cluster compute, one task per fold."""
        shared = Shared("search", lambda: self)
        for place, params in self.grid.runs():
            for f in range(len(self.folds)):
                cluster.start((place, f), partial(_fold_there, params, f), shared)
        while cluster:
            (place, f), snapshots = cluster.finished()
            for snapshot in snapshots.result():
                _enter(table, place, f, snapshot)
            progress.advance(self.grid.steps[-1])
            _say_smallest(progress, table)

    def _snapshots(
        self, run: LockstepRun, loss: str, f: int, progress: FitProgress, stop: Event
    ) -> Iterator[Snapshot]:
        """Make a run; judge its cells at each number of steps."""
        fold, grid = self.folds[f], self.grid
        rng = np.random.default_rng(self.seed)
        stream = DrawStream(rng, fold.n_rows, self.model.sampling, fold.drawn)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found by its scores
            for t, seconds in enumerate(_advance(run, stream, grid.steps, progress, stop)):
                for k in range(len(grid.lams)):
                    judged = self.judge(run.scores(k), fold, loss)
                    yield Snapshot(k, t, seconds / len(grid.lams), judged)


def _fold_there(params: dict[str, Any], f: int, search: Search) -> list[Snapshot]:
    """Make the run of a fold on a worker: it shares nothing but rows, and has one thread."""
    silent = FitProgress("", 0, verbose=False)
    with search.model._lockstep(search.X, search.target, search.grid) as lockstep:
        lockstep.prepare(params)
        run = lockstep.start(params, search.folds[f], 1)
        return list(search._snapshots(run, params["loss"], f, silent, Event()))


def _advance(
    run: LockstepRun,
    stream: DrawStream,
    steps: tuple[int, ...],
    progress: FitProgress,
    stop: Event,
) -> Iterator[float]:
    """Advance to each number of steps; yield the seconds of training until then."""
    per_call = draws_per_call(run.work_per_draw, run.batch_size)
    seconds = 0.0
    done = 0
    for T in steps:
        started = perf_counter()
        n_draws = (T - done) * run.batch_size
        while n_draws > 0:
            if stop.is_set():
                return
            draws = stream.take(min(n_draws, per_call))
            run.advance(draws)
            n_draws -= len(draws)
            progress.advance(len(draws) // run.batch_size)
        done = T
        seconds += perf_counter() - started
        yield seconds


def _enter(table: Table, place: Place, f: int, snapshot: Snapshot) -> None:
    table.put((*place, snapshot.lam, snapshot.T, f), snapshot.seconds, snapshot.judged)


def _say_smallest(progress: FitProgress, table: Table) -> None:
    progress.say(f"smallest error {np.nanmin(table.test_error):.4g}")
