"""Figures as files: the same figure makes the same bytes, and no file is ever half written."""

import os
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pegasos.report._display import Display
from pegasos.report._style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

_PADDING = 0.1  # inches around a figure
# What would tell one run from the next is left out, the alt text is put in.
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save(figure: "Figure | Display", path: str | PathLike[str], *, alt: str | None = None) -> Path:
    """Write a figure as SVG, PNG or PDF; the same figure makes the same file.

    Parameters
    ----------
    figure : matplotlib Figure or display
        Of a display its ``figure_``; it is drawn if it was not yet.
    path : str or path
        Ends in ``.svg``, ``.png`` or ``.pdf``. Missing folders are made.
    alt : str or None, default=None
        What is to be seen, for those who cannot see it; becomes the title of the file. None takes
        the descriptions of the displays drawn on this figure.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        raise ValueError(
            f"figures are written as {', '.join(_METADATA)}; got {path.name!r}. Choose one of "
            "these endings"
        )
    if isinstance(figure, Display):
        figure = figure.figure_ if hasattr(figure, "figure_") else figure.make_figure()
    return replace_file(path, as_bytes(figure, suffix, alt_text(figure) if alt is None else alt))


def fixed_box(figure: "Figure") -> "Bbox":
    """Lay a figure out for good, and return its box: it can then be written several times."""
    with style():
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure.get_tightbbox().padded(_PADDING)


def as_bytes(
    figure: "Figure", suffix: str, title: str, box: "Bbox | Literal['tight']" = "tight"
) -> bytes:
    """Return what a file of this ending would hold."""
    metadata = {**_METADATA[suffix], **({"Title": title} if title else {})}
    file = BytesIO()
    with style():
        figure.savefig(
            file, format=suffix[1:], metadata=metadata, bbox_inches=box, facecolor="white"
        )
    return file.getvalue()


def alt_text(figure: "Figure") -> str:
    """Return what the displays drawn on a figure say of themselves."""
    texts = (str(ax.get_label()) for ax in figure.axes)
    return " ".join(text for text in texts if text and not text.startswith("<"))


def replace_file(path: Path, content: bytes) -> Path:
    """Write a file in one go: whoever looks sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
