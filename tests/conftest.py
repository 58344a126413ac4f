"""Small data that many tests share."""

import hypothesis
import numpy as np
import pytest

# How long an example takes never decides a test.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


def two_blobs(n_rows=200, n_features=5, seed=0, noise=1.0):
    """Two overlapping classes: labels 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    X = noise * rng.standard_normal((n_rows, n_features)) + (y - 0.5)[:, np.newaxis]
    return X, y


@pytest.fixture
def make_blobs():
    return two_blobs


@pytest.fixture
def blobs():
    return two_blobs()


@pytest.fixture
def separable():
    X, y = two_blobs(noise=0.05)
    return X, y


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(1)
    y = np.array(["ant", "bee", "cat"])[rng.integers(3, size=300)]
    centres = {"ant": (0, 2), "bee": (2, -1), "cat": (-2, -1)}
    X = np.array([centres[label] for label in y]) + rng.standard_normal((300, 2))
    return X, y


@pytest.fixture(scope="session")
def two_dask_workers():
    """Two workers in processes of their own, for all tests that only use them."""
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def dask_client(two_dask_workers):
    """The client of two workers: what is in use during this test, and not after it."""
    with two_dask_workers.as_current():
        yield two_dask_workers
