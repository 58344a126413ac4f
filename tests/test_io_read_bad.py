"""Bad files: one error, which names the file and the place, and says what to do."""

import bz2
import contextlib
import gzip
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos.io import DataError, read

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")

ALL = {
    "svmlight": "t.svm",
    "csv": "t.csv",
    "tsv": "t.tsv",
    "parquet": "t.parquet",
    "arrow": "t.arrow",
    "hdf5": "t.h5",
    "idx": "t.idx",
    "npy": "t.npy",
    "npz": "t.npz",
}


def refused(path, *parts, **wishes):
    with pytest.raises(DataError) as caught:
        read(path, **wishes)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.hint
    assert str(error) == f"{error.message}; {error.hint}"
    assert len(str(error)) < 600
    for part in (str(path), *parts):
        assert part in error.message, error.message
    return error


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", ALL.values())
def test_files_that_are_not_there_empty_or_directories(tmp_path, write, name):
    refused(tmp_path / name, "there is no such file")
    refused(write(f"empty-{name}", b""), "the file is empty")
    (tmp_path / name).mkdir()
    refused(tmp_path / name, "this is a directory")


@pytest.mark.parametrize("name", ALL.values())
@pytest.mark.parametrize("content", [b"\0" * 5000, b"\xff\xfe\xe9\n" * 300, b"x" * 10_000_000])
def test_bytes_that_are_no_data_are_refused_by_every_format(write, name, content):
    refused(write(name, content))


@pytest.mark.parametrize("kind", ALL)
@settings(max_examples=25)
@given(content=st.binary(min_size=1, max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, kind, content):
    path = tmp_path_factory.getbasetemp() / f"any-{ALL[kind]}"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        read(path, target=None, header=False)


def good_files(folder):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    words = np.array(["yes", "no"])[y]
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "word": words, "y": y})
    parquet.write_table(rows, folder / "t.parquet")
    with pa.ipc.new_file(str(folder / "t.arrow"), rows.schema) as file:
        file.write_table(rows)
    with h5py.File(folder / "t.h5", "w") as file:
        file["data"], file["target"] = X, y
    np.savez_compressed(folder / "t.npz", X=X, y=y)
    np.save(folder / "t.npy", X)
    shape = bytes([0, 0, 14, 2, 0, 0, 0, 40, 0, 0, 0, 3])
    (folder / "t.idx").write_bytes(shape + X.astype(">f8").tobytes())


@pytest.mark.parametrize("kind", ["parquet", "arrow", "hdf5", "idx", "npy", "npz"])
def test_files_cut_off_anywhere_are_refused(tmp_path, kind):
    good_files(tmp_path)
    path = tmp_path / ALL[kind]
    whole = path.read_bytes()
    assert read(path, target=None, one_hot=True).X.shape[0] == 40
    for size in sorted(
        {1, 3, 5, 9, 17, *range(30, len(whole) - 1, len(whole) // 25), len(whole) - 1}
    ):
        path.write_bytes(whole[:size])
        refused(path, target=None, one_hot=True)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "hdf5", "idx", "npy", "npz"])
@settings(max_examples=40)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_files_with_a_wrong_byte_are_read_or_refused(tmp_path_factory, kind, place, byte):
    folder = tmp_path_factory.getbasetemp() / f"wrong-{kind}"
    if not folder.exists():
        folder.mkdir()
        good_files(folder)
    content = bytearray((folder / ALL[kind]).read_bytes())
    content[place % len(content)] = byte
    path = folder / f"wrong-{ALL[kind]}"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        read(path, target=None, one_hot=True)


def compress_zst(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, compress_zst])
@pytest.mark.parametrize("kind", ["svmlight", "csv"])
def test_compressed_data_that_is_cut_off_or_damaged_is_refused(write, kind, compress):
    rng = np.random.default_rng(0)
    lines = {
        "svmlight": (f"1 1:{a!r} 2:{b!r}\n" for a, b in rng.random((20_000, 2)).tolist()),
        "csv": (f"{a!r},{b!r},1\n" for a, b in rng.random((20_000, 2)).tolist()),
    }[kind]
    packed = compress("".join(lines).encode())
    assert read(write("good", packed), format=kind, header=False).X.shape == (20_000, 2)
    refused(write("cut", packed[: len(packed) // 2]), format=kind, header=False)
    damaged = bytearray(packed)
    damaged[len(packed) // 2 : len(packed) // 2 + 50] = bytes(50)
    refused(write("damaged", bytes(damaged)), format=kind, header=False)


BAD_CSV = {
    "ragged": ("a,b,y\n1,2,3\n\n1,2\n", "line 4, column 3: there are 2 values, but 3 in the first"),
    "too long": ("a,b,y\n1,2,3\n1,2,3,4\n", "line 3, column 4: there are 4 values, but 3"),
    "old ends of lines": ("a,b,y\r1,2,3\r1,2\r", "line 3, column 3: there are 2 values, but 3"),
    "no number": ("a,b,y\n1,2,3\n\n4,x7,6\n", "line 4, column 2 (b): 'x7' is not a number"),
    "missing": ("a,b,y\n1,2,3\n,2,3\n", "line 3, column 1 (a): the value is missing"),
    "not finite": ("a,b,y\n1,2,3\n1,inf,3\n", "line 3, column 2 (b): the value is not finite"),
    "no label": ("a,b,y\n1,2,3\n1,2,\n", "line 3, column 3 (y): the label is missing"),
    "latin-1": (b"a,b,y\n1,2,x\n1,2,caf\xe9\n", "column 3 (y): b'caf\\xe9' is not UTF-8"),
    "latin-1 names": (b"caf\xe9,b,y\n1,2,x\n", "line 1"),
    "NUL": (b"a,b,y\n1,2,x\n1,\0,y\n", "line 3, column 2 (b): '\\x00' is not a number"),
    "no rows": ("a,b,y\n", "there are no rows"),
    "only labels": ("y\n1\n", "no column beside the labels"),
    "semicolons": ("a;b;y\n1;2;3\n", "no column beside the labels"),
    "names twice": ("a,a,y\n1,2,3\n", "line 1: two columns have the name 'a'"),
    "no names": ("1,2,3\n4,5,6\n", "line 1: there are only numbers where names should be"),
    "UTF-16": ("a,b,y\n1,2,3\n".encode("utf-16"), "line 1, column 1: the text is UTF-16"),
    "too many columns": ("\n" + "1," * 5_000_000, "the first line has 5,000,001 columns"),
    "a line without end": ("a,b\n1," + "7" * 50_000_000, "a line is longer than 16 MiB"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_a_fault_of_a_table_is_reported_with_line_and_column(write, name):
    text, part = BAD_CSV[name]
    refused(write("t.csv", text), part)


def test_delimiters_in_quotes_and_later_lines_make_no_columns(write):
    cell = "," * 1_000_001
    assert read(write("t.csv", f'a,y\n1,"{cell}"\n')).y[0] == cell
    assert read(write("t.csv", f'1,"{cell}"\n'), header=False).y[0] == cell
    assert read(write("t.csv", "a,b,y\r" + "1,2,3\r" * 400_000)).X.shape == (400_000, 2)


@pytest.mark.parametrize("name", ["t.arrow", "t.parquet"])
def test_a_file_of_something_else_is_not_said_to_be_compressed(write, name):
    content = np.random.default_rng(0).bytes(3000)
    error = refused(write(name, content), " or it is damaged")
    assert "compressed" not in error.message
    assert "format" in error.hint


def test_svmlight_lines_without_any_feature_are_refused(write):
    path = write("t.svm", "1\n-1\n")
    refused(path, "no line has a feature")
    assert read(path, n_features=3).X.shape == (2, 3)


def test_a_long_line_of_a_table_is_read(write):
    n = 2_000_000
    text = ",".join(f"x{j}" for j in range(100)) + "\n" + ",".join(["1"] * 99) + "," + "y" * n
    assert len(read(write("t.csv", text)).y[0]) == n


def test_pickles_are_never_opened(tmp_path, write):
    np.save(tmp_path / "t.npy", np.array([{}], dtype=object), allow_pickle=True)
    refused(tmp_path / "t.npy", "pickled objects")
    np.savez(tmp_path / "t.npz", X=np.ones((2, 2)), y=np.array([{}, 1], dtype=object))
    refused(tmp_path / "t.npz", "pickled objects")
    refused(write("p.npy", pickle.dumps({"a": 1})))


def test_headers_that_promise_more_than_there_is_are_refused(write, tmp_path):
    refused(write("t.idx", bytes([0, 0, 8, 3]) + b"\xff" * 12 + b"abc"), "but the header says")
    np.save(tmp_path / "t.npy", np.ones((3, 3)))
    content = (tmp_path / "t.npy").read_bytes().replace(b"(3, 3)", b"(9000000000, 9000000)")
    refused(write("t.npy", content))


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.idx"])
def test_values_too_large_for_float32_are_refused(tmp_path, name):
    X = np.array([[1, 2], [3, 1e39]])
    if name == "t.npy":
        np.save(tmp_path / name, X)
    else:
        idx = bytes([0, 0, 14, 2, 0, 0, 0, 2, 0, 0, 0, 2]) + X.astype(">f8").tobytes()
        (tmp_path / name).write_bytes(b"a,b\n1,2\n3,1e39\n" if name == "t.csv" else idx)
    error = refused(tmp_path / name, "column 2", "1e+39 is too large for float32", target=None)
    assert "dtype='float64'" in error.hint
    assert read(tmp_path / name, target=None, dtype="float64").X[1, 1] == 1e39


def test_columns_of_other_types_and_no_rows_are_refused(tmp_path):
    rows = pa.table({"when": pa.array([1, 2], pa.timestamp("s")), "y": [1, 2]})
    parquet.write_table(rows, tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "column 'when' holds timestamp")
    parquet.write_table(rows.slice(0, 0), tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "there are no rows")


def test_arrays_that_do_not_go_together_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.ones((3, 2)), y=np.ones(4))
    refused(tmp_path / "t.npz", "there are 3 rows and 4 labels")
    np.savez(tmp_path / "t.npz", X=np.ones((3, 2)), y=np.ones((3, 2)))
    refused(tmp_path / "t.npz", "several labels for a row are not supported")
    np.savez(tmp_path / "t.npz", X=np.array([["a", "b"]]), y=np.ones(1))
    refused(tmp_path / "t.npz", "not numbers")
    np.save(tmp_path / "t.npy", np.ones(3))
    refused(tmp_path / "t.npy", "rows and columns are needed")


@pytest.mark.parametrize(
    ("wishes", "part"),
    [
        ({"format": "excel"}, "format='excel' is not known"),
        ({"dtype": "int8"}, "dtype=int8 is not supported"),
        ({"target": "z"}, "there is no column 'z'"),
        ({"target": 3}, "there is no column 3, as there are 3"),
        ({"missing": "mode"}, "missing='mode' is not known"),
        ({"one_hot": ["z"]}, "there is no column 'z'"),
        ({"query_id": True}, "csv files have no query_id"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(write, wishes, part):
    path = write("t.csv", "a,b,y\n1,2,3\n")
    with pytest.raises(DataError) as caught:
        read(path, **wishes)
    assert part in caught.value.message


def test_a_name_that_tells_no_format_is_refused(write):
    refused(write("data.bin", "1 1:1"), "tells no format")
    with pytest.raises(DataError, match="standard input has no ending"):
        read("-")


@pytest.mark.parametrize(
    ("package", "name"), [("pyarrow", "t.csv"), ("h5py", "t.h5"), ("zstandard", "t.svm.zst")]
)
def test_a_package_that_is_not_there_is_named_with_the_remedy(write, package, name):
    if package == "zstandard" and sys.version_info >= (3, 14):
        pytest.skip("Python itself reads it")
    path = write(name, b"a,y\n1,2\n,1\n" if package == "pyarrow" else b"\x28\xb5\x2f\xfd 1:1")
    code = f"""
import sys
sys.modules[{package!r}] = None
from pegasos.io import DataError, read
try:
    read({str(path)!r})
except DataError as error:
    print(error.message, "|", error.hint)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"needs {package}, which is not installed | pip install 'pegasos[io]'" in done.stdout
