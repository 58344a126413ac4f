"""The figures behind the defaults and the constants of dual ascent: epochs, and how good they are.

    python benchmarks/defaults.py            # under a minute; writes its part of BENCHMARKS.md
    python benchmarks/defaults.py --quick    # 200 rows of each set: does it all work?

docs/how_it_works.md quotes them, in sections 5 and 7. Nothing here is timed.
"""

import argparse
import sys
from datetime import date
from pathlib import Path

import datasets
import default_trials as trials
import machine
import numpy as np
import report
from default_trials import Rows
from script import say

_ROOT = Path(__file__).resolve().parents[1]
TOYS = {"iris": "iris", "wine": "wine", "breast cancer": "breast_cancer", "digits": "digits"}
REAL = {"review texts": "reviews", "Adult": "a9a", "ijcnn1": "ijcnn1", "cov1": "cov1"}
_TINY = ("iris", "wine", "breast cancer")
_PATIENT = 20_000  # epochs, where the defaults give up
_SMALL_LAM = 1e-4
_QUICK_ROWS = 200
_NOTES = """
scikit-learn's toy sets are standardised; the others are those of the linear benchmark. Seed 0. An
epoch count is `n_iter_`: certificates are computed now and then only, so that it may be a quarter
too large. The optimum is that of `solver="sdca"` with `tol=1e-5`. Textbook ascent is the package's
own with its additions switched off: no start, no longer steps, no rows left asleep; its epochs are
counted by fits of one, two, three epochs and so on. With a start the first epoch is its own.
"""


def tables(sets: dict[str, Rows]) -> list[str]:
    """Return the parts of the section."""
    return [
        "## How the defaults were chosen",
        "### The defaults of PegasosClassifier",
        "Fits with default parameters, and with dual ascent:",
        _defaults(sets),
        f"With `max_iter={_PATIENT}`, the tiny sets that the defaults leave short of 1%:",
        _patience(sets),
        f"With `lam={report.power(_SMALL_LAM)}`:",
        _small_lam(sets),
        f"Standard error of the objective, relative to it: {_standard_errors(sets)}.",
        f"Epochs to a certified 1% with `lam={report.power(_SMALL_LAM)}`, by `average`:",
        _averages(sets),
        "### The start of dual ascent",
        _starts(sets),
        "Review texts, `lam=1e-5`, too few rows for a start; objective over the optimum:",
        _few_rows(sets),
    ]


def _defaults(sets: dict[str, Rows]) -> str:
    rows = []
    for name in (*TOYS, *(name for name in REAL if name != "cov1")):
        X, y = sets[name]
        ascent = trials.epochs_and_gap(sets[name], solver="sdca")
        sizes = [f"{X.shape[0]:,}", str(len(np.unique(y)))]
        rows.append([name, *sizes, *trials.epochs_and_gap(sets[name]), ascent[0]])
    header = ["set", "rows", "classes", "epochs", "relative gap", 'epochs with `solver="sdca"`']
    return _table(header, rows)


def _patience(sets: dict[str, Rows]) -> str:
    short = [name for name in _TINY if trials.relative_gap(trials.fit(sets[name])) > 0.01]
    rows = [[name, *trials.epochs_and_gap(sets[name], max_iter=_PATIENT)] for name in short]
    return _table(["set", "epochs", "relative gap"], rows)


def _small_lam(sets: dict[str, Rows]) -> str:
    rows = [[name, *trials.epochs_and_gap(sets[name], lam=_SMALL_LAM)] for name in _TINY]
    return _table(["set", "epochs", "relative gap"], rows)


def _standard_errors(sets: dict[str, Rows]) -> str:
    names = ("breast cancer", "Adult")
    return ", ".join(f"{n} {trials.percent(trials.standard_error(sets[n]))}" for n in names)


def _averages(sets: dict[str, Rows]) -> str:
    rows = [[name, *trials.epochs_by_average(sets[name], _SMALL_LAM)] for name in REAL]
    return _table(["set", "`None`", '`"uniform"`', '`"weighted"`'], rows)


def _starts(sets: dict[str, Rows]) -> str:
    rows = []
    for name in ("cov1", "Adult", "ijcnn1"):
        lam = 1e-6 if name == "cov1" else 1 / len(sets[name][1])
        rows.append([name, f"{lam:.3g}", *trials.start_and_ascent(sets[name], lam)])
    header = [
        "set",
        "`lam`",
        "objective above the optimum after the start",
        "epochs to 1%, textbook ascent",
        "the same with steps times 1.8",
        "bound below the optimum after the start and one epoch of ascent",
        "epochs of textbook ascent to that bound",
    ]
    return _table(header, rows)


def _few_rows(sets: dict[str, Rows]) -> str:
    header = ["a start, 1 epoch", "ascent, 1 epoch", "ascent, 6 epochs"]
    row = trials.start_where_rows_are_few(sets["review texts"], 1e-5)
    return report.table(header, [row], right={0, 1, 2})


def _table(header: list[str], rows: list[list[str]]) -> str:
    return report.table(header, rows, right=set(range(1, len(header))))


def read(cache: Path, *, quick: bool) -> dict[str, Rows]:
    """Return all sets by name."""
    from sklearn import datasets as toys
    from sklearn.preprocessing import StandardScaler

    sets: dict[str, Rows] = {}
    for name, file in TOYS.items():
        X, y = getattr(toys, f"load_{file}")(return_X_y=True)
        sets[name] = StandardScaler().fit_transform(X), y
    for name, key in REAL.items():
        sets[name] = datasets.prepare(key, cache, quick=quick).load()
    return {name: some_rows(data) for name, data in sets.items()} if quick else sets


def some_rows(data: Rows) -> Rows:
    X, y = data
    some = np.random.default_rng(0).permutation(len(y))[:_QUICK_ROWS]
    return X[some], y[some]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    help_of_quick = f"{_QUICK_ROWS} rows of each set: does it all work?"
    parser.add_argument("--quick", action="store_true", help=help_of_quick)
    parser.add_argument("--output", type=Path, help="BENCHMARKS.md; with --quick none")
    parser.add_argument("--cache", type=Path, default=datasets.default_cache(), help="for the data")
    options = parser.parse_args(arguments)
    try:
        sets = read(options.cache, quick=options.quick)
    except datasets.MissingDataError as missing:
        say(f"nothing is measured: {missing}")
        return 0
    content = {
        "machine": machine.machine(),
        "versions": machine.versions(()),
        "runs": [{"date": date.today().isoformat(), "command": "python benchmarks/defaults.py"}],
    }
    text = report.section(content, tables(sets), _NOTES)
    print(text)
    output = options.output or (None if options.quick else _ROOT / "BENCHMARKS.md")
    if output:
        report.write_section(output, "defaults", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
