"""Grids on a Dask cluster: tasks elsewhere, and every result as it is here."""

import os
import signal
import threading

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_info

from pegasos import KernelPegasosCV, PegasosCV, _cluster, _workers
from pegasos._cluster import Cluster, Shared
from pegasos._validation import n_threads
from pegasos.kernels._blas import blas_on_one_thread

from .cluster_helpers import both_are_back, killing_kernel, process_ids, two_workers, wait_until

pytest.importorskip("distributed", reason="clusters need the extra dask")


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def on_dask(client):
    """Two workers are there, and joblib knows them."""
    both_are_back(client)
    with joblib.parallel_config(backend="dask"):
        yield client


def data(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    X = rng.standard_normal((3, 6))[y] + rng.standard_normal((n_rows, 6))
    return X, np.array(["ant", "bee", "cat"])[y]


def fitted_here(grid, X, y, **more):
    """Fit a grid as if there were no cluster."""
    with joblib.parallel_config(backend="threading"):
        return grid.fit(X, y, **more)


def assert_same(one, other):
    for name in ("test_error_", "train_error_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name, values in one.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(values, other.cv_results_[name], err_msg=name)
    assert one.best_params_ == other.best_params_


LINEAR = {"lams": (1e-3, 0.1), "steps": (20, 300), "losses": ("hinge", "log"), "random_state": 3}
KERNEL = {"lams": (1e-3, 0.1), "steps": (20, 300), "random_state": 3}


@pytest.mark.parametrize("convert", [np.array, sp.csr_matrix])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (PegasosCV, {**LINEAR, "batch_size": 3}),
        (KernelPegasosCV, {**KERNEL, "gammas": (0.05, 0.5)}),
        # A limit under which the kernel matrix does not fit: rows are made again and again.
        (KernelPegasosCV, {**KERNEL, "kernel": "poly", "degrees": (2, 3), "memory": "200KB"}),
    ],
)
def test_every_cell_is_as_without_a_cluster(on_dask, kind, options, convert):
    X, y = data()
    X = convert(X)
    assert_same(kind(**options).fit(X, y), fitted_here(kind(**options), X, y))


def test_weights_scoring_and_kernels_of_the_user_travel_along(on_dask):
    X, y = data()
    options = {
        **KERNEL,
        "kernel": lambda A, B: (A @ B.T) ** 2,
        "scoring": lambda model, rows, labels, sample_weight: model.score(rows, labels) ** 2,
        "cv": ((np.arange(100), np.arange(100, 150)) for _ in range(1)),  # can be read once
    }
    weight = np.random.default_rng(0).uniform(0, 2, size=len(y))
    there = KernelPegasosCV(**options).fit(X, y, sample_weight=weight)
    options["cv"] = [(np.arange(100), np.arange(100, 150))]
    assert_same(there, fitted_here(KernelPegasosCV(**options), X, y, sample_weight=weight))


def test_an_error_of_a_task_arrives_as_it_is(on_dask):
    X, y = data()
    grid = KernelPegasosCV(kernel="poly", degrees=(40,), gammas=(1e30,))
    with pytest.raises(ValueError, match=r"poly kernel of degree 40 overflows") as there:
        grid.fit(X, y)
    with pytest.raises(ValueError, match=r"poly kernel of degree 40 overflows") as here:
        fitted_here(grid, X, y)
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize("n_kills", [1, 2])  # two: nobody has the data any more
def test_workers_that_are_killed_change_nothing(on_dask, tmp_path, n_kills):
    X, y = data()
    before = process_ids(on_dask)
    there = KernelPegasosCV(**KERNEL, kernel=killing_kernel(tmp_path, n_kills), refit=False)
    there.fit(X, y)
    assert len(list(tmp_path.iterdir())) == n_kills
    both_are_back(on_dask)
    assert len(set(before) & set(process_ids(on_dask))) == 2 - n_kills
    here = KernelPegasosCV(**KERNEL, kernel=lambda A, B: A @ B.T, refit=False)
    assert_same(there, fitted_here(here, X, y))


def test_after_ctrl_c_nothing_is_left_for_the_cluster_to_do(on_dask, tmp_path):
    X, y = data()
    begun = tmp_path / "begun"
    name = str(begun)

    def slow_kernel(A, B):
        from pathlib import Path
        from time import sleep

        Path(name).touch()
        sleep(0.01)
        return A @ B.T

    def press():
        wait_until(begun.exists)
        os.kill(os.getpid(), signal.SIGINT)

    # Where the tests run in the background, Ctrl-C may be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presses = threading.Thread(target=press)
    presses.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            KernelPegasosCV(**KERNEL, kernel=slow_kernel, cv=20).fit(X, y)
    finally:
        presses.join()
        signal.signal(signal.SIGINT, before)

    def n_tasks(dask_scheduler):
        return len(dask_scheduler.tasks)

    wait_until(lambda: on_dask.run_on_scheduler(n_tasks) == 0)


def test_a_grid_within_a_task_of_the_cluster(on_dask):
    X, y = data()
    grid = PegasosCV(**LINEAR)
    there = cross_val_score(grid, X, y, cv=3)
    with joblib.parallel_config(backend="threading"):
        assert list(there) == list(cross_val_score(grid, X, y, cv=3))


def test_threads_are_those_of_one_machine(on_dask):
    assert n_threads(None) == 1
    assert n_threads(2) == 2
    there = joblib.Parallel()(joblib.delayed(n_threads)(n_jobs) for n_jobs in (None, 1, 3))
    assert there == [1, 1, 3]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_other_backends_leave_it_to_threads(backend):
    X, y = data()
    alone = PegasosCV(**LINEAR).fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_same(alone, PegasosCV(**LINEAR).fit(X, y))


# --- The cluster ----------------------------------------------------------------------------------


def test_data_is_sent_once_for_all_pieces(client):
    both_are_back(client)
    cluster = Cluster(client)
    cluster.workers.find()
    made = []
    shared = Shared("rows", lambda: made.append(1) or np.ones(1000))
    for k in range(10):
        cluster.start(k, lambda rows, k=k: rows.sum() + k, shared)
    found = dict(cluster.finished() for _ in range(10))
    assert not cluster
    assert {k: future.result() for k, future in found.items()} == {k: 1000 + k for k in range(10)}
    assert len(made) == 1
    cluster.cancel()


def test_a_piece_for_workers_that_are_gone_is_given_to_others(client, monkeypatch):
    both_are_back(client)
    monkeypatch.setattr(_cluster, "_LOOK_AFTER", 0.2)
    cluster = Cluster(client)
    cluster.workers.find()
    shared = Shared("rows", lambda: np.ones(1000))
    cluster.start("first", np.sum, shared)
    monkeypatch.setattr(cluster.workers, "_fit", {"tcp://127.0.0.1:9": 1})
    cluster.start("second", np.sum, shared)
    results = {name: future.result() for name, future in (cluster.finished(), cluster.finished())}
    assert results == {"first": 1000, "second": 1000}
    cluster.cancel()


@pytest.mark.parametrize(
    ("version", "said"), [("1.0", "numpy 1.0 instead of"), (None, "no numpy instead of")]
)
def test_a_worker_with_other_packages_is_refused(on_dask, version, said):
    worker = next(iter(on_dask.nthreads()))

    def pretend():
        from importlib import metadata

        real = metadata.version

        def pretended(name):
            if name != "numpy":
                return real(name)
            if version is None:
                raise metadata.PackageNotFoundError(name)
            return version

        metadata.version, metadata.real_version = pretended, real

    def stop_pretending():
        from importlib import metadata

        metadata.version = metadata.real_version

    on_dask.run(pretend, workers=[worker])
    try:
        with pytest.raises(ValueError, match=f"worker {worker} has {said} {np.__version__}; inst"):
            PegasosCV().fit(*data())
    finally:
        on_dask.run(stop_pretending, workers=[worker])


def test_a_cluster_without_workers_is_said_to_be_one(monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(_workers, "_PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster.scheduler_address),
        joblib.parallel_config(backend="dask"),
        pytest.raises(ValueError, match=r"has no workers; start some with 'dask worker tcp://"),
    ):
        PegasosCV().fit(*data())


def test_blas_has_its_threads_back_when_the_last_fit_is_done():
    def n_blas_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def fit(inside, may_leave):
        with blas_on_one_thread():
            inside.set()
            assert may_leave.wait(20)

    before = n_blas_threads()
    fits = []
    for _ in range(2):
        events = threading.Event(), threading.Event()
        fits.append((threading.Thread(target=fit, args=events), *events))
    for thread, inside, _ in fits:
        thread.start()
        assert inside.wait(20)
    for thread, _, may_leave in fits:
        assert set(n_blas_threads()) == {1}  # until the last is done
        may_leave.set()
        thread.join()
    assert n_blas_threads() == before
