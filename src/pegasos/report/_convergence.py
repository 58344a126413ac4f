"""ConvergenceDisplay: objective, bound and gap as the fit went on."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pegasos.report._axes import log_counts, log_seconds, log_values
from pegasos.report._display import Display
from pegasos.report._kinds import CLOCKS
from pegasos.report._numbers import count_text, seconds_text
from pegasos.report._style import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
_NAMES = {"objective": "objective", "dual": "dual bound", "gap": "gap"}
_MISTAKES = {"violations": "mistakes in this epoch"}


class ConvergenceDisplay(Display):
    """Objective, dual bound and gap against steps or seconds; mistakes for perceptrons.

    Of several classes the mean is drawn: it is the objective of all their problems together, with
    a bound and a gap of its own.

    Parameters
    ----------
    history : sequence of mappings
        Records as in the ``history_`` of an estimator.
    against : {"step", "seconds"}, default="step"
        The horizontal axis.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    times_ : ndarray
        Steps or seconds.
    lines_ : dict of str to ndarray
        What is drawn, by its name in the records. A bound that is not known is left out.
    n_classes_ : int
        How many problems the means are of.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self, history: Sequence[Mapping[str, Any]], *, against: str = "step", title: str = ""
    ) -> None:
        if against not in CLOCKS:
            raise ValueError(f"against must be one of {', '.join(CLOCKS)}; got {against!r}")
        if not len(history):
            raise ValueError("there is nothing to draw: the history has no records")
        self.history = history
        self.against = against
        self.title = title
        self._labels = _NAMES if "objective" in history[0] else _MISTAKES
        self.times_ = np.array([record[against] for record in history], dtype=np.float64)
        lines = {name: _means(history, name) for name in self._labels if name in history[0]}
        self.lines_ = {name: line for name, line in lines.items() if np.isfinite(line).any()}
        self.n_classes_ = max(np.size(history[0][name]) for name in lines)

    @classmethod
    def from_estimator(cls, estimator: Any, *, against: str = "step", ax: Any = None) -> Self:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with ``history_``, or pipeline that ends in one
            Fitted by ``fit``: ``partial_fit`` keeps no history.
        against : {"step", "seconds"}, default="step"
            The horizontal axis.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConvergenceDisplay
            Already drawn.
        """
        check_is_fitted(estimator)
        machine = estimator[-1] if hasattr(estimator, "steps") else estimator
        history = getattr(machine, "history_", None)
        if history is None:
            raise TypeError(
                f"this {type(machine).__name__} has no history_; an estimator of pegasos has one "
                "after fit, but not after partial_fit"
            )
        return cls(history, against=against, title=type(machine).__name__).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        for (name, line), look in zip(self.lines_.items(), looks(len(_NAMES)), strict=False):
            drawn = line > 0  # a bound may still be below 0, where no logarithm shows it
            ax.plot(
                self.times_[drawn],
                line[drawn],
                label=self._labels[name],
                color=look.colour,
                marker=look.marker,
                linestyle=look.line,
            )
        if any((line > 0).any() for line in self.lines_.values()):
            log_values(ax, "y")
        if self.against == "step":
            log_counts(ax, "x", self.times_)
        else:
            log_seconds(ax, "x")
        ax.set_xlabel("steps" if self.against == "step" else "seconds")
        if self._labels is _MISTAKES:
            ax.set_ylabel(self._labels["violations"])
        else:
            ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=3.2)
        if self.n_classes_ > 1:
            ax.set_title(f"{self.title}, mean of {self.n_classes_} classes".lstrip(", "))

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            Where the lines end.
        """
        ends = ", ".join(
            f"{self._labels[name]} {line[-1]:.4g}" for name, line in self.lines_.items()
        )
        last = self.times_[-1]
        when = f"{count_text(last)} steps" if self.against == "step" else seconds_text(last)
        return f"Course of a fit. After {when}: {ends}."


def _means(history: Sequence[Mapping[str, Any]], name: str) -> Floats:
    return np.array([np.mean(record[name]) for record in history], dtype=np.float64)
