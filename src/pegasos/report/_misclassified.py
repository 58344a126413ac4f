"""MisclassifiedDisplay: the images that a model takes for something else."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.report._classes import check_rows_and_labels, class_names
from pegasos.report._display import Display
from pegasos.report._mosaic import Image, as_images, draw_mosaic, mosaic_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_ROW = 8


class MisclassifiedDisplay(Display):
    """Images with their true and predicted label.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        What was misclassified; may be empty.
    true, predicted : sequence of str
        What each image is, and what it was taken for.
    n_rows : int
        How many rows were judged.
    n_wrong : int
        How many of them were misclassified; more than there are images, perhaps.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self,
        images: Image,
        *,
        true: Sequence[str],
        predicted: Sequence[str],
        n_rows: int,
        n_wrong: int,
        title: str = "",
    ) -> None:
        if not len(images) == len(true) == len(predicted):
            raise ValueError(
                f"each image needs a true and a predicted label; got {len(images)} images, "
                f"{len(true)} true and {len(predicted)} predicted labels"
            )
        self.images = images
        self.true = true
        self.predicted = predicted
        self.n_rows = n_rows
        self.n_wrong = n_wrong
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        image_shape: tuple[int, int],
        *,
        max_images: int = 24,
        names: Mapping[Any, str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted classifier gets wrong.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X : array-like or sparse matrix of shape (n_rows, height * width)
            A row of pixels per image.
        y : array-like of shape (n_rows,)
            True labels.
        image_shape : tuple of int
            Height and width.
        max_images : int, default=24
            Show so many at most, the first ones.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        MisclassifiedDisplay
            Already drawn.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(
            X, y, estimator.predict(X), image_shape, max_images=max_images, names=names, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        y_true: Any,
        y_pred: Any,
        image_shape: tuple[int, int],
        *,
        max_images: int = 24,
        names: Mapping[Any, str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the images whose predicted label is wrong.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, height * width)
            A row of pixels per image.
        y_true, y_pred : array-like of shape (n_rows,)
            True and predicted labels.
        image_shape : tuple of int
            Height and width.
        max_images : int, default=24
            Show so many at most, the first ones.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        MisclassifiedDisplay
            Already drawn.
        """
        return cls._of(X, y_true, y_pred, image_shape, max_images, names).plot(ax)

    @classmethod
    def _of(
        cls,
        X: Any,
        y_true: Any,
        y_pred: Any,
        image_shape: Any,
        max_images: int,
        names: Mapping[Any, str] | None,
    ) -> Self:
        X, y_true = check_rows_and_labels(X, y_true)
        _, y_pred = check_rows_and_labels(X, y_pred)
        wrong = np.flatnonzero(y_true != y_pred)
        shown = wrong[:max_images]
        return cls(
            as_images(X[shown], image_shape),
            true=class_names(y_true[shown], names),
            predicted=class_names(y_pred[shown], names),
            n_rows=len(y_true),
            n_wrong=len(wrong),
        )

    def _draw(self, ax: "Axes") -> None:
        ax.set_title(": ".join(filter(None, (self.title, self._summary()))))
        if not len(self.images):
            ax.set_axis_off()
            return
        tiles = [
            (image, f"is {true}\nsaid {predicted}")
            for image, true, predicted in zip(self.images, self.true, self.predicted, strict=True)
        ]
        rows = [tiles[first : first + _PER_ROW] for first in range(0, len(tiles), _PER_ROW)]
        draw_mosaic(ax, rows, lines=2)

    def _summary(self) -> str:
        return f"{self.n_wrong:,} of {self.n_rows:,} misclassified"

    def _size(self) -> tuple[float, float]:
        if not len(self.images):
            return 4.0, 0.6
        height, width = self.images.shape[1:]
        n_rows = -(-len(self.images) // _PER_ROW)
        size: tuple[float, float] = mosaic_size(n_rows, _PER_ROW, height / width, 2, 0.7)
        return size

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            The first of the mistakes.
        """
        pairs = [f"{t} taken for {p}" for t, p in zip(self.true, self.predicted, strict=True)]
        shown = f" First of them: {', '.join(pairs[:5])}." if pairs else ""
        return f"Misclassified images: {self._summary()}.{shown}"
