"""What is written reads back exactly, in every format, and never takes half a place."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.io import DataError, read, write

from .model_helpers import assert_same_rows

pytest.importorskip("pyarrow", reason="tables need the extra io")
pytest.importorskip("h5py", reason="HDF5 needs the extra io")

TEXT = ["rows.svm", "rows.svm.gz", "rows.svm.bz2", "rows.svm.zst", "rows.csv", "rows.csv.gz"]
TABLES = ["rows.csv", "rows.tsv.bz2", "rows.parquet", "rows.arrow"]
BINARY = ["rows.npz", "rows.h5"]

DENSE = ["rows.h5", "rows.npy"]


def some_rows(dtype=np.float32, n_rows=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 4)).astype(dtype) * np.array([1, 1e-20, 1e20, 3], dtype=dtype)
    X[rng.random(X.shape) < 0.4] = 0
    X[0, 3] = 1  # the last column is there in sparse text too
    return X, rng.integers(1, 4, size=n_rows)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*TEXT, *TABLES, *BINARY, "rows.npy"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_every_bit_reads_back(name, dtype, form, tmp_path):
    if name in DENSE and form is sp.csr_matrix:
        pytest.skip("it takes no sparse rows; another test says so")
    X, y = some_rows(dtype)
    write(tmp_path / name, form(X), y)
    data = read(tmp_path / name, dtype=dtype)
    assert_same_rows(data.X, X)
    np.testing.assert_array_equal(data.y, y)


@pytest.mark.parametrize("name", [*TABLES, *BINARY])
def test_labels_may_be_texts_with_delimiters_in_them(name, tmp_path):
    X, y = some_rows()
    labels = np.array(["", "a,b", 'c"d', "e\tf"])[y]
    write(tmp_path / name, X, labels)
    np.testing.assert_array_equal(read(tmp_path / name).y, labels)


@pytest.mark.parametrize("name", [*TABLES, *BINARY])
def test_texts_may_be_objects(name, tmp_path):
    X, y = some_rows()
    labels = np.array(["", "no", "yes", "perhaps"], dtype=object)[y]
    write(tmp_path / name, X, labels)
    np.testing.assert_array_equal(read(tmp_path / name).y, labels.astype(str))


@pytest.mark.parametrize("name", ["rows.svm", "rows.npy", *TABLES, *BINARY])
@pytest.mark.parametrize("dtype", [bool, object])
def test_labels_that_are_true_or_false_or_objects_come_back_as_numbers(name, dtype, tmp_path):
    X, y = some_rows()
    write(tmp_path / name, X, (y == 1).astype(dtype))
    np.testing.assert_array_equal(read(tmp_path / name).y, (y == 1).astype(int))


@pytest.mark.parametrize("name", ["rows.svm", "rows.npy", *TABLES, *BINARY])
@pytest.mark.parametrize("dtype", [bool, np.float16])
def test_small_types_of_features_come_back_as_numbers(name, dtype, tmp_path):
    X = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    write(tmp_path / name, X, [1, 2])
    assert_same_rows(read(tmp_path / name).X, X.astype(np.float32))


@pytest.mark.parametrize("name", ["rows.svm", "rows.csv", "rows.npz"])
def test_the_columns_of_a_sparse_row_may_be_in_any_order_and_there_twice(name, tmp_path):
    X = sp.csr_matrix(([1.0, 2.0, 3.0, 4.0], [2, 0, 0, 1], [0, 3, 4]), shape=(2, 3))
    write(tmp_path / name, X, [1, 2])
    assert_same_rows(read(tmp_path / name).X, np.array([[5, 0, 1], [0, 4, 0]], dtype=np.float32))
    assert X.indices.tolist() == [2, 0, 0, 1]  # as it was


def test_in_text_a_label_is_what_it_looks_like(tmp_path):
    X = np.ones((2, 1))
    for texts, numbers in ((["01", "2"], [1, 2]), (["true", "false"], [1, 0])):
        for name, back in (("rows.csv", numbers), ("rows.parquet", texts)):
            write(tmp_path / name, X, texts)
            assert read(tmp_path / name).y.tolist() == back
    for texts, why in ((["NA", "b"], "is missing"), (["2026-01-02", "2026-01-03"], "holds date")):
        write(tmp_path / "rows.csv", X, texts)
        with pytest.raises(DataError, match=why):
            read(tmp_path / "rows.csv")


def test_many_rows_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.io._writers._ROWS_AT_ONCE", 7)
    X, y = some_rows()
    for name in (*TEXT, *TABLES):
        write(tmp_path / name, X, y)
        assert_same_rows(read(tmp_path / name).X, X)


def test_tables_have_names_and_the_labels_are_last(tmp_path):
    X, y = some_rows()
    write(tmp_path / "rows.csv", X, y, ["a", "b", "c", "d"], target="kind")
    assert (tmp_path / "rows.csv").read_text().splitlines()[0] == '"a","b","c","d","kind"'
    assert read(tmp_path / "rows.csv").names == ["a", "b", "c", "d"]


def test_rows_need_no_labels(tmp_path):
    X, _ = some_rows()
    for name in ("rows.svm", "rows.parquet", "rows.npz", "rows.npy", "rows.h5"):
        write(tmp_path / name, X)
        assert_same_rows(read(tmp_path / name, target=None).X, X)


SHORT = r"each row needs one label; got y of shape \(49,\) for 50 rows; give as many"


@pytest.mark.parametrize(
    ("name", "changes", "what"),
    [
        ("rows.idx", {}, "idx files are not written: labels would need a file"),
        ("rows.doc", {}, "the ending of the name tells no format"),
        ("rows.svm", {"y": np.array(["a"] * 50)}, "svmlight labels are numbers; these are texts"),
        ("rows.npy", {"y": np.array(["a"] * 50)}, "npy labels are numbers; these are texts"),
        ("rows.npy", {"y": np.array([2**53 + 1, 1] * 25)}, "cannot hold numbers as large as"),
        ("rows.npy", {"X": np.full((50, 1), 2**53 + 1), "y": np.full(50, 0.5)}, "as large as"),
        ("rows.npy", {"X": sp.csr_matrix((50, 3))}, "npy has no agreed form for sparse rows"),
        ("rows.csv", {"names": ["a", "b", "c", "label"]}, "a feature is called 'label'"),
        ("rows.h5", {"X": sp.csr_matrix((50, 3))}, "no agreed form for sparse rows; .*svmlight"),
        ("rows.csv", {"X": sp.csr_matrix((50, 20_001))}, "mostly zeros; .*svmlight or npz"),
        ("rows.npz.gz", {}, "npz files are compressed inside; leave .gz out"),
        *((name, {"y": np.ones(49)}, SHORT) for name in ("rows.svm", "rows.csv", "rows.npz")),
        ("rows.npz", {"names": ["a", "b", "c"]}, "got 3 names for 4 features; give as many"),
        ("rows.svm", {"names": ["a", "b", "b", "c"]}, "two features have the name 'b'; rename"),
        ("rows.svm", {"X": np.ones((0, 4)), "y": []}, r"got X of shape \(0, 4\); give one row"),
        ("rows.csv", {"X": np.ones(50)}, r"rows and columns are needed; got X of shape \(50,\)"),
        ("rows.svm", {"X": np.array([["a"]] * 50)}, "features of type <U1 are not written; give"),
        ("rows.npz", {"y": np.array([1, None] * 25)}, "label of row 2 is None, neither a text"),
        ("rows.csv", {"y": np.array([1, np.nan] * 25)}, "label of row 2 is nan; give every row"),
        ("nowhere/rows.svm", {}, "cannot write .*; choose a folder that exists"),
    ],
)
def test_what_cannot_be_written_is_refused_and_the_old_file_stays(name, changes, what, tmp_path):
    X, y = some_rows()
    if "/" not in name:
        (tmp_path / name).write_text("old")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match=what):
        write(tmp_path / name, **{"X": X, "y": y, **changes})
    assert sorted(tmp_path.iterdir()) == before
    assert all(file.read_text() == "old" for file in before)
