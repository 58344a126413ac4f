"""The picture of the kernel benchmark: bars of seconds, a panel each for fit and predict."""

from pathlib import Path
from statistics import median
from typing import Any

import figure
from kernel_peers import BY_KEY
from kernel_report import WORK

_COLOURS = {
    "svc": figure.GREY,
    "intelex": figure.SKY,
    "pegasos-1": figure.BLUE,
    "pegasos-all": figure.VERMILION,
}
_BAR = 0.21  # of the room that a set has


def draw(content: dict[str, Any], stem: Path) -> None:
    """Write the picture as stem.svg and stem.png."""
    tasks = [task for task in content["tasks"].values() if task["measured"]]
    if not tasks:
        return
    with figure.canvas(2 + 1.7 * len(tasks), 6.6) as picture:
        panels = picture.subplots(len(WORK), 1, squeeze=False)[:, 0]
        for axes, work in zip(panels, WORK, strict=True):
            _panel(axes, tasks, work)
        figure.title(picture, "Kernel SVM: seconds of fit and predict, less is better")
        handles, labels = panels[0].get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        figure.save(picture, stem)


def _panel(axes: Any, tasks: list[dict[str, Any]], work: str) -> None:
    from matplotlib.ticker import FuncFormatter

    for i, key in enumerate(_COLOURS):
        bars = {
            place: median(task["measured"][key][f"{work}_seconds"])
            for place, task in enumerate(tasks)
            if key in task["measured"]
        }
        if not bars:
            continue
        centres = [place + (i - (len(_COLOURS) - 1) / 2) * _BAR for place in bars]
        drawn = axes.bar(
            centres,
            list(bars.values()),
            width=_BAR * 0.92,
            color=_COLOURS[key],
            label=BY_KEY[key].title,
        )
        axes.bar_label(
            drawn, [f"{s:.2g}" if s < 10 else f"{s:.0f}" for s in bars.values()], fontsize=7
        )
    axes.set(yscale="log", ylabel=f"{work}, seconds")
    axes.margins(y=0.12)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xticks(range(len(tasks)), [_name(task) for task in tasks])
    axes.tick_params(axis="x", length=0)
    figure.tidy(axes, grid="y")


def _name(task: dict[str, Any]) -> str:
    facts = task["facts"]
    lines = facts["title"].split(", ")
    return "\n".join([*lines, f"{facts['n_rows']:,} × {facts['n_features']:,}"])
