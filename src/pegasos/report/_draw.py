"""draw: the figure that a table of a study file asks for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from pegasos.report._bars import BarsDisplay
from pegasos.report._boundary import BoundaryDisplay
from pegasos.report._confusion import ConfusionDisplay
from pegasos.report._convergence import ConvergenceDisplay
from pegasos.report._curves import CurvesDisplay
from pegasos.report._display import Display
from pegasos.report._frequencies import ClassFrequenciesDisplay
from pegasos.report._grid import GridDisplay
from pegasos.report._heatmap import HeatmapDisplay
from pegasos.report._kinds import check_figure
from pegasos.report._losses import LossesDisplay
from pegasos.report._misclassified import MisclassifiedDisplay
from pegasos.report._samples import SampleImagesDisplay
from pegasos.report._scaling import ScalingDisplay
from pegasos.report._table import columns_of_results, of_model
from pegasos.report._tsne import TsneDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Wanted = Mapping[str, Any]

_IMAGES, _PER_CLASS, _MAP_ROWS = 24, 8, 2000
_FEWEST_RECORDS = 8  # of the course of a fit that is worth a picture


def draw(figure: Mapping[str, Any], results: Any) -> "Figure":
    """Draw a figure that a study file asks for.

    Parameters
    ----------
    figure : mapping
        A table of ``[[figures]]``: ``kind``, perhaps ``title``, and the keys that
        :func:`figure_kinds` lists for this kind.
    results : pegasos.studies.Results
        Of a study that has run, or is running.

    Returns
    -------
    matplotlib Figure
        Unknown to pyplot; :func:`save` writes it to a file.

    Raises
    ------
    ValueError
        The table is not understood, or the results do not have (yet) what it asks for.
    """
    check_figure(figure)
    display = _KINDS[figure["kind"]](figure, results)
    display.title = figure.get("title", display.title)
    return display.make_figure()


def _of_grid(display: type[GridDisplay]) -> Callable[[Wanted, Any], Display]:
    def make(figure: Wanted, results: Any) -> Display:
        names = ("loss", "gamma", "degree", "coef0", "subset")
        wanted = {name: figure.get(name) for name in names}
        value = figure.get("value", "test_error")
        return display._from_study(results, figure["model"], value, wanted)

    return make


def _slopes(figure: Wanted, results: Any) -> Display:
    return ScalingDisplay._from_study(results, figure.get("models"), figure.get("against"))


def _bars(figure: Wanted, results: Any) -> Display:
    return BarsDisplay._from_study(results, figure.get("models"))


def _convergence(figure: Wanted, results: Any) -> Display:
    fitted, title = _refit(figure, results)
    against = figure.get("against", "step")
    return ConvergenceDisplay(_history(fitted), against=against, title=title)


def _boundary(figure: Wanted, results: Any) -> Display:
    fitted, title = _refit(figure, results)
    prepare, estimator = fitted.prepare, fitted.estimator
    whole = estimator if prepare is None else make_pipeline(prepare, estimator)
    return _titled(title, BoundaryDisplay._of(whole, fitted.X_raw, fitted.y, fitted.data.names))


def _confusion(figure: Wanted, results: Any) -> Display:
    fitted, title = _refit(figure, results)
    predicted = fitted.estimator.predict(fitted.X_test)
    display = ConfusionDisplay._of(fitted.y_test, predicted, fitted.data.names)
    return _titled(f"{title}{_judged_by(results)}", display)


def _misclassified(figure: Wanted, results: Any) -> Display:
    fitted, title = _refit(figure, results)
    display = MisclassifiedDisplay._of(
        fitted.X_raw_test,
        fitted.y_test,
        fitted.estimator.predict(fitted.X_test),
        fitted.data.image_shape,
        figure.get("images", _IMAGES),
        fitted.data.names,
    )
    return _titled(f"{title}{_judged_by(results)}", display)


def _frequencies(figure: Wanted, results: Any) -> Display:
    data = results.dataset()
    labels = data.y if data.y_test is None else np.concatenate([data.y, data.y_test])
    return ClassFrequenciesDisplay._of(labels, data.names)


def _samples(figure: Wanted, results: Any) -> Display:
    data = results.dataset()
    per_class = figure.get("per_class", _PER_CLASS)
    return SampleImagesDisplay._of(data.X, data.y, data.image_shape, per_class, data.names)


def _tsne(figure: Wanted, results: Any) -> Display:
    data = results.dataset()
    return TsneDisplay._of(data.X, data.y, figure.get("rows", _MAP_ROWS), data.names)


def _losses(figure: Wanted, results: Any) -> Display:
    return LossesDisplay._of()


_KINDS: dict[str, Callable[[Wanted, Any], Display]] = {
    "heatmap": _of_grid(HeatmapDisplay),
    "curves": _of_grid(CurvesDisplay),
    "slopes": _slopes,
    "bars": _bars,
    "convergence": _convergence,
    "boundary": _boundary,
    "confusion": _confusion,
    "misclassified": _misclassified,
    "frequencies": _frequencies,
    "samples": _samples,
    "tsne": _tsne,
    "losses": _losses,
}


def _refit(figure: Wanted, results: Any) -> tuple[Any, str]:
    """Return the model fitted again, and what to call it; of several subsets the first."""
    model = figure["model"]
    subset = figure.get("subset")
    if subset is None:
        subset = str(of_model(columns_of_results(results), model)["subset"][0])
    return results.refit(model, subset), f"{model} ({subset})" if subset else model


def _judged_by(results: Any) -> str:
    """Say which rows mistakes are counted on: without a test part, those of the first fold."""
    return ", test part" if results.study.splits.test is not None else ", first fold held out"


def _history(fitted: Any) -> Any:
    """Return the course of a fit; if it has few records, with the ends of shorter fits.

    A fit of fewer steps with the same seed is the beginning of the longer one.
    """
    estimator = fitted.estimator
    history, steps = estimator.history_, getattr(estimator, "max_steps", None)
    if steps is None or steps < 2 or len(history) >= _FEWEST_RECORDS:
        return history
    fewer = sorted({steps >> k for k in range(1, _FEWEST_RECORDS)} - {0})
    _last_record(fitted, fewer[0])  # the first fit starts the threads: its clock would not count
    records = [*(_last_record(fitted, steps) for steps in fewer), history[-1]]
    # Each has its own clock, and small times waver: more steps never take less time.
    seconds = np.maximum.accumulate([record["seconds"] for record in records])
    return [{**record, "seconds": its} for record, its in zip(records, seconds, strict=True)]


def _last_record(fitted: Any, steps: int) -> Any:
    """Return how a fit of so many steps ends."""
    shorter = clone(fitted.estimator).set_params(max_steps=steps)
    with catch_warnings(action="ignore", category=ConvergenceWarning):  # that is no surprise
        return shorter.fit(fitted.X, fitted.y).history_[-1]


def _titled(title: str, display: Display) -> Display:
    display.title = title
    return display
