"""The figures that a study file may ask for; nothing here needs matplotlib."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

VALUES = ("test_error", "train_error")
SIZES = ("max_steps", "n_rows", "n_features")
CLOCKS = ("step", "seconds")

# Which part of a grid: a kernel or loss that is not named is the one of the best cell.
_CELLS = ("model", "value", "loss", "gamma", "degree", "coef0", "subset")
_KINDS: dict[str, tuple[str, ...]] = {
    "heatmap": _CELLS,
    "curves": _CELLS,
    "slopes": ("models", "against"),
    "bars": ("models",),
    "convergence": ("model", "against", "subset"),
    "boundary": ("model", "subset"),
    "confusion": ("model", "subset"),
    "misclassified": ("model", "subset", "images"),
    "frequencies": (),
    "samples": ("per_class",),
    "tsne": ("rows",),
    "losses": (),
}
_TEXTS = ("kind", "title", "model", "subset", "loss")
_COUNTS = ("per_class", "rows", "images")


class FigureError(ValueError):
    """A figure that is not understood as asked for.

    Parameters
    ----------
    key : str
        The key of the study file to mend.
    message : str
        What is wrong with it.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def figure_kinds() -> dict[str, tuple[str, ...]]:
    """Return the kinds of figures, each with the keys it takes beside ``kind`` and ``title``.

    Returns
    -------
    dict of str to tuple of str
        ``model`` is needed wherever it is listed, all else is optional.

    Examples
    --------
    >>> from pegasos.report import figure_kinds
    >>> figure_kinds()["slopes"]
    ('models', 'against')
    """
    return dict(_KINDS)


def check_figure(figure: Mapping[str, Any]) -> None:
    """Refuse a table of ``[[figures]]`` that :func:`pegasos.report.draw` would not understand.

    Parameters
    ----------
    figure : mapping
        ``kind`` and the keys that :func:`figure_kinds` lists for it.

    Raises
    ------
    FigureError
        A ValueError whose ``key`` names the key at fault.

    Examples
    --------
    >>> from pegasos.report import check_figure
    >>> check_figure({"kind": "heatmap", "model": "Gaussian", "value": "train_error"})
    >>> check_figure({"kind": "heatmat", "model": "Gaussian"})
    Traceback (most recent call last):
        ...
    pegasos.report._kinds.FigureError: no figure of kind 'heatmat'; did you mean 'heatmap'?
    """
    kind = figure.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise FigureError("kind", f"no figure of kind {kind!r}; {_closest(kind, _KINDS)}")
    known = ("kind", "title", *_KINDS[kind])
    for key, value in figure.items():
        if key not in known:
            hint = _closest(key, known)
            raise FigureError(key, f"a figure of kind {kind!r} has no key {key!r}; {hint}")
        _check_value(kind, key, value)
    if "model" in known and "model" not in figure:
        raise FigureError("kind", f"a figure of kind {kind!r} needs a model; name one with model")


def _check_value(kind: str, key: str, value: Any) -> None:
    if key in _TEXTS and not isinstance(value, str):
        raise FigureError(key, f"{key} is a text; got {value!r}")
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if key in _COUNTS and not (is_whole and value >= 1):
        raise FigureError(key, f"{key} is a whole number, at least 1; got {value!r}")
    if key == "models" and not (
        isinstance(value, list) and value and all(isinstance(name, str) for name in value)
    ):
        raise FigureError(key, f"models is a list of names; got {value!r}")
    choices = {"value": VALUES, "against": CLOCKS if kind == "convergence" else SIZES}.get(key)
    if choices is not None and value not in choices:
        raise FigureError(key, f"{key} is one of {', '.join(choices)}; got {value!r}")
    if key in ("gamma", "degree", "coef0") and not (is_whole or isinstance(value, float)):
        raise FigureError(key, f"{key} is a number; got {value!r}")


def _closest(name: Any, known: Any) -> str:
    close = get_close_matches(str(name), known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
