"""Who else trains a linear SVM on a cluster: until the objective is near enough to the optimum."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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
    levels: tuple[float, ...]  # how far above the optimum is near enough, as a part of it; falling
    repeats: int
    limit: float

    def suboptimality(self, w: Any) -> float:
        """Return how far above the optimum these weights are, as a part of it."""
        X, y = self.dataset.load()
        return measure.hinge_objective(X, y, w, self.lam) / self.optimum - 1


Measured = Iterator[tuple[float, dict[str, Any]]]  # level by level


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    """A way to fit on two workers; ``unit`` is what its budget counts."""

    measure: Callable[[Task], Measured]
    unit: str
    extra: str = "bench"

    def why_not(self) -> str | None:
        """Say why it cannot take part, if so."""
        if self.needs == "pyspark" and shutil.which("java") is None:
            return "Spark needs Java, which is not installed"
        reason = super().why_not()
        return reason and reason.replace("'bench'", f"'{self.extra}'")


def _ours(solver: str) -> Callable[[Task], Measured]:
    def run(task: Task) -> Measured:
        warm_up = partial(scale_cluster.fit, max_iter=1)
        measure.timed(lambda: warm_up(task.X, task.y, task.lam, solver, task.levels[0]))
        result, used_up = {}, False
        for level in task.levels:

            def fit(_: int, level: float = level) -> Any:
                return scale_cluster.fit(task.X, task.y, task.lam, solver, level)

            if not used_up:  # or it would be the same fit once more
                seconds, model = measure.repeated(fit, task.repeats, task.limit)
                result = _result(seconds, model.n_iter_, task.suboptimality(model.coef_))
                used_up = model.duality_gap_ > level * model.objective_
            yield level, result

    return run


def _result(seconds: list[float], budget: int, suboptimality: float) -> dict[str, Any]:
    return {"seconds": seconds, "budget": budget, "suboptimality": suboptimality}


def _incremental(average: bool) -> Callable[[Task], Measured]:
    def run(task: Task) -> Measured:
        # Once to see how many passes are enough; then these are clocked, without a judge between.
        _passes(task, average, 1, seed=1)  # the workers import what it takes
        model, n_passes, suboptimality = None, 0, np.inf
        started, seconds, n_timed = perf_counter(), [0.0], 0
        for level in task.levels:
            while suboptimality > level and n_passes < _MOST_PASSES:
                if n_passes and perf_counter() - started > task.limit:
                    break
                model, n_passes = _passes(task, average, 1, model), n_passes + 1
                suboptimality = task.suboptimality(model.estimator_.coef_)
            if n_passes > n_timed:
                # With another seed each time: Dask need not compute again what it still holds.
                seconds, _ = measure.repeated(
                    lambda seed, n=n_passes: _passes(task, average, n, seed=seed + 2),
                    task.repeats,
                    task.limit,
                )
                n_timed = n_passes
            yield level, _result(seconds, n_passes, suboptimality)

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


def _spark(task: Task) -> Measured:
    _, n_features = scale_data.shape(task.dataset)
    found = measure.in_fresh_process(
        scale_spark.svc_until,
        scale_data.svmlight_file(task.dataset, task.cache),
        n_features,
        task.lam,
        [task.optimum * (1 + level) for level in task.levels],
        task.repeats,
        task.limit,
    )
    for level, (seconds, n_iterations, weights) in zip(task.levels, found, strict=True):
        yield level, _result(seconds, n_iterations, task.suboptimality(weights))


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
