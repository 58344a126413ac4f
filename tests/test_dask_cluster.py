"""pegasos.dask on real clusters: processes of their own, several fits at once, workers that die."""

import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from pegasos.dask import ClusterLostError, PegasosClassifier, PerceptronClassifier, _cluster
from pegasos.dask._cluster import Cluster
from pegasos.dask._load import load

from .dask_helpers import cut, fit_serially

SIZES = (400, 0, 300, 1, 299)


def sample(seed=0, n_rows=1000):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 6))
    return X, X[:, 0] + rng.standard_normal(n_rows) > 0


@pytest.fixture(scope="module")
def cut_sample():
    X, y = sample()
    return cut(X, SIZES), cut(y, SIZES)


def model_of(**options):
    options = {"solver": "sdca", "tol": 1e-3, "random_state": 0} | options
    return PegasosClassifier(0.01, **options)


@pytest.fixture
def during_a_fit(monkeypatch):
    """Call a function when results have come to the client so many times."""

    def arrange(function, n_results=4):
        seen = [0]
        results = _cluster.Cluster.results

        def counting(self, futures):
            seen[0] += 1
            if seen[0] == n_results:
                function()
            return results(self, futures)

        monkeypatch.setattr(_cluster.Cluster, "results", counting)
        return seen

    return arrange


# --- The same model everywhere --------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        model_of(),
        model_of(loss="log", shards=2),
        PegasosClassifier(0.05, random_state=1),
        PerceptronClassifier(max_iter=4, random_state=2),
    ],
    ids=["sdca", "log", "pegasos", "perceptron"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cluster_gives_the_bits_of_one_process(model, cut_sample, dask_client):
    on_cluster = model.fit(*cut_sample).coef_
    assert_array_equal(fit_serially(model, *cut_sample).coef_, on_cluster)


def test_the_number_of_workers_and_threads_changes_no_bit(cut_sample, dask_client):
    two_workers = model_of(client=dask_client).fit(*cut_sample)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=3, dashboard_address=":0"
    ) as client:
        one_worker = model_of(client=client).fit(*cut_sample)
    assert_array_equal(one_worker.coef_, two_workers.coef_)
    assert one_worker.duality_gap_ == two_workers.duality_gap_


def test_more_shards_than_one_task_adds_up(dask_client):
    X, y = sample(1)
    many = cut(X, (50,) * 20), cut(y, (50,) * 20)
    assert_array_equal(
        model_of(tol=1e-2).fit(*many).coef_, fit_serially(model_of(tol=1e-2), *many).coef_
    )


def test_sparse_blocks_and_dataframes_are_fitted_and_scored(dask_client):
    X, y = sample(2)
    sparse = cut(sp.csr_matrix(np.where(np.abs(X) < 1, 0, X)), SIZES)
    model = model_of().fit(sparse, cut(y, SIZES))
    assert model.duality_gap_ <= 1e-3 * model.objective_
    assert model.predict(sparse).compute().shape == (1000,)
    frame = dd.from_pandas(pd.DataFrame(X).add_prefix("x").assign(y=y), npartitions=3)
    features = frame.drop(columns="y")
    model = model_of().fit(features, frame["y"])
    assert float(model.score(features, frame["y"])) == model.score(
        pd.DataFrame(X).add_prefix("x"), y
    )


def test_two_fits_at_once_end_and_do_not_mix(cut_sample, dask_client):
    models = [model_of(random_state=seed, client=dask_client) for seed in range(4)]
    alone = [fit_serially(model_of(random_state=seed), *cut_sample).coef_ for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda model: model.fit(*cut_sample).coef_, models))
    for one, other in zip(together, alone, strict=True):
        assert_array_equal(one, other)


def test_partitions_stay_where_they_are_however_many_fits_there_are(dask_client):
    X, y = sample()
    X, y = dask_client.persist([da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)])
    blocks = distributed.futures_of(X)
    distributed.wait([*blocks, *distributed.futures_of(y)])
    holders = {key: len(workers) for key, workers in dask_client.who_has(blocks).items()}
    model = model_of()
    model.n_features_in_ = 6
    # Held, as by fits at once: so many small tasks alike are dealt out as if they read files.
    loads = [load(Cluster(dask_client), model, X, y, look_at_values=False) for _ in range(6)]
    assert len(loads) == 6
    assert {key: len(w) for key, w in dask_client.who_has(blocks).items()} == holders


def test_verbose_shows_progress_on_stderr(cut_sample, dask_client, capfd):
    model_of(verbose=1).fit(*cut_sample)
    assert "gap" in capfd.readouterr().err


# --- No data to the client, nothing left behind ---------------------------------------------------


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_what_comes_to_the_client_does_not_grow_with_the_rows(solver, dask_client, monkeypatch):
    sizes = []
    results = _cluster.Cluster.results

    def measured(self, futures):
        values = results(self, futures)
        sizes.append(max(len(pickle.dumps(value)) for value in values))
        return values

    monkeypatch.setattr(_cluster.Cluster, "results", measured)
    largest = []
    for n_rows in (1_000, 40_000):
        X, y = sample(n_rows=n_rows)
        sizes.clear()
        model_of(solver=solver, tol=1e-2).fit(
            da.from_array(X, chunks=(n_rows // 4, -1)), da.from_array(y, chunks=n_rows // 4)
        )
        largest.append(max(sizes))
    assert abs(largest[1] - largest[0]) < 100  # numbers of more digits
    assert largest[1] < 3_000  # 40,000 masses would be 320,000 bytes


def test_an_interrupted_fit_takes_its_tasks_back(cut_sample, during_a_fit):
    def interrupt():
        raise KeyboardInterrupt

    during_a_fit(interrupt)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        model = model_of(client=client)
        with pytest.raises(KeyboardInterrupt) as kept:
            model.fit(*cut_sample)
        assert kept.tb  # the frames live, and what they hold
        assert not hasattr(model, "coef_")
        deadline = time.monotonic() + 30
        while tasks := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert time.monotonic() < deadline, f"{tasks} tasks are left"
            time.sleep(0.05)
        assert client.submit(int, 3).result(timeout=30) == 3  # the connection is as it was


def test_a_bad_value_is_named_and_the_cluster_goes_on(cut_sample, dask_client):
    X, y = sample()
    X[900, 2] = np.nan
    with pytest.raises(ValueError, match="partition 4: Input X contains NaN"):
        model_of().fit(cut(X, SIZES), cut(y, SIZES))
    assert model_of().fit(*cut_sample).score(*sample()) > 0.7


# --- Workers that die -----------------------------------------------------------------------------


def logged(block, path):
    """Leave a mark that a block was read."""
    with Path(path).open("a") as file:
        file.write("x")
    return block


@pytest.mark.filterwarnings("ignore:.*(Nanny|nanny|worker).*")
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(cut_sample, during_a_fit, tmp_path):
    X, y = cut_sample
    X = X.map_blocks(logged, tmp_path / "read", dtype=float, meta=np.empty((0, 0)))
    expected = fit_serially(model_of(tol=1e-4), *cut_sample)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        lost = []

        def kill():
            held = {
                worker: {key for key in keys if "read_part" in str(key)}
                for worker, keys in client.has_what().items()
            }
            alone = {w: held[w].difference(*(held[o] for o in held if o != w)) for w in held}
            victim = max(alone, key=lambda worker: len(alone[worker]))
            lost.extend(alone[victim])
            os.kill(pids[victim], signal.SIGKILL)

        results = during_a_fit(kill, n_results=8)
        model = model_of(tol=1e-4, client=client).fit(X, y)
    assert lost
    assert results[0] > 10  # it was in the middle
    assert_array_equal(model.coef_, expected.coef_)
    assert model.duality_gap_ == expected.duality_gap_
    # Lost partitions were read again.
    assert len((tmp_path / "read").read_text()) > len(SIZES)


def test_a_cluster_without_workers_is_an_error_and_no_hang(cut_sample, during_a_fit, monkeypatch):
    monkeypatch.setattr(_cluster, "_PULSE_SECONDS", 0.2)
    monkeypatch.setattr(_cluster, "_PATIENCE_SECONDS", 0.5)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def lose_all():
            cluster.scale(0)
            while client.scheduler_info()["workers"]:
                time.sleep(0.05)

        during_a_fit(lose_all)
        with pytest.raises(ClusterLostError, match="has had no worker for"):
            model_of(client=client).fit(*cut_sample)
