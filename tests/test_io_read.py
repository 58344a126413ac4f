"""Tables and arrays in files: the same rows and labels from every format."""

import gzip
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos
from pegasos.io import Data, DataError, read

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")

X = np.array([[1.5, -2, 3], [0, 5e-3, 6], [7, 8, 9.25]])
WORDS = np.array(["yes", "no", "yes"])
CSV = "a,b,c,label\n1.5,-2,3,yes\n0,5e-3,6,no\n7,8,9.25,yes\n"


def assert_is(data, y=WORDS, names=("a", "b", "c"), dtype=np.float32):
    assert isinstance(data, Data)
    assert data.X.dtype == dtype
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, X.astype(dtype))
    np.testing.assert_array_equal(data.y, y)
    assert data.names == (list(names) if names else None)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# --- Tables ---------------------------------------------------------------------------------------


def table(y=WORDS):
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})


def test_csv_has_names_and_its_last_column_is_the_target(write):
    assert_is(read(write("t.csv", CSV)))
    assert_is(read(str(write("t.csv", CSV)), dtype="float64"), dtype=np.float64)


def test_tsv_is_csv_with_tabs(write):
    assert_is(read(write("t.tsv", CSV.replace(",", "\t"))))
    assert_is(read(write("t.txt", CSV.replace(",", "\t")), format="tsv"))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv"])
def test_compressed_csv_is_read_whatever_its_name(write, name):
    assert_is(read(write(name, gzip.compress(CSV.encode())), format="csv"))


def test_csv_without_names(write):
    path = write("t.csv", CSV.partition("\n")[2])
    assert_is(read(path, header=False), names=None)


def test_ends_of_lines_and_empty_lines_do_not_matter(write):
    assert_is(read(write("t.csv", CSV.replace("\n", "\r\n") + "\r\n\r\n")))


def test_quoted_cells_may_hold_commas(write):
    text = 'a,"b,c",label\n1,2,"x, y"\n3,4,z\n'
    data = read(write("t.csv", text))
    assert data.names == ["a", "b,c"]
    np.testing.assert_array_equal(data.y, ["x, y", "z"])


@pytest.mark.parametrize("target", ["b", 1, -3])
def test_the_target_is_a_column_by_name_or_position(write, target):
    text = "a,b,c,d\n1,0,2,3\n4,1,5,6\n"
    data = read(write("t.csv", text), target=target)
    np.testing.assert_array_equal(data.y, [0, 1])
    np.testing.assert_array_equal(data.X, [[1, 2, 3], [4, 5, 6]])
    assert data.names == ["a", "c", "d"]


def test_without_a_target_all_columns_are_features(write):
    data = read(write("t.csv", "a,b\n1,2\n"), target=None)
    assert data.y is None
    assert data.names == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("0 1 1", np.array([0, 1, 1])),
        ("-1 1 -1", np.array([-1, 1, -1])),
        ("1 2 3", np.array([1, 2, 3])),
        ("1.0 2.0 3.0", np.array([1, 2, 3])),
        ("1.5 2 3", np.array([1.5, 2, 3])),
        ("true false true", np.array([1, 0, 1])),
        ("cat dog 3", np.array(["cat", "dog", "3"])),
    ],
)
def test_labels_of_any_kind(write, labels, expected):
    text = "a,y\n" + "".join(f"1,{label}\n" for label in labels.split())
    y = read(write("t.csv", text)).y
    assert y.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(y, expected)


def test_parquet_and_arrow_are_tables_too(tmp_path):
    parquet.write_table(table(), tmp_path / "t.parquet")
    feather.write_feather(table(), tmp_path / "t.feather")
    feather.write_feather(table(), tmp_path / "t.arrow", compression="uncompressed")
    with pa.ipc.new_stream(str(tmp_path / "t.arrows"), table().schema) as stream:
        stream.write_table(table())
    for name in ("t.parquet", "t.feather", "t.arrow", "t.arrows"):
        assert_is(read(tmp_path / name))


def test_columns_may_be_whole_numbers_booleans_decimals_and_dictionaries(tmp_path):
    columns = {
        "i": pa.array([1, 2], pa.int16()),
        "b": pa.array([True, False]),
        "d": pa.array([Decimal("1.00"), Decimal("2.00")]),
        "f": pa.array([0.5, 2], pa.float32()),
        "y": pa.array(["u", "v"]).dictionary_encode(),
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(data.X, [[1, 1, 1, 0.5], [2, 0, 2, 2]])
    np.testing.assert_array_equal(data.y, ["u", "v"])


COLOURS = "size,colour,n,y\n1,red,7,0\n2,blue,8,1\n0,red,7,1\n"


def test_columns_of_texts_become_zeros_and_ones_on_request(write):
    data = read(write("t.csv", COLOURS), one_hot=True)
    assert sp.issparse(data.X)
    assert data.X.format == "csr"
    assert data.X.dtype == np.float32
    assert data.names == ["size", "colour=blue", "colour=red", "n"]
    np.testing.assert_array_equal(data.X.toarray(), [[1, 0, 1, 7], [2, 1, 0, 8], [0, 0, 1, 7]])


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_may_be_longer_than_what_threads_take_at_once(tmp_path, pack):
    label = "x" * (3 << 20)
    (tmp_path / "t.csv").write_bytes(pack(f"a,b,y\n1,2,{label}\n3,4,z\n".encode()))
    data = read(tmp_path / "t.csv")
    assert data.y.tolist() == [label, "z"]
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])


def test_columns_of_numbers_are_the_same_with_a_gap_elsewhere(write):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40_000, 3))
    lines = [f"{a!r},{b!r},{i},1" for i, (a, b, _) in enumerate(values.tolist())]
    plain = read(write("p.csv", "\n".join(["a,b,i,y", *lines]) + "\n"))
    lines[7] = f",{lines[7].partition(',')[2]}"
    filled = read(write("g.csv", "\n".join(["a,b,i,y", *lines]) + "\n"), missing=0)
    expected = values.astype(np.float32)
    expected[:, 2] = np.arange(len(expected))
    np.testing.assert_array_equal(plain.X, expected)
    expected[7, 0] = 0
    np.testing.assert_array_equal(filled.X, expected)


def test_named_columns_become_zeros_and_ones_even_if_they_hold_numbers(write):
    data = read(write("t.csv", COLOURS), one_hot=["colour", "n"])
    assert data.names == ["size", "colour=blue", "colour=red", "n=7", "n=8"]
    np.testing.assert_array_equal(data.X.toarray()[0], [1, 0, 1, 1, 0])


def test_names_of_an_earlier_read_line_up_the_columns(write):
    names = read(write("t.csv", COLOURS), one_hot=True).names
    other = "n,extra,colour,size,y\n5,0,green,6,1\n5,0,blue,6,1\n"
    data = read(write("o.csv", other), one_hot=True, names=names)
    assert data.names == names
    np.testing.assert_array_equal(data.X.toarray(), [[6, 0, 0, 5], [6, 1, 0, 5]])
    assert {column: rows.tolist() for column, rows in data.unseen.items()} == {"colour": [0]}
    with pytest.raises(DataError, match="there is no column 'size'"):
        read(write("o.csv", other.replace("size", "length")), one_hot=True, names=names)


@pytest.mark.parametrize(("missing", "filled"), [("mean", 4.0), ("median", 2.0), (-1, -1.0)])
def test_missing_values_are_filled_on_request(write, missing, filled):
    text = "a,b,y\n1,0,1\n,0,1\n2,0,1\n?,0,1\n9,0,1\nNA,0,1\n"
    X, _, _ = read(write("t.csv", text), missing=missing)
    np.testing.assert_array_equal(X[:, 0], [1, filled, 2, filled, 9, filled])
    assert np.isnan(read(write("t.csv", text), missing=np.nan).X[1, 0])


def test_a_missing_text_is_none_of_the_categories(write):
    data = read(write("t.csv", "a,b,y\n1,x,1\n2,,0\n"), one_hot=True, missing=0)
    np.testing.assert_array_equal(data.X.toarray(), [[1, 1], [2, 0]])


def test_a_column_that_is_whole_for_long_and_then_is_not_is_read(write):
    n = 3_000_000  # more than pyarrow looks at first
    text = "a,y\n" + "1,0\n" * n + "1.5,0\n"
    assert read(write("t.csv", text)).X[-1, 0] == 1.5


# --- Arrays ---------------------------------------------------------------------------------------


def test_usps_layout(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for part, n in (("train", 3), ("test", 2)):
            file[f"{part}/data"] = X[:n]
            file[f"{part}/target"] = np.arange(n)
    assert_is(read(tmp_path / "t.h5"), y=[0, 1, 2], names=None)
    assert read(tmp_path / "t.h5", key="test").X.shape == (2, 3)
    assert read(tmp_path / "t.h5", key="/test/data").y.tolist() == [0, 1]


def test_any_path_in_hdf5(tmp_path):
    with h5py.File(tmp_path / "t.hdf5", "w") as file:
        file["deep/er/rows"] = X
        file["deep/words"] = [b"yes", b"no", b"yes"]
        file["other"] = X
    data = read(tmp_path / "t.hdf5", key="deep/er/rows", target="deep/words")
    assert_is(data, names=None)
    assert read(tmp_path / "t.hdf5", key="other", target=None).y is None
    with pytest.raises(DataError, match=r"no array of features.*deep/er/rows, deep/words, other"):
        read(tmp_path / "t.hdf5")
    with pytest.raises(DataError, match="there is no array or group 'rows'"):
        read(tmp_path / "t.hdf5", key="rows")


def idx(array, code):
    header = bytes([0, 0, code, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.tobytes()


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_finds_its_labels_beside_it(write, ending):
    pack = gzip.compress if ending else bytes
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    labels = np.array([7, 9], dtype=np.uint8)
    path = write(f"train-images-idx3-ubyte{ending}", pack(idx(pixels, 8)))
    with pytest.raises(DataError, match="no file of labels beside it"):
        read(path)
    write(f"train-labels-idx1-ubyte{ending}", pack(idx(labels, 8)))
    data = read(path)
    np.testing.assert_array_equal(data.X, pixels.reshape(2, 12))
    np.testing.assert_array_equal(data.y, [7, 9])
    assert data.X.dtype == np.float32


def test_idx_of_floats_with_labels_named(write):
    path = write("rows.idx", idx(X.astype(">f8"), 0x0E))
    other = write("labels", idx(np.array([1, 0, -1], dtype=">i4"), 0x0C))
    assert_is(read(path, target=str(other)), y=[1, 0, -1], names=None)
    assert_is(read(path, target=None), y=None, names=None)


def test_npy_has_its_labels_in_a_column(tmp_path):
    np.save(tmp_path / "t.npy", np.column_stack([X, [1, 2, 3]]))
    assert_is(read(tmp_path / "t.npy"), y=[1, 2, 3], names=None)
    assert read(tmp_path / "t.npy", target=None).X.shape == (3, 4)
    assert read(tmp_path / "t.npy", target=0).y.tolist() == [1.5, 0, 7]


def test_npz_has_features_and_labels_by_name(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=WORDS, Z=2 * X)
    assert_is(read(tmp_path / "t.npz"), names=None)
    other = read(tmp_path / "t.npz", key="Z", target="y", dtype="float64")
    np.testing.assert_array_equal(other.X, 2 * X)


def test_a_matrix_of_scipy_stays_sparse(tmp_path):
    sp.save_npz(tmp_path / "t.npz", sp.csr_matrix(X))
    data = read(tmp_path / "t.npz")
    assert sp.issparse(data.X)
    assert data.X.dtype == np.float32
    assert data.y is None


def test_a_model_is_fitted_to_what_was_read(write):
    data = read(write("t.csv", CSV))
    model = pegasos.PegasosClassifier(solver="sdca", random_state=0).fit(data.X, data.y)
    assert set(model.predict(data.X)) <= {"yes", "no"}


def test_csv_from_standard_input():
    code = "from pegasos.io import read; print(read('-', format='csv').y)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=CSV.encode(), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "['yes' 'no' 'yes']"
