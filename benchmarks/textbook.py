"""Kernel Pegasos against the textbook loop in NumPy, draw for draw, and how our seconds grow.

    python benchmarks/textbook.py                      everything; writes its part of BENCHMARKS.md
    python benchmarks/textbook.py --quick              a first look; writes nothing but its JSON
    python benchmarks/textbook.py --packages ours      only ours again; the textbook loop stays
    python benchmarks/textbook.py --redraw             tables from the JSON alone

One fold of the USPS digits, ten classes, each against the rest. Both are given the kernel matrix:
what is compared is the training loop.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import contestants
import datasets
import measure
import numpy as np
import textbook_growth
import textbook_report
from datasets import Labels
from results import Results
from script import Script, say
from textbook_loop import BY_KEY, CONTESTANTS, Contestant, Fitted, Floats, Settings

_FOLDS = 5
_GAMMA = 1 / (2 * 2)  # exp(-d^2/(2 g)) with g = 2
_SETTINGS = Settings(lam=1e-4, n_steps=50_000)
_QUICK_SETTINGS = Settings(lam=1e-4, n_steps=2_000)
_QUICK_ROWS = 1000


def _gaussian(A: Floats, B: Floats) -> Floats:
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(A, B, gamma=_GAMMA)


def _cubic(A: Floats, B: Floats) -> Floats:
    from sklearn.metrics.pairwise import polynomial_kernel

    return polynomial_kernel(A, B, degree=3, gamma=1, coef0=0)


@dataclass(frozen=True)
class Task:
    title: str
    kernel: Callable[[Floats, Floats], Floats]


TASKS = {
    "gaussian": Task("Gaussian", _gaussian),
    "polynomial": Task("polynomial, degree 3", _cubic),
}


@dataclass(frozen=True)
class Fold:
    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels
    key: str


def _measure(kept: Results, options: argparse.Namespace) -> None:
    try:
        fold = _fold(options)
    except datasets.MissingDataError as missing:
        say(f"nothing is measured: {missing}")
        return
    settings = _QUICK_SETTINGS if options.quick else _SETTINGS
    repeats = options.repeats or (1 if options.quick else 5)
    time = partial(measure.repeated, repeats=repeats, limit=options.limit)
    parts = options.parts or _PARTS
    for name in TASKS:
        if name in parts:
            _race(kept, name, fold, settings, time, options.packages or [])
    base = textbook_growth.Base(fold.X, fold.y, settings, _GAMMA, repeats, options.limit)
    for what in textbook_growth.WHAT:
        if what in parts:
            _grow(kept, what, fold, base)


def _fold(options: argparse.Namespace) -> Fold:
    """Return the first of five stratified parts of all digits, as test part, and the rest."""
    from sklearn.model_selection import StratifiedKFold

    parts = [datasets.prepare(part, options.cache) for part in ("usps", "usps-test")]
    X, y = (np.concatenate(both) for both in zip(*(part.load() for part in parts), strict=True))
    if options.quick:
        X, y = X[:_QUICK_ROWS], y[:_QUICK_ROWS]
    X = X.astype(np.float64)
    split = StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(X, y)
    train, test = next(split)
    return Fold(X[train], y[train], X[test], y[test], "+".join(part.key for part in parts))


def _facts(title: str, fold: Fold, settings: Settings) -> dict[str, Any]:
    return {
        "title": title,
        **asdict(settings),
        "n_rows": len(fold.y),
        "n_test_rows": len(fold.y_test),
        "n_features": fold.X.shape[1],
        "n_classes": len(np.unique(fold.y)),
        "data_key": fold.key,
    }


def _race(
    kept: Results,
    name: str,
    fold: Fold,
    settings: Settings,
    time: Callable[..., tuple[list[float], Fitted]],
    wanted: list[str],
) -> None:
    """Measure everyone with one kernel."""
    facts = _facts(TASKS[name].title, fold, settings)
    part = kept.task(name, facts, {"measured": {}, "left_out": {}})
    K, K_test = (TASKS[name].kernel(A, fold.X) for A in (fold.X, fold.X_test))
    for contestant in contestants.chosen(CONTESTANTS, wanted):
        key = contestant.key
        part["measured"].pop(key, None)
        part["left_out"].pop(key, None)
        try:
            found, fitted = _timed_fit(contestant, K, fold.y, settings, time)
        except Exception as error:  # noqa: BLE001 - the others go on
            part["left_out"][key] = contestants.reason_of(error)
            say(f"{name}: {contestant.title} is left out: {part['left_out'][key]}")
        else:
            classes = np.unique(fold.y)
            predicted = classes[np.argmax(K_test @ fitted.coef.T, axis=1)]
            found["error"] = float(np.mean(predicted != fold.y_test))
            part["measured"][key] = found
            say(f"{name}: {contestant.title:36} {textbook_report.line(found)}")
        kept.save()


def _timed_fit(
    contestant: Contestant,
    K: Floats,
    y: Labels,
    settings: Settings,
    time: Callable[..., tuple[list[float], Fitted]],
) -> tuple[dict[str, Any], Fitted]:
    """Time fits, which are all the same: the seed is that of the settings."""
    some = np.concatenate([np.flatnonzero(y == label)[:5] for label in np.unique(y)])
    contestant.fit(K[np.ix_(some, some)], y[some], settings)  # loading a package is no part of it
    loops: list[float] = []

    def fit(_seed: int) -> Fitted:
        fitted = contestant.fit(K, y, settings)
        if fitted.loop_seconds is not None:
            loops.append(fitted.loop_seconds)
        return fitted

    seconds, fitted = time(fit)
    found = {
        "fit_seconds": seconds,
        "loop_seconds": loops or seconds,  # the textbook is nothing but its loop
        "violations": fitted.violations.tolist(),
    }
    return found, fitted


def _grow(kept: Results, what: str, fold: Fold, base: textbook_growth.Base) -> None:
    """Measure our seconds while one thing grows."""
    facts = _facts(what, fold, base.settings)
    part = kept.task(what, facts, {"points": [], "left_out": {}})
    part.update(points=[], left_out={})
    try:
        for point in textbook_growth.points(what, base):
            part["points"].append(point)
            say(f"{what} {point['value']:g}: training loop {point['loop']:.4f} s")
    except Exception as error:  # noqa: BLE001 - the other parts go on
        part["left_out"]["pegasos-1"] = contestants.reason_of(error)
        say(f"{what}: {BY_KEY['pegasos-1'].title} is left out: {part['left_out']['pegasos-1']}")
    kept.save()


_PARTS = [*TASKS, *textbook_growth.WHAT]
SCRIPT = Script(
    name="textbook",
    description=__doc__,
    choices={"parts": _PARTS, "packages": contestants.names(CONTESTANTS)},
    help={
        "quick": f"{_QUICK_ROWS:,} digits, {_QUICK_SETTINGS.n_steps:,} steps, 1 run",
        "repeats": "runs; 5",
        "limit": "seconds beyond which no further run is begun",
    },
    peers=(),
    measure=_measure,
    tables=textbook_report.tables,
    document=textbook_report.document,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
