"""Spark's LinearSVC, in a process of its own: the Java machine ends with it."""

import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

_MOST_ITERATIONS = 640


def svc_until(
    path: Path, n_features: int, lam: float, goals: list[float], repeats: int, limit: float
) -> list[tuple[list[float], int, Any]]:
    """Time fits of just so many iterations that the objective is below each of the goals.

    Spark's own record of its objective says how many; the weights are returned, to be judged.
    """
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")  # about the version of pandas, which is not used
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        rows = session.read.format("libsvm").option("numFeatures", str(n_features)).load(str(path))
        rows = rows.coalesce(2).cache()
        rows.count()
        counts = _iterations(rows, lam, goals, limit)
        fits = {n: _timed_fits(rows, lam, n, repeats, limit) for n in sorted(set(counts))}
        return [fits[n] for n in counts]
    finally:
        session.stop()


def _timed_fits(
    rows: Any, lam: float, n_iterations: int, repeats: int, limit: float
) -> tuple[list[float], int, Any]:
    seconds: list[float] = []
    while len(seconds) < repeats and (not seconds or sum(seconds) < limit):
        started = perf_counter()
        model = _fit(rows, lam, n_iterations)
        seconds.append(perf_counter() - started)
    return seconds, n_iterations, np.array(model.coefficients.toArray())


def _iterations(rows: Any, lam: float, goals: list[float], limit: float) -> list[int]:
    """Return how many iterations are enough for each goal, or as many as there was time for."""
    started = perf_counter()
    n_iterations = 10
    while True:
        history = np.array(_fit(rows, lam, n_iterations).summary().objectiveHistory)
        is_enough = history.min() <= min(goals) or n_iterations >= _MOST_ITERATIONS
        if is_enough or perf_counter() - started > limit:
            firsts = [np.flatnonzero(history <= goal) for goal in goals]
            return [int(first[0]) if len(first) else n_iterations for first in firsts]
        n_iterations *= 2


def _fit(rows: Any, lam: float, n_iterations: int) -> Any:
    from pyspark.ml.classification import LinearSVC

    # Its objective is then regParam/2 ||w||^2 + the mean of the hinge.
    return LinearSVC(
        regParam=lam, maxIter=n_iterations, tol=0.0, standardization=False, fitIntercept=False
    ).fit(rows)
