"""The perceptron and online gradient descent of the reference, by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import reference

from .reference_helpers import EXACT, X2, Y2

AND_X = np.array([[0.0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
AND_Y = np.array([-1.0, -1.0, -1.0, 1.0])


def test_perceptron_learns_and_in_the_nine_epochs_worked_by_hand():
    run = reference.perceptron(AND_X, AND_Y, np.tile(np.arange(4), (20, 1)))
    assert run.mistakes_per_epoch == [2, 3, 3, 2, 2, 3, 2, 1, 0]
    assert_array_equal(run.w, [3.0, 2.0, -4.0])
    assert_array_equal(run.last, run.w)


def test_perceptron_stops_when_the_order_ends():
    # Epoch 1: (0, 0, -1) at rows 0 to 2, (1, 1, 0) at row 3.
    run = reference.perceptron(AND_X, AND_Y, [np.arange(4)], average="uniform")
    assert run.mistakes_per_epoch == [2]
    assert_array_equal(run.last, [1.0, 1.0, 0.0])
    assert_array_equal(run.w, [0.25, 0.25, -0.75])


def test_perceptron_epochs_may_differ_in_order_and_length():
    # Row 3 first: w = (1, 1, 1); then row 0 of the second epoch: (1, 1, 0), average of the two.
    run = reference.perceptron(AND_X, AND_Y, [np.array([3]), np.array([0])], average="uniform")
    assert run.mistakes_per_epoch == [1, 1]
    assert_array_equal(run.w, [1.0, 1.0, 0.5])


def test_online_gradient_descent_by_hand():
    # w2 = (1, 0) on the border; then (1, 0) + (0, -2)/sqrt 2 has length sqrt 3.
    last, mean = reference.online_gradient_descent(X2, Y2, np.array([0, 1]), eta=1.0, radius=1.0)
    w3 = np.array([1.0, -np.sqrt(2.0)]) / np.sqrt(3.0)
    assert_allclose(last, w3, rtol=EXACT)
    assert_allclose(mean, (np.array([1.0, 0.0]) + w3) / 2, rtol=EXACT)


def test_online_gradient_descent_rests_on_a_margin_of_one():
    # Row 0 has margin exactly 1 after the first step, and there is no shrinking.
    last, _ = reference.online_gradient_descent(X2, Y2, np.array([0, 0, 0]), eta=1.0, radius=9.0)
    assert_array_equal(last, [1.0, 0.0])
