"""HeatmapDisplay: the error in every cell of a grid over lam and T."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pegasos.report._cells import between_cells, draw_cells
from pegasos.report._grid import GridDisplay
from pegasos.report._numbers import count_text, power_text, same_decimals
from pegasos.report._style import ERRORS, FAINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From this ratio of largest to smallest error on, equal steps of colour are equal ratios: else the
# good cells would all look the same beside a bad one.
_LOG_FROM = 4.0


class HeatmapDisplay(GridDisplay):
    """Heat-map of the error over lam and T; the best cell has a frame.

    Parameters
    ----------
    errors : array-like of shape (n_lams, n_steps)
        The error of each cell; NaN where it is not known.
    lams : array-like of shape (n_lams,)
        The values of lam.
    steps : array-like of shape (n_steps,)
        The values of T.
    spread : array-like of shape (n_lams, n_steps) or None, default=None
        Standard deviation over folds; not drawn here.
    value : {"test_error", "train_error"}, default="test_error"
        What the errors are.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    best_ : tuple of int
        Row and column of the smallest error.
    image_ : matplotlib AxesImage
        The cells.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from pegasos.report import HeatmapDisplay
    >>> errors = [[0.31, 0.12], [0.30, 0.15]]
    >>> display = HeatmapDisplay(errors, lams=[1e-4, 1e-3], steps=[100, 1000])
    >>> display.best_
    (0, 1)
    >>> figure = display.make_figure()
    """

    image_: Any

    def _draw(self, ax: "Axes") -> None:
        import matplotlib as mpl

        n_lams, n_steps = self.errors.shape
        colours = mpl.colormaps[ERRORS].with_extremes(bad=FAINT)
        cells = np.ma.masked_invalid(self.errors)
        self.image_ = ax.imshow(
            cells, cmap=colours, norm=self._norm(), origin="lower", aspect="auto"
        )
        draw_cells(ax, self.image_, [[self._text(e) for e in row] for row in self.errors])
        ax.set_xticks(range(n_steps), [count_text(t) for t in self.steps])
        ax.set_yticks(range(n_lams), [power_text(lam) for lam in self.lams])
        ax.set_xlabel("T, steps")
        ax.set_ylabel("lam")
        between_cells(ax, n_lams, n_steps)
        self._frame_best(ax)
        bar = ax.figure.colorbar(self.image_, ax=ax, label=self._what)
        bar.outline.set_visible(False)
        bar.ax.minorticks_off()
        low, high = self.image_.get_clim()
        ticks = np.geomspace(low, high, 5) if self._is_log else np.linspace(low, high, 5)
        bar.set_ticks(ticks.tolist(), labels=[self._text(tick) for tick in ticks])

    @property
    def _is_log(self) -> bool:
        smallest, largest = np.nanmin(self.errors), np.nanmax(self.errors)
        return bool(smallest > 0 and largest >= _LOG_FROM * smallest)

    def _norm(self) -> Any:
        from matplotlib.colors import LogNorm, Normalize

        smallest, largest = np.nanmin(self.errors), np.nanmax(self.errors)
        if smallest == largest:
            largest = smallest + 0.01  # one colour; a bar from a value to itself would be empty
        return (LogNorm if self._is_log else Normalize)(smallest, largest)

    def _text(self, error: float) -> str:
        if not np.isfinite(error):
            return ""
        return f"{error:.{same_decimals(self.errors.ravel().tolist())}f}"

    def _frame_best(self, ax: "Axes") -> None:
        from matplotlib.patches import Rectangle

        row, column = self.best_
        for colour, width in (("white", 5.0), ("black", 2.5)):  # one of them shows on any colour
            frame = Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=width
            )
            frame.set(clip_on=False, zorder=4, gid="best")
            ax.add_patch(frame)
        for text in ax.texts:
            if text.get_position() == (column, row):
                text.set_fontweight("bold")

    def _size(self) -> tuple[float, float]:
        n_lams, n_steps = self.errors.shape
        return 2.4 + 0.72 * max(3, n_steps), 1.3 + 0.42 * max(3, n_lams)

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            Where the smallest error is.
        """
        row, column = self.best_
        n_lams, n_steps = self.errors.shape
        return (
            f"Heat-map of the {self._what} over {n_lams} values of lam and {n_steps} of T; smallest"
            f" {self._text(self.errors[row, column])} at lam = {power_text(self.lams[row])}, "
            f"T = {count_text(self.steps[column])}."
        )
