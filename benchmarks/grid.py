"""The whole USPS grid: 7 kernels x 7 lam x 5 T, 5 folds, 10 classes, against the textbook's loops.

    python benchmarks/grid.py                      everything; writes its part of BENCHMARKS.md
    python benchmarks/grid.py --quick              a first look; writes nothing but its JSON
    python benchmarks/grid.py --packages ours      only ours again; the textbook loop stays
    python benchmarks/grid.py --redraw             tables from the JSON alone

The textbook would take hours. It is timed on sample cells, one for each T and kind of kernel, on
one fold; its time is the same for every lam and fold, so the whole is the sum.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import contestants
import datasets
import grid_report
import measure
import numpy as np
from datasets import Labels
from grid_textbook import Kernel, Matrix, fit_and_judge
from results import Results
from script import Script, say

_SEED = 0
_QUICK_ROWS = 600


@dataclass(frozen=True)
class Grid:
    """The grid of the report; ``widths`` are its g in ``exp(-||a - b||^2/(2 g))``."""

    widths: tuple[float, ...] = (0.25, 0.75, 2.0)
    degrees: tuple[int, ...] = (2, 3, 4, 7)
    lams: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
    steps: tuple[int, ...] = (1_000, 5_000, 10_000, 25_000, 50_000)
    n_folds: int = 5
    sample_lam: float = 1e-3  # of the cells that the textbook is timed on


_GRID = Grid()
_QUICK_GRID = Grid(steps=(100, 500), n_folds=2)


@dataclass(frozen=True)
class Data:
    X: Matrix
    y: Labels
    folds: list[tuple[Any, Any]]
    key: str


@dataclass(frozen=True, kw_only=True)
class Contestant(contestants.Contestant):
    measure: Callable[[Grid, Data, int, float], dict[str, Any]]


def _textbook(grid: Grid, data: Data, _repeats: int, _limit: float) -> dict[str, Any]:
    """Time a cell for each T, with the second kernel of each family, on the first fold."""
    train, test = data.folds[0]
    parts = ((data.X[train], data.y[train]), (data.X[test], data.y[test]))
    cells = []
    for kernel in (Kernel("Gaussian", grid.widths[1]), Kernel("polynomial", grid.degrees[1])):
        for n_steps in grid.steps:
            times = fit_and_judge(kernel, grid.sample_lam, n_steps, _SEED, *parts)
            cells.append({**asdict(kernel), "n_steps": n_steps, **asdict(times)})
            say(grid_report.cell_line(cells[-1]))
    return {"cells": cells}


def _ours(threads: int) -> Callable[[Grid, Data, int, float], dict[str, Any]]:
    def fit(grid: Grid, data: Data, repeats: int, limit: float) -> dict[str, Any]:
        fit_both(Grid(steps=(10,), n_folds=grid.n_folds), data, threads)  # loads and warms up
        seconds, models = measure.repeated(
            lambda _seed: fit_both(grid, data, threads), repeats, limit
        )
        return {"seconds": seconds, "errors": _errors(grid, models)}

    return fit


def fit_both(grid: Grid, data: Data, threads: int) -> list[Any]:
    """Return the grid over Gaussian kernels and the grid over polynomials, fitted."""
    from pegasos import KernelPegasosCV

    gaussian = {"kernel": "rbf", "gammas": [1 / (2 * g) for g in grid.widths]}
    polynomial = {"kernel": "poly", "degrees": grid.degrees, "gammas": [1.0], "coef0": 1.0}
    return [
        KernelPegasosCV(
            grid.lams,
            steps=grid.steps,
            **kernel,
            cv=data.folds,
            refit=False,
            average=None,
            sampling="uniform",
            random_state=_SEED,
            n_jobs=threads,
        ).fit(data.X, data.y)
        for kernel in (gaussian, polynomial)
    ]


def _errors(grid: Grid, models: list[Any]) -> dict[str, Any]:
    """Return mean errors as kernel x lam x T, and those of the textbook's cells on its fold."""
    lam = grid.lams.index(grid.sample_lam)
    found: dict[str, Any] = {"kernels": [], "mean": [], "sample": {}}
    for model, family, values in zip(
        models, ("Gaussian", "polynomial"), (grid.widths, grid.degrees), strict=True
    ):
        errors = model.test_error_.reshape(len(values), len(grid.lams), len(grid.steps), -1)
        found["kernels"] += [[family, value] for value in values]
        found["mean"] += errors.mean(axis=-1).tolist()
        found["sample"][family] = errors[1, lam, :, 0].tolist()
    return found


CONTESTANTS = (
    Contestant(
        key="textbook", title="textbook loops", group="textbook", measure=_textbook, needs="numpy"
    ),
    *(
        Contestant(
            key=key,
            title=f"KernelPegasosCV, {threads}",
            group="pegasos",
            measure=_ours(n_jobs),
            ours=True,
            needs="pegasos",
        )
        for key, threads, n_jobs in (
            ("pegasos-1", "1 thread", 1),
            ("pegasos-all", "all cores", -1),
        )
    ),
)


def _measure(kept: Results, options: argparse.Namespace) -> None:
    grid = _QUICK_GRID if options.quick else _GRID
    try:
        data = _data(grid, options)
    except datasets.MissingDataError as missing:
        say(f"nothing is measured: {missing}")
        return
    facts = {
        **asdict(grid),
        "n_rows": len(data.y),
        "n_features": data.X.shape[1],
        "n_classes": len(np.unique(data.y)),
        "data_key": data.key,
    }
    facts = {name: list(v) if isinstance(v, tuple) else v for name, v in facts.items()}
    part = kept.task("grid", facts, {"measured": {}, "left_out": {}})
    repeats = options.repeats or (1 if options.quick else 3)
    for contestant in contestants.chosen(CONTESTANTS, options.packages or []):
        key = contestant.key
        part["measured"].pop(key, None)
        part["left_out"].pop(key, None)
        try:
            part["measured"][key] = contestant.measure(grid, data, repeats, options.limit)
            say(f"{contestant.title}: {grid_report.line(part, key)}")
        except Exception as error:  # noqa: BLE001 - the others go on
            part["left_out"][key] = contestants.reason_of(error)
            say(f"{contestant.title} is left out: {part['left_out'][key]}")
        kept.save()


def _data(grid: Grid, options: argparse.Namespace) -> Data:
    from sklearn.model_selection import StratifiedKFold

    parts = [datasets.prepare(part, options.cache) for part in ("usps", "usps-test")]
    X, y = (np.concatenate(both) for both in zip(*(part.load() for part in parts), strict=True))
    if options.quick:
        X, y = X[:_QUICK_ROWS], y[:_QUICK_ROWS]
    folds = StratifiedKFold(grid.n_folds, shuffle=True, random_state=_SEED).split(X, y)
    return Data(X.astype(np.float32), y, list(folds), "+".join(part.key for part in parts))


SCRIPT = Script(
    name="grid",
    description=__doc__,
    choices={"packages": contestants.names(CONTESTANTS)},
    help={
        "quick": f"{_QUICK_ROWS:,} digits, 2 folds, up to {_QUICK_GRID.steps[-1]:,} steps, 1 run",
        "repeats": "runs of ours; 3",
        "limit": "seconds beyond which no further run of ours is begun",
    },
    peers=(),
    measure=_measure,
    tables=grid_report.tables,
    document=grid_report.document,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
