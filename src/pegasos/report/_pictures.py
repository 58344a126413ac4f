"""The figures of a study: as files, and as what the page shows."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegasos.report._draw import draw
from pegasos.report._files import alt_text, as_bytes, fixed_box, replace_file
from pegasos.report._table import columns_of_results, grids_over_lam_and_steps

_CAPTIONS = {
    "heatmap": "Error over lam and T",
    "curves": "Error against T",
    "slopes": "Time of training",
    "bars": "Time of training, side by side",
    "convergence": "Course of the fit",
    "boundary": "Decision boundary",
    "confusion": "Confusion matrix",
    "misclassified": "Misclassified images",
    "frequencies": "Class frequencies",
    "samples": "Sample images",
    "tsne": "Map by t-SNE",
    "losses": "Loss functions",
}
# A larger SVG, of thousands of points, is slow to show: the page takes the PNG.
_LARGEST_SVG = 400_000
_POINT = 96 / 72  # in pixels of CSS


@dataclass(frozen=True)
class Picture:
    """A figure of the page; without a source it could not be drawn, and alt says why."""

    caption: str
    alt: str
    source: str = ""
    width: int = 0
    height: int = 0


def pictures(results: Any, folder: Path) -> list[Picture]:
    """Draw the figures of a study, and write each as SVG and PNG.

    A figure that cannot be drawn, perhaps because the study is not complete, is left out: the rest
    of the report is worth having.
    """
    made = []
    for i, figure in enumerate(results.study.figures or _by_default(results), 1):
        try:
            drawn = draw(figure, results)
        except ValueError as error:
            made.append(Picture(_caption(figure, ""), str(error)))
            continue
        made.append(_picture(figure, drawn, folder / _file_name(i, figure)))
    return made


def _by_default(results: Any) -> list[dict[str, Any]]:
    """Return the figures of a study that asks for none: a heat-map of every grid."""
    grids = grids_over_lam_and_steps(columns_of_results(results, "grid"))
    names = dict.fromkeys(row["model"] for row, _ in grids)
    return [{"kind": "heatmap", "model": name} for name in names]


def _picture(figure: Mapping[str, Any], drawn: Any, path: Path) -> Picture:
    alt = alt_text(drawn)
    box = fixed_box(drawn)
    svg, png = (as_bytes(drawn, suffix, alt, box) for suffix in (".svg", ".png"))
    replace_file(path.with_suffix(".svg"), svg)
    replace_file(path.with_suffix(".png"), png)
    width, height = _size(svg)
    return Picture(
        _caption(figure, drawn.axes[0].get_title()),
        alt,
        _data(png, "image/png") if len(svg) > _LARGEST_SVG else _data(svg, "image/svg+xml"),
        round(width * _POINT),
        round(height * _POINT),
    )


def _size(svg: bytes) -> tuple[float, float]:
    """Return width and height in points, which the first lines of the file say."""
    start = svg[svg.index(b"<svg") :][:500]
    width, height = (re.search(name + rb'="([\d.]+)pt"', start) for name in (b"width", b"height"))
    assert width is not None
    assert height is not None
    return float(width[1]), float(height[1])


def _data(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def _caption(figure: Mapping[str, Any], title: str) -> str:
    name = title or figure.get("title", "") or figure.get("model", "")
    return f"{_CAPTIONS[figure['kind']]}: {name}" if name else _CAPTIONS[figure["kind"]]


def _file_name(i: int, figure: Mapping[str, Any]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", f"{figure['kind']} {figure.get('model', '')}".lower())
    return f"{i:02d}-{name.strip('-')}"
