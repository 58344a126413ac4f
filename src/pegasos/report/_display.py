"""What all figures share: an axes to draw on, and the text for those who cannot see it."""

from typing import TYPE_CHECKING, Any, Self, cast

from pegasos.report._style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display:
    """A figure as scikit-learn has them: holds the data, and draws it on demand.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    title: str
    ax_: "Axes"
    figure_: "Figure"

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None makes a new figure with pyplot, so that a notebook shows it.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        refuse_without_matplotlib(type(self).__name__)
        with style():
            self._plot(self._new_axes() if ax is None else ax)
        return self

    def make_figure(self) -> "Figure":
        """Draw on a figure that pyplot knows nothing of: for programs, which write it to a file.

        Returns
        -------
        matplotlib Figure
            Also to be found as ``figure_``.
        """
        refuse_without_matplotlib(type(self).__name__)
        from matplotlib.figure import Figure

        with style():
            self._plot(Figure(figsize=self._size()).add_subplot())
        return self.figure_

    def _plot(self, ax: "Axes") -> None:
        self.ax_ = ax
        self.figure_ = cast("Figure", ax.get_figure(root=True))
        ax.set_title(self.title)
        self._draw(ax)
        ax.set_label(self.describe())  # `save` looks for it

    def describe(self) -> str:
        """Say in a sentence what is to be seen: the alt text of the figure.

        Returns
        -------
        str
            Plain text.
        """
        raise NotImplementedError

    def _new_axes(self) -> Any:
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=self._size())[1]

    def _size(self) -> tuple[float, float]:
        """Return width and height in inches."""
        return 5.6, 3.6

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


def refuse_without_matplotlib(name: str) -> None:
    """Raise an error with the remedy if matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401  (only whether it is there)
    except ImportError as error:
        raise ImportError(
            f"{name} draws with matplotlib, which is not installed; "
            "pip install 'pegasos[report]' brings it"
        ) from error
