"""How long it takes until the program answers, and until the package is imported.

    python benchmarks/startup.py

Prints the median of fresh processes, in turn, beside that of a Python that does nothing. The goal
is 0.3 s for `pegasos --help`.
"""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from end_to_end_clock import as_installed

ROUNDS = 15
PROGRAM = str(Path(sys.executable).with_name("pegasos"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "pegasos --help": [PROGRAM, "--help"],
    "pegasos study --help": [PROGRAM, "study", "--help"],
    "pegasos fit --help": [PROGRAM, "fit", "--help"],
    "import pegasos": [sys.executable, "-c", "import pegasos"],
    "from pegasos import PegasosClassifier": [
        sys.executable,
        "-c",
        "from pegasos import PegasosClassifier",
    ],
}


def seconds_of(command: list[str]) -> float:
    env = as_installed()
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    return perf_counter() - start


def main() -> None:
    for command in COMMANDS.values():  # files come from the disk once, and are compiled once
        seconds_of(command)
    rounds = [
        {name: seconds_of(command) for name, command in COMMANDS.items()} for _ in range(ROUNDS)
    ]
    for name in COMMANDS:
        print(f"{name:40s}{median(one[name] for one in rounds):.3f} s")


if __name__ == "__main__":
    main()
