"""What `read` refuses, `stream` refuses: with the file, the line and the column."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from pegasos.io import DataError, read, stream
from pegasos.io import _stream_svmlight as svmlight_module
from pegasos.io import _stream_table_text as table_text
from pegasos.io._stream_text import LineEnds

from .test_io_read_bad import BAD_CSV

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def refused(path, *parts, **wishes):
    with pytest.raises(DataError) as caught:
        list(stream(path, **wishes))
    assert type(caught.value) is DataError
    for part in parts:
        assert part in caught.value.message, caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("size", [1, 1000, "32MB"])
@pytest.mark.parametrize("name", BAD_CSV)
def test_a_fault_of_a_table_is_reported_with_line_and_column(write, name, size):
    text, part = BAD_CSV[name]
    if size == 1 and len(text) > 1000:
        pytest.skip("so many chunks take long")
    part = part.replace("a line is longer than 16 MiB", "a line is longer than 16")
    refused(write("t.csv", text), part, chunk_bytes=size)


BAD_LINES = [
    ("x 1:1", "column 1: the label 'x' is not a number"),
    ("1 2:1 1:1", "column 7: '1:1' comes after an entry with a larger index"),
    ("1 2:nan", "column 3: the value of '2:nan' is not finite"),
    ("1 2:1e39", "column 3: '2:1e39' is too large for float32"),
]


@pytest.mark.parametrize("size", [1, 50, "32MB"])
@pytest.mark.parametrize(("line", "part"), BAD_LINES)
def test_lines_of_a_later_chunk_are_counted_from_the_beginning(write, line, part, size):
    text = "1 1:1\n# no row\n\n" * 20 + line + "\n1 1:1\n"
    refused(write("t.svm", text), f"t.svm, line 61, {part}", chunk_bytes=size)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [7, 10**6])
def test_lines_of_a_later_chunk_of_a_table_are_counted_too(write, tmp_path, end, packed, size):
    rows = ["a,b", "", *["1,2", ""] * 30, "1,?", "3,4", ""]
    text = end.join(rows).encode()
    path = write("t.csv", gzip.compress(text) if packed else text)
    cache = tmp_path / "cache" if packed else None
    refused(
        path, "t.csv, line 63, column 2 (b): the label is missing", chunk_bytes=size, cache=cache
    )
    path = write("t.csv", gzip.compress(text + b"5") if packed else text + b"5")
    refused(path, "line 65", chunk_bytes=size, cache=cache, missing=0, target=None)


def test_rows_of_later_row_groups_are_counted_from_the_beginning(tmp_path):
    table = pa.table({"a": [1.0] * 9 + [float("inf")], "y": [1.0] * 10})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    refused(tmp_path, "row 10, column 1 (a): the value is not finite", chunk_bytes=300)
    table = pa.table({"a": [1.0] * 10, "y": [1.0] * 7 + [None] + [2.0] * 2})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    refused(tmp_path, "row 8, column 2 (y): the label is missing", chunk_bytes=300)
    table = pa.table({"a": [1.0] * 10, "y": [1.0] * 7 + [float("nan")] + [2.0] * 2})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    refused(tmp_path, "row 8, column 2 (y): the label is nan", chunk_bytes=300)


@pytest.mark.parametrize("size", [0, -5, "0MB", "much", None, float("nan"), "5 apples"])
def test_what_is_no_size_is_refused(write, size):
    error = refused(write("t.svm", "1 1:1\n"), "chunk_bytes=", chunk_bytes=size)
    assert "chunk_bytes" not in error.hint


def test_files_that_cannot_be_streamed_are_refused(tmp_path, write):
    refused(tmp_path / "none.svm", "there is no such file")
    refused("-", "standard input")
    refused([], "the list of files is empty")
    refused(write("e.svm", ""), "the file is empty")
    refused(write("t.xyz", "1"), "the ending of the name tells no format")
    refused(write("t.npy", "1"), "npy files are not read in chunks")
    os.mkfifo(tmp_path / "pipe.svm")
    refused(tmp_path / "pipe.svm", "this is no file")
    refused(write("t.svm", "# nothing\n\n"), "there are no rows")
    refused([write("a.svm", "1 1:1\n"), write("b.svm", "#\n")], "b.svm: there are no rows")
    refused(write("c.svm", "1\n2\n"), "no line has a feature")


def test_folders_that_cannot_be_streamed_are_refused(tmp_path):
    refused(tmp_path, "there are no files in the folder")
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    (tmp_path / "b.svm").write_text("1 1:1\n")
    refused(tmp_path, "b.svm: this is svmlight, but", "a.csv is csv")
    (tmp_path / "b.svm").unlink()
    refused(tmp_path, "cannot be the cache as well", cache=tmp_path)
    (tmp_path / "more").mkdir()
    refused(tmp_path, "more: this is a folder")


def test_files_of_other_columns_are_refused(write, tmp_path):
    first = write("1.csv", "a,b,y\n1,2,3\n")
    for other in ("a,y\n1,2\n", "b,a,y\n1,2,3\n"):
        refused([first, write("2.csv", other)], "2.csv: the columns are not those of", "1.csv")
    refused(
        [write("1.csv", "1,2,3\n"), write("2.csv", "1,2\n")], "2.csv: the columns", header=False
    )
    parquet.write_table(pa.table({"a": [1], "y": [0]}), tmp_path / "1.parquet")
    for columns in ({"b": [1], "y": [0]}, {"a": ["x"], "y": [0]}):
        parquet.write_table(pa.table(columns), tmp_path / "2.parquet")
        refused([tmp_path / "1.parquet", tmp_path / "2.parquet"], "2.parquet: the columns are not")


def test_what_needs_a_cache_says_so(write, tmp_path):
    packed = write("t.svm.gz", gzip.compress(b"1 1:1\n"))
    assert "cache=" in refused(packed, "t.svm.gz: compressed text cannot be").hint
    parquet.write_table(pa.table({"a": np.ones(99), "y": np.ones(99)}), tmp_path / "t.parquet")
    error = refused(tmp_path / "t.parquet", "row group 1 takes", chunk_bytes=100)
    assert "cache=" in error.hint
    assert len(list(stream(tmp_path / "t.parquet", chunk_bytes=1584))) == 1
    assert "1584" in error.hint


def test_the_median_is_refused_with_what_to_do_instead(write):
    error = refused(write("t.csv", "a,y\n1,2\n"), "missing='median'", missing="median")
    assert "mean" in error.hint
    refused(write("t.csv", "a,y\n1,2\n"), "missing='mode' is not known", missing="mode")
    refused(write("t.csv", "a,y\n1,2\n"), "dtype=int64", dtype=int)


def test_features_beyond_those_asked_for_are_refused(write):
    first, second = write("1.svm", "1 3:1\n"), write("2.svm", "1 5:1\n")
    refused([first, second], "2.svm: there are 5 features, and n_features=4", n_features=4)
    assert stream([first, second], n_features=9).n_features == 9
    refused([first, write("2.svm", "1 0:1\n")], "2.svm, line 1", zero_based=False)


@pytest.mark.parametrize("name", ["t.svm", "t.csv"])
def test_a_line_that_does_not_end_is_refused(write, tmp_path, monkeypatch, name):
    for module in (svmlight_module, table_text):
        ends = LineEnds(module._ENDS.pattern, longest=100_000)
        monkeypatch.setattr(module, "_ENDS", ends)
    path = write(name, "a,b\n" * (name == "t.csv") + "1" * 500_000)
    refused(path, "a line is longer than 100 kB", chunk_bytes=1000)
    packed = write(f"{name}.gz", gzip.compress(path.read_bytes()))
    refused(packed, "a line is longer than 100 kB", chunk_bytes=1000, cache=tmp_path / "cache")


@pytest.mark.parametrize("name", ["t.svm", "t.csv", "t.parquet"])
def test_a_file_that_changes_while_it_is_streamed_is_refused(write, name):
    path = write(name, {"t.svm": "1 1:1\n-1 1:2\n", "t.csv": "a,y\n1,2\n3,4\n"}.get(name, ""))
    if name == "t.parquet":
        parquet.write_table(pa.table({"a": [1], "y": [1]}), path)
    chunks = stream(path)
    chunks.chunk(0)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match="the file has changed since the stream was made"):
        chunks.chunk(0)
    path.unlink()
    with pytest.raises(DataError, match=r"(?i)no such file"):
        chunks.chunk(0)


def test_there_are_no_other_chunks(write):
    chunks = stream(write("t.svm", "1 1:1\n"))
    for k in (-1, 1):
        with pytest.raises(IndexError, match=f"there is no chunk {k}, as there are 1"):
            chunks.chunk(k)


@pytest.mark.parametrize("kind", ["gz", "cut"])
def test_damaged_compressed_text_is_refused(write, tmp_path, kind):
    packed = gzip.compress(b"1 1:0.5\n" * 9999)
    path = write(
        "t.svm.gz", packed[:-30] if kind == "cut" else packed[:40] + b"\0\0\0" + packed[43:]
    )
    refused(path, "t.svm.gz: the compressed data is damaged", cache=tmp_path / "cache")


PEAK = """
import sys
import scipy.sparse
from pegasos.io import stream

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

for X, y, names in stream(sys.argv[1], chunk_bytes=1_000_000):
    pass
before = peak()
for X, y, names in stream(sys.argv[2], chunk_bytes=1_000_000):
    pass
print(peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")  # noqa: PTH110
@pytest.mark.parametrize("name", ["t.svm", "t.csv"])
def test_memory_does_not_grow_with_the_file(write, name):
    line = {"t.svm": b"1 1:0.125 2:0.25 3:0.5 70:0.75\n", "t.csv": b"0.125,0.25,0.5,0.75,1\n"}[name]
    names = b"a,b,c,d,y\n" * (name == "t.csv")
    small = write(f"small-{name}", names + line * (6_000_000 // len(line)))
    large = write(f"large-{name}", names + line * (60_000_000 // len(line)))
    command = [sys.executable, "-c", PEAK, str(small), str(large)]
    grown = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert grown < 8_000_000  # the larger file is 60 MB


def test_read_and_stream_refuse_the_same_values(write):
    for text in ("a,y\n1,2\nx,2\n", "a,y\n1,2\n1e39,2\n", "a,y\n1,\n1,2\n", "a,y\n2020-01-01,2\n"):
        path = write("t.csv", text)
        with pytest.raises(DataError) as caught:
            read(path)
        error = refused(path, chunk_bytes=1)
        assert error.message.replace("in this part", "in all") == caught.value.message
