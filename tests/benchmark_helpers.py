"""The scripts in benchmarks/, for the tests of their parts."""

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("the source distribution has no benchmarks", allow_module_level=True)


@contextmanager
def imported():
    """Give the modules by name. They import each other as a script does, from their own folder."""
    names = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in names:  # such plain names are not for other tests to find
            sys.modules.pop(name, None)
