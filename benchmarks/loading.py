"""How fast svmlight text becomes a CSR matrix.

    python benchmarks/loading.py            # a file of 1 GB; writes the section of BENCHMARKS.md
    python benchmarks/loading.py --quick    # a small file: does it all work?

Prints MB of text per second, best of several turns; _NOTES says how.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import perf_counter

import datasets
import machine
import rcv1_like
import report
from script import say

_ROOT = Path(__file__).resolve().parents[1]
_ROWS = 50_000  # distinct; the file repeats them
_PEERS = ("vowpalwabbit", "liblinear-official")
_NOTES = """
The text is generated: documents of 75 words with values of 7 digits (what a float32 needs) or of 16
(what scikit-learn writes). All read the same file, from the page cache, in turn; a result is the
fastest of several turns. VW reads the same rows in its own format and learns nothing (`--noop`): it
hashes features instead of building a matrix. The reader that comes with liblinear is written in
Python; it and scikit-learn's get a part of the file, as their rate does not depend on its size.
"""


def ours(n_jobs: int) -> Callable[[Path], None]:
    from pegasos.io import read

    return lambda path: _ignore(read(path, n_jobs=n_jobs))


def ours_in_double(path: Path) -> None:
    from pegasos.io import read

    _ignore(read(path, dtype="float64", n_jobs=-1))


def scikit_learn(path: Path) -> None:
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    _ignore(load_svmlight_file(str(path), dtype=np.float32))


def vowpal_wabbit(path: Path) -> None:
    import vowpalwabbit

    vowpalwabbit.Workspace(f"-d {path.with_suffix('.vw')} --noop --quiet").finish()


def liblinear(path: Path) -> None:
    from liblinear.commonutil import svm_read_problem

    _ignore(svm_read_problem(str(path), return_scipy=True))


def _ignore(_: object) -> None:
    pass


# What is measured, and whether it gets a part of the file only.
CONTESTANTS: dict[str, tuple[Callable[[Path], None], bool]] = {
    "pegasos, 1 thread": (ours(1), False),
    "pegasos, 2 threads": (ours(2), False),
    "pegasos, float64, all cores": (ours_in_double, False),
    "VW": (vowpal_wabbit, False),
    "scikit-learn": (scikit_learn, True),
    "liblinear": (liblinear, True),
}


def generate(folder: Path, digits: int, n_bytes: int) -> tuple[Path, Path]:
    """Write the file for all, a part of it, and the same for VW; return the first two."""
    whole = folder / f"loading-{digits}-{n_bytes}.svm"
    part = folder / f"loading-{digits}-part-{n_bytes}.svm"
    if whole.exists():
        return whole, part
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    X, y = rcv1_like.generate(_ROWS)
    factor = 1 if digits <= 8 else 1.00000001  # else many of the digits would be zeros
    lines = []
    for label, i, j in zip(y, X.indptr, X.indptr[1:], strict=False):
        columns, values = X.indices[i:j].tolist(), X.data[i:j].tolist()
        entries = (f"{c + 1}:{v * factor:.{digits}g}" for c, v in zip(columns, values, strict=True))
        lines.append(f"{label:+d} {' '.join(entries)}\n")
    text = "".join(lines).encode()
    text = text[: text.rfind(b"\n", 0, n_bytes) + 1]
    times = max(1, n_bytes // len(text))
    for path, content, n in (
        (whole.with_suffix(".vw"), _for_vw(text), times),
        (part, text, 1),
        (whole, text, times),  # the last, as it stands for all
    ):
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            for _ in range(n):
                file.write(content)
        unfinished.replace(path)
    return whole, part


def _for_vw(text: bytes) -> bytes:
    return text.replace(b"+1 ", b"1 | ").replace(b"-1 ", b"-1 | ")


def measure(folder: Path, n_bytes: int, repeats: int) -> dict[str, dict[str, float]]:
    """Return MB/s by digits and contestant."""
    rates: dict[str, dict[str, float]] = {}
    for digits in (7, 16):
        whole, part = generate(folder, digits, n_bytes)
        best: dict[str, float] = {}
        for _ in range(repeats):
            for name, (load, takes_part) in CONTESTANTS.items():
                path = part if takes_part else whole
                with contextlib.suppress(ImportError):
                    start = perf_counter()
                    load(path)
                    rate = path.stat().st_size / 1e6 / (perf_counter() - start)
                    best[name] = max(best.get(name, 0.0), rate)
                    say(f"{digits} digits, {name}: {rate:.0f} MB/s")
        rates[f"{digits} digits"] = best
    return rates


def table(rates: dict[str, dict[str, float]]) -> str:
    header = ["reader", *(f"{digits}, MB/s" for digits in rates)]
    rows = [
        [name, *(f"{best[name]:.0f}" if name in best else "–" for best in rates.values())]
        for name in CONTESTANTS
    ]
    return report.table(header, rows, right={1, 2})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small file: does it all work?")
    parser.add_argument("--megabytes", type=int, help="size of the file; 1000")
    parser.add_argument("--repeats", type=int, default=3, help="turns; 3")
    parser.add_argument("--output", type=Path, help="BENCHMARKS.md; with --quick none")
    parser.add_argument(
        "--cache", type=Path, default=datasets.default_cache(), help="for the files"
    )
    options = parser.parse_args()
    n_bytes = (options.megabytes or (5 if options.quick else 1000)) * 1_000_000
    if machine.is_busy():
        say("note: other programs are using this machine; the figures will suffer")
    rates = measure(options.cache, n_bytes, options.repeats)
    content = {
        "machine": machine.machine(),
        "versions": machine.versions(_PEERS),
        "runs": [{"date": date.today().isoformat(), "command": _command()}],
    }
    parts = [f"## Loading svmlight text ({n_bytes // 1_000_000} MB)", table(rates)]
    text = report.section(content, parts, _NOTES)
    print(text)
    output = options.output or (None if options.quick else _ROOT / "BENCHMARKS.md")
    if output:
        report.write_section(output, "loading", text)
    return 0


def _command() -> str:
    arguments = [Path(a).name if os.sep in a else a for a in sys.argv[1:]]
    return " ".join(["python benchmarks/loading.py", *arguments])


if __name__ == "__main__":
    sys.exit(main())
