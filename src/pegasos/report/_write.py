"""write: results become one page that needs nothing but itself."""

from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from pegasos.report._answer import answer
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
    template = _template()
    results = Remembering(results)
    folder = Path(results.folder if folder is None else folder)
    runs = results.facts.get("runs", [])
    its_scores = scores(results)
    comparisons = results.comparisons()
    html: str = template.render(
        css=_resource("report.css"),
        study=results.study,
        is_complete=results.is_complete,
        answer=answer(results, its_scores, comparisons),
        sections=_sections(results, its_scores, comparisons),
        pictures=pictures(results, folder / "figures"),
        facts=run_facts(runs),
        warnings=results.facts.get("warnings", []),
        version=runs[-1]["versions"]["pegasos"] if runs else "",
    )
    return replace_file(folder / "report.html", html.encode())


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


def _template() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "the report page is made with jinja2, which is not installed; "
            "pip install 'pegasos[report]' brings it"
        ) from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_resource("report.html.jinja"))


def _resource(name: str) -> str:
    return (resources.files("pegasos.report") / "page" / name).read_text("utf-8")
