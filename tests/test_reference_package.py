"""The reference as a package: its names, its documentation, what it refuses."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos import reference

from .reference_helpers import X2, Y2


def test_the_example_in_the_module_docstring_is_true():
    result = doctest.testmod(reference)
    assert result.attempted >= 8
    assert result.failed == 0


def test_every_public_name_is_exported_and_explained():
    public = {name for name in vars(reference) if not name.startswith("_")}
    assert set(reference.__all__) == public
    assert all(getattr(reference, name).__doc__ for name in public)


# --- What is refused, and what is accepted --------------------------------------------------------

ONE = np.array([0])


@pytest.mark.parametrize("train", [reference.pegasos, reference.sdca])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": X2[0]}, "Need X"),
        ({"y": Y2[:1]}, "Need X"),
        ({"X": np.empty((0, 2)), "y": np.empty(0)}, "Need X"),
        ({"X": np.array([[np.nan, 0.0], [0.0, 1.0]])}, "NaN"),
        ({"y": np.array([0.0, 1.0])}, "-1 or \\+1"),
        ({"lam": 0.0}, "lam must be positive"),
        ({"lam": np.nan}, "lam must be positive"),
        ({"lam": np.inf}, "lam must be positive"),
        ({"draws": np.array([0, 2])}, "0..1; got 0..2"),
        ({"draws": np.array([-1])}, "0..1; got -1"),
        ({"draws": np.array([0.0])}, "1-d int array"),
        ({"draws": np.array([[0]])}, "1-d int array"),
        ({"draws": np.array([], dtype=int)}, "not empty"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"average": "last"}, "average must be"),
        ({"sample_weight": np.array([1.0, 0.0])}, "positive sample weights"),
        ({"sample_weight": np.array([1.0, np.inf])}, "positive sample weights"),
        ({"sample_weight": np.ones(3)}, "Need 2 positive sample weights"),
    ],
)
def test_bad_input_to_training_is_refused(train, changes, message):
    arguments = {"X": X2, "y": Y2, "lam": 0.5, "draws": ONE}
    train(**arguments)  # good input is not
    with pytest.raises(ValueError, match=message):
        train(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reference.pegasos(X2, Y2, 0.5, np.zeros(5, int), batch_size=2), r"T \* 2"),
        (lambda: reference.pegasos(X2, Y2, 0.5, ONE, batch_size=0), "batch_size"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, a=np.array([0.0, 1.1])), "dual point"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, relaxation=0.0), "between 0 and 2; got 0.0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, relaxation=2.0), "between 0 and 2; got 2.0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, loss="log", shrinking=True), "loss='log'"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, naps=np.array([0])), "2 naps, at least 0"),
        (lambda: reference.sdca(X2, Y2, 0.5, ONE, naps=np.array([0, -1])), "2 naps, at least 0"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, ONE, 0.0), "eta0 must be positive"),
        (lambda: reference.sgd_start(X2, Y2, 0.0, ONE, 1.0), "lam must be positive"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, np.array([2]), 1.0), "0..1; got 2"),
        (lambda: reference.sgd_start(X2, Y2, 0.5, ONE, 1.0, loss="squared"), "loss must be"),
        (lambda: reference.guess_masses([0.0], "squared"), "loss must be"),
        (
            lambda: reference.newton_step(np.zeros(2), X2, Y2, 0.5, 0.0),
            "width must be positive; got 0",
        ),
        (
            lambda: reference.newton_step(np.zeros(2), X2, Y2, 0.5, 1.0, loss="squared"),
            "loss must be",
        ),
        (lambda: reference.dual_objective(np.array([-0.1, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([1.1, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([np.nan, 0.0]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.dual_objective(np.array([0.5]), X2, Y2, 0.5), "dual point"),
        (lambda: reference.primal_objective(np.zeros(2), X2, Y2, 0.5, "squared"), "loss must be"),
        (lambda: reference.pegasos_dual_point(np.ones(2), 0), "epochs must be positive"),
        (lambda: reference.perceptron(X2, Y2, []), "at least one epoch"),
        (lambda: reference.perceptron(X2, Y2, [ONE], average="weighted"), "average must be"),
        (lambda: reference.online_gradient_descent(X2, Y2, ONE, 0.0, 1.0), "eta and radius"),
        (lambda: reference.online_gradient_descent(X2, Y2, ONE, 1.0, 0.0), "eta and radius"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 0, 1, "uniform"), "at least 1"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 1, 0, "uniform"), "at least 1"),
        (lambda: reference.draw_rows(np.random.default_rng(0), 2, 2, "cyclic"), "sampling must"),
    ],
)
def test_other_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_lists_and_float32_are_taken_as_float64():
    from_lists = reference.pegasos(X2.tolist(), [1, -1], 0.3, [0, 1, 1])
    from_float32 = reference.pegasos(X2.astype(np.float32), Y2.astype(np.float32), 0.3, [0, 1, 1])
    expected = reference.pegasos(X2, Y2, 0.3, np.array([0, 1, 1]))
    for run in (from_lists, from_float32):
        assert run.w.dtype == np.float64
        assert_array_equal(run.w, expected.w)
