"""What the pictures of the benchmarks share: colours, and files that come out the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, which the colour-blind can tell apart.
GREY, DARK_GREY = "#999999", "#555555"
SKY, GREEN, PINK, BLUE, VERMILION = "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00"


@contextmanager
def canvas(width: float, height: float) -> Iterator[Any]:
    """Give a figure with our settings."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {
        "font.size": 9.5,
        "figure.constrained_layout.h_pad": 0.12,
        "svg.hashsalt": "pegasos",  # the same results make the same file
    }
    with mpl.rc_context(settings):
        yield Figure(figsize=(width, height), layout="constrained")


def title(figure: Any, text: str) -> None:
    figure.suptitle(text, fontsize=13, weight="bold")


def tidy(axes: Any, grid: str = "both") -> None:
    """Leave out what tells nothing."""
    axes.minorticks_off()
    axes.grid(axis=grid, color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: Any, stem: Path) -> None:
    """Write the picture as stem.svg and stem.png."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None}, facecolor="white")
    figure.savefig(stem.with_suffix(".png"), dpi=160, facecolor="white")
