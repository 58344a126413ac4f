"""All tasks of a study, in the order in which they are done."""

from collections.abc import Callable
from typing import Any

from pegasos.studies._file import Study
from pegasos.studies._model_tasks import ModelTasks
from pegasos.studies._tasks import Setting, Task

__all__ = ["plan"]


def plan(study: Study, n_jobs: int | None, finished: Callable[[], Any]) -> list[Task]:
    """Return the tasks; ``finished`` gives the table of results as it is when one of them runs."""
    setting = Setting(study.seed, study.repeats, n_jobs, study.folder)
    tasks = ModelTasks(study, setting, finished).tasks()
    for timing in study.timings:
        tasks += timing.tasks(setting)
    for race in study.races:
        tasks += race.tasks(setting)
    return tasks
