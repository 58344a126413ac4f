"""The one style sheet: colours, markers and lines that differ in print and to the colour-blind too.

Figures start from matplotlib's defaults, so that the same results make the same picture whatever
the user's settings are; and those settings are as before when a figure is done.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Any, NamedTuple

# Okabe and Ito's colours without yellow, too faint on white; then three of Paul Tol's.
COLOURS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # pink
    "#56B4E9",  # sky
    "#E69F00",  # orange
    "#333333",  # black
    "#882255",  # wine
    "#999933",  # olive
    "#332288",  # indigo
)
INK, GREY, FAINT = "#222222", "#767676", "#E3E3E3"
# The best colour map for numbers: brighter all the way, and the same to the colour-blind.
ERRORS, COUNTS, IMAGES = "cividis", "Blues", "gray_r"
# Eleven of them, ten colours: no pair of neighbours repeats soon.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
_LINES = ("-", "--", "-.", (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5, 1, 1.5)))

_SHEET: dict[str, Any] = {
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "savefig.dpi": 160,
    "svg.hashsalt": "pegasos",
}


class Look(NamedTuple):
    """How one line or one class of points looks."""

    colour: str
    marker: str
    line: Any


def looks(n: int) -> list[Look]:
    """Return n looks: colour, marker and line differ from one to the next."""
    return [Look(*look) for look in islice(zip(cycle(COLOURS), cycle(_MARKERS), cycle(_LINES)), n)]


@contextmanager
def style() -> Iterator[None]:
    """Draw with the style sheet, then put the user's settings back."""
    import matplotlib.style

    with matplotlib.style.context(["default", _SHEET]):
        yield
