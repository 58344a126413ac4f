"""The USPS grid: from results to tables, and to their section of BENCHMARKS.md."""

from statistics import median
from typing import Any

import report

_GOAL_TIMES, _GOAL_SECONDS = 2000, 12
_TITLES = {
    "textbook": "textbook loops",
    "pegasos-1": "KernelPegasosCV, 1 thread",
    "pegasos-all": "KernelPegasosCV, all cores",
}
_OURS = ("pegasos-1", "pegasos-all")

_NOTES = """
- All 9,298 USPS digits, float32; Gaussian `exp(-||a - b||^2/(2 g))` and polynomial `(1 + <a, b>)^n`
  kernels; five stratified folds; draws with replacement, no averaging, as in the report that the
  grid is from. Ours: two calls of `KernelPegasosCV(...).fit(X, y)`, one for each kind of kernel,
  with all that belongs to it: checks of the input, kernel matrices, training, test and train error
  of every cell and fold.
- The textbook (`benchmarks/grid_textbook.py`) does what that report says of its code: in every cell
  and fold the kernel matrix, then for each class and draw a product of NumPy vectors, then the
  kernel of the held-out rows. Timed are cells with one kernel of each kind and every T, at one lam
  and on one fold, once; the whole is their sum over kernels, lam and folds, for none of these
  changes the work. NumPy's BLAS has all cores.
- The second sum grants the textbook one kernel matrix for all cells of a fold: loops remain.
- Ours: medians of up to three runs; in brackets the fastest and the slowest.
"""


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    part = content["tasks"].get("grid")
    if part is None or not part["measured"]:
        return "Nothing is measured yet."
    left_out = report.left_out(part["left_out"], _TITLES)
    parts = [_whole(part), *left_out]
    if "textbook" in part["measured"]:
        parts.append(_cells(part))
    if any(ours in part["measured"] for ours in _OURS):
        parts.append(_errors(part))
    return "\n\n".join(parts)


def document(content: dict[str, Any], _picture: str | None = None) -> str:
    """Return the section about the grid."""
    return report.section(content, ["## A whole grid", tables(content)], _NOTES)


def cell_line(cell: dict[str, Any]) -> str:
    return (
        f"textbook: {cell['family']} {cell['value']:g}, T = {cell['n_steps']:,}: kernel matrix "
        f"{report.in_seconds(cell['matrix'])}, loop {report.in_seconds(cell['loop'])}, predict "
        f"{report.in_seconds(cell['predict'])}, error {cell['error']:.4f}"
    )


def line(part: dict[str, Any], key: str) -> str:
    if key == "textbook":
        return f"the whole grid {report.in_seconds(textbook_total(part))}"
    return f"the whole grid {report.spread(part['measured'][key]['seconds'])}"


def textbook_total(part: dict[str, Any], *, shares_matrix: bool = False) -> float:
    """Return the seconds of all cells and folds; perhaps with kernel matrices made once a fold."""
    facts = part["facts"]
    n_kernels = {"Gaussian": len(facts["widths"]), "polynomial": len(facts["degrees"])}
    cells: list[dict[str, Any]] = part["measured"]["textbook"]["cells"]
    n_lams, n_folds = len(facts["lams"]), facts["n_folds"]
    total = 0.0
    for family, kernels in n_kernels.items():
        mine = [cell for cell in cells if cell["family"] == family]
        loops = n_lams * sum(cell["loop"] for cell in mine)
        kernel = [cell["matrix"] + cell["predict"] for cell in mine]
        total += (
            kernels
            * n_folds
            * (loops + (median(kernel) if shares_matrix else n_lams * sum(kernel)))
        )
    return total


def _whole(part: dict[str, Any]) -> str:
    facts, measured = part["facts"], part["measured"]
    n_cells = (
        (len(facts["widths"]) + len(facts["degrees"])) * len(facts["lams"]) * len(facts["steps"])
    )
    head = (
        f"**{n_cells} cells** (goal: {_GOAL_TIMES:,} times, under {_GOAL_SECONDS} s): "
        f"{facts['n_rows']:,} x {facts['n_features']:,}, {facts['n_classes']} classes, "
        f"{facts['n_folds']} folds."
    )
    sums = []
    if "textbook" in measured:
        sums = [textbook_total(part), textbook_total(part, shares_matrix=True)]
    names = ("textbook loops", "textbook loops, kernel matrices shared")
    rows = [
        [name, report.in_seconds(total), "", ""] for name, total in zip(names, sums, strict=False)
    ]
    for key in _OURS:
        if key in measured:
            seconds = measured[key]["seconds"]
            ratios = [f"**{total / median(seconds):,.0f}**" for total in sums] or ["–", "–"]
            rows.append([_TITLES[key], report.spread(seconds), *ratios])
    header = ["", "seconds", "times", "times, matrices shared"]
    return "\n\n".join([head, report.table(header, rows, right={1, 2, 3})])


def _cells(part: dict[str, Any]) -> str:
    """Return the cells of the textbook, with the errors of both: the same draws, the same model."""
    ours = next((part["measured"][key] for key in _OURS if key in part["measured"]), None)
    rows = []
    for cell in part["measured"]["textbook"]["cells"]:
        place = part["facts"]["steps"].index(cell["n_steps"])
        mine = "–" if ours is None else f"{ours['errors']['sample'][cell['family']][place]:.4f}"
        seconds = [report.in_seconds(cell[what]) for what in ("matrix", "loop", "predict")]
        kernel = f"{cell['family']} {cell['value']:g}"
        rows.append([kernel, f"{cell['n_steps']:,}", *seconds, f"{cell['error']:.4f}", mine])
    header = ["textbook", "T", "kernel matrix", "loop", "predict", "error", "error of ours"]
    return report.table(header, rows, right=set(range(1, len(header))))


def _errors(part: dict[str, Any]) -> str:
    """Return the best cell of every kernel, by its mean error over the folds."""
    facts = part["facts"]
    errors = next(part["measured"][key]["errors"] for key in _OURS if key in part["measured"])
    rows = []
    for (family, value), grid in zip(errors["kernels"], errors["mean"], strict=True):
        error, lam, T = min(
            (error, lam, T)
            for lam, row in zip(facts["lams"], grid, strict=True)
            for T, error in zip(facts["steps"], row, strict=True)
        )
        rows.append([f"{family} {value:g}", f"{error:.4f}", report.power(lam), f"{T:,}"])
    return report.table(["kernel", "smallest error", "lam", "T"], rows, right={1, 2, 3})
