"""What stands in the way of the goals for linear machines: the cheapest passes over the same rows.

    python benchmarks/bounds.py                  after benchmarks/linear.py, whose results it reads
    python benchmarks/bounds.py --quick          a first look; writes nothing but its JSON

The goals are fractions of what peers need (benchmarks/linear.py). Whatever the method, it has to
look at the rows. So this measures how long one look takes: nothing but inner products with the
rows, by the package's own code, and a fit of a single step, which is what a fit costs at least.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import bounds_report
import datasets
import linear
import measure
import numpy as np
from datasets import Labels, Matrix
from linear_peers import BY_KEY
from results import Results, ResultsError
from script import Script, say

THREADS = (1, 2)
_REPEATS = 15
_NOTHING = {"seconds": {}, "goals": None}


def _measure(kept: Results, options: argparse.Namespace) -> None:
    goals = _linear_results(options)
    for name in options.sets or linear.TASKS:
        task = linear.TASKS[name]
        try:
            dataset = datasets.prepare(task.dataset, options.cache, quick=options.quick)
        except datasets.MissingDataError as missing:
            say(f"{name} is left out: {missing}")
            continue
        X, y = dataset.load()
        facts = {**asdict(task), "lam": task.lam or 1 / len(y), **datasets.facts(X, y)}
        part = kept.task(name, facts | {"data_key": dataset.key}, _NOTHING)
        part["goals"] = bounds_report.goals(goals.get(name))
        part["seconds"] = floors(X, y, facts["lam"], options.repeats or _REPEATS, options.limit)
        kept.save()
        say(f"{name}: " + ", ".join(f"{k} {v:.5f} s" for k, v in part["seconds"].items()))


def _linear_results(options: argparse.Namespace) -> dict[str, Any]:
    """Return what benchmarks/linear.py has measured: its file lies beside ours."""
    path = options.json.with_name(options.json.name.replace("bounds", "linear"))
    try:
        tasks: dict[str, Any] = Results.read(path).content["tasks"]
    except ResultsError as error:
        say(f"note: no goals to compare with: {error}")
        return {}
    return tasks


def floors(X: Matrix, y: Labels, lam: float, repeats: int, limit: float) -> dict[str, float]:
    """Return the fewest seconds of each kind of look at the rows; the kinds take turns."""
    looks = {
        f"{kind}-{threads}": look
        for threads in THREADS
        for kind, look in _looks(X, y, lam, threads).items()
    }
    fewest = dict.fromkeys(looks, np.inf)
    spent = 0.0
    for _ in range(repeats):
        for name, look in looks.items():
            seconds, _result = measure.timed(look)
            fewest[name] = min(fewest[name], seconds)
            spent += seconds
        if spent > limit:
            break
    return {name: float(seconds) for name, seconds in fewest.items()}


def _looks(X: Matrix, y: Labels, lam: float, threads: int) -> dict[str, Callable[[], object]]:
    in_order, in_random_order = bare_passes(X, threads)
    fit = BY_KEY[f"sdca-{threads}"].fit
    return {
        "in order": in_order,
        "in random order": in_random_order,
        "one step": lambda: fit(X, y, lam, 0.0, 0),
    }


def bare_passes(X: Matrix, threads: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a pass of inner products as the rows are stored, and one in a random order.

    The second is an epoch of the perceptron over labels that the weights get right: it reads every
    row as a solver does, and changes nothing. Both return what they have found.
    """
    from pegasos import _core
    from pegasos._problem import as_floats, new_tally
    from pegasos._validation import make_rows

    rng = np.random.default_rng(0)
    rows = make_rows(X, 0.0, threads)
    w = rng.normal(size=(1, X.shape[1] + 1))
    scores = np.empty((X.shape[0], 1))
    draws = rng.permutation(X.shape[0])
    positive = np.array([1], dtype=np.int32)
    tally = new_tally(1)

    def in_order() -> Any:
        _core.scores(rows, w, n_threads=threads, scores=scores)
        return scores

    code = (in_order()[:, 0] > 0).astype(np.int32)
    draws = draws[scores[draws, 0] != 0]  # a row without entries is on no side
    data = _core.make_data(rows, code, None, float(len(code)))

    def in_random_order() -> Any:
        tally["violations"] = 0
        _core.perceptron_steps(data, positive, w, None, as_floats(tally), draws, n_threads=threads)
        return tally["violations"]

    return in_order, in_random_order


SCRIPT = Script(
    name="bounds",
    description=__doc__,
    choices={"sets": list(linear.TASKS)},
    help={
        "quick": "at most 20,000 rows",
        "repeats": f"turns, of which the fastest counts; {_REPEATS}",
        "limit": "seconds after which a set gets no more turns",
    },
    peers=(),
    measure=_measure,
    tables=bounds_report.tables,
    document=bounds_report.document,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
