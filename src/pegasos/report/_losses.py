"""LossesDisplay: what a margin costs."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pegasos.report._display import Display
from pegasos.report._style import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LossesDisplay(Display):
    """The losses against the margin ``z = y f(x)``: hinge, log, and zero-one, which they replace.

    Parameters
    ----------
    margins : array-like of shape (n_points,)
        Where the losses are computed.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    losses_ : dict of str to ndarray
        What is drawn.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from pegasos.report import LossesDisplay
    >>> LossesDisplay([-1.0, 2.0]).losses_["hinge, max(0, 1 - z)"]
    array([2., 0.])
    """

    def __init__(self, margins: Any, *, title: str = "") -> None:
        from pegasos.reference import hinge, log_loss

        self.margins = np.asarray(margins, dtype=np.float64)
        self.title = title
        if self.margins.ndim != 1 or self.margins.size < 2:
            raise ValueError(
                f"margins must be a list of at least two numbers; got shape {self.margins.shape}"
            )
        self.losses_ = {
            "hinge, max(0, 1 - z)": hinge(self.margins),
            "log, ln(1 + exp(-z))": log_loss(self.margins),
            "zero-one, 1 if z ≤ 0": (self.margins <= 0).astype(np.float64),
        }

    @classmethod
    def from_range(cls, low: float = -2.5, high: float = 3.5, *, ax: Any = None) -> Self:
        """Draw the losses of all margins from low to high.

        Parameters
        ----------
        low : float, default=-2.5
            The smallest margin.
        high : float, default=3.5
            The largest margin.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        LossesDisplay
            Already drawn.
        """
        return cls._of(low, high).plot(ax)

    @classmethod
    def _of(cls, low: float = -2.5, high: float = 3.5) -> Self:
        return cls(np.linspace(low, high, 601))

    def _draw(self, ax: "Axes") -> None:
        for (name, loss), look in zip(self.losses_.items(), looks(len(self.losses_)), strict=True):
            ax.plot(self.margins, loss, color=look.colour, linestyle=look.line, label=name)
        ax.set_xlabel("margin z = y f(x)")
        ax.set_ylabel("loss")
        ax.legend(loc="upper right")

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            How the losses differ.
        """
        return (
            "Losses against the margin. Hinge: falls along a straight line to 0 at margin 1. Log: "
            "falls smoothly and never reaches 0. Zero-one: 1 up to margin 0, then 0."
        )
