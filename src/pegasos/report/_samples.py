"""SampleImagesDisplay: some images of each class."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pegasos.report._classes import check_rows_and_labels, class_names
from pegasos.report._display import Display
from pegasos.report._mosaic import Image, as_images, draw_mosaic, mosaic_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SampleImagesDisplay(Display):
    """Images, a row for each class, with the label below each image.

    Parameters
    ----------
    images : sequence of arrays of shape (n_images, height, width)
        The images of each class.
    classes : sequence of str
        What the classes are called.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    """

    def __init__(self, images: Sequence[Image], *, classes: Sequence[str], title: str = "") -> None:
        if not images or len(images) != len(classes) or not all(len(some) for some in images):
            raise ValueError(
                f"images must hold at least one image for each class; got {len(images)} rows of "
                f"images for {len(classes)} classes"
            )
        self.images = images
        self.classes = classes
        self.title = title

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        image_shape: tuple[int, int],
        *,
        per_class: int = 8,
        names: Mapping[Any, str] | None = None,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Draw images of each class, picked at random.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, height * width)
            A row of pixels per image.
        y : array-like of shape (n_rows,)
            Labels.
        image_shape : tuple of int
            Height and width.
        per_class : int, default=8
            So many of each class, or all if it has fewer.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        random_state : int, default=0
            Seed of the picks.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        SampleImagesDisplay
            Already drawn.
        """
        return cls._of(X, y, image_shape, per_class, names, random_state).plot(ax)

    @classmethod
    def _of(
        cls,
        X: Any,
        y: Any,
        image_shape: Any,
        per_class: int,
        names: Mapping[Any, str] | None,
        random_state: int = 0,
    ) -> Self:
        X, y = check_rows_and_labels(X, y)
        rng = np.random.default_rng(random_state)
        classes = np.unique(y)
        picks = [rng.permutation(np.flatnonzero(y == label))[:per_class] for label in classes]
        images = [as_images(X[pick], image_shape) for pick in picks]
        return cls(images, classes=class_names(classes, names))

    def _draw(self, ax: "Axes") -> None:
        draw_mosaic(
            ax,
            [
                [(image, name) for image in images]
                for images, name in zip(self.images, self.classes, strict=True)
            ],
        )

    def _size(self) -> tuple[float, float]:
        height, width = self.images[0][0].shape
        inches = 0.5 if max(map(len, self.classes)) <= 3 else 0.75
        size: tuple[float, float] = mosaic_size(
            len(self.images), max(map(len, self.images)), height / width, 1, inches
        )
        return size

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            How many images, and the classes.
        """
        return (
            f"Sample images, up to {max(map(len, self.images))} of each of {len(self.classes)} "
            f"classes: {', '.join(self.classes)}."
        )
