"""The binary cache: made once, noticed when it is not as it should be, never half there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.io import DataError, read, stream, write
from pegasos.io import _cache as cache_module
from pegasos.io import _stream as stream_module

from .stream_helpers import assert_streams


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "rows.svm"
    X = sp.random(300, 20, 0.2, format="csr", dtype=np.float32, random_state=0)
    write(path, X, np.arange(300) % 3)
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "some" / "cache"


def cached(data, folder, **wishes):
    return stream(data, chunk_bytes=2000, cache=folder, **wishes)


def make(data, folder):
    assert_streams(cached(data, folder), read(data))
    return arrays_in(folder)


def arrays_in(folder):
    (file,) = folder.glob("chunks-*.bin")
    return file


@pytest.fixture
def is_made(monkeypatch):
    """Tell whether caches are made: a list that grows."""
    made = []
    make_cache = stream_module.make_cache

    def noted(*args):
        made.append(args[0])
        return make_cache(*args)

    monkeypatch.setattr(stream_module, "make_cache", noted)
    return made


def test_the_cache_is_made_once(data, folder, is_made):
    make(data, folder)
    assert len(is_made) == 1
    make(data, folder)
    assert_streams(cached(data, folder, n_jobs=1), read(data))
    assert len(is_made) == 1


def test_chunks_are_the_same_with_and_without_a_cache(data, folder):
    with_cache, without = cached(data, folder), stream(data, chunk_bytes=2000)
    assert with_cache.fingerprint == without.fingerprint
    np.testing.assert_array_equal(with_cache.chunk_rows, without.chunk_rows)


@pytest.mark.parametrize("said", [None, False, True])
def test_what_indices_begin_with_is_kept(data, folder, is_made, said):
    for _ in range(2):
        chunks = cached(data, folder, zero_based=said)
        assert chunks.zero_based is bool(said)
        assert chunks.chunk(0).zero_based is bool(said)
    assert len(is_made) == 1


def test_files_of_others_in_the_folder_stay(data, folder):
    folder.mkdir(parents=True)
    (folder / "chunks-of-mine.bin").write_text("mine")
    make_twice = [cached(data, folder, dtype=dtype).n_rows for dtype in ("float32", "float64")]
    assert make_twice == [300, 300]
    assert (folder / "chunks-of-mine.bin").read_text() == "mine"


def test_other_options_or_files_make_the_cache_anew(data, folder, is_made):
    make(data, folder)
    assert_streams(cached(data, folder, dtype="float64"), read(data, dtype="float64"))
    os.utime(data, ns=(1, 1))
    make(data, folder)
    with data.open("a") as file:
        file.write("7 1:1\n")
    make(data, folder)
    assert len(is_made) == 4
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        arrays_in(folder).name,
        "index.json",
    ]


def cut(folder):
    arrays = arrays_in(folder)
    arrays.write_bytes(arrays.read_bytes()[:-1])


def edit(folder):
    arrays = arrays_in(folder)
    content = bytearray(arrays.read_bytes())
    content[100] ^= 1
    arrays.write_bytes(content)


def touch_index(**changes):
    def change(folder):
        index = json.loads((folder / "index.json").read_text())
        (folder / "index.json").write_text(json.dumps(index | changes))

    return change


SPOILED = {
    "arrays cut off": cut,
    "arrays edited": edit,
    "arrays gone": lambda folder: arrays_in(folder).unlink(),
    "index gone": lambda folder: (folder / "index.json").unlink(),
    "index cut off": lambda folder: (folder / "index.json").write_text('{"made_for": ['),
    "index of something else": lambda folder: (folder / "index.json").write_text("[1, 2]"),
    "index edited": touch_index(n_features=3),
    "chunks missing": touch_index(chunks=[]),
    "not text": lambda folder: (folder / "index.json").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_cache_that_is_not_as_it_was_made_is_made_anew(data, folder, is_made, spoil):
    make(data, folder)
    spoil(folder)
    make(data, folder)
    assert len(is_made) == 2


def test_a_cache_of_another_version_is_made_anew(data, folder, is_made, monkeypatch):
    monkeypatch.setattr(cache_module, "_VERSION", 0)
    make(data, folder)
    monkeypatch.undo()
    assert cache_module.open_cache(folder, cached(data, folder).fingerprint) is None


def test_a_cache_that_changes_while_it_is_read_is_refused(data, folder):
    chunks = cached(data, folder)
    chunks.chunk(0)
    edit(folder)
    with pytest.raises(DataError, match="the cache has changed"):
        chunks.chunk(0)
    arrays_in(folder).unlink()
    with pytest.raises(DataError, match="No such file"):
        chunks.chunk(0)


def test_dense_rows_labels_of_texts_and_no_labels_are_cached(tmp_path, folder):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i}.5,{-i},class {i % 300}\n" for i in range(900)))
    whole = read(path)
    for _ in range(2):
        chunks = cached(path, folder)
        assert_streams(chunks, whole)
        assert chunks.chunk(0).X.flags.c_contiguous
        assert chunks.chunk(0).X.flags.writeable
    for _ in range(2):
        assert_streams(cached(path, folder, target=None, names=["b"]), read_b(path))


def read_b(path):
    return read(path, target=None, names=["b"])


def test_cached_matrices_need_no_check(data, folder):
    X = cached(data, folder).chunk(1).X
    assert X.indices.dtype == X.indptr.dtype == np.int32
    X.check_format(full_check=True)
    again = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    assert again.has_canonical_format


# --- What can go wrong while it is made -----------------------------------------------------------


def nothing_is_left(folder):
    return [path.name for path in folder.iterdir()] == [".lock"]


def test_a_full_disk_is_told_and_leaves_nothing(data, folder, monkeypatch):
    full = OSError(28, "No space left on device")

    def fsync(descriptor):
        raise full

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DataError, match="No space left on device") as caught:
        len(cached(data, folder))
    assert str(folder) in caught.value.message
    assert nothing_is_left(folder)


def test_a_disk_that_is_really_full_is_told(data):
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("there is no device that is always full")
    with pytest.raises(DataError, match="cannot write the cache"):
        len(cached(data, "/dev/full/cache"))


def test_a_folder_that_cannot_be_written_to_is_told(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write the cache to"):
        len(cached(data, tmp_path / "file"))
    if os.geteuid() == 0:
        return  # who may write everywhere
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(DataError, match="cannot write the cache to"):
        len(cached(data, tmp_path / "closed" / "cache"))


def test_bad_data_leaves_nothing(tmp_path, folder):
    path = tmp_path / "bad.svm"
    path.write_text("1 1:1\n" * 500 + "1 2:x\n")
    with pytest.raises(DataError, match="line 501, column 3"):
        len(cached(path, folder))
    assert nothing_is_left(folder)


MAKE = """
import sys
from pegasos.io import stream
chunks = stream(sys.argv[1], chunk_bytes=20_000, cache=sys.argv[2])
print("ready", flush=True)
print(sum(X.sum(dtype="float64") for X, y, names in chunks))
"""


def maker(data, folder):
    command = [sys.executable, "-c", MAKE, str(data), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_make_the_same_cache_at_once(tmp_path, folder):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i} 3:0.5\n" for i in range(20_000)))
    total = float(read(path).X.sum(dtype=np.float64))
    makers = [maker(path, folder) for _ in range(3)]
    sums = [float(one.communicate(timeout=120)[0].split()[1]) for one in makers]
    assert sums == pytest.approx([total] * 3)
    assert_streams(stream(path, chunk_bytes=20_000, cache=folder), read(path))
    assert len(list(folder.iterdir())) == 3


def test_a_maker_that_is_killed_leaves_no_cache(tmp_path, folder):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i} 3:0.5\n" for i in range(500_000)))
    process = maker(path, folder)
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while not list(folder.glob(".chunks-*")) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (folder / "index.json").exists()
    assert list(folder.glob(".chunks-*"))
    path.write_text("1 1:1\n2 2:3\n")
    make(path, folder)
    assert len(list(folder.iterdir())) == 3  # what was left behind is gone
    shutil.rmtree(folder)
