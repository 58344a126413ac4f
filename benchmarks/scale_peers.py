"""Who else trains a linear SVM on a cluster: until the objective is near enough to the optimum."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import contestants
import measure
import numpy as np
import scale_cluster
import scale_data
import scale_spark
from datasets import DataSet

_MOST_PASSES = 200


@dataclass(frozen=True)
class Task:
    """The data, on two workers; what is to be reached, and how long to try."""

    X: Any
    y: Any
    dataset: DataSet
    cache: Path
    lam: float
    optimum: float
    level: float  # how far above the optimum is near enough, as a part of it
    repeats: int
    limit: float

    def suboptimality(self, w: Any) -> float:
        """Return how far above the optimum these weights are, as a part of it."""
        X, y = self.dataset.load()
        return measure.hinge_objective(X, y, w, self.lam) / self.optimum - 1


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    """A way to fit on two workers; ``unit`` is what its budget counts."""

    measure: Callable[[Task], dict[str, Any]]
    unit: str
    extra: str = "bench"

    def why_not(self) -> str | None:
        """Say why it cannot take part, if so."""
        if self.needs == "pyspark" and shutil.which("java") is None:
            return "Spark needs Java, which is not installed"
        reason = super().why_not()
        return reason and reason.replace("'bench'", f"'{self.extra}'")


def _ours(solver: str) -> Callable[[Task], dict[str, Any]]:
    def fit(task: Task) -> Any:
        return scale_cluster.fit(task.X, task.y, task.lam, solver, task.level)

    def run(task: Task) -> dict[str, Any]:
        measure.timed(lambda: fit(task))  # warms up
        seconds, model = measure.repeated(lambda _: fit(task), task.repeats, task.limit)
        suboptimality = task.suboptimality(model.coef_)
        return {"seconds": seconds, "budget": model.n_iter_, "suboptimality": suboptimality}

    return run


def _incremental(average: bool) -> Callable[[Task], dict[str, Any]]:
    def run(task: Task) -> dict[str, Any]:
        # Once to see how many passes are enough; then these are clocked, without a judge between.
        _passes(task, average, 1, seed=1)  # the workers import what it takes
        model, n_passes, suboptimality = None, 0, np.inf
        started = perf_counter()
        while suboptimality > task.level and n_passes < _MOST_PASSES:
            if perf_counter() - started > task.limit:
                break
            model, n_passes = _passes(task, average, 1, model), n_passes + 1
            suboptimality = task.suboptimality(model.estimator_.coef_)
        # With another seed each time: Dask need not compute again what it still holds.
        seconds, _ = measure.repeated(
            lambda seed: _passes(task, average, n_passes, seed=seed + 2), task.repeats, task.limit
        )
        return {"seconds": seconds, "budget": n_passes, "suboptimality": suboptimality}

    return run


def _passes(task: Task, average: bool, n_passes: int, model: Any = None, seed: int = 0) -> Any:
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    if model is None:
        model = Incremental(
            SGDClassifier(
                loss="hinge",
                alpha=task.lam,
                average=average,
                fit_intercept=False,
                random_state=seed,
            ),
            random_state=0,
            assume_equal_chunks=True,
        )
    for _ in range(n_passes):
        model.partial_fit(task.X, task.y, classes=[-1, 1])
    return model


def _spark(task: Task) -> dict[str, Any]:
    _, n_features = scale_data.shape(task.dataset)
    goal = task.optimum * (1 + task.level)
    found = measure.in_fresh_process(
        scale_spark.svc_until,
        scale_data.svmlight_file(task.dataset, task.cache),
        n_features,
        task.lam,
        goal,
        task.repeats,
        task.limit,
    )
    return {
        "seconds": found["seconds"],
        "budget": found["budget"],
        "suboptimality": task.suboptimality(found["weights"]),
    }


CONTESTANTS = (
    *(
        Contestant(
            key=solver,
            title=f"pegasos.dask, {solver}",
            group="pegasos",
            measure=_ours(solver),
            unit="epochs",
            ours=True,
            needs="distributed",
            extra="dask",
        )
        for solver in ("pegasos", "sdca")
    ),
    *(
        Contestant(
            key=key,
            title=title,
            group="dask-ml",
            measure=_incremental(average),
            unit="passes",
            needs="dask_ml",
        )
        for key, title, average in (
            ("incremental", "dask-ml Incremental(SGDClassifier)", False),
            ("incremental-mean", "dask-ml Incremental(SGDClassifier), averaged", True),
        )
    ),
    Contestant(
        key="spark",
        title="Spark LinearSVC, local[2]",
        group="spark",
        measure=_spark,
        unit="iterations",
        needs="pyspark",
        extra="spark",
    ),
)
