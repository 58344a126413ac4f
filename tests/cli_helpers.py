"""Runs the real program, as a user does."""

import os
import pty
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("pegasos")
# What the environment of the tests may hold and their outcome may not depend on.
_UNWANTED = ("PEGASOS_DATA", "PEGASOS_TRACEBACK", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")

TINY = """
title = "Two moons, quickly"
seed = 0

[data]
name = "moons"
n_rows = 80

[prepare]
test = 0.25

[evaluate]
folds = 3

[[models]]
name = "Gaussian"
estimator = "KernelPegasosClassifier"

[models.grid]
gamma = [1.0, 2.0]
lam = [1e-3, 1e-2]
max_steps = [50, 200]

[[models]]
name = "line"
estimator = "PegasosClassifier"
lam = 0.01
max_steps = 200

[[reported]]
model = "Gaussian"
quantity = "test_accuracy"
value = 0.50
source = "a coin"

[[reported]]
model = "line"
quantity = "test_accuracy"
value = 1.00
note = "No line separates the moons."

[[figures]]
kind = "heatmap"
model = "Gaussian"
"""

# Tasks in plain NumPy, each long enough to be interrupted in.
N_TASKS = 12
SLOW = f"""
title = "Slow"

[[timings]]
name = "loop"
axis = "max_steps"
values = {[20_000 + i for i in range(N_TASKS)]}
runs = 1
implementation = "dense"
lam = 0.01
"""


# Where the tests themselves run in the background, Ctrl-C may be ignored, and a child inherits it.
LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from pegasos.cli import main; main()"
)


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return {**kept, **more}


def pegasos(*arguments, cwd=None, env=None, **options):
    """Run the program to its end; return exit code, stdout and stderr."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=environment(**(env or {})),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,
    )


def pegasos_after(code, *arguments, cwd=None, env=None):
    """Run the program in a Python that has run this code first."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nfrom pegasos.cli import main; main()",
            *map(str, arguments),
        ],
        cwd=cwd,
        env=environment(**(env or {})),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def stopped_with(number, folder, *arguments):
    """Run a study, stop it once it says that something is done; return code and messages."""
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as program:
        for line in program.stderr:
            if "% done" in line:
                break
        program.send_signal(number)
        data, said = program.communicate(timeout=60)
    assert data == ""
    return program.returncode, said


def complaint(done, code=2):
    """Return the texts of error: and hint: of a run that must end with them, and nothing else."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2, done.stderr
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    return lines[0].removeprefix("error: "), lines[1].removeprefix("hint: ")


def said_on_a_terminal(*arguments, cwd=None, **env):
    """Return what the program writes when a terminal is what it talks to."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *arguments],
        cwd=cwd,
        env=environment(TERM="xterm", **env),
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    ) as program:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # how Linux says that the other side is closed
                piece = b""
            if not piece:
                break
            said += piece
        program.wait(60)
    os.close(ours)
    return said.decode()
