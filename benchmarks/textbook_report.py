"""The textbook loop and ours: from results to tables, and to their section of BENCHMARKS.md."""

from statistics import median
from typing import Any

import report
from textbook_growth import WHAT, slope
from textbook_loop import BY_KEY

_GOAL = 500
_TITLES = {key: contestant.title for key, contestant in BY_KEY.items()}
_OURS = {"pegasos-1": "one thread", "pegasos-all": "all cores"}
_COLUMNS = {
    "loop": "training loop",
    "fit": "fit, matrix given",
    "kernel_fit": "fit, kernel made by it",
    "kernel": "difference: the kernel",
    "matrix": "matrix by scikit-learn",
}


def line(found: dict[str, Any]) -> str:
    """Return one line about what a contestant did with a kernel."""
    return (
        f"fit {report.spread(found['fit_seconds'])}, "
        f"training loop {report.spread(found['loop_seconds'])}, "
        f"{sum(found['violations']):,} violations, error {found['error']:.2%}"
    )


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    races, growths = _parts(content)
    if not (races or growths):
        return "Nothing is measured yet."
    parts = []
    if races:
        parts += ["### Draw for draw", *(_race(task) for task in races)]
    if growths:
        parts += ["### How seconds grow, with one thread", *(_growth(task) for task in growths)]
    return "\n\n".join(parts)


def document(content: dict[str, Any], _picture: str | None = None) -> str:
    """Return the section about the textbook loop."""
    parts = ["## Kernel Pegasos and the textbook loop", _summary(content), tables(content)]
    return report.section(content, parts, _NOTES.format(limit=content["limit"]))


def ratio(task: dict[str, Any], ours: str, what: str) -> float | None:
    """Return how many times faster than the textbook ours is, in its "loop" or whole "fit"."""
    measured = task["measured"]
    if not {"textbook", ours} <= measured.keys():
        return None
    slow = median(measured["textbook"][f"{what}_seconds"])
    fast: float = median(measured[ours][f"{what}_seconds"])
    return slow / fast


def same_violations(task: dict[str, Any], ours: str) -> bool:
    measured = task["measured"]
    return bool(measured["textbook"]["violations"] == measured[ours]["violations"])


_NOTES = """
- All 9,298 USPS digits, the first of five stratified folds as test part; ten classes, each against
  the rest, lam 1e-4, 50,000 steps. Gaussian: `exp(-||a - b||^2/4)`; polynomial: `<a, b>^3`.
- The textbook (`benchmarks/textbook_loop.py`) computes `y_i/(lam t) sum_j alpha_j y_j K_ij` anew
  for every draw and class, a product of NumPy vectors. Ours keeps the sums and adds to them when a
  draw violates its margin; same draws, `default_rng(0).integers`.
- Both are given the same kernel matrix in float64; making it is not timed. Ours is
  `kernel="precomputed"`, `solver="pegasos"`, `sampling="uniform"`, `tol=None`. A fit is all of
  `fit`, with checks of the input and the certificate; the training loop is the estimator's own
  record, `history_[-1]["seconds"]`. The textbook is nothing but its loop.
- Seconds are medians of up to five runs; in brackets the fastest and the slowest. No run begins
  that is expected to end after {limit:g} s.
- Growth: Gaussian kernel; random subsets of the rows and of the pixels; violations by way of lam.
  e is the exponent in `seconds = c x^e`, by least squares of the logarithms. The kernel apart: what
  a fit takes longer when it makes the kernel itself.
"""


def _parts(content: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    tasks = content["tasks"]
    races = [task for name, task in tasks.items() if name not in WHAT]
    return races, [tasks[what] for what in WHAT if what in tasks]


def _summary(content: dict[str, Any]) -> str:
    """Return a line for each kernel, for those who read no tables."""
    lines = []
    for task in _parts(content)[0]:
        said = [
            f"{loop:.0f} times with {threads} (the whole fit: {ratio(task, ours, 'fit'):.0f})"
            for ours, threads in _OURS.items()
            if (loop := ratio(task, ours, "loop")) is not None
        ]
        if said:
            lines.append(f"- {task['facts']['title']}: {', '.join(said)}.")
    if not lines:
        return ""
    head = (
        "How many times faster the training loop of KernelPegasosClassifier is than the textbook's "
        f"in NumPy (goal: {_GOAL} times):"
    )
    return "\n".join([head, "", *lines])


def _race(task: dict[str, Any]) -> str:
    facts, measured = task["facts"], task["measured"]
    head = (
        f"**{facts['title']}**: {facts['n_rows']:,} + {facts['n_test_rows']:,} x "
        f"{facts['n_features']:,}, {facts['n_classes']} classes, {facts['n_steps']:,} steps, "
        f"lam {report.power(facts['lam'])}."
    )
    header = ["", "training loop", "times", "fit", "times", "violations", "test error"]
    rows = [_race_row(task, key) for key in BY_KEY if key in measured]
    table = report.table(header, rows, right=set(range(1, len(header))))
    verdict = [
        f"Violations of each class, {_TITLES[key]} and textbook: {_verdict(task, key)}."
        for key in _OURS
        if {key, "textbook"} <= measured.keys()
    ]
    return "\n\n".join([head, table, *verdict, *report.left_out(task["left_out"], _TITLES)])


def _race_row(task: dict[str, Any], key: str) -> list[str]:
    found = task["measured"][key]
    row = [_TITLES[key]]
    for what in ("loop", "fit"):
        times = ratio(task, key, what) if BY_KEY[key].ours else None
        row += [report.spread(found[f"{what}_seconds"]), report.times(times)]
    return [*row, f"{sum(found['violations']):,}", f"{found['error']:.2%}"]


def _verdict(task: dict[str, Any], key: str) -> str:
    return "identical" if same_violations(task, key) else "**different**"


def _growth(task: dict[str, Any]) -> str:
    parts = [_growth_table(task)] if task["points"] else []
    return "\n\n".join([*parts, *report.left_out(task["left_out"], _TITLES)])


def _growth_table(task: dict[str, Any]) -> str:
    what = task["facts"]["title"]
    points = [{**p, "kernel": p["kernel_fit"] - p["fit"]} for p in task["points"]]
    points.sort(key=lambda point: point["value"])
    values = [point["value"] for point in points]
    slopes = [slope(values, [point[column] for point in points]) for column in _COLUMNS]
    header = [what, "violations", *_COLUMNS.values()]
    rows = [
        [
            f"{point['value']:,}",
            f"{point['violations']:,}",
            *(_seconds(point[column]) for column in _COLUMNS),
        ]
        for point in points
    ]
    rows.append(["**e**", "", *("–" if e is None else f"{e:z.2f}" for e in slopes)])
    if what == "violations":  # not twice
        for row in (header, *rows):
            del row[1]
    return report.table(header, rows, right=set(range(len(header))))


def _seconds(seconds: float) -> str:
    return report.in_seconds(seconds) if seconds > 0 else "–"
