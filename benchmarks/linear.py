"""Linear SVMs side by side: seconds to a given closeness to the optimum, per epoch, and memory.

    python benchmarks/linear.py                        everything; writes BENCHMARKS.md, the figure
    python benchmarks/linear.py --quick --sets a9a     a first look; writes nothing but its JSON
    python benchmarks/linear.py --peers ours           only ours again; the others stay as they are
    python benchmarks/linear.py --redraw               tables and figure from the JSON alone

Every task is: minimise lam/2 ||w||^2 + mean hinge, without intercept. The objective of the weights
is computed here, in float64, while the clock stands still.
"""

import argparse
import os
import shlex
import sys
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import datasets
import figure
import machine
import measure
import peers
import report
import scipy.sparse as sp
from datasets import Labels, Matrix
from results import Results, ResultsError
from trial import PARTS, Trial

_ROOT = Path(__file__).resolve().parents[1]
_MANY_ROWS = 200_000
_REFERENCE_TOL = 1e-6
_REFERENCE_VISITS = 500_000_000  # rows times epochs, at most


@dataclass(frozen=True)
class Task:
    """A data set and a lam (None: 1/m, that is C = 1)."""

    title: str
    dataset: str
    lam: float | None


TASKS = {
    "cov1": Task("cov1", "cov1", 1e-6),
    "a9a": Task("Adult (a9a)", "a9a", None),
    "a9a-1e-4": Task("Adult (a9a)", "a9a", 1e-4),
    "ijcnn1": Task("ijcnn1", "ijcnn1", None),
    "reviews": Task("reviews, tf-idf", "reviews", 1e-4),
    "sparse": Task("generated text", "sparse", 1e-4),
}


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    try:
        if options.redraw:
            kept = Results.read(options.json)
        else:
            kept = Results.open(options.json, machine=machine.machine(), quick=options.quick)
            _measure(kept, options, sys.argv[1:] if arguments is None else arguments)
    except ResultsError as error:
        _say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        _say(f"stopped; what was finished is in {options.json.name}: --redraw shows it")
        return 130
    _write(kept, options)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def add_choice(name: str, choices: list[str]) -> None:
        text = f"of {', '.join(choices)}; all by default"
        parser.add_argument(name, nargs="+", choices=choices, metavar="NAME", help=text)

    def add(name: str, **settings: Any) -> None:
        parser.add_argument(name, **settings)

    add_choice("--sets", list(TASKS))
    add_choice("--peers", peers.NAMES)
    add_choice("--parts", list(PARTS))
    add("--quick", action="store_true", help="at most 20,000 rows, 1 run, 1 s: does it all work?")
    add("--repeats", type=int, help="runs, each with another seed; 5, or 3 for many rows")
    add("--limit", type=float, help="seconds after which a contestant gives up on a set; 60")
    add("--output", type=Path, help="BENCHMARKS.md; with --quick none")
    add("--figure", type=Path, help="without suffix; docs/images/..., with --quick none")
    add("--json", type=Path, help="raw results, kept and added to; build/benchmarks/linear.json")
    add("--redraw", action="store_true", help="measure nothing")
    add("--cache", type=Path, help="folder for prepared data; one among the temporary files")
    options = parser.parse_args(arguments)

    name = "linear-quick.json" if options.quick else "linear.json"
    options.json = options.json or _ROOT / "build" / "benchmarks" / name
    options.cache = options.cache or datasets.default_cache()
    options.limit = options.limit or (1 if options.quick else 60)
    if not options.quick:
        options.output = options.output or _ROOT / "BENCHMARKS.md"
        options.figure = options.figure or _ROOT / "docs" / "images" / "linear_benchmark"
    return options


def _measure(kept: Results, options: argparse.Namespace, arguments: list[str]) -> None:
    if machine.is_busy():
        _say("note: other programs are using this machine; the figures will suffer")
    is_everything = not (options.sets or options.peers or options.parts)
    earlier = [] if is_everything else kept.content.get("runs", [])
    run = {"date": date.today().isoformat(), "command": _command(arguments)}
    kept.content.update(
        versions=machine.versions(),
        limit=options.limit,
        runs=[*(r for r in earlier if r != run), run],
    )
    for name in options.sets or TASKS:
        try:
            dataset = datasets.prepare(TASKS[name].dataset, options.cache, quick=options.quick)
        except datasets.MissingDataError as missing:
            _say(f"{name} is left out: {missing}")
            continue
        _measure_task(kept, name, dataset, options)


def _measure_task(
    kept: Results, name: str, dataset: datasets.DataSet, options: argparse.Namespace
) -> None:
    X, y = dataset.load()
    lam = TASKS[name].lam or 1 / len(y)
    task = kept.task(name, _facts(name, dataset, X, y, lam))
    if task["reference"] is None:
        _say(f"{name}: looking for the optimum")
        task["reference"] = _reference(X, y, lam)
        kept.save()
    best, bound = task["reference"]["objective"], task["reference"]["bound"]
    _say(f"{name}: optimum {best:.8f}, certified to be within {(best - bound) / best:.0e}")

    repeats = options.repeats or (1 if options.quick else 3 if len(y) > _MANY_ROWS else 5)
    for contestant in peers.chosen(options.peers or []):
        trial = Trial(task, contestant, dataset, X, y, lam, repeats, options.limit)
        reason = trial.measure(options.parts or PARTS)
        if reason is not None:
            _say(f"{name}: {contestant.title} is left out: {reason}")
        kept.save()


def _facts(
    name: str, dataset: datasets.DataSet, X: Matrix, y: Labels, lam: float
) -> dict[str, Any]:
    return {
        **asdict(TASKS[name]),
        "lam": lam,
        "is_sparse": sp.issparse(X),
        "n_rows": X.shape[0],
        "n_features": X.shape[1],
        "n_nonzeros": int(X.nnz if sp.issparse(X) else (X != 0).sum()),
        "n_bytes": datasets.n_bytes(X, y),
        "data_key": dataset.key,
    }


def _reference(X: Matrix, y: Labels, lam: float) -> dict[str, float]:
    """Return a bound from below and an objective close to it, from a long run."""
    from pegasos import PegasosClassifier

    model = PegasosClassifier(
        lam,
        solver="sdca",
        tol=_REFERENCE_TOL,
        max_iter=max(100, min(5000, _REFERENCE_VISITS // len(y))),
        fit_intercept=False,
        random_state=0,
        n_jobs=2,
    )
    seconds, _ = measure.timed(lambda: model.fit(X, y))
    return {
        "objective": measure.hinge_objective(X, y, model.coef_, lam),
        "bound": model.dual_objective_,
        "seconds": seconds,
        "epochs": model.n_iter_,
    }


def _write(kept: Results, options: argparse.Namespace) -> None:
    print(report.tables(kept.content))
    picture = None
    if options.figure:
        try:
            figure.draw(kept.content, options.figure)
            picture = options.figure.with_suffix(".png")
        except ImportError:
            _say("no figure: matplotlib is not installed (it comes with the extra 'bench')")
    if options.output:
        link = Path(os.path.relpath(picture, options.output.parent)).as_posix() if picture else None
        report.write_section(options.output, "linear", report.document(kept.content, link))


def _command(arguments: list[str]) -> str:
    """Return the command without the folders of this machine."""
    shown = [Path(argument).name if "/" in argument else argument for argument in arguments]
    return shlex.join(["python", "benchmarks/linear.py", *shown])


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
