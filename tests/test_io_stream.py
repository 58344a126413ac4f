"""Streams: all chunks together are what `read` gives, whatever their size, format and cache."""

import itertools
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegasos.io import Data, DataError, Stream, read, stream, write
from pegasos.io import _stream_table_text as table_text

from .stream_helpers import assert_same, assert_streams, together

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

few = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
sizes = st.one_of(st.integers(1, 60), st.just(10**6))


@pytest.fixture
def write_text(tmp_path):
    def write_text(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text


@pytest.fixture
def small_parts(monkeypatch):
    """Text of tables is parsed a few lines at a time."""
    monkeypatch.setattr(table_text, "_AT_ONCE", 16)
    monkeypatch.setattr(table_text, "_AT_ONCE_PER_COLUMN", 1)


fresh = itertools.count()


def check(path, size, cached, **wishes):
    """Stream and read alike, or refuse alike."""
    folder = path.parent / f"cache-{next(fresh)}" if cached else None
    try:
        whole = read(path, **wishes)
    except DataError:
        with pytest.raises(DataError):
            list(stream(path, chunk_bytes=size, cache=folder, **wishes))
        return
    assert_streams(stream(path, chunk_bytes=size, cache=folder, **wishes), whole)
    if cached:
        assert_streams(stream(path, chunk_bytes=size, cache=folder, **wishes), whole)


# --- Parity with read -----------------------------------------------------------------------------

numbers = st.one_of(st.integers(-3, 3), st.floats(-(2.0**99), 2.0**99, width=32)).map(repr)
entries = st.dictionaries(st.integers(0, 9), numbers, max_size=4).map(
    lambda row: " ".join(f"{j}:{row[j]}" for j in sorted(row))
)
svmlight_lines = st.one_of(
    st.tuples(numbers, entries).map(" ".join), st.sampled_from(["", "# no row", "1 qid:3 1:2 #x"])
)
line_ends = st.sampled_from(["\n", "\r\n"])


@few
@given(
    lines=st.lists(svmlight_lines, min_size=1, max_size=12),
    end=line_ends,
    last=st.booleans(),
    mark=st.booleans(),
    size=sizes,
    cached=st.booleans(),
    zero_based=st.sampled_from([None, None, True, False]),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_svmlight_chunks_are_the_whole_file(
    tmp_path, lines, end, last, mark, size, cached, zero_based, dtype
):
    path = tmp_path / "rows.svm"
    text = "\ufeff" * mark + end.join(lines) + end * last
    path.write_bytes(text.encode() or b"\n")
    check(path, size, cached, zero_based=zero_based, dtype=dtype)


cells = st.one_of(
    st.integers(-2, 2).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(["0", "1", "true", "false", "x", "y z", "", "NA", "0x1f", "2020-01-02", " 3"]),
    st.sampled_from(["9007199254740993", "01", "-0", "+1", "1e400", '"a,b"', "\ufeff1"]),
)
kinds = st.sampled_from([cells, st.integers(0, 3).map(str), st.floats(-9, 9).map(repr)])


@st.composite
def tables(draw):
    n_columns = draw(st.integers(2, 4))
    columns = [draw(kinds) for _ in range(n_columns)]
    rows = draw(st.lists(st.tuples(*columns), min_size=1, max_size=9))
    return [",".join(row) for row in rows]


@settings(few, max_examples=150)
@given(
    lines=tables(),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    last=st.booleans(),
    before=st.sampled_from(["", "\ufeff", "\n"]),
    header=st.booleans(),
    size=sizes,
    cached=st.booleans(),
    one_hot=st.sampled_from([True, True, False, ["a"]]),
    missing=st.sampled_from(["mean", "mean", 7.5, "error"]),
    target=st.sampled_from([-1, 0, None]),
)
def test_csv_chunks_are_the_whole_file(
    tmp_path, small_parts, lines, end, last, before, header, size, cached, one_hot, missing, target
):
    path = tmp_path / "rows.csv"
    n_columns = lines[0].count(",") + 1 - lines[0].count('"a,b"')
    names = [",".join("abcd"[:n_columns])] if header else []
    text = before + end.join(names + lines) + end * last
    path.write_bytes(text.encode())
    if not header and one_hot == ["a"]:
        one_hot = ["f0"]
    check(path, size, cached, header=header, one_hot=one_hot, missing=missing, target=target)


@few
@given(
    seed=st.integers(0, 99),
    n_rows=st.integers(1, 40),
    group=st.integers(1, 12),
    size=st.sampled_from([1, 100, 400, 10**6]),
    missing=st.sampled_from(["mean", -1]),
    one_hot=st.sampled_from([False, True, ["i"]]),
)
def test_parquet_chunks_are_the_whole_file(tmp_path, seed, n_rows, group, size, missing, one_hot):
    rng = np.random.default_rng(seed)
    lacks = rng.random(n_rows) < 0.2
    columns = {
        "i": pa.array(rng.integers(-(2**62), 2**62, n_rows), mask=lacks),
        "f": pa.array(rng.standard_normal(n_rows).astype(np.float32), mask=lacks[::-1]),
        "b": pa.array(rng.random(n_rows) < 0.5),
        "y": pa.array(np.array(["no", "yes", "perhaps"])[rng.integers(0, 3, n_rows)]),
    }
    if one_hot is True:
        columns["t"] = pa.array(np.array(["u", "vv"])[rng.integers(0, 2, n_rows)])
        columns["d"] = columns["t"].dictionary_encode()
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=group)
    check(path, size, True, target="y", missing=missing, one_hot=one_hot)
    if size == 10**6:
        check(path, size, False, target="y", missing=missing, one_hot=one_hot)


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["rows.svm", "rows.csv"])
@pytest.mark.parametrize("size", [1, 200, 10**6])
def test_compressed_text_is_streamed_from_the_cache(tmp_path, packed, name, size):
    if packed == ".zst":
        pytest.importorskip("zstandard")
    rng = np.random.default_rng(0)
    path = tmp_path / f"{name}{packed}"
    write(path, rng.random((60, 3)).round(3), rng.integers(0, 2, 60))
    check(path, size, True)


# --- What only all rows together tell -------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ("1 2 1.5", np.float64),
        ("1 2 3.0", np.int64),
        ("1 0 true", np.int64),
        ("5 0 true", np.str_),
        ("01 2 x", np.str_),
        ("0x1f 1 2.5", np.str_),
    ],
    ids=lambda pair: pair[0],
)
def test_labels_of_a_chunk_have_the_type_of_all_labels(write_text, labels):
    texts, kind = labels
    path = write_text("t.csv", "a,y\n" + "".join(f"1,{label}\n" for label in texts.split()))
    chunks = stream(path, chunk_bytes=1)
    assert len(chunks) == 3
    assert chunks.labels.dtype.kind == np.dtype(kind).kind
    assert_streams(chunks, read(path))


def test_categories_and_means_are_those_of_all_rows(write_text):
    path = write_text("t.csv", "age,town,y\n30,Pisa,1\n,Bari,0\n31.5,Pisa,1\n,Asti,0\n")
    chunks = stream(path, chunk_bytes=1, one_hot=True, missing="mean")
    assert chunks.names == ["age", "town=Asti", "town=Bari", "town=Pisa"]
    np.testing.assert_array_equal(chunks.chunk(1).X.toarray(), [[30.75, 0, 1, 0]])


@pytest.mark.parametrize("number", ["-0", "0x1F", "9007199254740993"])
def test_whole_numbers_are_the_same_with_a_gap_elsewhere(write_text, number):
    path = write_text("t.csv", f"a,y\n,0\n{number},1\n")
    assert_streams(stream(path, chunk_bytes=1, missing=7), read(path, missing=7))


def test_an_index_zero_in_one_chunk_counts_for_all(write_text):
    path = write_text("t.svm", "1 1:5\n1 3:1\n1 0:6\n")
    chunks = stream(path, chunk_bytes=1)
    assert chunks.n_features == 4
    assert chunks.zero_based is True
    np.testing.assert_array_equal(chunks.chunk(0).X.toarray(), [[0, 5, 0, 0]])


def test_names_of_an_earlier_read_choose_the_columns(write_text):
    path = write_text("t.csv", "town,n,age\nRoma,1,20\nPisa,0,30\n")
    wishes = {"target": None, "names": ["age", "town=Bari", "town=Pisa"]}
    assert_streams(stream(path, chunk_bytes=1, **wishes), read(path, **wishes))


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 10**6])
def test_a_folder_and_a_list_are_their_files_one_after_the_other(tmp_path, write_text, size):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, rows in {"b.csv": "3,x\n4,1\n", "a.csv": "1,1\n2,7\n"}.items():
        (folder / name).write_text("a,y\n" + rows)
    for hidden in (".DS_Store", "_SUCCESS"):
        (folder / hidden).write_text("")
    whole = read(write_text("all.csv", "a,y\n1,1\n2,7\n3,x\n4,1\n"))
    assert_streams(stream(folder, chunk_bytes=size), whole)
    assert_streams(stream([folder / "a.csv", folder / "b.csv"], chunk_bytes=size), whole)
    # The cache may be in the folder.
    for _ in range(2):
        assert_streams(stream(folder, chunk_bytes=size, cache=folder / "cache"), whole)


def test_parquet_files_of_different_numbers_go_together(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "y": [0, 1]}), tmp_path / "0.parquet")
    parquet.write_table(pa.table({"a": [0.5, None], "y": [1, 1]}), tmp_path / "1.parquet")
    data = together(stream(tmp_path, missing="mean"))
    expected = np.float32([1, 2, 0.5, 3.5 / 3])
    np.testing.assert_array_equal(data.X.ravel(), expected)


def test_chunks_are_about_as_large_as_asked_for(tmp_path):
    path = tmp_path / "rows.svm"
    write(path, np.random.default_rng(0).random((2000, 5)), np.ones(2000))
    size = path.stat().st_size
    rows = stream(path, chunk_bytes=size // 10).chunk_rows
    assert len(rows) == 11  # as the last would be larger else
    assert rows.max() - rows.min() <= 3
    assert stream(path, chunk_bytes="1GB").chunk_rows.tolist() == [2000]


def test_a_long_line_makes_its_chunk_longer(write_text):
    long = " ".join(f"{j}:1" for j in range(1, 5000))
    path = write_text("t.svm", f"1 1:1\n-1 {long}\n1 2:1\n")
    assert_streams(stream(path, chunk_bytes=10), read(path))


def test_a_line_of_a_table_may_be_longer_than_what_threads_take_at_once(write_text):
    label = "x" * (3 << 20)
    path = write_text("t.csv", f"a,y\n1,z\n2,{label}\n3,z\n")
    assert_streams(stream(path, chunk_bytes=10**6), read(path))


# --- Reading ahead --------------------------------------------------------------------------------


@pytest.fixture
def chunks(tmp_path):
    path = tmp_path / "rows.svm"
    write(path, sp.csr_matrix(np.arange(1, 101.0)[:, np.newaxis]), np.arange(100) % 2)
    return stream(path, chunk_bytes=100)


def readers():
    return [t for t in threading.enumerate() if t.name.startswith("pegasos-read-ahead")]


def test_chunks_come_in_the_order_asked_for(chunks):
    order = np.random.default_rng(0).permutation(len(chunks))
    for k, data in zip(order, chunks.read_ahead(order), strict=True):
        assert_same(data, chunks.chunk(k))
    assert list(chunks.read_ahead([])) == []
    assert not readers()


def test_the_next_chunk_is_read_meanwhile_and_no_more(chunks, monkeypatch):
    read_so_far = []
    chunk = Stream.chunk
    monkeypatch.setattr(Stream, "chunk", lambda self, k: (read_so_far.append(k), chunk(self, k))[1])
    coming = chunks.read_ahead(range(len(chunks)))
    next(coming)
    for _ in range(500):
        if len(read_so_far) == 2:
            break
        time.sleep(0.01)
    assert read_so_far == [0, 1]
    coming.close()
    assert read_so_far == [0, 1]
    assert not readers()


def test_an_error_of_the_thread_comes_to_the_caller(chunks, monkeypatch):
    def fail(self, k):
        if k == 2:
            raise DataError("the disk is gone", "find it")
        return Data(None, None, None)

    chunks.n_rows  # noqa: B018 - the files are looked through
    monkeypatch.setattr(Stream, "chunk", fail)
    coming = chunks.read_ahead(range(5))
    assert next(coming) == next(coming) == Data(None, None, None)
    with pytest.raises(DataError, match="the disk is gone"):
        next(coming)
    assert not readers()


WAITING = """
import sys, time
from pegasos.io import stream
for data in stream(sys.argv[1], chunk_bytes=10):
    print("reading", flush=True)
    time.sleep(0.1)
"""


def test_ctrl_c_ends_a_program_that_reads_ahead(write_text):
    path = write_text("t.svm", "1 1:1\n" * 2000)
    command = [sys.executable, "-c", WAITING, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_streams_of_tables_go_to_other_processes(tmp_path, name):
    path = tmp_path / name
    write(path, np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
    chunks = stream(path, chunk_bytes=1000)
    for other in (pickle.loads(pickle.dumps(chunks)), chunks):
        assert_streams(other, read(path))
    assert_streams(pickle.loads(pickle.dumps(chunks)), read(path))


def test_progress_is_told_chunk_by_chunk(chunks, tmp_path):
    told = []
    chunks._prepare(lambda *progress: told.append(progress))
    n = len(chunks)
    assert told == [("looking through the data", k, n) for k in range(1, n + 1)]


def test_streams_go_to_other_processes_and_threads(chunks):
    other = pickle.loads(pickle.dumps(chunks))
    assert_same(other.chunk(1), chunks.chunk(1))
    other = pickle.loads(pickle.dumps(chunks))
    assert_same(together(other), together(chunks))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(other.chunk(2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for data in seen:
        assert_same(data, chunks.chunk(2))


# --- Fingerprints ---------------------------------------------------------------------------------


def test_the_fingerprint_changes_with_what_decides_the_rows(write_text):
    path = write_text("t.csv", "a,y\n1,2\n3,4\n")
    first = stream(path).fingerprint
    assert stream(path, n_jobs=1).fingerprint == first
    assert stream(path, chunk_bytes=32_000_000).fingerprint == first
    assert stream([path]).fingerprint == first
    others = [
        stream(path, **wish).fingerprint
        for wish in (
            {"chunk_bytes": 5},
            {"target": 0},
            {"dtype": "float64"},
            {"header": False},
            {"missing": "mean"},
            {"missing": float("nan")},
            {"one_hot": True},
            {"one_hot": ["a"]},
            {"names": ["a"]},
            {"format": "tsv"},
        )
    ]
    path.write_text("a,y\n1,2\n3,4\n5,6\n")
    others.append(stream(path).fingerprint)
    assert len({first, *others}) == 1 + len(others)
