"""CurvesDisplay: the error against T, a line per lam."""

from typing import TYPE_CHECKING

import numpy as np

from pegasos.report._axes import log_counts, log_values
from pegasos.report._grid import GridDisplay
from pegasos.report._numbers import count_text, power_text
from pegasos.report._style import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CurvesDisplay(GridDisplay):
    """Error against T, one line per lam; bars show the standard deviation over folds.

    Parameters
    ----------
    errors : array-like of shape (n_lams, n_steps)
        The error of each cell; NaN where it is not known.
    lams : array-like of shape (n_lams,)
        The values of lam.
    steps : array-like of shape (n_steps,)
        The values of T.
    spread : array-like of shape (n_lams, n_steps) or None, default=None
        Standard deviation over folds.
    value : {"test_error", "train_error"}, default="test_error"
        What the errors are.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    best_ : tuple of int
        Row and column of the smallest error.
    ax_, figure_
        Where it was drawn.
    """

    def _draw(self, ax: "Axes") -> None:
        for i, look in enumerate(looks(self.lams.size)):
            known = np.isfinite(self.errors[i])
            if not known.any():
                continue
            ax.errorbar(
                self.steps[known],
                self.errors[i][known],
                yerr=None if self.spread is None else self.spread[i][known],
                label=power_text(self.lams[i]),
                color=look.colour,
                marker=look.marker,
                linestyle=look.line,
                elinewidth=0.9,
                capsize=2,
            )
        log_counts(ax, "x", self.steps)
        smallest, largest = np.nanmin(self.errors), np.nanmax(self.errors)
        if smallest > 0 and largest > 10 * smallest:
            log_values(ax, "y")
        else:
            ax.set_ylim(bottom=0)
        ax.set_xlabel("T, steps")
        ax.set_ylabel(self._what)
        ax.legend(title="lam", loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=3.2)

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            Where the smallest error is.
        """
        row, column = self.best_
        return (
            f"The {self._what} against T, a line for each of {self.lams.size} values of lam; "
            f"smallest {self.errors[row, column]:.3g} at lam = {power_text(self.lams[row])}, "
            f"T = {count_text(self.steps[column])}."
        )
