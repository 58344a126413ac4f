"""Spark's LinearSVC, in a process of its own: the Java machine ends with it."""

import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

_MOST_ITERATIONS = 640


def svc_until(
    path: Path, n_features: int, lam: float, goal: float, repeats: int, limit: float
) -> dict[str, Any]:
    """Time fits of just so many iterations that the objective is below the goal.

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
        rows = rows.repartition(2).cache()
        rows.count()
        n_iterations = _iterations(rows, lam, goal, limit)
        seconds: list[float] = []
        while len(seconds) < repeats and sum(seconds) < limit:
            started = perf_counter()
            model = _fit(rows, lam, n_iterations)
            seconds.append(perf_counter() - started)
        weights = np.array(model.coefficients.toArray())
    finally:
        session.stop()
    return {"seconds": seconds, "budget": n_iterations, "weights": weights}


def _iterations(rows: Any, lam: float, goal: float, limit: float) -> int:
    """Return how many iterations are enough, or as many as there was time for."""
    started = perf_counter()
    n_iterations = 10
    while True:
        history = np.array(_fit(rows, lam, n_iterations).summary().objectiveHistory)
        enough = np.flatnonzero(history <= goal)
        if len(enough):
            return int(enough[0])
        if n_iterations >= _MOST_ITERATIONS or perf_counter() - started > limit:
            return n_iterations
        n_iterations *= 2


def _fit(rows: Any, lam: float, n_iterations: int) -> Any:
    from pyspark.ml.classification import LinearSVC

    # Its objective is then regParam/2 ||w||^2 + the mean of the hinge.
    return LinearSVC(
        regParam=lam, maxIter=n_iterations, tol=0.0, standardization=False, fitIntercept=False
    ).fit(rows)
