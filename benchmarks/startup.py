"""How long it takes until the program answers, and how much of a short fit is nothing but start.

    python benchmarks/startup.py

Prints the median of fresh processes, in turn, beside that of a Python that does nothing, that
imports NumPy, or the base class of scikit-learn's estimators. The goal is 0.3 s for
`pegasos --help`. A fit of four rows is what no fit is quicker than.
"""

import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from end_to_end_clock import as_installed

ROUNDS = 15
PROGRAM = str(Path(sys.executable).with_name("pegasos"))
FOUR_ROWS = "a,b,y\n0,0,0\n0,1,0\n1,0,1\n1,1,1\n"


def commands(folder: Path) -> dict[str, list[str]]:
    """Return what is timed, by its name; the folder is for the data and the model of a fit."""
    data = folder / "four.csv"
    data.write_text(FOUR_ROWS)
    program = {
        line: [PROGRAM, *line.split()[1:]]
        for line in ("pegasos --help", "pegasos study --help", "pegasos fit --help")
    }
    statements = (
        "pass",
        "import numpy",
        "from sklearn.base import BaseEstimator",
        "import pegasos",
        "from pegasos import PegasosClassifier",
    )
    fit = [PROGRAM, "fit", str(data), "-o", str(folder / "model.safetensors"), "--target", "y"]
    return {
        **{line: [sys.executable, "-c", line] for line in statements},
        **program,
        "pegasos fit, four rows": fit,
    }


def seconds_of(command: list[str]) -> float:
    env = as_installed()
    start = perf_counter()
    silent = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=silent, stderr=silent, env=env)
    return perf_counter() - start


def main() -> None:
    with TemporaryDirectory() as folder:
        timed = commands(Path(folder))
        for command in timed.values():  # files come from the disk once, and are compiled once
            seconds_of(command)
        rounds = [
            {name: seconds_of(command) for name, command in timed.items()} for _ in range(ROUNDS)
        ]
    for name in timed:
        print(f"{name:40s}{median(one[name] for one in rounds):.3f} s")


if __name__ == "__main__":
    main()
