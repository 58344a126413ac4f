"""Linear SVMs side by side: seconds to a given closeness to the optimum, per epoch, and memory.

    python benchmarks/linear.py                        everything; writes BENCHMARKS.md, the figure
    python benchmarks/linear.py --quick --sets a9a     a first look; writes nothing but its JSON
    python benchmarks/linear.py --peers ours           only ours again; the others stay as they are
    python benchmarks/linear.py --redraw               tables and figure from the JSON alone

Every task is: minimise lam/2 ||w||^2 + mean hinge, without intercept. The objective of the weights
is computed here, in float64, while the clock stands still.
"""

import argparse
import sys
from dataclasses import asdict, dataclass
from typing import Any

import contestants
import datasets
import linear_figure
import linear_peers
import linear_report
import measure
from datasets import Labels, Matrix
from linear_trial import PARTS, Trial
from results import Results
from script import Script, say

_MANY_ROWS = 200_000
_REFERENCE_TOL = 1e-6
_REFERENCE_VISITS = 500_000_000  # rows times epochs, at most


@dataclass(frozen=True)
class Task:
    """A data set and a lam (None: 1/m, that is C = 1)."""

    title: str
    dataset: str
    lam: float | None


TASKS = {
    "cov1": Task("cov1", "cov1", 1e-6),
    "a9a": Task("Adult (a9a)", "a9a", None),
    "a9a-1e-4": Task("Adult (a9a)", "a9a", 1e-4),
    "ijcnn1": Task("ijcnn1", "ijcnn1", None),
    "reviews": Task("reviews, tf-idf", "reviews", 1e-4),
    "sparse": Task("generated text", "sparse", 1e-4),
}


_UNMEASURED: dict[str, Any] = {
    "reference": None,
    "points": {},
    "left_out": {},
    "epoch_seconds": {},
    "memory_bytes": {},
}


def _measure(kept: Results, options: argparse.Namespace) -> None:
    for name in options.sets or TASKS:
        try:
            dataset = datasets.prepare(TASKS[name].dataset, options.cache, quick=options.quick)
        except datasets.MissingDataError as missing:
            say(f"{name} is left out: {missing}")
            continue
        _measure_task(kept, name, dataset, options)


def _measure_task(
    kept: Results, name: str, dataset: datasets.DataSet, options: argparse.Namespace
) -> None:
    X, y = dataset.load()
    lam = TASKS[name].lam or 1 / len(y)
    facts = {**asdict(TASKS[name]), "lam": lam, **datasets.facts(X, y), "data_key": dataset.key}
    task = kept.task(name, facts, _UNMEASURED)
    if task["reference"] is None:
        say(f"{name}: looking for the optimum")
        task["reference"] = reference(X, y, lam)
        kept.save()
    best, bound = task["reference"]["objective"], task["reference"]["bound"]
    say(f"{name}: optimum {best:.8f}, certified to be within {(best - bound) / best:.0e}")

    repeats = options.repeats or (1 if options.quick else 3 if len(y) > _MANY_ROWS else 5)
    for contestant in contestants.chosen(linear_peers.CONTESTANTS, options.peers or []):
        trial = Trial(task, contestant, dataset, X, y, lam, repeats, options.limit)
        reason = trial.measure(options.parts or PARTS)
        if reason is not None:
            say(f"{name}: {contestant.title} is left out: {reason}")
        kept.save()


def reference(X: Matrix, y: Labels, lam: float) -> dict[str, float]:
    """Return a bound from below and an objective close to it, from a long run."""
    from pegasos import PegasosClassifier

    model = PegasosClassifier(
        lam,
        solver="sdca",
        tol=_REFERENCE_TOL,
        max_iter=max(100, min(5000, _REFERENCE_VISITS // len(y))),
        fit_intercept=False,
        random_state=0,
        n_jobs=2,
    )
    seconds, _ = measure.timed(lambda: model.fit(X, y))
    return {
        "objective": measure.hinge_objective(X, y, model.coef_, lam),
        "bound": model.dual_objective_,
        "seconds": seconds,
        "epochs": model.n_iter_,
    }


SCRIPT = Script(
    name="linear",
    description=__doc__,
    choices={
        "sets": list(TASKS),
        "peers": contestants.names(linear_peers.CONTESTANTS),
        "parts": list(PARTS),
    },
    help={
        "quick": "at most 20,000 rows, 1 run, 1 s",
        "repeats": "runs, each with another seed; 5, or 3 for many rows",
        "limit": "seconds after which a contestant gives up on a set",
    },
    peers=("liblinear-official", "snapml"),
    measure=_measure,
    tables=linear_report.tables,
    document=linear_report.document,
    draw=linear_figure.draw,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
