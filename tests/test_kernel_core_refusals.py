"""What the core of the kernel machines refuses."""

import numpy as np
import pytest

from pegasos import _core
from pegasos._problem import as_floats, new_tally

from .test_parity_cpu_levels import LOAD, run_core


def run_arguments(n=6, n_problems=2):
    return {
        "code": np.zeros(n, dtype=np.int32),
        "weight": np.ones(n),
        "total_weight": float(n),
        "diagonal": np.ones(n),
        "positive": np.arange(n_problems, dtype=np.int32),
        "lam": np.full(n_problems, 0.1),
        "scores": np.zeros((n_problems, n)),
        "mass": np.zeros((n_problems, n)),
        "mean_scores": np.zeros((n_problems, n)),
        "mean_mass": np.zeros((n_problems, n)),
        "tally": as_floats(new_tally(n_problems)),
        "solver": "pegasos",
        "loss": "hinge",
        "weighted_mean": False,
        "most_passes": 1,
        "enough": 0.0,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": np.ones(5)}, "one weight per row"),
        ({"diagonal": np.ones(7)}, "diagonal has a wrong shape"),
        ({"lam": np.ones(3)}, "one lam per problem"),
        ({"scores": np.zeros((2, 5))}, "problems x rows"),
        ({"scores": np.zeros((1, 6))}, "problems x rows"),
        ({"mass": np.zeros((3, 6))}, "problems x rows"),
        ({"mean_scores": None}, "mean_mass goes with mean_scores"),
        ({"mean_mass": None}, "mean_mass goes with mean_scores"),
        ({"mean_mass": np.zeros((2, 7))}, "problems x rows"),
        ({"mean_scores": np.zeros((1, 6))}, "problems x rows"),
        ({"tally": np.zeros((2, 3))}, "tally has a wrong shape"),
        ({"solver": "newton"}, "solver must be"),
        ({"loss": "squared"}, "loss must be"),
        ({"most_passes": 0}, "most_passes must be positive"),
    ],
)
def test_runs_that_do_not_fit_together_are_refused(changes, message):
    _core.kernel_run(**run_arguments())
    with pytest.raises(ValueError, match=message):
        _core.kernel_run(**{**run_arguments(), **changes})


@pytest.mark.parametrize(
    "name", ["scores", "mass", "mean_scores", "mean_mass", "tally", "code", "weight", "lam"]
)
def test_arrays_of_a_run_are_never_converted(name):
    arguments = run_arguments()
    array = arguments[name]
    wrong = array.astype(np.int64 if array.dtype == np.int32 else np.float32)
    with pytest.raises(TypeError, match="incompatible"):
        _core.kernel_run(**{**arguments, name: wrong})


def stepping(**changes):
    arguments = {
        "run": _core.kernel_run(**run_arguments()),
        "values": np.eye(6),
        "slots": None,
        "draws": np.arange(6),
        "block": 4,
        "n_threads": 1,
    }
    return _core.kernel_steps(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": np.eye(5)}, "as long as there are rows"),
        ({"values": np.ones((5, 6))}, "a row of the kernel is missing"),
        ({"values": np.eye(6, dtype=np.int64)}, "float32 or float64"),
        ({"values": np.asfortranarray(np.arange(36.0).reshape(6, 6))}, "side by side"),
        ({"values": np.broadcast_to(np.ones(6), (6, 6))}, "side by side"),
        ({"slots": np.arange(5)}, "one slot per row"),
        ({"draws": np.array([6])}, "not a row number"),
        ({"draws": np.array([0, -1])}, "not a row number"),
        ({"block": 0}, "block must be positive"),
    ],
)
def test_steps_that_do_not_fit_the_run_are_refused(changes, message):
    assert stepping() == 6
    with pytest.raises(ValueError, match=message):
        stepping(**changes)
    with pytest.raises(TypeError, match="incompatible"):
        stepping(draws=np.arange(6, dtype=np.int32))


def test_steps_stop_before_the_block_with_a_row_that_is_missing():
    slots = np.array([0, 1, -1, 2, 3, 4])
    assert stepping(slots=slots, draws=np.array([0, 1, 3, 4, 5, 0, 2, 1])) == 4
    assert stepping(slots=slots, draws=np.array([0, 2])) == 0
    assert stepping(slots=slots, draws=np.array([0, 1, 3])) == 3
    assert stepping(draws=np.array([], dtype=np.int64)) == 0


def deciding(**changes):
    arguments = {
        "run": _core.kernel_run(**run_arguments()),
        "block": np.arange(3),
        "gram": np.eye(3),
        "values": np.eye(6),
        "slots": None,
        "delta": np.empty((2, 3)),
        "mean_delta": np.empty((2, 3)),
        "n_steps": np.empty(2, dtype=np.int64),
        "n_threads": 1,
    }
    return _core.kernel_decisions(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gram": np.eye(4)}, "gram has a wrong shape"),
        ({"gram": np.eye(3, dtype=np.float32)}, "gram has a wrong shape"),
        ({"delta": np.empty((2, 4))}, "delta has a wrong shape"),
        ({"delta": np.empty((1, 3))}, "delta has a wrong shape"),
        ({"n_steps": np.empty(3, dtype=np.int64)}, "delta has a wrong shape"),
        ({"mean_delta": None}, "mean_delta goes with a mean"),
        ({"mean_delta": np.empty((2, 4))}, "mean_delta has a wrong shape"),
        ({"mean_delta": np.empty((3, 3))}, "mean_delta has a wrong shape"),
        ({"block": np.array([0, 1, 6])}, "not a row number"),
        ({"values": np.eye(7)}, "as long as there are rows"),
        ({"gram": None, "slots": np.array([0, -1, 1, 2, 3, 4])}, "of the block is not stored"),
    ],
)
def test_decisions_that_do_not_fit_the_run_are_refused(changes, message):
    deciding()
    deciding(gram=None)
    with pytest.raises(ValueError, match=message):
        deciding(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coef": np.ones((2, 3))}, "coef has a wrong shape"),
        ({"coef": np.ones((1, 2))}, "coef has a wrong shape"),
        ({"which": np.array([0, 4, 1])}, "not a row number"),
        ({"values": np.eye(5)}, "as long as there are rows"),
        ({"slots": np.array([0, -1, 1, 2])}, "a row is not stored"),
        ({"slots": np.array([0, 1, 2])}, "one slot per row"),
    ],
)
def test_sums_of_rows_that_are_not_there_are_refused(changes, message):
    good = {
        "values": np.eye(4),
        "slots": None,
        "which": np.array([0, 1, 2]),
        "coef": np.ones((1, 3)),
        "scores": np.zeros((1, 4)),
        "n_threads": 1,
    }
    _core.add_stored_rows(**good)
    with pytest.raises(ValueError, match=message):
        _core.add_stored_rows(**{**good, **changes})


EMPTY_BLOCKS = (
    LOAD
    + """
import numpy as np
for solver in ("pegasos", "perceptron", "sdca"):
    for loss in ("hinge", "log"):
        tally = np.ones((1, core.TALLY_FIELDS))
        scores, mass = np.ones((1, 6)), np.ones((1, 6))
        run = core.kernel_run(
            np.zeros(6, np.int32), None, 6.0, np.ones(6), np.zeros(1, np.int32), np.ones(1),
            scores, mass, None, None, tally,
            solver=solver, loss=loss, weighted_mean=False, most_passes=1, enough=0.0,
        )
        none, n_steps = np.empty(0, np.int64), np.zeros(1, np.int64)
        delta = np.empty((1, 0))
        for gram in (None, np.empty((0, 0))):
            core.kernel_decisions(
                run, none, gram, np.eye(6), None, delta, None, n_steps, n_threads=1
            )
        assert core.kernel_steps(run, np.eye(6), None, none, block=4, n_threads=1) == 0
        core.add_stored_rows(np.eye(6), None, none, delta, scores, n_threads=1)
        for array in (tally, scores, mass):
            assert (array == 1).all()
print("done")
"""
)


def test_an_empty_block_changes_nothing():
    done = run_core(EMPTY_BLOCKS, "")  # in a process of its own, which it may end
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
