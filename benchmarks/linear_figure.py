"""The picture of a benchmark: how close to the optimum after how many seconds, a panel per set.

A line is what a user gets who picks the best budget, and the better of one thread and two, for
each number of seconds. The tables tell them apart.
"""

from pathlib import Path
from statistics import median
from typing import Any

import figure
from ladder import LEVELS, optimum_of, points_of
from linear_peers import CONTESTANTS, Contestant

# The markers differ as well.
_LOOKS = {
    "sgd": (figure.GREY, "v"),
    "sgd-mean": (figure.DARK_GREY, "x"),
    "linearsvc": (figure.SKY, "s"),
    "liblinear": (figure.GREEN, "D"),
    "snapml": (figure.PINK, "^"),
    "pegasos": (figure.BLUE, "o"),
    "pegasos-mean": (figure.BLUE, "x"),
    "sdca": (figure.VERMILION, "o"),
}
_LOWEST, _HIGHEST = 5e-4, 1.5
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Path2d = list[tuple[float, float]]


def draw(content: dict[str, Any], stem: Path) -> None:
    """Write the picture as stem.svg and stem.png."""
    tasks = [task for task in content["tasks"].values() if task["points"]]
    if not tasks:
        return
    n_columns = min(3, len(tasks))
    n_rows = -(-len(tasks) // n_columns)
    with figure.canvas(3.6 * n_columns, 2.9 * n_rows + 1.2) as picture:
        grid = picture.subplots(n_rows, n_columns, sharey=True, squeeze=False)
        for axes, task in zip(grid.flat, tasks, strict=False):
            _panel(axes, task)
        for axes in grid.flat[len(tasks) :]:
            axes.set_axis_off()
        for axes in grid[:, 0]:
            axes.set_ylabel("relative suboptimality")
        for axes in grid[-1]:
            axes.set_xlabel("time of fit")
        figure.title(picture, "Linear SVM: distance from the optimal objective over time")
        _legend(picture, grid, n_columns)
        figure.save(picture, stem)


def _panel(axes: Any, task: dict[str, Any]) -> None:
    from matplotlib.ticker import EngFormatter, LogLocator

    facts = task["facts"]
    axes.set_title(f"{facts['title']}, λ = {_lam(facts)}", fontsize=10.5, pad=15)
    size = f"{facts['n_rows']:,} × {facts['n_features']:,}"
    axes.text(
        0.5, 1.025, size, transform=axes.transAxes, ha="center", fontsize=8, color=figure.DARK_GREY
    )
    axes.set(xscale="log", yscale="log", ylim=(_LOWEST, _HIGHEST))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3), numticks=8))
    axes.xaxis.set_major_formatter(EngFormatter(unit="s", places=0))
    axes.tick_params(axis="x", labelsize=7.5)
    figure.tidy(axes)
    for look, contestants in _lines().items():
        path = frontier([point for c in contestants for point in _path(task, c)])
        if path:
            axes.plot(*zip(*path, strict=True), label=_label(contestants), **_style(look))


def frontier(points: Path2d) -> Path2d:
    """Keep the points that no other beats in both, up to the first at the finest level."""
    kept: Path2d = []
    for seconds, suboptimality in sorted(points):
        lowest = kept[-1][1] if kept else _HIGHEST
        if LEVELS[-1] < lowest and suboptimality < lowest:
            kept.append((seconds, suboptimality))
    return kept


def _path(task: dict[str, Any], contestant: Contestant) -> Path2d:
    optimum = optimum_of(task)
    return [
        (median(point.seconds), point.suboptimality(optimum))
        for point in points_of(task, contestant.key)
    ]


def _lines() -> dict[str, list[Contestant]]:
    """Return who shares a line."""
    lines: dict[str, list[Contestant]] = {}
    for contestant in CONTESTANTS:
        look = contestant.key if contestant.key in _LOOKS else contestant.group
        lines.setdefault(look, []).append(contestant)
    return lines


def _label(contestants: list[Contestant]) -> str:
    name = contestants[0].title.removesuffix(", 1 thread")
    return f"{name}, 1 or 2 threads" if len(contestants) > 1 else name


def _style(look: str) -> dict[str, Any]:
    colour, marker = _LOOKS[look]
    is_ours = look in ("pegasos", "pegasos-mean", "sdca")
    return {
        "color": colour,
        "marker": marker,
        "linewidth": 2.6 if is_ours else 1.2,
        "markersize": 5 if is_ours else 4,
        "zorder": 4 if is_ours else 3,
    }


def _legend(picture: Any, grid: Any, n_columns: int) -> None:
    entries: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    labels = [label for label in map(_label, _lines().values()) if label in entries]
    picture.legend(
        [entries[label] for label in labels],
        labels,
        loc="outside lower center",
        ncols=n_columns,
        frameon=False,
        handlelength=2.5,
    )


def _lam(facts: dict[str, Any]) -> str:
    if abs(facts["lam"] * facts["n_rows"] - 1) < 1e-9:
        return "1/m"
    factor, _, exponent = f"{facts['lam']:.0e}".partition("e")
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return power if factor == "1" else f"{factor}·{power}"
