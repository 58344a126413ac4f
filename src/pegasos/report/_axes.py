"""Logarithmic axes that say 5,000 and 10 ms."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pegasos.report._numbers import count_text, power_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More values than this would not fit beside one another.
_MOST_TICKS = 7
# On so many decades there is room for ticks at 2 and 5 too: labels are wider than high.
_DECADES = {"x": 1.6, "y": 2.5}
_SMALL = 1e-3  # smaller numbers are written as powers


def log_counts(ax: "Axes", which: Literal["x", "y"], values: Any) -> None:
    """Make an axis of counts logarithmic, with a tick at each value if they are few."""
    from matplotlib.ticker import NullLocator

    values = np.unique(values)
    axis = _log_axis(ax, which)
    if _fit(values):
        axis.set_minor_locator(NullLocator())
        axis.set_ticks(values, labels=[count_text(value) for value in values])
    else:
        _log_numbers(axis, lambda value: count_text(value) if value >= 1 else f"{value:g}")


def log_seconds(ax: "Axes", which: Literal["x", "y"]) -> None:
    """Make an axis of seconds logarithmic."""
    _log_numbers(_log_axis(ax, which), _tick_seconds)


def log_values(ax: "Axes", which: Literal["x", "y"], unit: str = "") -> None:
    """Make an axis of plain numbers logarithmic."""
    _log_numbers(
        _log_axis(ax, which),
        lambda value: (f"{value:g}" if value >= _SMALL else power_text(value)) + unit,
    )


def _tick_seconds(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.999 * size:  # a tick is rounded
            return f"{seconds / size:,.6g} {unit}"
    return f"{seconds / 1e-6:g} µs"


def _log_numbers(axis: Any, write: Callable[[float], str]) -> None:
    """Put ticks at powers of ten; at 2 and 5 as well, or at all digits, if those would be few."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_minor_locator(NullLocator())
    low, high = axis.get_view_interval()
    decades = np.log10(high / low) if low > 0 else 9
    most = _DECADES[axis.axis_name]
    subs = range(1, 10) if decades < 0.8 else (1, 2, 5) if decades < most else (1,)
    axis.set_major_locator(LogLocator(subs=tuple(subs), numticks=9))
    axis.set_major_formatter(lambda value, _: write(value))


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
