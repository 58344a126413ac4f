"""ScalingDisplay: seconds against the size of the problem, with the power they grow by."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from pegasos.report._axes import log_counts, log_seconds
from pegasos.report._display import Display
from pegasos.report._kinds import SIZES
from pegasos.report._numbers import slope_text
from pegasos.report._style import looks
from pegasos.report._table import Columns, columns_of_results, keep, of_model, opened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
_NAMES = {"max_steps": "T, steps", "n_rows": "rows", "n_features": "features"}


class ScalingDisplay(Display):
    """Runtime against steps, rows or features; both axes logarithmic, with fitted slopes.

    A slope of 1 means that twice the size takes twice the time, 0 that the size does not matter.

    Parameters
    ----------
    lines : mapping of str to (sizes, seconds)
        What was measured, by name.
    against : {"max_steps", "n_rows", "n_features"}, default="n_rows"
        What the sizes are.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    slopes_ : dict of str to float
        The fitted powers, by name; NaN where there are fewer than two sizes.
    ax_, figure_
        Where it was drawn.
    """

    def __init__(
        self, lines: Mapping[str, tuple[Any, Any]], *, against: str = "n_rows", title: str = ""
    ) -> None:
        _check_against(against)
        if not lines:
            raise ValueError("there is nothing to draw: no line was given")
        self.lines = {name: _checked(name, *line) for name, line in lines.items()}
        self.against = against
        self.title = title
        self.slopes_ = {name: _slope(*line) for name, line in self.lines.items()}

    @classmethod
    def from_results(
        cls,
        results: Any,
        models: Sequence[str] | None = None,
        *,
        against: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the timings of a study, or the training times of its grids.

        Parameters
        ----------
        results : pegasos.studies.Results, str or path
            Of a study that has run; or the folder with them.
        models : sequence of str or None, default=None
            Names of timings, or of models with a grid over max_steps (the mean over all other
            parameters is drawn); None: all timings, or all models if there are none.
        against : {"max_steps", "n_rows", "n_features"} or None, default=None
            The horizontal axis; None: what varies.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ScalingDisplay
            Already drawn.
        """
        return cls._from_study(opened(results), models, against).plot(ax)

    @classmethod
    def _from_study(cls, results: Any, models: Sequence[str] | None, against: str | None) -> Self:
        measured = measurements(results, models)
        if against is None:
            against = _what_varies(measured)
        _check_against(against)
        lines = {name: _medians(rows, against) for name, rows in measured.items()}
        return cls(lines, against=against)

    def _draw(self, ax: "Axes") -> None:
        for (name, (sizes, seconds)), look in zip(
            self.lines.items(), looks(len(self.lines)), strict=True
        ):
            slope = self.slopes_[name]
            known = np.isfinite(slope)
            label = f"{name}, slope {slope_text(slope)}" if known else name
            ax.plot(sizes, seconds, look.marker, color=look.colour, zorder=3)
            line = look.line if known else "none"
            ax.plot([], [], marker=look.marker, linestyle=line, color=look.colour, label=label)
            if known:
                ends = np.array([sizes.min(), sizes.max()])
                middle = np.exp(np.log(sizes).mean()), np.exp(np.log(seconds).mean())
                fitted = middle[1] * (ends / middle[0]) ** slope
                ax.plot(ends, fitted, linestyle=look.line, color=look.colour, linewidth=1.2)
        log_counts(ax, "x", np.concatenate([sizes for sizes, _ in self.lines.values()]))
        log_seconds(ax, "y")
        ax.set_xlabel(_NAMES[self.against])
        ax.set_ylabel("time of training")
        columns = 1 + (len(self.lines) > 3)
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.16), ncols=columns, handlelength=3.2)

    def _size(self) -> tuple[float, float]:
        lines = len(self.lines)
        return 5.6, 3.4 + 0.2 * (lines if lines <= 3 else (lines + 1) // 2)

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            The slopes.
        """
        slopes = ", ".join(f"{name} {slope_text(slope)}" for name, slope in self.slopes_.items())
        return (
            f"Time of training against {_NAMES[self.against]}, both logarithmic. Fitted slopes: "
            f"{slopes}."
        )


def measurements(results: Any, models: Sequence[str] | None) -> dict[str, Columns]:
    """Return the timed rows of these timings or models; of all, if none is named."""
    columns = columns_of_results(results)
    timed = keep(columns, np.isfinite(columns["seconds"].astype(float)))
    for part in ("timing", "grid"):
        rows = keep(timed, timed["part"] == part)
        if models is None and len(rows["model"]):
            models = list(dict.fromkeys(rows["model"].tolist()))
    if not models:
        raise ValueError("there is nothing to draw: the study has measured no times yet")
    of_part = keep(timed, (timed["part"] == "timing") | (timed["part"] == "grid"))
    return {name: of_model(of_part, name) for name in models}


def fitted_slopes(results: Any) -> list[tuple[str, str, float]]:
    """Return name, what varies and slope of every timing of a study in which one thing varies."""
    if not len(columns_of_results(results, "timing")["model"]):
        return []
    found = []
    for name, rows in measurements(results, None).items():
        varying = varying_sizes({name: rows})
        if len(varying) == 1:
            found.append((name, varying[0], _slope(*_medians(rows, varying[0]))))
    return found


def _what_varies(measured: Mapping[str, Columns]) -> str:
    varying = varying_sizes(measured)
    if len(varying) != 1:
        what = ", ".join(varying) or "nothing"
        raise ValueError(
            f"what to draw the times against is not clear: in these results {what} varies; name "
            f"it with against, one of {', '.join(SIZES)}"
        )
    return varying[0]


def varying_sizes(measured: Mapping[str, Columns]) -> list[str]:
    """Return which of steps, rows and features has several values in one of these."""
    return [
        name
        for name in SIZES
        if any(len(set(rows[name].tolist())) > 1 for rows in measured.values())
    ]


def _medians(rows: Columns, against: str) -> tuple[Floats, Floats]:
    sizes = np.unique(rows[against].astype(np.float64))
    seconds = rows["seconds"].astype(np.float64)
    medians = [float(np.median(seconds[rows[against] == size])) for size in sizes]
    return sizes, np.array(medians)


def _checked(name: str, sizes: Any, seconds: Any) -> tuple[Floats, Floats]:
    sizes, seconds = (np.asarray(values, dtype=np.float64) for values in (sizes, seconds))
    if sizes.ndim != 1 or sizes.shape != seconds.shape or not sizes.size:
        raise ValueError(
            f"line {name!r} needs as many seconds as sizes, at least one; got shapes "
            f"{sizes.shape} and {seconds.shape}"
        )
    if not (np.isfinite(seconds) & np.isfinite(sizes) & (seconds > 0) & (sizes > 0)).all():
        raise ValueError(
            f"line {name!r} has sizes or seconds that are not above 0; logarithmic axes cannot "
            "show them"
        )
    return sizes, seconds


def _slope(sizes: Floats, seconds: Floats) -> float:
    """Fit log seconds = slope log sizes + constant, by least squares."""
    if len(np.unique(sizes)) < 2:
        return float("nan")
    return float(np.polynomial.Polynomial.fit(np.log(sizes), np.log(seconds), 1).convert().coef[1])


def _check_against(against: str) -> None:
    if against not in SIZES:
        raise ValueError(f"against must be one of {', '.join(SIZES)}; got {against!r}")
