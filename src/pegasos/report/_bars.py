"""BarsDisplay: naive against fast."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.report._axes import log_seconds
from pegasos.report._display import Display
from pegasos.report._kinds import SIZES
from pegasos.report._numbers import count_text, ratio_text, seconds_text
from pegasos.report._scaling import measurements
from pegasos.report._style import looks
from pegasos.report._table import Columns, opened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.8  # of the room that a group of bars has
_HATCHES = ("", "///", "...", "xxx")


class BarsDisplay(Display):
    """Seconds as bars on a logarithmic axis, with how many times faster than the first they are.

    Parameters
    ----------
    seconds : mapping of str to array-like of shape (n_groups,)
        What each contestant took for each task; the first is what the others are compared to.
        NaN where it was not measured.
    groups : sequence of str
        The tasks.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ratios_ : dict of str to ndarray of shape (n_groups,)
        Seconds of the first over seconds of each of the others.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self, seconds: Mapping[str, Any], *, groups: Sequence[str], title: str = ""
    ) -> None:
        if not seconds or not len(groups):
            raise ValueError("there is nothing to draw: no seconds were given")
        self.seconds = {name: _checked(name, taken, groups) for name, taken in seconds.items()}
        self.groups = [str(group) for group in groups]
        self.title = title
        first, *others = self.seconds
        self.ratios_ = {name: self.seconds[first] / self.seconds[name] for name in others}

    @classmethod
    def from_results(
        cls, results: Any, models: Sequence[str] | None = None, *, ax: Any = None
    ) -> Self:
        """Draw timings of a study beside each other.

        Parameters
        ----------
        results : pegasos.studies.Results, str or path
            Of a study that has run; or the folder with them.
        models : sequence of str or None, default=None
            Names of timings or models, the one to compare with first; None: all timings.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        BarsDisplay
            Already drawn.
        """
        return cls._from_study(opened(results), models).plot(ax)

    @classmethod
    def _from_study(cls, results: Any, models: Sequence[str] | None) -> Self:
        measured = measurements(results, models)
        sizes = {name: _by_size(rows) for name, rows in measured.items()}
        common = sorted(set().union(*sizes.values()))
        return cls(
            {name: [taken.get(size, np.nan) for size in common] for name, taken in sizes.items()},
            groups=_group_names(common),
        )

    def _draw(self, ax: "Axes") -> None:
        width = _WIDTH / len(self.seconds)
        centres = np.arange(len(self.groups))
        for i, ((name, taken), look) in enumerate(
            zip(self.seconds.items(), looks(len(self.seconds)), strict=True)
        ):
            known = np.isfinite(taken)
            places = centres + (i - (len(self.seconds) - 1) / 2) * width
            bars = ax.bar(
                places[known],
                taken[known],
                width=0.92 * width,
                color=look.colour,
                hatch=_HATCHES[i % len(_HATCHES)],
                edgecolor="white",
                linewidth=0,
                label=name,
            )
            ax.bar_label(bars, self._texts(name, known), padding=2, fontsize=8)
        ax.set_yscale("log")
        ax.margins(y=0.16)
        log_seconds(ax, "y")
        ax.set_ylabel("time of training")
        ax.set_xticks(centres, self.groups)
        ax.tick_params(axis="x", length=0)
        ax.grid(axis="x", visible=False)
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    def _texts(self, name: str, known: npt.NDArray[np.bool_]) -> list[str]:
        """Write the seconds, and below them the ratio if there is one."""
        texts = [seconds_text(taken) for taken in self.seconds[name][known]]
        if name not in self.ratios_:
            return texts
        return [
            f"{text}\n{ratio_text(ratio)}" if np.isfinite(ratio) else text
            for text, ratio in zip(texts, self.ratios_[name][known], strict=True)
        ]

    def _size(self) -> tuple[float, float]:
        return 3.4 + 0.62 * len(self.groups) * len(self.seconds), 3.6

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            The largest and smallest ratio.
        """
        first, *others = self.seconds
        parts = []
        for name in others:
            ratios = self.ratios_[name][np.isfinite(self.ratios_[name])]
            if ratios.size:
                parts.append(
                    f"{name} is {ratio_text(ratios.min())} to {ratio_text(ratios.max())} as fast"
                )
        compared = f" Compared to {first}: {', '.join(parts)}." if parts else ""
        return f"Time of training of {', '.join(self.seconds)}, logarithmic.{compared}"


def _by_size(rows: Columns) -> dict[tuple[int, ...], float]:
    """Return the median seconds of each size: steps, rows, features."""
    taken: dict[tuple[int, ...], list[float]] = {}
    for *size, seconds in zip(*(rows[name].tolist() for name in (*SIZES, "seconds")), strict=True):
        taken.setdefault(tuple(size), []).append(seconds)
    return {size: float(np.median(seconds)) for size, seconds in taken.items()}


def _group_names(sizes: list[tuple[int, ...]]) -> list[str]:
    """Name each size by what tells it from the others; by its rows if it is the only one."""
    names = {"max_steps": "T = {}", "n_rows": "{} rows", "n_features": "{} features"}
    varying = [i for i in range(len(SIZES)) if len({size[i] for size in sizes}) > 1] or [1]
    return [
        "\n".join(names[SIZES[i]].format(count_text(size[i])) for i in varying) for size in sizes
    ]


def _checked(name: str, seconds: Any, groups: Sequence[str]) -> npt.NDArray[np.float64]:
    taken = np.asarray(seconds, dtype=np.float64)
    if taken.shape != (len(groups),):
        raise ValueError(
            f"{name!r} needs seconds for each of {len(groups)} groups; got shape {taken.shape}"
        )
    if (taken <= 0).any() or not np.isfinite(taken).any():
        raise ValueError(f"seconds must be above 0; got {taken.tolist()} for {name!r}")
    return taken
