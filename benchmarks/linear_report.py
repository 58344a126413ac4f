"""Linear machines: from results to tables, and to their section of BENCHMARKS.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import report
from ladder import LEVELS, Point, cheapest, optimum_of, points_of
from linear_peers import BY_KEY, CONTESTANTS, EPOCH_RIVALS, Contestant


@dataclass(frozen=True)
class Reached:
    """The cheapest point at which a contestant is close enough."""

    contestant: Contestant
    point: Point

    @property
    def seconds(self) -> float:
        return median(self.point.seconds)


def tables(content: dict[str, Any]) -> str:
    """Return all tables, as Markdown."""
    tasks = {name: task for name, task in content["tasks"].items() if task["reference"]}
    if not tasks:
        return "Nothing is measured yet."
    parts = [
        "### Times faster than the fastest peer",
        _ratio_table(tasks.values()),
        "### Seconds to a relative suboptimality",
        *(f"{_headline(task)}\n\n{_seconds_table(task)}" for task in tasks.values()),
        "### Seconds per epoch",
        _epoch_table(tasks.values()),
        "### Memory beyond the data",
        _memory_table(tasks.values()),
    ]
    return "\n\n".join(parts)


def document(content: dict[str, Any], picture: str | None = None) -> str:
    """Return the section about linear machines."""
    alt = "Relative suboptimality against seconds, a panel for each data set"
    parts = [
        "## Linear SVMs",
        _summary(content),
        report.image(alt, picture),
        tables(content),
    ]
    return report.section(content, parts, _NOTES.format(limit=content["limit"]))


def reached(task: dict[str, Any], level: float) -> list[Reached]:
    """Return who gets that close, the fastest first."""
    optimum = optimum_of(task)
    found = (
        (contestant, cheapest(points_of(task, contestant.key), optimum, level))
        for contestant in CONTESTANTS
    )
    reaching = [Reached(contestant, point) for contestant, point in found if point]
    return sorted(reaching, key=lambda r: r.seconds)


_NOTES = """
- The task: minimise `P(w) = lam/2 ||w||^2 + mean hinge`, without intercept, with labels -1 and +1.
  Packages that have a `C` get `1/(lam m)`.
- Seconds are those of a fit with a new estimator, from data in memory (float32, dense or CSR with
  int32 indices) to weights. Whatever a package does with the data first counts: copies, float64,
  its own format. liblinear's conversion is also shown apart, in square brackets; NumPy fills its
  nodes here, which is several times faster than its own loop.
- Everyone tries growing budgets: epochs (whole ones, for PegasosClassifier also parts of one) or,
  for liblinear, its tolerance. The benchmark then computes the objective of the weights in float64;
  the clock stands still meanwhile. Shown is the cheapest budget whose relative suboptimality
  `(P - P*)/P*` is small enough. Every run has another seed; both the suboptimality and the seconds
  are medians, and in round brackets are the seconds of the fastest and the slowest run.
  It counts even where a larger budget ends further away again. Parts of an epoch are finer steps
  than the peers have, and the lowest of several noisy medians is a little flattering: to everyone,
  most to whoever has most steps.
- `P*` is the lowest objective anyone has found, a long run of `solver="sdca"` included. That run
  also bounds the optimum from below; how close the two are is stated with each set. The bound is
  the solver's own word, the objectives are not; none of them may be below it.
- The constants of `solver="sdca"` (docs/how_it_works.md, section 5) were chosen on these very sets:
  no set was held out, so expect somewhat less elsewhere.
- A dash: not reached before {limit:g} s were spent; in brackets the best suboptimality.
- Pegasos takes part twice, as SGDClassifier does: with its last weights (`average=None`) and with
  averaged ones (`average="weighted"`, the default). `sdca` has its default, too.
- Seconds per epoch: the slope between 5 and 15 epochs, so that what is done once does not count;
  last weights against last weights, averaged against averaged.
- Memory: by how much the process grows at most during a fit, in a fresh process that has loaded
  the data and fitted a few rows of it before.
- cov1: covertype, class 2 against the rest, columns scaled to [0, 1], rows to unit length, 522,911
  of them drawn at random. Adult and ijcnn1: their training sets. Reviews: tf-idf of the tokens,
  each text once. Generated text: words by Zipf's law and by the topics of two classes, unit
  length, 5% of the labels wrong (`benchmarks/rcv1_like.py`).
"""


def _summary(content: dict[str, Any]) -> str:
    """Return one sentence with the range of the ratios, for those who read no tables."""
    ratios = {
        level: [
            ratio
            for task in content["tasks"].values()
            if task["reference"] and (ratio := _best_ratio(task, level)) is not None
        ]
        for level in LEVELS[1:]
    }
    said = [
        f"{min(values):.1f} to {max(values):.1f} times, to {report.power(level)}"
        for level, values in ratios.items()
        if values
    ]
    if not said:
        return ""
    return (
        "Speed of PegasosClassifier, with one thread or two, relative to the fastest peer on each "
        f"set: {'; '.join(said)}."
    )


def _best_ratio(task: dict[str, Any], level: float) -> float | None:
    peer, *ours = _rivals(task, level)
    if peer is None:
        return None
    return max((peer.seconds / our.seconds for our in ours if our), default=0)


def _rivals(
    task: dict[str, Any], level: float
) -> tuple[Reached | None, Reached | None, Reached | None]:
    """Return the fastest peer, and the fastest of ours with one and with two threads."""
    ranking = reached(task, level)
    peer = next((r for r in ranking if not r.contestant.ours), None)
    one, two = (
        next((r for r in ranking if r.contestant.ours and r.contestant.threads == n), None)
        for n in (1, 2)
    )
    return peer, one, two


def _ratio_table(tasks: Iterable[dict[str, Any]]) -> str:
    rows = []
    for task in tasks:
        for level in LEVELS:
            peer, *ours = _rivals(task, level)
            row = [title(task), report.power(level), _who(peer)]
            for our in ours:
                row += [_who(our), _times(peer, our)]
            rows.append(row)
    header = ["set", "to", "fastest peer", "ours, 1 thread", "times", "ours, 2 threads", "times"]
    return report.table(header, rows, right={4, 6})


def _who(found: Reached | None) -> str:
    if found is None:
        return "–"
    name = found.contestant.title
    if found.contestant.ours:  # the column tells the package and the threads
        name = name.removeprefix("PegasosClassifier ").rpartition(", ")[0]
    return f"{name} {report.in_seconds(found.seconds)}"


def _times(peer: Reached | None, our: Reached | None) -> str:
    return report.times(peer.seconds / our.seconds if peer and our else None)


def title(task: dict[str, Any]) -> str:
    return f"{task['facts']['title']}, lam {_lam(task)}"


def _lam(task: dict[str, Any]) -> str:
    facts = task["facts"]
    is_one_over_m = abs(facts["lam"] * facts["n_rows"] - 1) < 1e-9
    return "1/m" if is_one_over_m else report.power(facts["lam"])


def _headline(task: dict[str, Any]) -> str:
    facts, bound, optimum = task["facts"], task["reference"]["bound"], optimum_of(task)
    kind = "CSR" if facts["is_sparse"] else "dense"
    density = facts["n_nonzeros"] / (facts["n_rows"] * facts["n_features"])
    closeness = report.power((optimum - bound) / optimum)
    text = (
        f"**{title(task)}**: {facts['n_rows']:,} x {facts['n_features']:,}, {kind}, "
        f"{density:.2%} non-zero, {facts['n_bytes'] / 1e6:.1f} MB. "
        f"P* = {optimum:.8f}, certified to be within {closeness} of optimal."
    )
    if bound > optimum * (1 + 1e-9):  # 1e-9: rounding of sums of many terms
        text += " **The bound is above an objective: it is false.**"
    return text


def _seconds_table(task: dict[str, Any]) -> str:
    ranking = {level: {r.contestant.key: r for r in reached(task, level)} for level in LEVELS}
    fastest = {
        level: min((r.seconds for r in rs.values()), default=0) for level, rs in ranking.items()
    }
    rows = []
    for contestant in CONTESTANTS:
        points = points_of(task, contestant.key)
        if not points:
            continue
        row = [contestant.title]
        for level in LEVELS:
            found = ranking[level].get(contestant.key)
            if found is None:
                best = min(point.suboptimality(optimum_of(task)) for point in points)
                row.append(f"– ({report.power(best, 1)})")
            else:
                row.append(_spread(found, is_fastest=found.seconds == fastest[level]))
        rows.append(row)
    table = report.table(["", *(report.power(level) for level in LEVELS)], rows, right={1, 2, 3})
    titles = {key: contestant.title for key, contestant in BY_KEY.items()}
    return "\n\n".join([table, *report.left_out(task["left_out"], titles)])


def _spread(found: Reached, *, is_fastest: bool) -> str:
    text = report.spread(found.point.seconds, is_fastest=is_fastest)
    conversion = median(found.point.conversions)
    if conversion:
        text += f" [{report.number(conversion)}]"
    return text


def _epoch_table(tasks: Iterable[dict[str, Any]]) -> str:
    rows = []
    for task in tasks:
        seconds = task["epoch_seconds"]
        for peer in dict.fromkeys(EPOCH_RIVALS.values()):
            ours = [key for key, rival in EPOCH_RIVALS.items() if rival == peer]
            row = [title(task), BY_KEY[peer].title, _seconds_of(seconds, peer)]
            for key in ours:
                known = {peer, key} <= seconds.keys()
                ratio = report.times(seconds[peer] / seconds[key] if known else None)
                row += [_seconds_of(seconds, key), ratio]
            rows.append(row)
    header = ["set", "peer", "its epoch", "ours, 1 thread", "times", "ours, 2 threads", "times"]
    return report.table(header, rows, right=set(range(2, 7)))


def _seconds_of(seconds: dict[str, float], key: str) -> str:
    return report.in_seconds(seconds[key]) if key in seconds else "–"


def _memory_table(tasks: Iterable[dict[str, Any]]) -> str:
    tasks = list(tasks)
    keys = [c.key for c in CONTESTANTS if any(c.key in task["memory_bytes"] for task in tasks)]
    rows = [
        [
            title(task),
            f"{task['facts']['n_bytes'] / 1e6:.1f} MB",
            f"{8 * task['facts']['n_features'] / 1e6:.2f} MB",
            *(_memory(task, key) for key in keys),
        ]
        for task in tasks
    ]
    header = ["set", "data", "float64 per feature", *(BY_KEY[key].title for key in keys)]
    return report.table(header, rows, right=set(range(1, len(header))))


def _memory(task: dict[str, Any], key: str) -> str:
    peak = task["memory_bytes"].get(key)
    if peak is None:
        return "–"
    return f"{peak / 1e6:.1f} MB ({peak / task['facts']['n_bytes']:.0%})"
