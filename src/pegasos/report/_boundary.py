"""BoundaryDisplay: where a classifier of two features decides, and by which rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pegasos.report._classes import as_dense, check_rows_and_labels, class_names
from pegasos.report._display import Display
from pegasos.report._style import INK, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Extent = tuple[float, float, float, float]

_POINTS = 300  # of the mesh, along each side
_ROOM = 0.08  # around the rows, of their range


class BoundaryDisplay(Display):
    """Regions, boundary, margins and support vectors of a classifier of two features.

    Parameters
    ----------
    scores : array-like of shape (n, n) or (n, n, n_classes)
        Scores on a mesh, from its lower left corner on, a row of it after the other. Two classes
        have one score, positive for the second.
    extent : tuple of float
        Of the mesh: left, right, bottom, top.
    points : array-like of shape (n_rows, 2)
        Rows to be drawn.
    labels : array-like of shape (n_rows,)
        The class of each, as its place in ``classes``.
    classes : sequence of str
        What the classes are called.
    support : array-like of int or None, default=None
        Numbers of the rows that are support vectors; None: there is no such thing.
    margins : bool, default=True
        Draw the lines where the score is -1 and 1; only for two classes.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self,
        scores: Any,
        *,
        extent: Extent,
        points: Any,
        labels: Any,
        classes: Sequence[str],
        support: Any = None,
        margins: bool = True,
        title: str = "",
    ) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        self.extent = extent
        self.points, self.labels = check_rows_and_labels(np.asarray(points, np.float64), labels)
        self.classes = list(classes)
        self.support = None if support is None else np.asarray(support, dtype=np.int64)
        self.margins = margins
        self.title = title
        n = len(self.classes)
        if self.scores.shape[2:] != ((n,) if n > 2 else ()) or self.scores.ndim < 2:
            raise ValueError(
                f"scores of {n} classes must be a mesh of {'one score' if n == 2 else n} each; got "
                f"shape {self.scores.shape}"
            )
        if self.support is not None and (self.support >= len(self.points)).any():
            raise ValueError(
                f"there are support vectors beyond the {len(self.points)} rows given; give the "
                "rows that the classifier has learned from"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Mapping[Any, str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw how a fitted classifier divides the plane.

        Parameters
        ----------
        estimator : classifier or pipeline
            Fitted, with ``decision_function``.
        X : array-like or sparse matrix of shape (n_rows, 2)
            The rows it has learned from: its support vectors are among them.
        y : array-like of shape (n_rows,)
            Their labels.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        BoundaryDisplay
            Already drawn.
        """
        return cls._of(estimator, X, y, names).plot(ax)

    @classmethod
    def _of(cls, estimator: Any, X: Any, y: Any, names: Mapping[Any, str] | None) -> Self:
        check_is_fitted(estimator)
        X, y = check_rows_and_labels(X, y)
        points = np.asarray(as_dense(X), dtype=np.float64)
        if points.shape[1] != 2:
            raise ValueError(
                f"a decision boundary is drawn over two features; the rows have {points.shape[1]}"
            )
        machine = estimator[-1] if hasattr(estimator, "steps") else estimator
        has_margins = getattr(machine, "loss", None) == "hinge"
        extent = _around(points)
        places = np.searchsorted(estimator.classes_, y)
        scores = estimator.decision_function(_mesh(extent)).astype(np.float64)
        return cls(
            scores.reshape(_POINTS, _POINTS, *scores.shape[1:]),
            extent=extent,
            points=points,
            labels=places,
            classes=class_names(estimator.classes_, names),
            support=_support(estimator, machine, X, places, has_margins),
            margins=has_margins,
        )

    def _draw(self, ax: "Axes") -> None:
        from matplotlib.colors import ListedColormap

        all_looks = looks(len(self.classes))
        ax.imshow(
            self.regions_,
            cmap=ListedColormap([look.colour for look in all_looks]),
            vmin=0,
            vmax=max(1, len(self.classes) - 1),
            extent=self.extent,
            origin="lower",
            interpolation="nearest",
            aspect="auto",
            alpha=0.22,
        )
        for place, (name, look) in enumerate(zip(self.classes, all_looks, strict=True)):
            first, second = self.points[self.labels == place].T
            ax.scatter(
                first,
                second,
                s=20,
                color=look.colour,
                marker=look.marker,
                edgecolors="white",
                linewidths=0.5,
                label=f"class {name}",
                zorder=3,
            )
        if self.support is not None:
            first, second = self.points[self.support].T
            ax.scatter(
                first,
                second,
                s=52,
                facecolors="none",
                edgecolors=INK,
                linewidths=0.8,
                label="support vector",
                zorder=4,
            )
        if len(self.classes) == 2:
            self._draw_lines(ax)
        ax.grid(False)
        ax.set(xlim=self.extent[:2], ylim=self.extent[2:])
        ax.set_xlabel("first feature")
        ax.set_ylabel("second feature")
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    def _draw_lines(self, ax: "Axes") -> None:
        """Draw boundary and margins; a line that does not cross the mesh is left out."""
        low, high = self.scores.min(), self.scores.max()
        for level, line in ((-1.0, "--"), (0.0, "-"), (1.0, "--")):
            if low < level < high and (self.margins or level == 0):
                ax.contour(
                    self.scores,
                    levels=[level],
                    extent=_centres(self.extent, self.scores.shape),
                    colors=INK,
                    linestyles=line,
                    linewidths=1.6 if level == 0 else 1.1,
                )
        ax.plot([], [], color=INK, linewidth=1.6, label="boundary")
        if self.margins:
            ax.plot([], [], color=INK, linestyle="--", linewidth=1.1, label="margin")

    @property
    def regions_(self) -> npt.NDArray[np.int64]:
        """The predicted class at each point of the mesh, as its place in ``classes``."""
        if len(self.classes) == 2:
            return (self.scores > 0).astype(np.int64)
        return np.asarray(self.scores.argmax(axis=2), dtype=np.int64)

    def _size(self) -> tuple[float, float]:
        return 6.2, 4.2

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            How many rows and classes, and how many support vectors.
        """
        rows = f"{len(self.points):,} rows of the classes {', '.join(self.classes)}"
        lines = " and its margins" if self.margins and len(self.classes) == 2 else ""
        rings = (
            "" if self.support is None else f"; {len(self.support):,} support vectors have rings"
        )
        return f"Decision boundary{lines} among {rows}{rings}."


def _around(points: Floats) -> Extent:
    low, high = points.min(axis=0), points.max(axis=0)
    room = _ROOM * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = low - room, high + room
    return float(left), float(right), float(bottom), float(top)


def _centres(extent: Extent, shape: tuple[int, ...]) -> Extent:
    """Return where the first and last points of the mesh are: in the middle of their pixels."""
    left, right, bottom, top = extent
    x, y = (right - left) / shape[1] / 2, (top - bottom) / shape[0] / 2
    return left + x, right - x, bottom + y, top - y


def _mesh(extent: Extent) -> Floats:
    left, right, bottom, top = _centres(extent, (_POINTS, _POINTS))
    first, second = np.meshgrid(
        np.linspace(left, right, _POINTS), np.linspace(bottom, top, _POINTS)
    )
    return np.column_stack([first.ravel(), second.ravel()])


def _support(estimator: Any, machine: Any, X: Any, places: Any, has_margins: bool) -> Any:
    """Return the rows a machine rests on: those of its kernel, or those not beyond their margin."""
    if hasattr(machine, "support_"):
        return machine.support_
    scores = estimator.decision_function(X)
    if not has_margins or scores.ndim != 1:
        return None
    return np.flatnonzero(np.where(places == 1, scores, -scores) <= 1)
