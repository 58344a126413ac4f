"""Standard input and pipes hold what files hold, in every format."""

import io
import os
import sys
import tempfile

import numpy as np
import pytest

from pegasos.io import DataError, read, write

pytest.importorskip("pyarrow")
pytest.importorskip("h5py")

X = np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32)
Y = np.arange(20) % 2
ENDINGS = {
    "svmlight": "svm",
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
    "arrow": "arrow",
    "hdf5": "h5",
    "npz": "npz",
    "npy": "npy",
    "idx": "idx",
}


@pytest.fixture
def content(tmp_path):
    """Return a function that makes the bytes of a file of a format."""

    def content(kind):
        path = tmp_path / f"t.{ENDINGS[kind]}"
        if kind == "npy":
            np.save(path, np.column_stack([X, Y]))
        elif kind == "idx":
            shape = bytes([0, 0, 13, 2, 0, 0, 0, 20, 0, 0, 0, 3])
            path.write_bytes(shape + X.astype(">f4").tobytes())
        else:
            write(path, X, Y)
        return path.read_bytes()

    return content


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Return the folder of temporary files, which is empty in the end."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture
def given(monkeypatch):
    """Return a function that puts bytes on standard input."""

    def given(content):
        stream = io.BufferedReader(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))

    return given


def check(path, kind):
    wishes = {"target": None} if kind == "idx" else {}
    found = read(path, format=kind, **wishes)
    rows = found.X if isinstance(found.X, np.ndarray) else found.X.toarray()
    np.testing.assert_array_equal(rows, X)
    assert found.y is None if kind == "idx" else found.y.tolist() == Y.tolist()


@pytest.mark.parametrize("kind", ENDINGS)
def test_standard_input_is_read_in_every_format(content, given, kind):
    given(content(kind))
    check("-", kind)


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_pipe_is_read_in_every_format(content, kind):
    out, into = os.pipe()
    try:
        with os.fdopen(into, "wb") as file:
            file.write(content(kind))  # less than a pipe holds
        check(f"/dev/fd/{out}", kind)
    finally:
        os.close(out)


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("bad", [b"", b"\0x" * 300])
def test_what_is_wrong_with_standard_input_is_said_of_it(given, scratch, kind, bad):
    given(bad)
    with pytest.raises(DataError) as caught:
        read("-", format=kind)
    assert caught.value.message.startswith("-")
    assert str(scratch) not in str(caught.value)


def test_a_fault_in_a_table_on_standard_input_has_a_line(given):
    given(b"a,b,y\n1,2,3\n1,x,3\n")
    with pytest.raises(DataError, match=r"^-, line 3, column 2"):
        read("-", format="csv")


@pytest.mark.parametrize("kind", ["svmlight", "csv", "npy"])
def test_standard_input_that_is_closed_is_named(monkeypatch, kind):
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it then
    with pytest.raises(DataError, match=r"^standard input is closed"):
        read("-", format=kind)
