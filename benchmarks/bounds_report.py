"""The bounds of linear machines: from results to tables, and to their section of BENCHMARKS.md."""

from collections.abc import Iterable
from typing import Any

import linear_report
import report
from ladder import LEVELS

GOAL = 5  # times the fastest peer, and times an epoch of SGDClassifier
_LEVELS = LEVELS[1:]


def goals(task: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what the results of benchmarks/linear.py ask for on a set, and what was reached."""
    if task is None or not task.get("reference"):
        return None
    levels = {}
    for level in _LEVELS:
        ranking = linear_report.reached(task, level)
        peer = next((r for r in ranking if not r.contestant.ours), None)
        ours = next((r for r in ranking if r.contestant.ours), None)
        levels[report.power(level)] = {
            "goal": peer.seconds / GOAL if peer else None,
            "ours": ours.seconds if ours else None,
            "epochs": ours.point.budget if ours else None,
        }
    epoch = task["epoch_seconds"]
    sgd = epoch.get("sgd")
    ours_epoch = [epoch[key] for key in ("pegasos-1", "pegasos-2") if key in epoch]
    return {
        "levels": levels,
        "epoch": {
            "goal": sgd / GOAL if sgd else None,
            "ours": min(ours_epoch, default=None),
        },
    }


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    tasks = [task for task in content["tasks"].values() if task["seconds"]]
    if not tasks:
        return "Nothing is measured yet."
    return "\n\n".join(
        [
            "### The cheapest passes over the rows",
            _passes_table(tasks),
            "### Seconds to a relative suboptimality: what the goal leaves time for",
            _levels_table(tasks),
            "### Seconds per epoch: what the goal leaves time for",
            _epoch_table(tasks),
            *_verdicts(tasks),
        ]
    )


def document(content: dict[str, Any], _picture: str | None = None) -> str:
    """Return the section about the bounds."""
    return report.section(content, ["## What bounds linear machines", tables(content)], _NOTES)


_NOTES = f"""
- The goals are a {GOAL}th of the seconds of the fastest peer, and of an epoch of SGDClassifier, as
  benchmarks/linear.py measured them; "ours" is what it measured of PegasosClassifier, with one
  thread or two, and after how many epochs.
- In order: an inner product with every row, as they lie in memory. In random order: the same in
  the order of a permutation, as all solvers here visit rows, with their prefetching and, with two
  threads, their second thread. Nothing is updated, so no epoch of any solver can be quicker.
- One step: a fit with `max_steps=1`. That is everything a fit does beside its steps: checks, a
  permutation, and the pass over all rows that the certificate takes.
- Passes within the goal: how many bare passes in random order fit into the goal beside the one
  step, with the number of threads that allows more. A method that needs more looks at the rows
  cannot reach the goal with this code, whatever it does with what it sees.
- Seconds here are the fewest of several turns, those of the goals medians: a floor should be low.
"""


def _passes_table(tasks: Iterable[dict[str, Any]]) -> str:
    kinds = [f"{kind}-{n}" for kind in ("in order", "in random order", "one step") for n in (1, 2)]
    header = ["set", *(f"{kind[:-2]}, {_threads(kind[-1])}" for kind in kinds)]
    rows = [
        [linear_report.title(task), *(report.in_seconds(task["seconds"][kind]) for kind in kinds)]
        for task in tasks
    ]
    return report.table(header, rows, right=set(range(1, len(header))))


def _threads(n: str) -> str:
    return "1 thread" if n == "1" else f"{n} threads"


def passes_within(task: dict[str, Any], goal: float) -> float:
    """Return how many bare passes in random order the goal leaves time for, beside one step."""
    seconds = task["seconds"]
    return max((goal - seconds[f"one step-{n}"]) / seconds[f"in random order-{n}"] for n in (1, 2))


def _levels_table(tasks: Iterable[dict[str, Any]]) -> str:
    header = ["set", "to", "goal", "passes within the goal", "ours", "epochs"]
    rows = [
        [linear_report.title(task), level, *_level_cells(task, found)]
        for task in tasks
        if task["goals"]
        for level, found in task["goals"]["levels"].items()
    ]
    return report.table(header, rows, right={2, 3, 4, 5})


def _level_cells(task: dict[str, Any], found: dict[str, float | None]) -> list[str]:
    goal, ours, epochs = found["goal"], found["ours"], found["epochs"]
    return [
        _seconds(goal),
        "–" if goal is None else f"{max(0.0, passes_within(task, goal)):.1f}",
        _seconds(ours),
        "–" if epochs is None else f"{epochs:g}",
    ]


def _epoch_table(tasks: Iterable[dict[str, Any]]) -> str:
    header = ["set", "goal", "bare pass in random order", "goal, in bare passes", "ours"]
    rows = []
    for task in tasks:
        if task["goals"]:
            goal, ours = task["goals"]["epoch"]["goal"], task["goals"]["epoch"]["ours"]
            bare = _bare_pass(task)
            part = "–" if goal is None else f"{goal / bare:.1f}"
            cells = [_seconds(goal), _seconds(bare), part, _seconds(ours)]
            rows.append([linear_report.title(task), *cells])
    return report.table(header, rows, right={1, 2, 3, 4})


def _bare_pass(task: dict[str, Any]) -> float:
    bare: float = min(task["seconds"][f"in random order-{n}"] for n in (1, 2))
    return bare


def _seconds(value: float | None) -> str:
    return "–" if value is None else report.in_seconds(value)


def _verdicts(tasks: Iterable[dict[str, Any]]) -> list[str]:
    """Return a sentence for each goal that leaves no time for a single look at all rows."""
    said = []
    for task in tasks:
        if not task["goals"]:
            continue
        title, bare = linear_report.title(task), _bare_pass(task)
        for level, found in task["goals"]["levels"].items():
            goal = found["goal"]
            if goal is not None and passes_within(task, goal) < 1:
                said.append(
                    f"- {title}, to {level}: the goal, {report.in_seconds(goal)}, is less than a "
                    "fit of one step and one bare pass take."
                )
        goal = task["goals"]["epoch"]["goal"]
        if goal is not None and goal < bare:
            said.append(
                f"- {title}, per epoch: the goal, {report.in_seconds(goal)}, is less than one bare "
                f"pass takes, {report.in_seconds(bare)}."
            )
    if not said:
        return ["Every goal leaves time for at least one bare pass."]
    heading = (
        "Goals below the cost of one pass, with this code. No epoch in random order can reach "
        "those per epoch; for the others part of an epoch would have to be enough:"
    )
    return ["\n".join([heading, "", *said])]
