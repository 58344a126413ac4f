"""Runs tasks on the workers of a Dask cluster; their rows come back to the one who writes."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pegasos._cluster import Cluster
from pegasos.studies._errors import StudyError
from pegasos.studies._piece import Heard, Outcome, do_piece
from pegasos.studies._tasks import Pieces, Row, Task

__all__ = ["distribute"]

# Pieces under way for each thread of the cluster: so many that none of them waits for this program,
# and so few that only the data of a few tasks is with the workers.
_PIECES_A_THREAD = 2


class Keeper(Protocol):
    """The run that the tasks belong to."""

    def is_done(self, key: str) -> bool:
        """Tell whether the rows of a task are on disk."""

    def start(self, task: Task) -> None:
        """Take note that a task begins."""

    def failures(self, task: Task) -> AbstractContextManager[None]:
        """Return a context in which an error is one of this task."""

    def finish(self, task: Task, rows: list[Row], heard: list[Heard]) -> None:
        """Bring the rows of a task to the disk."""


@dataclass
class _UnderWay:
    task: Task
    n_pieces: int
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        """Return the rows of all pieces, those of a cell together."""
        of_pieces = (self.outcomes[k].rows for k in range(self.n_pieces))
        return [row for rows in zip(*of_pieces, strict=True) for row in rows]

    def heard(self) -> list[Heard]:
        return [heard for k in range(self.n_pieces) for heard in self.outcomes[k].warnings]


def distribute(client: Any, tasks: list[Task], keeper: Keeper) -> None:
    """Do tasks on a cluster, several at once; each is kept when the last of its pieces is in."""
    cluster = Cluster(client)
    try:
        _Distribution(cluster, tasks, keeper).run()
    finally:
        cluster.cancel()


class _Distribution:
    def __init__(self, cluster: Cluster, tasks: list[Task], keeper: Keeper) -> None:
        self._cluster = cluster
        self._waiting = list(tasks)
        self._keeper = keeper
        self._under_way: dict[str, _UnderWay] = {}

    def run(self) -> None:
        while self._waiting or self._cluster:
            self._begin_some()
            (key, k), future = self._cluster.finished()
            work = self._under_way[key]
            with self._keeper.failures(work.task):
                work.outcomes[k] = _result(future, work.task)
            if len(work.outcomes) == work.n_pieces:
                del self._under_way[key]
                self._keeper.finish(work.task, work.rows(), work.heard())

    def _begin_some(self) -> None:
        """Begin what may begin, in the order of the study, until the cluster has enough to do."""
        self._cluster.workers.find()
        enough = _PIECES_A_THREAD * self._cluster.workers.n_threads
        for task in list(self._waiting):
            if len(self._cluster) >= enough:
                return
            if task.pieces and all(map(self._keeper.is_done, task.pieces.after)):
                self._waiting.remove(task)
                self._keeper.start(task)
                with self._keeper.failures(task):
                    self._begin(task, task.pieces)

    def _begin(self, task: Task, pieces: Pieces) -> None:
        works = pieces.begin()
        self._under_way[task.key] = _UnderWay(task, len(works))
        for k, work in enumerate(works):
            piece = partial(do_piece, work)
            self._cluster.start((task.key, k), piece, pieces.shared)


def _result(future: Any, task: Task) -> Any:
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()
    except (CancelledError, KilledWorker) as error:
        raise StudyError(
            f"{task.title}: the cluster has given it up: {error}",
            "see what the workers say, and whether they have enough memory; what is finished is "
            "kept, and running it again goes on",
        ) from None
