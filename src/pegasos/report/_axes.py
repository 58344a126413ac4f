"""Logarithmic axes that say 5,000 and 10 ms."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pegasos.report._numbers import count_text, seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More values than this would not fit beside one another.
_MOST_TICKS = 7


def log_counts(ax: "Axes", which: Literal["x", "y"], values: Any) -> None:
    """Make an axis of counts logarithmic, with a tick at each value if they are few."""
    from matplotlib.ticker import NullLocator

    values = np.unique(values)
    axis = _log_axis(ax, which)
    axis.set_minor_locator(NullLocator())
    if _fit(values):
        axis.set_ticks(values, labels=[count_text(value) for value in values])
    else:
        axis.set_major_formatter(lambda value, _: count_text(value) if value >= 1 else f"{value:g}")


def log_seconds(ax: "Axes", which: Literal["x", "y"]) -> None:
    """Make an axis of seconds logarithmic."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis = _log_axis(ax, which)
    axis.set_minor_locator(NullLocator())
    low, high = axis.get_view_interval()
    decades = np.log10(high / low) if low > 0 else 9
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,), numticks=9))
    axis.set_major_formatter(lambda value, _: seconds_text(value))


def _log_axis(ax: "Axes", which: Literal["x", "y"]) -> Any:
    if which == "x":
        ax.set_xscale("log")
        return ax.xaxis
    ax.set_yscale("log")
    return ax.yaxis


def _fit(values: Any) -> bool:
    """Tell whether a label at every value leaves room between them."""
    if len(values) < 2:
        return True
    logs = np.log(values)
    closest = float(np.diff(logs).min())
    return len(values) <= _MOST_TICKS and closest > 0.11 * float(logs[-1] - logs[0])
