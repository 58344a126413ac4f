"""RatiosDisplay: how many times faster, on each task, than each of the others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pegasos.report._axes import log_values
from pegasos.report._display import Display
from pegasos.report._numbers import ratio_text
from pegasos.report._style import INK, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_WIDTH = 0.08  # of a ratio as text, of the width of the axes


class RatiosDisplay(Display):
    """Ratios of benchmarks, a line per task and a marker per peer; right of 1 is faster.

    Parameters
    ----------
    ratios : mapping of str to array-like of shape (n_tasks,)
        For each peer, its seconds over ours; NaN where it was not measured.
    tasks : sequence of str
        What was measured.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, ratios: Mapping[str, Any], *, tasks: Sequence[str], title: str = "") -> None:
        if not ratios or not len(tasks):
            raise ValueError("there is nothing to draw: no ratios were given")
        self.ratios = {name: np.asarray(values, np.float64) for name, values in ratios.items()}
        self.tasks = [str(task) for task in tasks]
        self.title = title
        for name, values in self.ratios.items():
            if values.shape != (len(self.tasks),):
                raise ValueError(
                    f"{name!r} needs a ratio for each of {len(self.tasks)} tasks; got shape "
                    f"{values.shape}"
                )
            if (values <= 0).any():
                raise ValueError(f"ratios must be above 0; got {values.tolist()} for {name!r}")

    @classmethod
    def from_seconds(
        cls, seconds: Mapping[str, Mapping[str, float]], ours: str, *, ax: Any = None
    ) -> Self:
        """Draw how many times longer than ours each of the others takes.

        Parameters
        ----------
        seconds : mapping of str to mapping of str to float
            Seconds by contestant and task; a task may be missing.
        ours : str
            The contestant that the others are compared to.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        RatiosDisplay
            Already drawn.
        """
        if ours not in seconds:
            raise ValueError(f"no seconds of {ours!r}; there are {', '.join(map(repr, seconds))}")
        tasks = list(seconds[ours])
        ratios = {
            peer: [taken.get(task, np.nan) / seconds[ours][task] for task in tasks]
            for peer, taken in seconds.items()
            if peer != ours
        }
        return cls(ratios, tasks=tasks, title=f"times faster: {ours} against others").plot(ax)

    def _draw(self, ax: "Axes") -> None:
        places = np.arange(len(self.tasks))
        ax.axvline(1, color=INK, linewidth=1)
        for (name, values), look in zip(self.ratios.items(), looks(len(self.ratios)), strict=True):
            known = np.isfinite(values)
            ax.plot(
                values[known],
                places[known],
                look.marker,
                color=look.colour,
                markersize=7,
                label=name,
            )
        ax.margins(x=0.1)
        log_values(ax, "x", "×")
        for place in range(len(self.tasks)):
            self._write_ratios(ax, place)
        ax.set_yticks(places, self.tasks)
        ax.set_ylim(len(self.tasks) - 0.5, -0.7)
        ax.set_xlabel("seconds of the peer over ours")
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    def _write_ratios(self, ax: "Axes", place: int) -> None:
        """Write the ratios of a task above their markers, below if that would hide the last one."""
        values = sorted(v[place] for v in self.ratios.values() if np.isfinite(v[place]))
        low, high = np.log(ax.get_xlim())
        last, is_above = -np.inf, False
        for value in values:
            is_close = np.log(value) - last < _LABEL_WIDTH * (high - low)
            is_above = not (is_close and is_above)
            last = np.log(value)
            ax.annotate(
                ratio_text(value),
                (value, place),
                xytext=(0, 5 if is_above else -5),
                textcoords="offset points",
                ha="center",
                va="bottom" if is_above else "top",
                fontsize=8,
            )

    def _size(self) -> tuple[float, float]:
        return 7.0, 1.3 + 0.5 * len(self.tasks)

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            The range of the ratios of each peer.
        """
        parts = [
            f"{name} {ratio_text(np.nanmin(values))} to {ratio_text(np.nanmax(values))}"
            for name, values in self.ratios.items()
            if np.isfinite(values).any()
        ]
        return (
            f"Seconds of each peer over ours on {len(self.tasks)} tasks, logarithmic: "
            f"{', '.join(parts)}."
        )
