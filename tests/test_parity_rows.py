"""What the core takes as rows, what it refuses, and that it never copies."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from pegasos import PegasosClassifier, _core
from pegasos._problem import as_floats, new_tally

from .core_helpers import KINDS, core_data, core_rows, make_sample

BINARY = np.array([1], dtype=np.int32)


def scores_of(rows, n_rows, weights):
    scores = np.empty((n_rows, len(weights)))
    _core.scores(rows, weights, n_threads=1, scores=scores)
    return scores


def frozen(array):
    array.setflags(write=False)
    return array


# --- Nothing is copied ----------------------------------------------------------------------------


def test_the_core_sees_later_changes_of_dense_and_sparse_values():
    weights = np.array([[2.0, 0.0]])
    X = np.ones((3, 1))
    rows = _core.dense_rows(X, 0.0)
    X[1] = 5.0
    assert_array_equal(scores_of(rows, 3, weights)[:, 0], [2.0, 10.0, 2.0])

    csr = sp.csr_array(np.ones((3, 1)))
    rows = _core.csr_rows(csr.data, csr.indices, csr.indptr, 1, 0.0)
    csr.data[1] = 5.0
    assert_array_equal(scores_of(rows, 3, weights)[:, 0], [2.0, 10.0, 2.0])


@pytest.mark.parametrize("kind", KINDS)
def test_read_only_arrays_are_taken(kind):
    X = np.arange(6.0).reshape(3, 2)
    values = np.float32 if "f32" in kind else np.float64
    if kind.startswith("dense"):
        rows = _core.dense_rows(frozen(X.astype(values)), 1.0)
    else:
        index = np.int32 if kind.endswith("i32") else np.int64
        csr = sp.csr_array(X)
        rows = _core.csr_rows(
            frozen(csr.data.astype(values)),
            frozen(csr.indices.astype(index)),
            frozen(csr.indptr.astype(index)),
            2,
            1.0,
        )
        assert _core.csr_fault(rows, 1) == ""
    weights = frozen(np.array([[1.0, 10.0, 100.0]]))
    assert_array_equal(scores_of(rows, 3, weights)[:, 0], [110.0, 132.0, 154.0])
    code, weight = frozen(np.zeros(3, dtype=np.int32)), frozen(np.ones(3))
    assert isinstance(_core.make_data(rows, code, weight, 3.0), _core.Data)


def test_the_core_keeps_the_arrays_alive():
    def build():
        sample = make_sample(0, n_rows=2000, n_features=50)
        return core_data(sample), core_rows(sample.X, "csr-f32-i64", 1.0), sample

    data, rows, sample = build()
    gc.collect()
    fillers = [np.full((2000, 50), np.nan) for _ in range(4)]  # would land in freed memory
    scores = scores_of(rows, 2000, np.ones((1, 51)))
    np.testing.assert_allclose(
        scores[:, 0], 1.0 + sample.X.astype(np.float32).sum(axis=1), rtol=1e-4
    )
    sums = np.empty(1)
    _core.loss_sums(data, BINARY, np.zeros((1, 51)), loss="hinge", n_threads=1, sums=sums)
    assert sums[0] == 2000.0
    del fillers


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.complex128, bool])
def test_rows_of_another_dtype_are_refused(dtype):
    with pytest.raises(ValueError, match="float32 or float64"):
        _core.dense_rows(np.ones((2, 2), dtype=dtype), 0.0)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((4, 4))[:, ::2],
        np.asfortranarray(np.ones((4, 3))),
        np.ones(4),
        np.ones((2, 2, 2)),
        [[1.0]],
    ],
)
def test_rows_that_would_need_a_copy_are_refused(X):
    with pytest.raises(TypeError, match="incompatible"):
        _core.dense_rows(X, 0.0)


def csr_arrays():
    csr = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]))
    return {"values": csr.data, "indices": csr.indices, "indptr": csr.indptr}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"values": np.ones(4, dtype=np.int64)}, ValueError, "float32 or float64"),
        ({"indices": np.zeros(4, dtype=np.int64)}, ValueError, "one dtype"),
        ({"indices": np.zeros(3, dtype=np.int32)}, ValueError, "one length"),
        ({"indptr": np.zeros(0, dtype=np.int32)}, ValueError, "not be empty"),
        (
            {"indices": np.zeros(4, dtype=np.int16), "indptr": np.zeros(4, dtype=np.int16)},
            ValueError,
            "int32 or int64",
        ),
        ({"values": np.ones(8)[::2]}, TypeError, "incompatible"),
        ({"indices": np.zeros((4, 1), dtype=np.int32)}, TypeError, "incompatible"),
    ],
)
def test_csr_arrays_that_do_not_fit_are_refused(changes, error, message):
    arrays = csr_arrays()
    _core.csr_rows(**arrays, n_features=2, bias=0.0)  # these do
    with pytest.raises(error, match=message):
        _core.csr_rows(**{**arrays, **changes}, n_features=2, bias=0.0)


def good_arguments(solver):
    """Arguments of one call of the core, all as they should be."""
    data = core_data(make_sample(1, n_rows=6, n_features=3))
    arguments = {
        "data": data,
        "positive": BINARY,
        "w": np.zeros((1, 4)),
        "u": np.zeros((1, 4)),
        "tally": as_floats(new_tally(1)),
        "draws": np.arange(6),
        "n_threads": 1,
    }
    extra = {
        "pegasos": {
            "v": arguments["w"],
            "mass": np.zeros((1, 6)),
            "loss": "hinge",
            "lams": np.full(1, 0.1),
            "batch_size": 1,
            "project": False,
            "mean": "uniform",
        },
        "sgd_start": {"loss": "hinge", "lam": 0.1, "eta0": 0.1},
        "sdca": {
            "mass": np.zeros((1, 6)),
            "asleep": np.zeros((1, 6), dtype=np.uint8),
            "loss": "hinge",
            "lam": 0.1,
            "relaxation": 1.0,
            "weighted_mean": False,
            "shrinking": True,
        },
        "perceptron": {},
    }[solver]
    arguments.update(extra)
    if solver == "pegasos":
        del arguments["w"]
    return getattr(_core, f"{solver}_steps"), arguments


SOLVERS = ["pegasos", "sgd_start", "sdca", "perceptron"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("problem", ["dtype", "stride", "read_only", "dimensions"])
def test_arrays_that_would_need_a_copy_are_refused_by_every_solver(solver, problem):
    steps, arguments = good_arguments(solver)
    steps(**arguments)
    spoil = {
        "dtype": lambda a: a.astype({"f": np.float32, "i": np.int16, "u": np.int32}[a.dtype.kind]),
        "stride": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
        "read_only": lambda a: frozen(a.copy()),
        "dimensions": lambda a: a[np.newaxis],
    }[problem]
    arrays = [name for name, value in arguments.items() if isinstance(value, np.ndarray)]
    for name in arrays:
        if problem == "read_only" and name in ("positive", "draws", "lams"):
            continue  # these are only read
        if problem == "stride" and arguments[name].size == 1:
            continue  # one number is contiguous at any stride
        before = {key: arguments[key].copy() for key in arrays}
        with pytest.raises(TypeError, match="incompatible"):
            steps(**{**arguments, name: spoil(arguments[name])})
        for key in arrays:
            assert_array_equal(arguments[key], before[key])


@pytest.mark.parametrize("solver", SOLVERS)
def test_arrays_of_a_wrong_shape_are_refused_by_every_solver(solver):
    steps, arguments = good_arguments(solver)
    for name in ("w", "v", "u", "mass", "asleep", "tally"):
        if name in arguments:
            array = arguments[name]
            for shape in ((1, array.shape[1] + 1), (2, array.shape[1]), (1, 0)):
                wrong = np.zeros(shape, dtype=array.dtype)
                with pytest.raises(ValueError, match="wrong shape"):
                    steps(**{**arguments, name: wrong})


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("draws", [[6], [0, -1], [2**40]])
def test_draws_that_are_no_row_are_refused_by_every_solver(solver, draws):
    steps, arguments = good_arguments(solver)
    with pytest.raises(ValueError, match="not a row number"):
        steps(**{**arguments, "draws": np.array(draws)})


@pytest.mark.parametrize(
    ("solver", "changes", "message"),
    [
        ("pegasos", {"loss": "squared"}, "loss must be"),
        ("pegasos", {"mean": "last"}, "mean must be"),
        ("pegasos", {"mean": None}, "u goes with mean"),
        ("pegasos", {"u": None}, "u goes with mean"),
        ("pegasos", {"batch_size": 0}, "batch_size"),
        ("pegasos", {"lams": np.ones(2)}, "one lam per problem"),
        ("sdca", {"loss": "squared"}, "loss must be"),
        ("sgd_start", {"loss": "squared"}, "loss must be"),
    ],
)
def test_options_that_mean_nothing_are_refused(solver, changes, message):
    steps, arguments = good_arguments(solver)
    with pytest.raises(ValueError, match=message):
        steps(**{**arguments, **changes})


def test_labels_and_weights_must_be_as_many_as_rows():
    rows = core_rows(np.ones((3, 2)), "dense-f64")
    good = np.zeros(3, dtype=np.int32)
    with pytest.raises(ValueError, match="one label per row"):
        _core.make_data(rows, np.zeros(4, dtype=np.int32), None, 3.0)
    with pytest.raises(ValueError, match="one weight per row"):
        _core.make_data(rows, good, np.ones(2), 3.0)
    for code, weight in [(good.astype(np.int64), None), (good, np.ones(3, dtype=np.float32))]:
        with pytest.raises(TypeError, match="incompatible"):
            _core.make_data(rows, code, weight, 3.0)


# --- What is wrong with a CSR matrix --------------------------------------------------------------


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("indices", "indptr", "fault"),
    [
        ([1, 0, 1], [0, 1, 3], ""),
        ([], [0], ""),  # no rows
        ([], [0, 0, 0], ""),  # empty rows
        ([0, 1, 0], [0, 2, 3], ""),
        ([0, 1, 1], [0, 1, 2], ""),  # entries to spare
        ([0, 1, 0], [1, 2, 3], "row_pointers"),
        ([0, 1, 0], [0, 4, 3], "row_pointers"),
        ([0, 1, 0], [0, 2, 1], "row_pointers"),
        ([0, 1, 0], [0, -1, 3], "row_pointers"),
        ([0, 1, 0], [0, 2, 4], "row_pointers"),
        ([0, 1, 0], [0, 2, 2**31 - 1], "row_pointers"),
        ([0, 2, 0], [0, 2, 3], "column_range"),
        ([-1, 1, 0], [0, 2, 3], "column_range"),
        ([0, 1, 2], [0, 2, 3], "column_range"),
        ([1, 1, 5], [0, 2, 3], "column_range"),  # the worse of two faults
        ([1, 0, 0], [0, 2, 3], ""),  # any order will do
        ([1, -1, 0], [0, 3, 3], "column_range"),
        ([1, 2, 0], [0, 3, 3], "column_range"),
        ([1, 1, 0], [0, 2, 3], "column_twice"),
        ([1, 0, 1], [0, 3, 3], "column_twice"),
    ],
)
def test_faults_of_a_csr_matrix_are_named(index, indices, indptr, fault):
    rows = _core.csr_rows(
        np.ones(len(indices)),
        np.array(indices, dtype=index),
        np.array(indptr, dtype=index),
        2,
        0.0,
    )
    assert _core.csr_fault(rows, 1) == fault


def test_the_worst_fault_of_many_rows_is_found_by_any_number_of_threads():
    indices = np.zeros(20_000, dtype=np.int32)
    indptr = np.arange(20_001, dtype=np.int32)
    indptr[5000] -= 1  # row 5000 lists column 0 twice, row 4999 is empty
    rows = _core.csr_rows(np.ones(20_000), indices, indptr, 3, 0.0)
    assert {_core.csr_fault(rows, n) for n in (1, 2, 5)} == {"column_twice"}
    for bad in (0, 19_999):
        indices[bad] = 3
        assert {_core.csr_fault(rows, n) for n in (1, 2, 5)} == {"column_range"}
        indices[bad] = 0


@pytest.mark.parametrize("average", ["uniform", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_weights_in_pairs_get_the_bits_of_weights_apart(average, n_classes):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(200, 50)) * (rng.random((200, 50)) < 0.3))
    y = rng.integers(n_classes, size=200)
    options = {"lam": 0.01, "average": average}
    many_draws = PegasosClassifier(**options).partial_fit(X, y, classes=range(n_classes))
    few_draws = PegasosClassifier(**options)
    for i in range(200):  # pairing would cost more than a step: two arrays
        few_draws.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(n_classes))
    assert_array_equal(many_draws.coef_, few_draws.coef_)
    assert_array_equal(many_draws.intercept_, few_draws.intercept_)
