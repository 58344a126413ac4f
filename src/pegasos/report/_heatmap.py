"""HeatmapDisplay: the error in every cell of a grid over lam and T."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pegasos.report._cells import between_cells, draw_cells
from pegasos.report._grid import Floats, GridDisplay
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
        n_lams, n_steps = self.errors.shape
        cells = np.ma.masked_invalid(self.errors)
        self.image_ = ax.imshow(
            cells, cmap=_colour_map(), norm=self._norm(), origin="lower", aspect="auto"
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
        ticks = self._ticks()
        bar.set_ticks(ticks.tolist(), labels=[self._text(tick) for tick in ticks])

    @property
    def _is_log(self) -> bool:
        """Whether equal steps of colour are equal ratios of errors."""
        smallest, largest = np.nanmin(self.errors), np.nanmax(self.errors)
        return bool(smallest > 0 and largest >= _LOG_FROM * smallest)

    def _ticks(self) -> Floats:
        """Return the errors that the colour bar names."""
        norm = self._norm()
        between = np.geomspace if self._is_log else np.linspace
        return between(norm.vmin, norm.vmax, 5)

    def _colours(self) -> Floats:
        """Return the colour of every cell: red, green, blue and opacity, from 0 to 1."""
        cells = self._norm()(np.ma.masked_invalid(self.errors))
        return np.asarray(_colour_map()(cells), dtype=np.float64)

    def _norm(self) -> Any:
        from matplotlib.colors import LogNorm, Normalize

        smallest, largest = np.nanmin(self.errors), np.nanmax(self.errors)
        if smallest == largest:
            largest = smallest + 0.01  # one colour; a bar from a value to itself would be empty
        return (LogNorm if self._is_log else Normalize)(smallest, largest)

    def _text(self, error: float) -> str:
        """Write an error with as many decimals as tell the cells apart; nothing of NaN."""
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


def _colour_map() -> Any:
    import matplotlib as mpl

    return mpl.colormaps[ERRORS].with_extremes(bad=FAINT)
