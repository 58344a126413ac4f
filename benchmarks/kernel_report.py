"""Kernel machines: from results to tables, and to their section of BENCHMARKS.md."""

from collections.abc import Iterable
from statistics import fmean, median
from typing import Any

import report
from kernel_peers import BY_KEY

WORK = ("fit", "predict")
# So many times faster than these we want to be.
_GOALS = {
    ("fit", "svc"): 10,
    ("fit", "intelex"): 3,
    ("predict", "svc"): 20,
    ("predict", "intelex"): 1,
}
_PEERS = {"svc": "SVC", "intelex": "scikit-learn-intelex"}
_OURS = {"pegasos-1": "1 thread", "pegasos-all": "all cores"}


def line(found: dict[str, Any]) -> str:
    """Return one line about what a contestant did on a task."""
    fit, predict = (report.spread(found[f"{work}_seconds"]) for work in WORK)
    line = f"fit {fit}, predict {predict}, error {found['error']:.2%}"
    gap = relative_gap(found)
    return line if gap is None else f"{line}, relative gap {report.power(gap, 1)}"


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    tasks = _measured(content)
    if not tasks:
        return "Nothing is measured yet."
    parts = [
        "### Times faster",
        _ratio_table(tasks),
        "### Set by set",
        *(f"{_headline(task)}\n\n{_task_table(task)}" for task in tasks),
    ]
    return "\n\n".join(parts)


def document(content: dict[str, Any], picture: str | None = None) -> str:
    """Return the section about kernel machines."""
    alt = "Seconds of fit and of predict, for each data set and package"
    parts = ["## Kernel SVMs", _summary(content), report.image(alt, picture), tables(content)]
    return report.section(content, parts, _NOTES.format(limit=content["limit"]))


def ratio(task: dict[str, Any], work: str, peer: str, ours: str) -> float | None:
    """Return how many times faster ours does this work, if both have done it."""
    measured = task["measured"]
    if not {peer, ours} <= measured.keys():
        return None
    slow, fast = (median(measured[key][f"{work}_seconds"]) for key in (peer, ours))
    return slow / fast


def relative_gap(found: dict[str, Any]) -> float | None:
    """Return the largest certified ``(P - D)/P`` of the problems, if there are bounds D."""
    if "bounds" not in found:
        return None
    return max((p - d) / p for p, d in zip(found["objectives"], found["bounds"], strict=True))


_NOTES = """
- The task: the Gaussian kernel `exp(-gamma ||a - b||^2)`; fit the training part, predict the test
  part. Data is in memory, float32, dense or CSR; whatever a package does with it first counts.
- The peers get `C = 1/(lam m)` and their default tolerance, 1e-3, which limits the violation of
  their optimality conditions. Ours is `solver="sdca"` with `tol=1e-3`, a certified relative gap.
  The two tolerances are not the same measure; the objectives below tell what each has reached.
- Everyone may use 4 GiB for rows of the kernel (`cache_size`, `memory`). SVC has one thread;
  scikit-learn-intelex takes all cores by default.
- Every package has a process of its own for each set, which loads the data, fits and predicts a few
  rows, and is then measured. Seconds are medians of up to five runs, each with another seed; in
  brackets the fastest and the slowest. No run begins that is expected to end after {limit:g} s:
  what is long is done once.
- `P = lam/2 ||w||^2 + mean hinge` of the last fit is computed in float64 by the benchmark from
  coefficients and support vectors, after the clock was stopped. Ours has no bias, or where coef0 is
  named a constant in the kernel, a bias that is regularised. The peers' bias is free, which makes
  theirs a larger space with a lower optimum: the two columns of P are minima of two problems, close
  but not the same. D is our solver's own word, a bound from below for its own P.
- Ten classes: ours is one against the rest; P and D are means over the ten problems, the gap is the
  largest of them. SVC and scikit-learn-intelex train one against one, 45 smaller problems: their
  objectives cannot be compared, only their test errors.
- Support vectors: rows with a coefficient, in any of the problems.
- Memory: by how much the process grows at most during the fits.
- Training and test parts are the published ones. Pixels of MNIST are divided by 255.
"""


def _measured(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [task for task in content["tasks"].values() if task["measured"] or task["left_out"]]


def _summary(content: dict[str, Any]) -> str:
    """Return a line for each goal, for those who read no tables."""
    lines = []
    for (work, peer), goal in _GOALS.items():
        said = [
            f"{_range(ratios)} with {threads} (reached on {sum(r >= goal for r in ratios)} of "
            f"{len(ratios)} sets)"
            for ours, threads in _OURS.items()
            if (ratios := _ratios(_measured(content), work, peer, ours))
        ]
        if said:
            wish = "no slower" if goal == 1 else f"{goal} times"
            lines.append(f"- {work}, against {_PEERS[peer]} (goal: {wish}): {'; '.join(said)}.")
    if not lines:
        return ""
    return "\n".join(["How many times faster KernelPegasosClassifier is:", "", *lines])


def _ratios(tasks: Iterable[dict[str, Any]], work: str, peer: str, ours: str) -> list[float]:
    return [r for task in tasks if (r := ratio(task, work, peer, ours)) is not None]


def _range(ratios: list[float]) -> str:
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


def _ratio_table(tasks: Iterable[dict[str, Any]]) -> str:
    rows = []
    for task in tasks:
        for work in WORK:
            row = [task["facts"]["title"], work]
            row += [_median(task, work, key) for key in (*_PEERS, *_OURS)]
            row += [report.times(ratio(task, work, p, o)) for p in _PEERS for o in _OURS]
            rows.append(row)
    header = ["set", "", *_PEERS.values(), *(f"ours, {threads}" for threads in _OURS.values())]
    header += [f"times {peer}, {threads}" for peer in _PEERS.values() for threads in _OURS.values()]
    return report.table(header, rows, right=set(range(2, len(header))))


def _median(task: dict[str, Any], work: str, key: str) -> str:
    found = task["measured"].get(key)
    return report.in_seconds(median(found[f"{work}_seconds"])) if found else "–"


def _headline(task: dict[str, Any]) -> str:
    facts = task["facts"]
    kind = "CSR" if facts["is_sparse"] else "dense"
    return (
        f"**{facts['title']}**: {facts['n_rows']:,} + {facts['n_test_rows']:,} x "
        f"{facts['n_features']:,}, {kind}, {facts['n_bytes'] / 1e6:.1f} MB to fit; "
        f"gamma {facts['gamma']:.3g}, lam {report.power(facts['lam'], 2)}, C {facts['C']:.3g}"
        + (f"; ours with coef0 {facts['coef0']:g}." if facts["coef0"] else ".")
    )


def _task_table(task: dict[str, Any]) -> str:
    header = ["", "fit", "predict", "test error", "support vectors", "memory"]
    header += ["P, ours", "P, free bias", "D", "relative gap"]
    fastest = {work: _fastest(task, work) for work in WORK}
    rows = [
        [BY_KEY[key].title, *_cells(key, task["measured"][key], fastest)]
        for key in BY_KEY
        if key in task["measured"]
    ]
    titles = {key: contestant.title for key, contestant in BY_KEY.items()}
    parts = [report.table(header, rows, right=set(range(1, len(header))))]
    parts += [
        f"**{BY_KEY[key].title}: a bound is above its objective: it is false.**"
        for key, found in task["measured"].items()
        if _is_false(found)
    ]
    return "\n\n".join([*parts, *report.left_out(task["left_out"], titles)])


def _fastest(task: dict[str, Any], work: str) -> str | None:
    measured = task["measured"]
    return min(measured, key=lambda key: median(measured[key][f"{work}_seconds"]), default=None)


def _cells(key: str, found: dict[str, Any], fastest: dict[str, str | None]) -> list[str]:
    gap = relative_gap(found)
    objective = _mean(found, "objectives")
    return [
        *(report.spread(found[f"{w}_seconds"], is_fastest=fastest[w] == key) for w in WORK),
        f"{found['error']:.2%}",
        f"{found['n_support']:,}",
        f"{found['memory_bytes'] / 1e6:,.0f} MB",
        *((objective, "–") if BY_KEY[key].ours else ("–", objective)),
        _mean(found, "bounds"),
        "–" if gap is None else report.power(gap, 1),
    ]


def _mean(found: dict[str, Any], name: str) -> str:
    return f"{fmean(found[name]):.6f}" if name in found else "–"


def _is_false(found: dict[str, Any]) -> bool:
    gap = relative_gap(found)
    return gap is not None and gap < -1e-9  # rounding of sums of many terms
