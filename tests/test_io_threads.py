"""Reading counts threads as joblib does, without importing it."""

import subprocess
import sys

import joblib
import pytest

from pegasos.io._threads import threads_of


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1, -2, -1000])
def test_threads_are_those_of_joblib(n_jobs):
    code = f"""
import sys
from pegasos.io._threads import threads_of
print(threads_of({n_jobs}), "joblib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # joblib may know of limits beside those of the cores.
    n_threads, is_imported = done.stdout.split()
    assert int(n_threads) >= joblib.effective_n_jobs(n_jobs) >= 1
    if n_jobs is None or n_jobs > 0:
        assert int(n_threads) == joblib.effective_n_jobs(n_jobs)
    assert is_imported == "False"
    assert threads_of(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_what_joblib_was_asked_for_counts():
    with joblib.parallel_config(backend="threading", n_jobs=7):
        assert threads_of(None) == 7


@pytest.mark.parametrize("imports", ["", "import joblib"])
def test_no_threads_at_all_mean_nothing(imports):
    code = f"{imports}\nfrom pegasos.io._threads import threads_of\nthreads_of(0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("ValueError: n_jobs == 0 in Parallel has no meaning\n")
