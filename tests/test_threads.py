"""How many threads `n_jobs` stands for."""

import joblib
import pytest

from pegasos import KernelPegasosClassifier
from pegasos._validation import n_threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 64, -1])
def test_a_sensible_number_is_joblibs(n_jobs):
    assert n_threads(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_a_number_far_beyond_the_cores_does_not_stop_the_machine(make_blobs):
    assert n_threads(10**6) == max(64, joblib.cpu_count())
    X, y = make_blobs(60)
    assert KernelPegasosClassifier(n_jobs=10**6, random_state=0).fit(X, y).score(X, y) > 0.5
