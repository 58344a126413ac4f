"""Beyond this machine: from measured constants to what is to be expected, as tables."""

from statistics import median
from typing import Any

import report
import scale_model

_WORKERS = (8, 64, 1000)
_ROWS = 1_000_000_000
_TEN_GBIT = 1.25e9  # bytes a second
_HERE = 2  # workers that the constants are from


def tables(task: dict[str, Any]) -> str:
    """Return the constants, and the forecast from them."""
    parts = [_measured(task)]
    for tol in task["facts"]["tols"]:
        constants = constants_of(task, tol)
        parts += [_head(task, tol, constants), _forecast(task, constants)]
    return "\n\n".join(parts)


def constants_of(task: dict[str, Any], tol: float) -> scale_model.Constants:
    """Return the constants of the model from what was measured."""
    fits = {fit["partitions"]: fit for fit in task["fits"] if fit["tol"] == tol}
    narrow = min(task["overhead"], key=int)
    base, shard = scale_model.line({int(k): s for k, s in task["overhead"][narrow].items()})
    here = fits[_HERE]
    rows = task["facts"]["n_rows"] / _HERE
    moved = here["bytes_a_round"] / (_HERE - 1)
    beside = base + _HERE * shard + here["bytes_a_round"] / task["bandwidth"]
    prepare = median(here["seconds"]) - here["rounds"] * here["round_seconds"]
    return scale_model.Constants(
        prepare=max(0.0, prepare) / rows,
        round=max(0.0, here["round_seconds"] - beside) / rows,
        base=base,
        shard=shard,
        moved=moved,
        rounds=scale_model.power_law({k: fit["epochs"] for k, fit in fits.items()}),
    )


def _measured(task: dict[str, Any]) -> str:
    """Return what was measured for each number of shards."""
    facts = task["facts"]
    widths = sorted(task["overhead"], key=int)
    rows = []
    for n_shards in task["overhead"][widths[0]]:
        fits = {fit["tol"]: fit for fit in task["fits"] if str(fit["partitions"]) == n_shards}
        counts = [f"{fits[tol]['rounds']} ({fits[tol]['epochs']})" for tol in facts["tols"]]
        seconds = [f"{1e3 * task['overhead'][width][n_shards]:.1f}" for width in widths]
        sent = fits[facts["tols"][-1]]["bytes_a_round"] / 1e6
        rows.append([n_shards, *counts, *seconds, f"{sent:.2f}"])
    header = ["shards", *(f"rounds (epochs) to {report.power(tol)}" for tol in facts["tols"])]
    header += [f"ms a round, no rows, {int(width):,} weights" for width in widths]
    header.append("MB sent a round")
    head = (
        f"**What a cluster costs**: sdca, lam = {report.power(facts['lam'])}, two workers. One "
        f"sends {task['bandwidth'] / 1e6:,.0f} MB/s to the other."
    )
    return "\n\n".join([head, report.table(header, rows, right=set(range(len(header))))])


def _head(task: dict[str, Any], tol: float, constants: scale_model.Constants) -> str:
    n_rows = task["facts"]["n_rows"]
    c, p = constants.rounds
    alone = next(f for f in task["fits"] if f["tol"] == tol and f["partitions"] == 1)
    expected = scale_model.forecast(constants, 1, n_rows, task["bandwidth"]).seconds
    return (
        f"**On paper, {_ROWS:,} rows, to a gap of {report.power(tol)}**: *prepare* "
        f"{1e9 * constants.prepare:.0f} ns and *step* {1e9 * constants.round:.0f} ns a row, *base* "
        f"{1e3 * constants.base:.1f} ms, *shard* {1e3 * constants.shard:.1f} ms, *moved* "
        f"{constants.moved / 1e6:.2f} MB, rounds {c:.1f} K^{p:.2f}. To check: of one shard of "
        f"{n_rows:,} rows it expects {report.in_seconds(expected)}; measured "
        f"{report.spread(alone['seconds'])}."
    )


def _forecast(task: dict[str, Any], constants: scale_model.Constants) -> str:
    rows = []
    for n_workers in _WORKERS:
        here, fast = (
            scale_model.forecast(constants, n_workers, _ROWS, rate)
            for rate in (task["bandwidth"], _TEN_GBIT)
        )
        alone = scale_model.forecast(constants, 1, _ROWS, _TEN_GBIT)
        rows.append(
            [
                f"{n_workers:,}",
                f"{fast.rounds:.1f}",
                report.in_seconds(fast.computing),
                report.in_seconds(fast.dask),
                report.in_seconds(here.moving),
                report.in_seconds(fast.moving),
                report.in_seconds(here.seconds),
                report.in_seconds(fast.seconds),
                f"{alone.seconds / fast.seconds:,.0f}",
            ]
        )
    header = ["workers", "rounds", "steps a round", "Dask a round", "moving a round"]
    header += ["moving, 10 Gbit/s", "whole fit", "whole fit, 10 Gbit/s", "times one worker"]
    return report.table(header, rows, right=set(range(len(header))))
