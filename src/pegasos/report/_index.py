"""write_all: the reports of several studies, and a page that leads to them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pegasos._errors import MendableError
from pegasos.report._answer import Answer
from pegasos.report._files import replace_file
from pegasos.report._template import template
from pegasos.report._write import write_page

_OURS = b'<meta name="generator" content="pegasos">'  # what _page.html.jinja begins with


@dataclass(frozen=True)
class Entry:
    """A study on the page: where its report is, and what it has found."""

    title: str
    link: str
    is_complete: bool
    answer: Answer


def write_all(several: Sequence[Any], folder: str | PathLike[str]) -> Path:
    """Write the report of each of several studies, and a page with all their answers.

    Parameters
    ----------
    several : sequence of pegasos.studies.Results
        Each report goes into the folder of its results.
    folder : str or path
        Where to write ``index.html``, the page that leads to the reports.

    Raises
    ------
    MendableError
        If there is an ``index.html`` that is not of this package: it stays as it is, and no report
        is written.

    Returns
    -------
    Path
        That page. Its links are relative: the folder can be moved as a whole.
    """
    if not several:
        raise ValueError("there is no study to write of; give the results of one at least")
    index = template("index.html.jinja")
    folder = Path(folder)
    _check_that_it_is_ours(folder / "index.html")
    entries = [_entry(results, folder) for results in several]
    html: str = index.render(entries=entries)
    return replace_file(folder / "index.html", html.encode())


def _check_that_it_is_ours(page: Path) -> None:
    """Refuse to replace a page that somebody else has made."""
    if page.exists() and _OURS not in page.read_bytes():
        raise MendableError(
            f"{page}: this page is not of pegasos, and is not replaced",
            "move it away, or have the studies in another folder",
        )


def _entry(results: Any, folder: Path) -> Entry:
    page, answer = write_page(results)
    link = quote(Path(os.path.relpath(page, folder)).as_posix())
    return Entry(results.study.title, link, results.is_complete, answer)
