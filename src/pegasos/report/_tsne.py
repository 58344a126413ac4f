"""TsneDisplay: rows on a map where neighbours stay neighbours."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from pegasos.report._classes import check_rows_and_labels, class_names
from pegasos.report._display import Display
from pegasos.report._style import INK, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST_ROWS = 5
_PERPLEXITY = 30.0


class TsneDisplay(Display):
    """A map of the rows by t-SNE; each class has its colour, its marker and its name.

    Parameters
    ----------
    points : array-like of shape (n_rows, 2)
        Places on the map.
    labels : sequence of str
        The class of each point.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, points: Any, *, labels: Any, title: str = "") -> None:
        self.points = np.asarray(points, dtype=np.float64)
        self.labels = np.asarray(labels)
        self.title = title
        if self.points.shape != (len(self.labels), 2) or not len(self.labels):
            raise ValueError(
                f"points must have two columns and a row per label; got shape {self.points.shape} "
                f"for {len(self.labels)} labels"
            )

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        max_rows: int = 2000,
        names: Mapping[Any, str] | None = None,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw a map of rows; takes some seconds for each thousand of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; the map is made without them.
        max_rows : int, default=2000
            Of more rows, so many are drawn at random.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        random_state : int, default=0
            Seed of the draw and of the map.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        TsneDisplay
            Already drawn.
        """
        return cls._of(X, y, max_rows, names, random_state).plot(ax)

    @classmethod
    def _of(
        cls,
        X: Any,
        y: Any,
        max_rows: int,
        names: Mapping[Any, str] | None,
        random_state: int = 0,
    ) -> Self:
        from sklearn.manifold import TSNE

        X, y = check_rows_and_labels(X, y)
        if len(y) < _FEWEST_ROWS or max_rows < _FEWEST_ROWS:
            raise ValueError(
                f"a map needs at least {_FEWEST_ROWS} rows; got {len(y)} rows and max_rows="
                f"{max_rows}"
            )
        if len(y) > max_rows:
            rows = np.random.default_rng(random_state).permutation(len(y))[:max_rows]
            X, y = X[rows], y[rows]
        tsne = TSNE(
            perplexity=min(_PERPLEXITY, (len(y) - 1) / 3),
            init="random" if sp.issparse(X) else "pca",  # PCA would have to densify
            random_state=random_state,
        )
        # One thread: the order in which several add up their sums would change the map.
        with threadpool_limits(1):
            points = tsne.fit_transform(X)
        return cls(points, labels=class_names(y, names))

    def _draw(self, ax: "Axes") -> None:
        classes = list(dict.fromkeys(sorted(self.labels.tolist(), key=_by_number)))
        size = 14 if len(self.labels) <= 1000 else 8
        for name, look in zip(classes, looks(len(classes)), strict=True):
            points = self.points[self.labels == name]
            first, second = points.T
            ax.scatter(
                first,
                second,
                s=size,
                color=look.colour,
                marker=look.marker,
                linewidths=0,
                alpha=0.75,
                label=name,
            )
            self._write_name(ax, name, points, look.colour)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=1.8, handletextpad=0.2)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.spines[:].set_visible(False)
        ax.grid(False)

    def _write_name(self, ax: "Axes", name: str, points: Any, colour: str) -> None:
        middle = np.median(points, axis=0)
        nearest = points[np.argmin(((points - middle) ** 2).sum(axis=1))]  # one of its own points
        ax.annotate(
            name,
            tuple(nearest),
            ha="center",
            va="center",
            color=INK,
            weight="bold",
            bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": colour, "alpha": 0.9},
        )

    def _size(self) -> tuple[float, float]:
        return 5.6, 4.6

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            How many rows of how many classes.
        """
        return (
            f"Map of {len(self.labels):,} rows of {len(set(self.labels.tolist()))} classes by "
            "t-SNE: similar rows lie together."
        )


def _by_number(name: str) -> tuple[float, str]:
    """Order names such as "2" and "10" as numbers, all others as texts after them."""
    try:
        return float(name), name
    except ValueError:
        return np.inf, name
