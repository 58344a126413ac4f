"""Published values, to stand beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pegasos.studies._fields import Fields, closest
from pegasos.studies._tasks import COLUMNS

__all__ = ["QUANTITIES", "Reported", "Written", "read_reported"]

# Whether a small value is a good one.
QUANTITIES = {
    "test_error": True,
    "train_error": True,
    "test_accuracy": False,
    "train_accuracy": False,
    "seconds": True,
    "slope": True,  # of a clock: the power of its size that the seconds grow by
}
_NOT_A_PLACE = ("model", "part", "train_error", "test_error", "seconds")


class Written(float):
    """A number of a TOML file that remembers how it was written: 0.070 has three digits."""

    text: str

    def __new__(cls, text: Any) -> "Written":
        """Make it from the text."""
        self = super().__new__(cls, text)
        self.text = str(text)
        return self


@dataclass(frozen=True)
class Reported:
    """A published value.

    Attributes
    ----------
    model : str
        The model, timing or race that it is about.
    at : dict
        Columns of the results and their values there; empty: the best that the model did.
    quantity : str
        One of ``QUANTITIES``.
    value : float
        What was reported.
    rounding : float
        By how much the true value may be off: half a unit of the last digit.
    source : str
        Where it was reported.
    note : str
        Why ours differs, if it does.
    """

    model: str
    at: Mapping[str, Any]
    quantity: str
    value: float
    rounding: float
    source: str
    note: str

    def is_met_by(self, measured: float) -> bool:
        """Tell whether a measured value is as good, within the rounding of the report."""
        sign = 1 if QUANTITIES[self.quantity] else -1
        # Rounding of binary numbers must not decide: 0.0275 is met by 0.0275.
        return sign * (measured - self.value) <= self.rounding * (1 + 1e-9)


def read_reported(fields: Fields, names: list[str]) -> Reported:
    """Check one of [[reported]]; ``names`` are those it may be about."""
    model = fields.text("model", choices=names)
    quantity = fields.text("quantity", choices=QUANTITIES)
    value = fields.number("value", at_least=0)
    if quantity.endswith(("error", "accuracy")) and value > 1:
        raise fields.error("value", f"must be a fraction from 0 to 1; got {value}")
    rounding = _half_a_unit(fields.anything("value"))
    at = fields.table("at")
    source, note = fields.text("source", ""), fields.text("note", "")
    fields.done()
    return Reported(model, _place(at), quantity, value, rounding, source, note)


def _half_a_unit(value: Any) -> float:
    exponent = Decimal(getattr(value, "text", str(value)).replace("_", "")).as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5 * 10.0**exponent


def _place(at: Fields | None) -> dict[str, Any]:
    if at is None:
        return {}
    place = at.rest()
    known = COLUMNS.keys() - set(_NOT_A_PLACE)
    for name, value in place.items():
        if name not in known:
            raise at.error(name, f"the results have no such column; {closest(name, known)}")
        column = COLUMNS[name].type
        right = isinstance(value, str) if column is str else isinstance(value, int | float)
        if not right or isinstance(value, bool):
            kind = "a text" if column is str else "a number"
            raise at.error(name, f"must be {kind}; got {value!r}")
        place[name] = column(value)
    return place
