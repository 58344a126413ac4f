"""A matrix as coloured cells with their values written into them."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Above this luminance black text has the better contrast with its background (WCAG's formula).
_BRIGHT = 0.179


def draw_cells(ax: "Axes", image: Any, texts: list[list[str]]) -> None:
    """Write a text into each cell of an image, black or white, whichever reads better."""
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            if text:
                colour = readable_on(image.to_rgba(image.get_array()[i, j]))
                ax.text(j, i, text, ha="center", va="center", color=colour)


def readable_on(rgba: Any) -> str:
    """Return black or white, whichever has more contrast with this colour."""
    rgb = np.asarray(rgba, dtype=float).ravel()[:3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ [0.2126, 0.7152, 0.0722] > _BRIGHT else "white"


def between_cells(ax: "Axes", n_rows: int, n_columns: int) -> None:
    """Draw white lines between the cells, and nothing else around them."""
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="both", length=0)
