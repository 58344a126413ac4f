"""Runs a command and prints how long it took and how much memory it used at most.

    python benchmarks/end_to_end_clock.py COMMAND ...

A small process of its own: a command would inherit the peak of memory of the one that starts it.
"""

import json
import os
import resource
import subprocess
import sys
from time import perf_counter


def as_installed() -> dict[str, str]:
    """Return an environment in which Python keeps what it compiled, as an installation does."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def main() -> int:
    env = as_installed()
    started = perf_counter()
    code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False, env=env).returncode
    seconds = perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    print(json.dumps({"seconds": seconds, "peak": peak}))
    return code if code >= 0 else os.EX_SOFTWARE


if __name__ == "__main__":
    sys.exit(main())
