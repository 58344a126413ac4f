"""Streams and clusters: from results to tables, and to their section of BENCHMARKS.md."""

from statistics import median
from typing import Any

import report
import scale_forecast
from scale_peers import CONTESTANTS

_GOAL_STREAMING, _GOAL_WORKERS, _GOAL_PEERS = 1.5, 1.7, 5
_TITLES = {contestant.key: contestant.title for contestant in CONTESTANTS}
_UNITS = {contestant.key: contestant.unit for contestant in CONTESTANTS}
_OURS = [contestant.key for contestant in CONTESTANTS if contestant.ours]
_PASSES = {
    "one buffer": "plain read of the cache into one buffer",
    "fresh memory": "plain read of the cache into fresh memory",
    "chunk": "`stream.chunk(k)`, one after the other",
    "read ahead": "`for X, y, names in stream`",
    "pegasos streamed": "training, pegasos, streamed",
    "pegasos in memory": "training, pegasos, in memory",
    "sdca streamed": "training, sdca, streamed",
    "sdca in memory": "training, sdca, in memory",
    "file": "the file itself, without a cache",
}
_NOTES = """
- Streaming: `pegasos.io.stream(file, chunk_bytes="8MB", cache=folder)` and
  `PegasosClassifier.fit_stream`, one thread and the one that reads ahead. All files are in the page
  cache. The plain read is `os.readv` of 8 MB at a time, into the same buffer or into new memory,
  which the system must first fill with zeros; a chunk always gets new memory. A pass of training is
  a fit of 6 epochs less one of 2, by the passes over the data that are between them (counted: the
  certificates take some). Without a cache, bytes are those of the file.
- Workers: processes of a `LocalCluster` with one thread each (BLAS too), the rows in float32 and
  CSR, read by the workers and in their memory before the clock runs. The clock is that of `fit`:
  checks, labels, rounds, certificates, weights. Seed and partitions are the same, and so is the
  model. Bytes are what the workers say they have written to each other, in the first fit; it is
  not timed. A task is one thread (`n_jobs=1`), and a worker runs one at a time: one worker has one
  core, two have both. The scheduler and the client are in one more process, which shares the cores
  with them. CPU seconds are of a fit: what each worker's process uses, its threads for messages
  included, and what that third process uses.
- Peers: all minimise `lam/2 ||w||^2 + mean hinge` without intercept, on two workers, from rows in
  their memory. They run just as long as it takes to be as near to the optimum as the table says, as
  computed here in float64 while no clock runs (dask-ml: calls of `partial_fit` over all blocks;
  Spark: `maxIter`, `standardization=False`, after fits that have warmed up Java), or until the
  seconds allowed are over. Ours stop by themselves, at a certified gap of that size. The floor
  below a table is measured as well: the core's steps (the gradient steps of `sdca`, one epoch) and
  the pass over all rows that gives objective and bound, on both workers at once, by their own
  clocks; the trip is that of a task that does nothing. (Ours begin with 5/8 of an epoch where 1e-2
  is asked for.)
- Beyond this machine nothing is measured. The forecast is for rows of the kind above and one shard
  a worker: `seconds = rows a worker x prepare + rounds x (rows a worker x step + base + K x shard +
  (K - 1) x moved / bandwidth)`. *prepare* and *step* are the seconds per row of a worker before the
  first round and in a round with its certificate; *base* and *shard* a line through rounds over
  next to no rows (10 weights); *moved* the bytes of a round with two workers; rounds `c K^p`
  through the logs of the epochs counted here (a round of a large shard is one epoch; small ones
  make up to four). It assumes that workers are as fast as those here and have memory for their
  rows, that all weights go through one worker's link, and that a billion rows need as many rounds
  as the rows here. 10 Gbit/s are taken as 1.25 GB/s.
- Medians; in brackets the fastest and the slowest.
"""


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    tasks = content["tasks"]
    parts = [
        *(_streaming(name, task) for name, task in tasks.items() if name.startswith("streaming")),
        *(_workers(tasks["workers"], lam) for lam in _lams(tasks.get("workers"))),
        *(_peers(task) for name, task in tasks.items() if name.startswith("peers")),
        scale_forecast.tables(tasks["constants"]) if _is_whole(tasks.get("constants")) else "",
    ]
    return "\n\n".join(part for part in parts if part) or "Nothing is measured yet."


def document(content: dict[str, Any], _picture: str | None = None) -> str:
    title = "## Larger than memory, larger than one machine"
    return report.section(content, [title, tables(content)], _NOTES)


def _is_whole(task: dict[str, Any] | None) -> bool:
    """Tell whether all shards have been fitted: less is no ground for a forecast."""
    if not task or not task["overhead"]:
        return False
    n_shards = len(next(iter(task["overhead"].values())))
    return len(task["fits"]) == n_shards * len(task["facts"]["tols"])


# --- Streaming -----------------------------------------------------------------------------------


def rate_line(result: dict[str, Any]) -> str:
    return f"{report.spread(result['seconds'])} a pass, {_rate(result):.0f} MB/s"


def _rate(result: dict[str, Any]) -> float:
    return result["n_bytes"] / 1e6 / median(result["seconds"])


def _streaming(name: str, task: dict[str, Any]) -> str:
    measured = task["measured"]
    plain = [measured[key] for key in ("one buffer", "fresh memory") if key in measured]
    rows = []
    for key, title in _PASSES.items():
        if key in measured:
            result = measured[key]
            ratios = [_times_slower(result, other, key) for other in plain]
            rows.append([title, report.spread(result["seconds"]), f"{_rate(result):,.0f}", *ratios])
    cache = next((result["n_bytes"] for result in plain), 0)
    head = (
        f"**{name.capitalize()}**: {task['facts']['n_bytes'] / 1e6:,.0f} MB of "
        f"{task['facts']['file']}, {cache / 1e6:,.0f} MB of cache (goal: chunks in "
        f"{_GOAL_STREAMING} times the seconds of the plain read)."
    )
    header = ["a pass over the data", "seconds", "MB/s", "times one buffer", "times fresh memory"]
    return "\n\n".join([head, report.table(header, rows, right={1, 2, 3, 4})])


def _times_slower(result: dict[str, Any], other: dict[str, Any], key: str) -> str:
    ratio = median(result["seconds"]) / median(other["seconds"])
    return f"**{ratio:.2f}**" if key in ("chunk", "read ahead") else f"{ratio:.2f}"


# --- Workers -------------------------------------------------------------------------------------


def fit_line(fit: dict[str, Any]) -> str:
    where = f"{fit['n_workers']} workers, {fit['partitions']} partitions"
    return (
        f"{fit['solver']}, lam {fit['lam']:g}, gap {fit['tol']:g}, "
        f"{where if fit['n_workers'] else 'in memory'}: {_seconds(fit)}, {fit['epochs']} epochs"
    )


def _seconds(fit: dict[str, Any]) -> str:
    text = report.spread(fit["seconds"])
    return text if fit["reached"] else f"not reached in {text}"


def _lams(task: dict[str, Any] | None) -> list[float]:
    return sorted({fit["lam"] for fit in task["fits"]}, reverse=True) if task else []


def _workers(task: dict[str, Any], lam: float) -> str:
    facts = task["facts"]
    fits = {
        (fit["solver"], fit["tol"], fit["partitions"], fit["n_workers"]): fit
        for fit in task["fits"]
        if fit["lam"] == lam
    }
    rows = []
    for (solver, tol, partitions, n_workers), two in fits.items():
        one = fits.get((solver, tol, partitions, 1))
        if n_workers != 2 or one is None:
            continue
        memory = fits.get((solver, tol, 0, 0))
        same = one["fingerprint"] == two["fingerprint"]
        rows.append(
            [
                solver,
                report.power(tol),
                str(partitions),
                _seconds(memory) if memory else "–",
                _seconds(one),
                _seconds(two),
                report.times(median(one["seconds"]) / median(two["seconds"])),
                *(_cpu(fit) for fit in (one, two)),
                str(two["rounds"]),
                f"{two['bytes_a_round'] / 1e6:.2f}",
                "yes" if same else "NO",
            ]
        )
    weights = 8 * (facts["n_features"] + 1)
    head = (
        f"**One worker and two**: {facts['n_rows']:,} x {facts['n_features']:,}, "
        f"{facts['n_nonzeros'] // facts['n_rows']} numbers a row, "
        f"{facts['n_bytes'] / 1e6:,.0f} MB, lam = {report.power(lam)} (goal: "
        f"{_GOAL_WORKERS} times; the weights are {weights / 1e6:.2f} MB)."
    )
    header = ["solver", "gap", "shards", "in memory, 1 thread", "1 worker", "2 workers", "times"]
    header += ["CPU of the worker + the rest", "of each of two + the rest"]
    header += ["rounds", "MB sent a round", "same model"]
    return "\n\n".join([head, report.table(header, rows, right=set(range(1, 11)))])


def _cpu(fit: dict[str, Any]) -> str:
    """Return what a fit uses of the CPU: a worker, and client and scheduler together."""
    return f"{report.in_seconds(fit['cpu_workers'])} + {report.in_seconds(fit['cpu_here'])}"


# --- Peers ---------------------------------------------------------------------------------------


def peer_line(result: dict[str, Any]) -> str:
    return (
        f"{report.spread(result['seconds'])}, suboptimality "
        f"{report.power(max(0.0, result['suboptimality']), 1)}"
    )


def floor_line(floor: dict[str, list[float]]) -> str:
    """Return what no fit is below, in words."""
    steps, certificate, trip = (median(floor[key]) for key in ("steps", "certificate", "trip"))
    return (
        f"What no fit of one epoch is below: each worker's core takes {report.in_seconds(steps)} "
        f"for an epoch of steps over its rows and {report.in_seconds(certificate)} for the pass "
        f"that certifies, an empty task there and back {report.in_seconds(trip)}: "
        f"{report.in_seconds(steps + trip)} without a certificate, "
        f"{report.in_seconds(steps + certificate + trip)} with it."
    )


def _reach(task: dict[str, Any], peer: float) -> str:
    """Return how many times the fastest peer those floors are."""
    steps, certificate, trip = (
        median(task["floor"][key]) for key in ("steps", "certificate", "trip")
    )
    return (
        f" That is {peer / (steps + trip):.1f} and {peer / (steps + certificate + trip):.1f} times "
        "the fastest peer."
    )


def fastest_peer(task: dict[str, Any]) -> float | None:
    """Return the seconds of the fastest peer that got there."""
    return min(
        (
            median(result["seconds"])
            for key, result in task["measured"].items()
            if key not in _OURS and result["suboptimality"] <= task["facts"]["level"]
        ),
        default=None,
    )


def _peers(task: dict[str, Any]) -> str:
    facts, peer = task["facts"], fastest_peer(task)
    head = (
        f"**Against peers, two workers**: {facts['set']}, {facts['n_rows']:,} x "
        f"{facts['n_features']:,}, lam = {report.power(facts['lam'])}, until within "
        f"{report.power(facts['level'])} of the optimum (goal: {_GOAL_PEERS} times the fastest "
        "peer)."
    )
    rows = []
    for key, result in task["measured"].items():
        seconds = report.spread(result["seconds"])
        reached = result["suboptimality"] <= facts["level"]
        times = peer and key in _OURS and reached and peer / median(result["seconds"])
        rows.append(
            [
                _TITLES[key],
                seconds if reached else f"not reached in {seconds}",
                report.times(times) if times else "",
                report.power(max(0.0, result["suboptimality"]), 1),
                f"{result['budget']} {_UNITS[key]}",
            ]
        )
    header = ["", "seconds", "times the fastest peer", "suboptimality", "budget"]
    left_out = report.left_out(task["left_out"], _TITLES)
    floor = floor_line(task["floor"]) + (_reach(task, peer) if peer else "")
    table = report.table(header, rows, right={1, 2, 3, 4})
    return "\n\n".join([head, table, floor, *left_out])
