"""Images in rows on one pair of axes, a caption below each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pegasos.report._classes import as_dense
from pegasos.report._style import IMAGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Image = npt.NDArray[Any]
Tile = tuple[Image, str]  # an image and its caption

# In units of the width of an image.
_GAP = 0.12
_CAPTION_LINE = 0.3


def as_images(X: Any, image_shape: Any) -> Image:
    """Return rows of pixels as images."""
    X = as_dense(X)
    if image_shape is None or len(image_shape) != 2:
        raise ValueError(
            f"image_shape must be (height, width); got {image_shape!r}. Rows that are no images "
            "cannot be shown"
        )
    height, width = image_shape
    if X.ndim != 2 or X.shape[1] != height * width:
        raise ValueError(
            f"images of {height} x {width} pixels need rows of {height * width} numbers; got X of "
            f"shape {X.shape}"
        )
    images: Image = X.reshape(len(X), height, width)
    return images


def draw_mosaic(ax: "Axes", rows: Sequence[Sequence[Tile]], lines: int = 1) -> None:
    """Draw rows of images, dark on light, with captions of so many lines."""
    height, width = rows[0][0][0].shape
    tall = height / width
    pixels = np.concatenate([image.ravel() for row in rows for image, _ in row])
    step = tall + lines * _CAPTION_LINE + _GAP
    for i, row in enumerate(rows):
        for j, (image, caption) in enumerate(row):
            left, top = j * (1 + _GAP), i * step
            ax.imshow(
                image,
                cmap=IMAGES,
                vmin=pixels.min(),
                vmax=pixels.max(),
                extent=(left, left + 1, top + tall, top),
                interpolation="nearest",
            )
            ax.text(left + 0.5, top + tall + 0.05, caption, ha="center", va="top", fontsize=8)
    n_columns = max(map(len, rows))
    ax.set(xlim=(-_GAP / 2, n_columns * (1 + _GAP)), ylim=(len(rows) * step, -_GAP / 2))
    ax.set_aspect("equal")
    ax.set_axis_off()


def mosaic_size(n_rows: int, n_columns: int, tall: float, lines: int, inches: float) -> Any:
    """Return width and height of the figure, with images of so many inches."""
    step = tall + lines * _CAPTION_LINE + _GAP
    return 0.3 + inches * n_columns * (1 + _GAP), 0.5 + inches * n_rows * step
