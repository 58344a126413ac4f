"""The benchmark of scale counts and computes what its tables say; nothing here is timed."""

import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pegasos
from pegasos.io import stream

from .benchmark_helpers import imported

pytest.importorskip("distributed", reason="needs distributed")


@pytest.fixture(scope="module")
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture(scope="module")
def tiny(bench, tmp_path_factory):
    """300 generated documents, in a cache folder."""
    source = bench.datasets._SOURCES["sparse"]
    rows = bench.rcv1_like.generate(300, n_words=500, words_per_row=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(bench.datasets._SOURCES, "sparse", type(source)((), lambda _: rows))
        yield bench.datasets.prepare("sparse", tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def client(bench):
    """Two workers that find the modules of the benchmarks, as those of the script do."""
    with bench.scale_cluster.cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def on_workers(bench, tiny, client):
    return bench.scale_data.placed(client, tiny, 2)


# --- Data ----------------------------------------------------------------------------------------


def test_the_workers_hold_as_many_blocks_each_of_the_rows_of_the_set(tiny, client, on_workers):
    X, y = tiny.load()
    blocks, labels = on_workers
    held = [[str(key) for key in keys] for keys in client.has_what().values()]
    for block in (blocks.name, labels.name):
        assert [sum(block in key for key in keys) for keys in held] == [1, 1]
    whole = client.compute(blocks).result()
    assert (whole != X).nnz == 0
    assert whole.dtype == np.float32
    assert_array_equal(labels.compute(), y)
    assert blocks.numblocks == (2, 1)


def test_the_text_has_the_rows_of_the_set_and_labels_that_spark_takes(bench, tiny, tmp_path):
    path = bench.scale_data.svmlight_file(tiny, tmp_path)
    data = pegasos.io.read(path, n_features=500)
    X, y = tiny.load()
    assert (data.X != X).nnz == 0
    assert_array_equal(data.y, np.where(y == 1, 1, 0))
    written = path.stat().st_mtime_ns
    assert bench.scale_data.svmlight_file(tiny, tmp_path).stat().st_mtime_ns == written


def test_the_dense_set_can_be_learned_in_part(bench, tmp_path):
    X, y, _ = pegasos.io.read(bench.scale_data.parquet_file(2000, tmp_path))
    assert X.shape == (2000, 100)
    score = pegasos.PegasosClassifier(1e-2, random_state=0).fit(X, y).score(X, y)
    assert 0.85 < score < 0.97  # a tenth of the labels is wrong


def test_a_dense_set_is_placed_too(bench, tiny, client, tmp_path):
    X, y = tiny.load()
    np.save(tmp_path / "dense.npy", X.toarray())
    np.save(tmp_path / "labels.npy", y)
    dense = bench.datasets.DataSet("dense", tmp_path)
    blocks, labels = bench.scale_data.placed(client, dense, 3)
    assert_array_equal(blocks.compute(), X.toarray())
    assert_array_equal(labels.compute(), y)


# --- Streaming -----------------------------------------------------------------------------------


def test_passes_over_the_chunks_are_counted_with_those_of_certificates(
    bench, tiny, tmp_path, monkeypatch
):
    path = bench.scale_data.svmlight_file(tiny, tmp_path)
    chunks = stream(path, chunk_bytes=20_000, cache=tmp_path / "chunks")
    assert len(chunks) > 2
    counting = bench.scale_stream.Counting(chunks)
    for k in range(len(counting)):
        counting.chunk(k)
    assert counting.n_given == len(chunks)
    # 4 epochs more; rows so few are looked at in the end alone.
    assert bench.scale_stream._n_passes(chunks, 0.01, "pegasos") == 4
    monkeypatch.setattr(pegasos._training, "_FEWEST_DRAWS_A_STRIDE", 1)
    # As with many rows: there is a certificate after the fourth epoch too.
    assert bench.scale_stream._n_passes(chunks, 0.01, "pegasos") == 5


def test_a_plain_read_gets_to_the_end_of_the_file(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(bench.scale_stream, "_BUFFER", 1000)
    path = tmp_path / "file"
    path.write_bytes(bytes(2500))
    read = []
    readv = bench.scale_stream.os.readv
    monkeypatch.setattr(
        bench.scale_stream.os, "readv", lambda *args: read.append(readv(*args)) or read[-1]
    )
    for fresh in (False, True):
        bench.scale_stream._read(path, fresh=fresh)
    assert read == [1000, 1000, 500, 0] * 2


# --- Clusters ------------------------------------------------------------------------------------


def test_rounds_and_bytes_of_a_fit_are_counted(bench, client, on_workers):
    result = bench.scale_cluster.timed_fits(client, *on_workers, 0.01, "sdca", 1e-2, 2, 60)
    assert result["reached"]
    assert len(result["seconds"]) == 2
    assert 1 <= result["rounds"] <= result["epochs"]
    # At least the weights of the shard that is elsewhere: 501 numbers of 8 bytes.
    assert result["bytes_a_round"] > 501 * 8


def test_the_cluster_fits_the_problem_that_is_fitted_in_memory(bench, tiny, on_workers):
    X, y = tiny.load()
    model = bench.scale_cluster.fit(*on_workers, 0.01, "sdca", 1e-4)
    alone = bench.scale_cluster.fits_in_memory(X, y, 0.01, "sdca", 1e-4, 1, 60)
    # Both are within 1e-4 of the same optimum.
    assert model.objective_ == pytest.approx(alone["objective"], rel=1.1e-4)


def test_a_round_over_no_rows_and_the_bandwidth_are_measured(bench, client, monkeypatch):
    monkeypatch.setattr(bench.scale_constants, "_BYTES_TO_MOVE", 1 << 16)
    assert bench.scale_constants.seconds_a_round(client, 3, 20, 1) > 0
    assert bench.scale_constants.bandwidth(client, 1) > 0


# --- Peers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["pegasos", "sdca", "incremental", "incremental-mean", "spark"])
def test_every_peer_comes_within_a_hundredth_of_the_same_optimum(
    bench, tiny, on_workers, tmp_path, key
):
    contestant = next(c for c in bench.scale_peers.CONTESTANTS if c.key == key)
    if reason := contestant.why_not():
        pytest.skip(reason)
    lam = 0.01
    optimum = bench.scale._optimum(*tiny.load(), lam)
    levels = (1e-1, 1e-2)
    task = bench.scale_peers.Task(*on_workers, tiny, tmp_path, lam, optimum, levels, 1, 60)
    results = dict(contestant.measure(task))
    assert tuple(results) == levels
    for level, result in results.items():
        assert -1e-4 < result["suboptimality"] <= level
        assert len(result["seconds"]) == 1
    assert results[1e-1]["budget"] <= results[1e-2]["budget"]


def test_the_floor_is_what_the_cores_and_a_trip_take(bench, client, on_workers):
    floor = bench.scale_constants.floor(client, *on_workers, 0.01, 2)
    assert {name: len(seconds) for name, seconds in floor.items()} == {
        "steps": 2,
        "certificate": 2,
        "trip": 2,
    }
    assert all(second > 0 for seconds in floor.values() for second in seconds)
    line = bench.scale_report.floor_line({"steps": [0.5], "certificate": [0.25], "trip": [0.01]})
    assert "0.510 s without a certificate, 0.760 s with it" in line


def test_a_fit_uses_one_core_of_each_worker(bench, client, on_workers):
    result = bench.scale_cluster.timed_fits(client, *on_workers, 0.01, "sdca", 1e-2, 2, 60)
    assert result["cpu_workers"] > 0
    assert result["cpu_here"] > 0
    assert set(client.nthreads().values()) == {1}


def test_spark_without_java_is_left_out_with_a_reason(bench, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    spark = bench.scale_peers.CONTESTANTS[-1]
    assert spark.why_not() == "Spark needs Java, which is not installed"


def test_what_is_not_installed_is_left_out_with_the_extra_that_brings_it(bench, monkeypatch):
    monkeypatch.setattr(bench.contestants, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: "java")
    reasons = {c.key: c.why_not() for c in bench.scale_peers.CONTESTANTS}
    assert reasons["spark"] == "pyspark is not installed (it comes with the extra 'spark')"
    assert reasons["incremental"].endswith("(it comes with the extra 'bench')")


# --- Forecast ------------------------------------------------------------------------------------


def test_lines_and_power_laws_go_through_what_they_were_made_from(bench):
    a, b = bench.scale_model.line({1: 5.0, 2: 7.0, 8: 19.0})
    assert (a, b) == pytest.approx((3, 2))
    c, p = bench.scale_model.power_law({1: 6.0, 4: 12.0, 16: 24.0})
    assert (c, p) == pytest.approx((6, 0.5))


def test_the_forecast_adds_up_what_it_says(bench):
    constants = bench.scale_model.Constants(
        prepare=1e-3, round=2e-3, base=0.5, shard=0.1, moved=1e6, rounds=(3.0, 0.5)
    )
    expected = bench.scale_model.forecast(constants, 4, 4000, bandwidth=1e7)
    # 1,000 rows a worker; 3 * sqrt(4) rounds of 2 s of steps, 0.9 s of Dask and 0.3 s of moving.
    assert expected.rounds == pytest.approx(6)
    assert expected.computing == pytest.approx(2)
    assert expected.dask == pytest.approx(0.9)
    assert expected.moving == pytest.approx(0.3)
    assert expected.seconds == pytest.approx(1 + 6 * 3.2)


def made_up_constants():
    def fit(partitions, epochs):
        return {
            "solver": "sdca",
            "lam": 1e-4,
            "tol": 0.01,
            "n_workers": 2,
            "partitions": partitions,
            "epochs": epochs,
            "rounds": epochs,
            "seconds": [9.0],
            "round_seconds": 2.0,
            "bytes_a_round": 5e5,
            "reached": True,
        }

    return {
        "facts": {"n_rows": 1000, "n_features": 500, "lam": 1e-4, "tols": [0.01]},
        "bandwidth": 1e6,
        "overhead": {"10": {"1": 0.2, "2": 0.3}, "500": {"1": 0.4, "2": 0.5}},
        "fits": [fit(1, 4), fit(2, 4)],
    }


def test_constants_are_what_is_left_when_the_overhead_is_taken_off(bench):
    constants = bench.scale_forecast.constants_of(made_up_constants(), 0.01)
    assert (constants.base, constants.shard) == pytest.approx((0.1, 0.1))
    assert constants.moved == 5e5
    # A round of 2 s less 0.1 + 2 * 0.1 of Dask and 0.5 of moving, for 500 rows a worker.
    assert constants.round == pytest.approx(1.2 / 500)
    assert constants.prepare == pytest.approx((9 - 4 * 2) / 500)
    assert constants.rounds == pytest.approx((4, 0), abs=1e-12)
    text = bench.scale_forecast.tables(made_up_constants())
    assert "| 1,000 | 4.0 |" in text
    assert "1,000,000,000 rows" in text


# --- The script ----------------------------------------------------------------------------------
