"""Kernel SVMs side by side: seconds of fit and predict, test error, memory, objective.

    python benchmarks/kernel.py                        everything; writes BENCHMARKS.md, the figure
    python benchmarks/kernel.py --quick --sets usps    a first look; writes nothing but its JSON
    python benchmarks/kernel.py --packages ours        only ours again; the others stay
    python benchmarks/kernel.py --redraw               tables and figure from the JSON alone

Every package fits the training part with a Gaussian kernel to its tolerance of 1e-3 and predicts
the test part. The objective is computed here, in float64, while the clock stands still.
"""

import argparse
import sys
from dataclasses import asdict
from typing import Any

import contestants
import datasets
import kernel_figure
import kernel_peers
import kernel_report
import measure
import numpy as np
from kernel_trial import Task, Trial
from results import Results
from script import Script, say

Parts = tuple[datasets.DataSet, datasets.DataSet]  # to train and to test

_QUICK_ROWS = 2000
_UNMEASURED: dict[str, Any] = {"measured": {}, "left_out": {}}

# Reuters, Adult and the eights of MNIST as in table 2 of the Pegasos paper.
TASKS = {
    "reuters": Task("Reuters", "reuters", gamma=1, lam=1.29e-4),
    "adult": Task("Adult", "a9a", gamma=0.05, lam=3.07e-5),
    "usps": Task("USPS, ten classes", "usps", gamma=1 / 64, C=10),
    # One row in ten is positive: without a bias the error would be 1.6%, not 1.3%.
    "ijcnn1": Task("ijcnn1", "ijcnn1", gamma=2, C=32, coef0=1),
    "mnist-8": Task("MNIST, 8 or not", "mnist", gamma=0.02, lam=1.67e-5, positive=8),
    "mnist": Task("MNIST, ten classes", "mnist", gamma=0.02, C=5),
}


def _measure(kept: Results, options: argparse.Namespace) -> None:
    for name in options.sets or TASKS:
        task = TASKS[name]
        try:
            train = datasets.prepare(task.dataset, options.cache)
            test = datasets.prepare(f"{task.dataset}-test", options.cache)
        except datasets.MissingDataError as missing:
            say(f"{name} is left out: {missing}")
            continue
        _measure_task(kept, name, (train, test), options)


def _measure_task(kept: Results, name: str, parts: Parts, options: argparse.Namespace) -> None:
    n_rows = _QUICK_ROWS if options.quick else None
    part = kept.task(name, _facts(TASKS[name], parts, n_rows), _UNMEASURED)
    repeats = options.repeats or (1 if options.quick else 5)
    for contestant in contestants.chosen(kernel_peers.CONTESTANTS, options.packages or []):
        trial = Trial(contestant.key, TASKS[name], *parts, n_rows, repeats, options.limit)
        say(f"{name}: {_run(part, contestant, trial)}")
        kept.save()


def _facts(task: Task, parts: Parts, n_rows: int | None) -> dict[str, Any]:
    (X, y), (_, y_test) = (task.load(part, n_rows) for part in parts)
    problem = task.problem(len(y))
    return {
        **asdict(task),
        "lam": problem.lam,
        "C": problem.C,
        **datasets.facts(X, y),
        "n_classes": len(np.unique(y)),
        "n_test_rows": len(y_test),
        "memory_mib": kernel_peers.MEMORY_MIB,
        "data_keys": [part.key for part in parts],
    }


def _run(part: dict[str, Any], contestant: kernel_peers.Contestant, trial: Trial) -> str:
    """Put what the trial measures into its part of the results; return a line about it."""
    key = contestant.key
    part["measured"].pop(key, None)
    part["left_out"].pop(key, None)
    try:
        reason = contestant.why_not()
        if reason is None:
            found = measure.in_fresh_process(trial.run)
            part["measured"][key] = found
            return f"{contestant.title:36} {kernel_report.line(found)}"
    except Exception as error:  # noqa: BLE001 - whatever a peer raises, the others go on
        reason = contestants.reason_of(error)
    part["left_out"][key] = reason
    return f"{contestant.title} is left out: {reason}"


SCRIPT = Script(
    name="kernel",
    description=__doc__,
    choices={
        "sets": list(TASKS),
        "packages": contestants.names(kernel_peers.CONTESTANTS),
    },
    help={
        "quick": f"at most {_QUICK_ROWS:,} rows, 1 run",
        "repeats": "runs, each with another seed; 5",
        "limit": "seconds beyond which no further run of a fit or a predict is begun",
    },
    peers=("scikit-learn-intelex",),
    measure=_measure,
    tables=kernel_report.tables,
    document=kernel_report.document,
    draw=kernel_figure.draw,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
