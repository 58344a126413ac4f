"""ClassFrequenciesDisplay: how many rows each class has."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pegasos.report._classes import class_names
from pegasos.report._display import Display
from pegasos.report._numbers import count_text
from pegasos.report._style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ClassFrequenciesDisplay(Display):
    """Bars: the number of rows of each class.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Rows of each class.
    classes : sequence of str
        What the classes are called.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, counts: Any, *, classes: Any, title: str = "") -> None:
        self.counts = np.asarray(counts)
        self.classes = [str(name) for name in classes]
        self.title = title
        if self.counts.shape != (len(self.classes),) or not self.counts.size:
            raise ValueError(
                f"counts must hold a number per class, at least one; got shape {self.counts.shape} "
                f"for {len(self.classes)} classes"
            )

    @classmethod
    def from_labels(cls, y: Any, *, names: Mapping[Any, str] | None = None, ax: Any = None) -> Self:
        """Draw the frequencies of labels.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Labels.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ClassFrequenciesDisplay
            Already drawn.
        """
        return cls._of(y, names).plot(ax)

    @classmethod
    def _of(cls, y: Any, names: Mapping[Any, str] | None) -> Self:
        classes, counts = np.unique(np.asarray(y), return_counts=True)
        return cls(counts, classes=class_names(classes, names))

    def _draw(self, ax: "Axes") -> None:
        bars = ax.bar(range(len(self.classes)), self.counts, width=0.75, color=COLOURS[0])
        ax.bar_label(bars, [count_text(count) for count in self.counts], padding=2, fontsize=8.5)
        long = max(map(len, self.classes)) > 6
        ax.set_xticks(
            range(len(self.classes)),
            self.classes,
            rotation=30 if long else 0,
            ha="right" if long else "center",
            rotation_mode="anchor" if long else "default",
        )
        ax.tick_params(axis="x", length=0)
        ax.grid(axis="x", visible=False)
        ax.yaxis.set_major_formatter(lambda value, _: count_text(value))
        ax.set_xlabel("class")
        ax.set_ylabel("rows")
        ax.margins(y=0.1)

    def _size(self) -> tuple[float, float]:
        return 1.6 + 0.5 * max(4, len(self.classes)), 3.2

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            The largest and the smallest class.
        """
        most, least = int(self.counts.argmax()), int(self.counts.argmin())
        return (
            f"Rows of each of {len(self.classes)} classes: from {count_text(self.counts[least])} "
            f"({self.classes[least]}) to {count_text(self.counts[most])} ({self.classes[most]})."
        )
