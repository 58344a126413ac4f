"""Labels are found as np.unique finds them."""

import numpy as np
import pytest

from pegasos._labels import different_labels, two_numbers


@pytest.mark.parametrize(
    "labels",
    [
        [1, -1, 1],
        [2.0, 1.0],
        [0.5, 1.0],
        [np.nan, 1.0],
        [7, 7],
        [3, 1, 2],
        [True, False],
        ["b", "a", "b"],
        [],
    ],
    ids=str,
)
def test_labels_are_those_of_numpy(labels):
    y = np.array(labels)
    found, expected = different_labels(y), np.unique(y)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_only_two_whole_numbers_are_told_apart_without_sorting():
    values, is_second = two_numbers(np.array([5.0, -3.0, 5.0]))
    assert values.tolist() == [-3, 5]
    assert is_second.tolist() == [True, False, True]
    for others in ([1.5, 2], [1, 2, 3], [1, 1], [np.inf, 0], ["a", "b"]):
        assert two_numbers(np.array(others)) is None
