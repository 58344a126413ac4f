"""Errors that a user can mend: one text for people, its two parts for programs."""

import pickle

import pytest

from pegasos.io import DataError, ModelError
from pegasos.studies import StudyError


@pytest.mark.parametrize("kind", [DataError, ModelError, StudyError])
def test_errors_say_what_is_wrong_and_the_remedy(kind):
    error = kind("the file is empty", "check its name")
    assert isinstance(error, ValueError)
    assert (error.message, error.hint) == ("the file is empty", "check its name")
    assert str(error) == "the file is empty; check its name"


@pytest.mark.parametrize("kind", [DataError, ModelError, StudyError])
def test_errors_pass_from_one_process_to_another(kind):
    error = pickle.loads(pickle.dumps(kind("the file is empty", "check its name")))
    assert type(error) is kind
    assert (error.message, error.hint) == ("the file is empty", "check its name")
