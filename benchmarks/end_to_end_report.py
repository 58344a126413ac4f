"""From a file to a model: from results to tables, and to their section of BENCHMARKS.md."""

from statistics import median
from typing import Any

import report
from end_to_end_peers import CONTESTANTS

_GOAL = 5
LEVEL = 1e-2  # relative suboptimality
_TITLES = {contestant.key: contestant.title for contestant in CONTESTANTS}
_UNITS = {contestant.key: contestant.unit for contestant in CONTESTANTS}
_OURS = "pegasos"

_NOTES = f"""
- A process from its start to its end: importing, reading the file, training, writing the model.
  Files are in the page cache; modules are compiled, as after an installation. The peak of memory is
  that of the process, with the pages of a mapped file that it has touched.
- All minimise `lam/2 ||w||^2 + mean hinge` without intercept. A contestant climbs its ladder of
  budgets (epochs, passes, tolerances) until the objective of its model, computed here in float64
  while no clock runs, is within {LEVEL:.0%} of the optimum; that budget is then run again. Ours is
  `pegasos fit --solver sdca --tol ...`, on all cores.
- The scripts are in `benchmarks/end_to_end_fit.py`, a few lines each. scikit-learn reads svmlight
  text with `load_svmlight_file` and csv with pandas. liblinear and VW get the rows in their own
  formats, converted beforehand. liblinear's package reads text in Python; its `train` in C is not
  on PyPI. VW learns with `--sgd`, from a cache after the first pass: its default updates do not
  tend to the minimum of this objective.
- Medians; in brackets the fastest and the slowest.
"""


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    parts = [_task(task) for task in content["tasks"].values() if task["measured"]]
    return "\n\n".join(parts) or "Nothing is measured yet."


def document(content: dict[str, Any], _picture: str | None = None) -> str:
    return report.section(content, ["## From a file to a model", tables(content)], _NOTES)


def times_faster(task: dict[str, Any]) -> float | None:
    """Return how many times faster than the fastest peer ours is."""
    peers = [
        median(result["seconds"])
        for key, result in task["measured"].items()
        if key != _OURS and result["reached"]
    ]
    ours = task["measured"].get(_OURS)
    if not peers or ours is None or not ours["reached"]:
        return None
    return min(peers) / median(ours["seconds"])


def line(result: dict[str, Any]) -> str:
    return (
        f"{report.spread(result['seconds'])}, {result['peak'] / 1e6:.0f} MB, "
        f"suboptimality {report.power(result['suboptimality'], 1)}"
    )


def _task(task: dict[str, Any]) -> str:
    facts = task["facts"]
    head = (
        f"**{facts['title']}**: {facts['n_rows']:,} x {facts['n_features']:,}, "
        f"{facts['n_text'] / 1e6:.0f} MB of text, lam = {report.power(facts['lam'])}. "
        f"{report.times(times_faster(task))} times the fastest peer (goal: {_GOAL})."
    )
    fastest = min(
        (median(r["seconds"]) for r in task["measured"].values() if r["reached"]), default=None
    )
    rows = []
    for key, result in task["measured"].items():
        is_fastest = result["reached"] and median(result["seconds"]) == fastest
        seconds = report.spread(result["seconds"], is_fastest=is_fastest)
        rows.append(
            [
                _TITLES[key],
                seconds if result["reached"] else f"not reached in {seconds}",
                f"{result['peak'] / 1e6:.0f} MB",
                report.power(max(0.0, result["suboptimality"]), 1),
                f"{result['budget']:g} {_UNITS[key]}",
            ]
        )
    header = ["", "seconds", "peak of memory", "suboptimality", "budget"]
    left_out = report.left_out(task["left_out"], _TITLES)
    return "\n\n".join([head, report.table(header, rows, right={1, 2, 3, 4}), *left_out])
