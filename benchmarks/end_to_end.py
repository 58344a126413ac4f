"""From a file on disk to a model on disk: seconds and memory of whole processes, side by side.

python benchmarks/end_to_end.py                    everything; writes its part of BENCHMARKS.md
python benchmarks/end_to_end.py --quick            a first look; writes nothing but its JSON
python benchmarks/end_to_end.py --peers ours       only ours again; the others stay
python benchmarks/end_to_end.py --redraw           tables from the JSON alone
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import contestants
import datasets
import end_to_end_report
import measure
from end_to_end_peers import CONTESTANTS, Contestant
from linear import reference
from results import Results
from script import Script, say

_CLOCK = Path(__file__).with_name("end_to_end_clock.py")


@dataclass(frozen=True)
class Task:
    """A data set, the ending of the file that people would have it in, and a lam."""

    title: str
    dataset: str
    file: str
    lam: float


TASKS = {
    "text": Task("generated text, svmlight", "sparse-200k", "svm", 1e-4),
    "covtype": Task("covtype, csv", "cov1", "csv", 1e-6),
}


def write_files(dataset: datasets.DataSet, folder: Path) -> dict[str, Path]:
    """Write the rows as svmlight, csv (if they are dense) and VW's text; return the files."""
    from pegasos.io import write

    X, y = dataset.load()
    is_sparse = datasets.facts(X, y)["is_sparse"]
    files = {kind: folder / f"{dataset.key}.{kind}" for kind in ("svm", "csv", "vw")}
    if is_sparse:
        del files["csv"]
    for kind, path in files.items():
        if path.exists():
            continue
        if kind != "vw":
            write(path, X, y)
            continue
        text = files["svm"].read_bytes().replace(b"\n1 ", b"\n1 | ").replace(b"\n-1 ", b"\n-1 | ")
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(text.replace(b" ", b" | ", 1))
        unfinished.replace(path)
    return files


def clocked(command: list[str]) -> dict[str, float]:
    """Run a command in a process of its own; return its seconds and its peak of memory."""
    done = subprocess.run(
        [sys.executable, str(_CLOCK), *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "it failed")
    result: dict[str, float] = json.loads(done.stdout)
    return result


@dataclass(frozen=True)
class Trial:
    """A contestant on a task."""

    contestant: Contestant
    data: Path
    X: datasets.Matrix
    y: datasets.Labels
    lam: float
    optimum: float
    repeats: int
    limit: float

    def climb(self) -> dict[str, Any]:
        """Return the first budget that is enough, or the last that there was time for."""
        spent = 0.0
        for budget in self.contestant.ladder:
            one, suboptimality = self._run(budget)
            spent += one["seconds"]
            reached = suboptimality <= end_to_end_report.LEVEL
            say(
                f"  {self.contestant.title:36} {budget:7g} {self.contestant.unit:6} "
                f"{one['seconds']:8.3f} s  suboptimality {suboptimality:.2e}"
            )
            if reached or spent > self.limit:
                break
        runs = [one]
        while reached and len(runs) < self.repeats:
            runs.append(self._run(budget)[0])
        return {
            "budget": budget,
            "reached": reached,
            "suboptimality": suboptimality,
            "seconds": [run["seconds"] for run in runs],
            "peak": max(run["peak"] for run in runs),
        }

    def _run(self, budget: float) -> tuple[dict[str, float], float]:
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            one = clocked(self.contestant.command(self.data, model, self.lam, budget))
            w = self.contestant.weights(model, self.X.shape[1])
        return one, measure.hinge_objective(self.X, self.y, w, self.lam) / self.optimum - 1


def _measure(kept: Results, options: argparse.Namespace) -> None:
    for name in options.sets or TASKS:
        try:
            dataset = datasets.prepare(TASKS[name].dataset, options.cache, quick=options.quick)
        except datasets.MissingDataError as missing:
            say(f"{name} is left out: {missing}")
            continue
        _measure_task(kept, name, dataset, options)


def _measure_task(
    kept: Results, name: str, dataset: datasets.DataSet, options: argparse.Namespace
) -> None:
    X, y = dataset.load()
    files = write_files(dataset, options.cache)
    own = files[TASKS[name].file]
    facts = {
        **asdict(TASKS[name]),
        **datasets.facts(X, y),
        "n_text": own.stat().st_size,
        "data_key": dataset.key,
    }
    task = kept.task(name, facts, {"reference": None, "measured": {}, "left_out": {}})
    if task["reference"] is None:
        say(f"{name}: looking for the optimum")
        task["reference"] = reference(X, y, TASKS[name].lam)
        kept.save()
    repeats = options.repeats or (1 if options.quick else 3)
    for contestant in contestants.chosen(CONTESTANTS, options.peers or []):
        key = contestant.key
        task["measured"].pop(key, None)
        task["left_out"].pop(key, None)
        data = own if contestant.file == "own" else files[contestant.file]
        optimum = task["reference"]["objective"]
        trial = Trial(contestant, data, X, y, TASKS[name].lam, optimum, repeats, options.limit)
        try:
            reason = contestant.why_not()
            if reason is None:
                task["measured"][key] = trial.climb()
        except Exception as error:  # noqa: BLE001 - whatever a peer raises, the others go on
            reason = contestants.reason_of(error)
        if reason is None:
            say(f"{name}: {contestant.title}: {end_to_end_report.line(task['measured'][key])}")
        else:
            task["left_out"][key] = reason
            say(f"{name}: {contestant.title} is left out: {reason}")
        kept.save()


SCRIPT = Script(
    name="end_to_end",
    description=__doc__,
    choices={"sets": list(TASKS), "peers": contestants.names(CONTESTANTS)},
    help={
        "quick": "20,000 rows, 1 run",
        "repeats": "runs of the budget that is enough; 3",
        "limit": "seconds after which a contestant climbs no further",
    },
    peers=("liblinear-official", "pandas", "vowpalwabbit"),
    measure=_measure,
    tables=end_to_end_report.tables,
    document=end_to_end_report.document,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
