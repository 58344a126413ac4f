"""Numbers as they stand on axes and in cells."""

from collections.abc import Sequence
from math import floor, isfinite, log10, nan

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_text(value: float) -> str:
    """Write a parameter such as lam: 1e-5 as 10⁻⁵, 2e-5 as 2·10⁻⁵, 0.1 to 100 as they are."""
    if value == 0 or not isfinite(value) or 0.1 <= abs(value) <= 100:
        return f"{value:.4g}"
    factor, exponent = f"{value:.3e}".split("e")
    factor = factor.rstrip("0").rstrip(".")
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return power if factor == "1" else f"{factor}·{power}"


def count_text(value: float) -> str:
    """Write a number of rows or steps: 25000 as 25,000."""
    return f"{value:,.0f}"


def seconds_text(seconds: float) -> str:
    """Write a duration for people: 0.0123 as 12 ms, 150 as 2.5 min."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{seconds:.1e} s"


def ratio_text(ratio: float) -> str:
    """Write how many times: 2134.5 as 2,130×, 0.87 as 0.87×."""
    digits = 3 if ratio >= 100 else 2
    return f"{_rounded(ratio, digits)}×"


def slope_text(slope: float) -> str:
    """Write a fitted power: 0.97; never -0.00."""
    return f"{round(slope, 2) + 0.0:.2f}"


def error_text(error: float, spread: float = nan) -> str:
    """Write an error and, if it is known, its standard deviation: 0.0262 ± 0.0031."""
    return f"{error:.4f} ± {spread:.4f}" if isfinite(spread) else f"{error:.4f}"


def percent_text(part: float) -> str:
    """Write a part such as a relative gap: 0.0321 as 3.2 %."""
    return f"{_rounded(100 * part, 2)} %"


def same_decimals(values: Sequence[float]) -> int:
    """Return how many decimals tell errors apart: 3, or 4 if some are below 0.01 or nearly best."""
    known = sorted(value for value in values if isfinite(value))
    smallest = min((value for value in known if value > 0), default=1.0)
    is_close = len(known) > 1 and known[0] < known[1] < known[0] + 0.001
    return 4 if smallest < 0.00995 or is_close else 3


def _two_digits(value: float) -> str:
    return _rounded(value, 2)


def _rounded(value: float, digits: int) -> str:
    if value <= 0 or not isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - floor(log10(value))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"
