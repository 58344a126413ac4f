"""The program answers before anything slow is imported; the package imports what is asked for."""

import importlib.metadata
import subprocess
import sys

import pytest

import pegasos
from pegasos.cli._progress import TimeLeft

from .cli_helpers import pegasos as program
from .cli_helpers import pegasos_after

SLOW = ("numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "pegasos._core", "pegasos.studies")
# The program ends by itself, not by Python's hand: it tells something before.
AT_END = """
import os, sys
end = os._exit
os._exit = lambda code: (sys.stderr.write(tell()), sys.stderr.flush(), end(code))
"""
TELL = AT_END + f"tell = lambda: repr([n for n in {SLOW} if n in sys.modules]) + chr(10)"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("study", "--help"),
        ("study", "run", "--help"),
        ("study", "list", "--help"),
        ("report", "--help"),
        ("fit", "--help"),
        ("predict", "--help"),
        ("evaluate", "--help"),
        ("inspect", "--help"),
        ("convert", "--help"),
        ("export", "--help"),
        ("stduy",),
        ("fit", "data.csv", "-o", "model", "--gamma", "1"),
    ],
    ids=" ".join,
)
def test_help_imports_nothing_slow(arguments):
    done = pegasos_after(TELL, *arguments)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_lists_the_commands_and_ends_with_examples():
    done = program("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for word in (
        "fit",
        "predict",
        "evaluate",
        "study",
        "report",
        "--version",
        "--install-completion",
        "Examples:",
    ):
        assert word in done.stdout
    assert "\n    pegasos study run digits -o results/digits" in done.stdout


def test_version_is_that_of_the_package():
    version = importlib.metadata.version("pegasos")
    assert program("--version").stdout == f"pegasos {version}\n"
    assert pegasos.__version__ == version


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pegasos study r", ["run"]),
        ("pegasos ex", ["export"]),
        ("pegasos fit x.csv --ker", ["--kernel"]),
        ("pegasos fit x.csv --kernel ", ["rbf", "poly", "linear", "precomputed"]),
        ("pegasos convert a b --to p", ["parquet"]),
    ],
)
def test_the_shell_is_told_how_to_complete(line, expected):
    number = str(len(line.split(" ")) - 1)
    env = {"_PEGASOS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": number}
    assert program(env=env).stdout.split() == expected


# They take long to import; of some, empty packages are there.
SPARED = (
    AT_END
    + """
names = (
    "asyncio.events",
    "narwhals.dataframe",
    "numpy.f2py.crackfortran",
    "numpy.ma.core",
    "numpy.polynomial.polynomial",
    "numpy.testing._private",
    "pandas",
    "psutil._common",
    "rich.progress",
    "scipy.linalg._basic",
    "scipy.sparse.csgraph._laplacian",
    "scipy.sparse.linalg._isolve",
    "scipy.special._basic",
    "scipy.stats._stats_py",
    "sklearn.callback._progressbar",
)
spared = lambda: [n for n in names if n in sys.modules]
tell = lambda: f"{spared()} {'sklearn' in sys.modules}"
"""
)


def test_a_fit_imports_nothing_slow_that_it_does_not_use(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    arguments = ("fit", "rows.svm", "-o", "model", "--solver", "sdca")
    done = pegasos_after(SPARED, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "[] True"


@pytest.mark.parametrize(
    ("options", "given", "expected"),
    [
        ((), {}, "1"),
        ((), {"OPENBLAS_NUM_THREADS": "3"}, "3"),
        (("--kernel", "rbf"), {}, None),
    ],
)
def test_only_machines_that_multiply_matrices_start_threads_for_it(
    tmp_path, options, given, expected
):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    code = f"""{AT_END}
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ.update({given!r})
tell = lambda: repr(os.getenv("OPENBLAS_NUM_THREADS"))
"""
    arguments = ("fit", "rows.svm", "-o", "model", "--solver", "sdca", *options)
    done = pegasos_after(code, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == repr(expected)


def test_what_was_put_off_is_there_when_it_is_used():
    code = """
from pegasos.cli._imports import spare_imports
spare_imports()
import scipy.stats, sys
assert "scipy.stats._stats_py" not in sys.modules
print(scipy.stats.rankdata([3, 1, 2]).tolist())
from scipy.stats import norm
import scipy
print(scipy.stats.norm is norm)
import numpy
print(callable(numpy.f2py.get_include))
import asyncio
async def seven():
    return 7
print(asyncio.run(seven()))
from scipy import special
print(special.expit(0.0))
numpy.testing.assert_equal(1, 1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[3.0, 1.0, 2.0]\nTrue\nTrue\n7\n0.5\n"


# They begin with scikit-learn imported, as a fit does, and stand-ins where it has taken something.
@pytest.mark.parametrize(
    "code",
    [
        """
import pyarrow
frame = pyarrow.table({"a": [1.0, 2, 3, 4], "b": [0.0, 1, 0, 1]})
model = pegasos.PegasosClassifier(solver="sdca").fit(frame, np.array([0, 1, 0, 1]))
assert model.feature_names_in_.tolist() == ["a", "b"]
import narwhals
assert narwhals.__file__ and narwhals.stable.v2.dependencies.is_into_dataframe(frame)
""",
        """
from sklearn.utils import fixes
assert np.array_equal(fixes.laplacian(np.ones((2, 2))), [[1, -1], [-1, 1]])
assert np.array_equal(fixes._sparse_linalg_cg(np.eye(2), np.ones(2))[0], [1, 1])
""",
        """
from sklearn.utils import sparsefuncs
lazy = sparsefuncs.LinearOperator
from scipy.optimize import LbfgsInvHessProduct  # a class made from it
from scipy.sparse.linalg import LinearOperator
assert issubclass(LbfgsInvHessProduct, LinearOperator)
assert isinstance(LinearOperator((2, 2), matvec=None, dtype=float), lazy)
assert not isinstance(2, lazy)
""",
        """
import scipy
assert scipy.linalg.det(np.eye(2)) == 1
assert scipy.sparse.linalg.norm(scipy.sparse.eye_array(4)) == 2
assert scipy.sparse.linalg._interface
""",
        """
import psutil
from psutil import Process
assert Process().pid == psutil.Process().pid
""",
        """
model = pegasos.PegasosClassifier(solver="sdca").fit(np.eye(2), [0, 1])
import sklearn.callback
assert sklearn.callback.ProgressBar()
assert sklearn.callback._callback_support
""",
        """
assert np.ma.masked_array([1, 2], [0, 1]).sum() == 1
assert np.polynomial.Polynomial([1, 2])(2) == 5
""",
    ],
)
def test_what_scikit_learn_has_taken_along_does_its_work(code):
    before = """
from pegasos.cli._imports import spare_imports
spare_imports()
import numpy as np
import pegasos._linear
"""
    subprocess.run([sys.executable, "-W", "error", "-c", before + code], check=True)


def test_importing_the_package_imports_nothing_slow():
    code = f"import pegasos, sys; print([n for n in {SLOW} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", pegasos.__all__)
def test_every_public_name_is_there_when_asked_for(name):
    assert name in dir(pegasos)
    item = getattr(pegasos, name)
    assert getattr(item, "__name__", "").rpartition(".")[2] == name


def test_a_star_gives_all_public_names():
    namespace = {}
    exec("from pegasos import *", namespace)
    assert set(pegasos.__all__) <= namespace.keys()


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'PegasosClasifier'"):
        pegasos.PegasosClasifier  # noqa: B018
    with pytest.raises(ImportError):
        exec("from pegasos import PegasosClasifier")


def test_time_left_goes_by_the_pace_of_this_run_and_runs_down():
    now = [100.0]
    left = TimeLeft(work=100, done=40, clock=lambda: now[0])
    assert str(left) == ""  # nothing to judge by
    now[0] += 30
    left.finish(10)  # 3 s for each unit, and 50 units left
    assert str(left) == "2:30 left"
    assert left.fraction == 0.5
    now[0] += 31
    assert str(left) == "1:59 left"
    now[0] += 1000
    assert str(left) == "0:00 left"
    left.finish(1)  # 1061 s for 11 units, and 49 units left: 4726 s
    assert str(left) == "1:18:46 left"
