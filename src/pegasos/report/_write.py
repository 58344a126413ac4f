"""write: results become one page that needs nothing but itself."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pegasos.report._answer import Answer, answer
from pegasos.report._explore import explorable
from pegasos.report._facts import run_facts
from pegasos.report._files import replace_file
from pegasos.report._pictures import pictures
from pegasos.report._remember import Remembering
from pegasos.report._scores import scores
from pegasos.report._tables import (
    Table,
    comparisons_table,
    models_table,
    races_table,
    timings_table,
)
from pegasos.report._template import packed_plotly, resource, template


@dataclass(frozen=True)
class Section:
    """A table of the page, with its heading."""

    name: str
    title: str
    about: str
    table: Table


def write(results: Any, folder: str | PathLike[str] | None = None) -> Path:
    """Write the report of a study: one page with its answer, tables and figures.

    Parameters
    ----------
    results : pegasos.studies.Results
        Of a study that has run, or is running: the page then says that it is not complete.
    folder : str or path or None, default=None
        Where to write ``report.html``, and the figures as SVG and PNG into ``figures``; None: the
        folder of the results.

    Returns
    -------
    Path
        The page. It loads nothing from elsewhere; the same results make the same page.
    """
    return write_page(results, folder)[0]


def write_page(results: Any, folder: str | PathLike[str] | None = None) -> tuple[Path, Answer]:
    """Write the report of a study, and return the page and the answer that stands on it."""
    page = template("report.html.jinja")
    results = Remembering(results)
    folder = Path(results.folder if folder is None else folder)
    explore = explorable(results)
    plotly = packed_plotly() if explore else ""
    runs = results.facts.get("runs", [])
    its_scores = scores(results)
    comparisons = results.comparisons()
    its_answer = answer(results, its_scores, comparisons)
    html: str = page.render(
        study=results.study,
        is_complete=results.is_complete,
        answer=its_answer,
        sections=_sections(results, its_scores, comparisons),
        explore=explore,
        plotly=plotly,
        script=resource("explore.js"),
        pictures=pictures(results, folder / "figures"),
        facts=run_facts(runs),
        warnings=results.facts.get("warnings", []),
        version=runs[-1]["versions"]["pegasos"] if runs else "",
    )
    return replace_file(folder / "report.html", html.encode()), its_answer


def _sections(results: Any, its_scores: list[Any], comparisons: list[Any]) -> list[Section]:
    sections = [
        Section(
            "reported",
            "Reported and measured here",
            "Met: ours is as good or better, within the rounding of the report. Explained: it is "
            "not, and the note says why. Missed: it is not, and there is no note.",
            comparisons_table(comparisons),
        ),
        Section(
            "models",
            "All models",
            "The best cell of each grid by its mean test error over the folds, with the standard "
            "deviation. Final: that cell fitted to the whole training part. The relative gap "
            "bounds how far its objective is above the optimum.",
            models_table(its_scores),
        ),
        Section("timings", "Timings", "Seconds of training.", timings_table(results)),
        Section(
            "races",
            "Races",
            "Seconds until the objective is as close to the optimum as the study file asks for.",
            races_table(results),
        ),
    ]
    return [section for section in sections if section.table.rows]
