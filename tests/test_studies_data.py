"""Data sets of studies: tiny files in the right formats; the real ones where they are there."""

import bz2
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.studies._data import DataMissing, read_data
from pegasos.studies._fields import FieldError, Fields
from pegasos.studies._sources import SOURCES


def load(table, folder=Path(), seed=0):
    return read_data(Fields(table)).load(folder, seed)


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    return tmp_path


def write_idx(folder, part, images, labels):
    folder.mkdir(exist_ok=True)
    header = np.array([0x803, *images.shape], dtype=">i4").tobytes()
    path = folder / f"{part}-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(header + images.astype(np.uint8).tobytes()))
    header = np.array([0x801, len(labels)], dtype=">i4").tobytes()
    path = folder / f"{part}-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(header + bytes(labels)))


def write_usps(path, n_train, n_test):
    h5py = pytest.importorskip("h5py", reason="needs h5py to write usps.h5")
    with h5py.File(path, "w") as file:
        for part, n_rows in (("train", n_train), ("test", n_test)):
            file[f"{part}/data"] = np.full((n_rows, 256), 0.5)
            file[f"{part}/target"] = np.arange(n_rows) % 10


# --- Generated sets -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["toy-linear", "moons", "random"])
def test_the_seed_decides_what_is_generated(name):
    first, again, other = (load({"name": name, "n_rows": 60}, seed=seed) for seed in (1, 1, 2))
    assert first.X.shape[0] == len(first.y) == 60
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert len(np.unique(first.y)) == 2


def test_toy_linear_without_noise_is_two_points():
    data = load({"name": "toy-linear", "n_rows": 10, "noise": 0.0})
    np.testing.assert_array_equal(data.X, 2 * np.stack([data.y, data.y], axis=1))
    assert sorted(data.y) == [-1] * 5 + [1] * 5


def test_rows_of_random_data_keep_their_length_when_features_are_added():
    for n_features in (5, 500):
        data = load({"name": "random", "n_rows": 400, "n_features": n_features})
        assert np.mean(np.sum(data.X**2, axis=1)) == pytest.approx(1, abs=0.15)


def test_digits_have_pixels_from_0_to_1_and_a_shape():
    data = load({"name": "digits"})
    assert data.X.shape == (1797, 64)
    assert data.X.dtype == np.float32
    assert (data.X.min(), data.X.max()) == (0, 1)
    assert data.image_shape == (8, 8)
    assert data.X_test is None


# --- Files ----------------------------------------------------------------------------------------


def test_idx_files_become_pixels_and_labels(data_folder):
    pixels = np.arange(3 * 28 * 28).reshape(3, 28, 28) % 256
    write_idx(data_folder / "fashion-mnist", "train", pixels, [0, 9, 6])
    write_idx(data_folder / "fashion-mnist", "t10k", pixels[:1], [9])
    data = load({"name": "fashion-mnist"})
    np.testing.assert_allclose(data.X, pixels.reshape(3, -1) / 255, rtol=1e-6)
    np.testing.assert_array_equal(data.y, [0, 9, 6])
    np.testing.assert_array_equal(data.y_test, [9])
    assert data.names[9] == "ankle boot"
    assert data.image_shape == (28, 28)


def test_mnist_has_no_names_of_clothes(data_folder):
    for part in ("train", "t10k"):
        write_idx(data_folder / "mnist", part, np.zeros((1, 28, 28)), [3])
    assert load({"name": "mnist"}).names == {}


def test_usps_in_parts_and_as_a_whole(data_folder):
    write_usps(data_folder / "usps.h5", 20, 10)
    parts = load({"name": "usps"})
    assert (len(parts.y), len(parts.y_test)) == (20, 10)
    assert parts.X.dtype == np.float32
    whole = load({"name": "usps", "part": "all"})
    assert whole.X.shape == (30, 256)
    assert whole.X_test is None
    np.testing.assert_array_equal(whole.y, np.concatenate([parts.y, parts.y_test]))


def test_a_review_that_comes_twice_is_in_one_part_only(data_folder):
    (data_folder / "reviews").mkdir()
    texts = [f"word{i} common" for i in range(40)]
    lines = [f"music {'pos' if i % 2 else 'neg'} {i}.txt {text}" for i, text in enumerate(texts)]
    lines += [f"books {'pos' if i % 2 else 'neg'} 9{i}.txt {texts[i]}" for i in range(40)]
    (data_folder / "reviews/reviews.txt").write_text("\n".join(lines), encoding="utf-8")
    data = load({"name": "reviews"}, seed=3)
    assert (len(data.y), len(data.y_test)) == (32, 8)
    assert sp.issparse(data.X)
    # A word of its own in each text: none of the test part is known from training.
    assert data.X.shape == (32, 33)
    assert data.X_test.nnz == 8
    np.testing.assert_allclose(sp.linalg.norm(data.X, axis=1), 1, rtol=1e-6)
    other = load({"name": "reviews"}, seed=4)
    assert not np.array_equal(data.y, other.y)


def test_cov1_is_class_1_against_the_rest_with_unit_rows(data_folder):
    (data_folder / "covtype").mkdir()
    table = "a,b,c,kind\n" + "\n".join(f"{i},{10 - i},7,{1 + i % 3}" for i in range(11))
    path = data_folder / "covtype/covtype.csv.gz"
    path.write_bytes(gzip.compress(table.encode()))
    data = load({"name": "cov1"})
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=1e-6)
    order = np.random.default_rng(1).permutation(11)
    np.testing.assert_array_equal(data.y, np.where(order % 3 == 0, 1, -1))
    np.testing.assert_array_equal(data.X[:, 2], 0)  # a constant column
    ratio = data.X[:, 0] * (10 - order)
    np.testing.assert_allclose(ratio, data.X[:, 1] * order, atol=1e-5)


@pytest.mark.parametrize(("name", "n_features"), [("adult", 123), ("reuters", 8315)])
def test_svmlight_sets_are_sparse_with_all_features(data_folder, name, n_features):
    (data_folder / name).mkdir()
    for part, lines in (("trn", b"+1 1:0.5 3:1\n-1 2:1\n"), ("tst", b"-1 1:1\n")):
        (data_folder / f"{name}/{name}.{part}.bz2").write_bytes(bz2.compress(lines))
    data = load({"name": name})
    assert data.X.shape == (2, n_features)
    assert data.X_test.shape == (1, n_features)
    np.testing.assert_array_equal(data.X[:, :3].toarray(), [[0.5, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(data.y, [1, -1])
    np.testing.assert_array_equal(data.y_test, [-1])


def test_ijcnn1_is_dense(data_folder):
    (data_folder / "ijcnn1").mkdir()
    for part in ("trn", "tst"):
        path = data_folder / f"ijcnn1/ijcnn1.{part}.bz2"
        path.write_bytes(bz2.compress(b"-1 1:1 22:2\n+1 3:1\n"))
    data = load({"name": "ijcnn1"})
    assert isinstance(data.X, np.ndarray)
    assert data.X.shape == (2, 22)


def test_course_csv_has_its_label_at_the_end(data_folder):
    (data_folder / "course-csv").mkdir()
    head = ",".join(f"x{i}" for i in range(1, 11)) + ",y\n"
    lines = [",".join(map(str, [*range(i, i + 10), label])) for i, label in ((0, -1), (1, 1))]
    (data_folder / "course-csv/dataset.csv").write_text(head + "\n".join(lines))
    data = load({"name": "course-csv"})
    np.testing.assert_array_equal(data.X, [np.arange(10), np.arange(1, 11)])
    np.testing.assert_array_equal(data.y, [-1, 1])


def test_a_csv_file_beside_the_study(tmp_path):
    (tmp_path / "pets.csv").write_text("weight,legs,kind\n3.5,4,cat\n,2,bird\n")
    data = load({"file": "pets.csv"}, tmp_path)
    np.testing.assert_array_equal(data.X, [[3.5, 4], [np.nan, 2]])
    np.testing.assert_array_equal(data.y, ["cat", "bird"])


def test_a_csv_file_without_headings_and_with_whole_labels(tmp_path):
    (tmp_path / "plain.csv").write_text("1,2,0\n3,4,1.0\n")
    data = load({"file": "plain.csv"}, tmp_path)
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.y.dtype == np.int64


def test_a_csv_file_with_words_among_its_numbers_is_refused(tmp_path):
    (tmp_path / "bad.csv").write_text("1,2,0\n3,many,1\n")
    with pytest.raises(ValueError, match=r"bad\.csv is not a table of numbers.*many"):
        load({"file": "bad.csv"}, tmp_path)


def test_an_npz_file_with_a_test_part(tmp_path):
    arrays = {"X": np.eye(3), "y": [0, 1, 1], "X_test": np.ones((1, 3)), "y_test": [0]}
    np.savez(tmp_path / "own.npz", **arrays)
    data = load({"file": "own.npz"}, tmp_path)
    np.testing.assert_array_equal(data.X, np.eye(3))
    np.testing.assert_array_equal(data.y_test, [0])


def test_an_npz_file_without_labels_is_refused(tmp_path):
    np.savez(tmp_path / "own.npz", X=np.eye(3))
    with pytest.raises(ValueError, match="store the arrays X and y"):
        load({"file": "own.npz"}, tmp_path)


def test_a_changed_file_is_read_anew(tmp_path):
    path = tmp_path / "own.npz"
    for value in (1.0, 2.0):
        np.savez(path, X=np.full((2, 1), value), y=[0, 1])
        os.utime(path, ns=(int(value), int(value)))
        assert load({"file": "own.npz"}, tmp_path).X[0, 0] == value


# --- Subsets --------------------------------------------------------------------------------------


def test_rows_are_drawn_with_the_seed_and_only_of_the_training_part(data_folder):
    write_usps(data_folder / "usps.h5", 200, 10)
    first, again, other = (load({"name": "usps", "rows": 50}, seed=seed) for seed in (1, 1, 2))
    assert (len(first.y), len(first.y_test)) == (50, 10)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)


def test_more_rows_than_there_are_is_an_error():
    with pytest.raises(ValueError, match="asks for 5000 rows, but there are 1797"):
        load({"name": "digits", "rows": 5000})


def test_classes_pick_rows_of_both_parts(data_folder):
    write_usps(data_folder / "usps.h5", 200, 10)
    data = load({"name": "usps", "classes": [3, 8]})
    assert set(data.y) == set(data.y_test) == {3, 8}
    assert len(data.X) == len(data.y) == 40


def test_classes_that_are_not_there_are_named():
    with pytest.raises(ValueError, match=r"no rows of the classes \[20, 21\]"):
        load({"name": "digits", "classes": [20, 21]})


def test_one_class_against_the_rest(data_folder):
    write_usps(data_folder / "usps.h5", 20, 10)
    data = load({"name": "usps", "positive": 8})
    assert (np.sum(data.y == 1), np.sum(data.y == -1)) == (2, 18)
    assert np.sum(data.y_test == 1) == 1
    with pytest.raises(ValueError, match="no class 11"):
        load({"name": "usps", "positive": 11})


def test_all_pairs_of_ten_classes_are_45_subsets():
    subsets = read_data(Fields({"name": "digits", "pairs": "all"})).subsets()
    assert len(subsets) == len({spec.subset for spec in subsets}) == 45
    assert subsets[0].subset == "0 against 1"
    assert set(subsets[0].load(Path(), 0).y) == {0, 1}


def test_pairs_as_a_list_and_none():
    spec = read_data(Fields({"name": "digits", "pairs": [[0, 6], [2, 4]]}))
    assert [part.subset for part in spec.subsets()] == ["0 against 6", "2 against 4"]
    whole = read_data(Fields({"name": "digits"}))
    assert whole.subsets() == (whole,)


# --- What is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "name: is missing"),
        ({"name": "usp"}, "did you mean 'usps'"),
        ({"name": "digits", "n_rows": 5}, "n_rows: there is no such key"),
        ({"name": "moons", "n_rows": 2.5}, "n_rows: must be a whole number"),
        ({"name": "moons", "noise": -1}, "noise: must be a finite number of at least 0"),
        ({"name": "usps", "part": "test"}, "part: 'test' is not known"),
        ({"name": "digits", "classes": [3]}, "at least two classes"),
        ({"name": "digits", "positive": 0.5}, "positive: must be a label"),
        ({"name": "digits", "pairs": [[1, 1]]}, "pairs: must be"),
        ({"name": "digits", "pairs": "some"}, "pairs: must be"),
        ({"name": "moons", "pairs": "all"}, "list the pairs"),
        ({"name": "digits", "pairs": [[1, 2]], "positive": 1}, "goes without classes"),
        ({"file": "table.txt"}, r"must be a \.csv or an \.npz file"),
        ({"file": "table.csv", "name": "digits"}, "name: there is no such key"),
    ],
)
def test_a_wrong_key_is_named(table, message):
    with pytest.raises(FieldError, match=message):
        read_data(Fields(table))


def test_without_pegasos_data_the_message_says_what_to_do(monkeypatch):
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    with pytest.raises(
        DataMissing, match=r"usps\.h5.*PEGASOS_DATA is not set.*put it into a folder"
    ):
        load({"name": "usps"})


def test_a_missing_file_is_named_with_its_folder(data_folder):
    with pytest.raises(DataMissing, match=r"covtype\.csv\.gz.*put it there; it is part of forest"):
        load({"name": "cov1"})


def test_a_folder_named_in_the_study_comes_before_pegasos_data(data_folder):
    (data_folder / "mine").mkdir()
    with pytest.raises(DataMissing, match="mine; put it there"):
        load({"name": "usps", "folder": "mine"}, data_folder)
    write_usps(data_folder / "mine/usps.h5", 20, 10)
    assert len(load({"name": "usps", "folder": "mine"}, data_folder).y) == 20


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(DataMissing, match=r"reads table\.csv, which is not in"):
        load({"file": "table.csv"}, tmp_path)


# --- The real files -------------------------------------------------------------------------------

SHAPES = {
    "usps": ((7291, 256), 2007, 10),
    "mnist": ((60000, 784), 10000, 10),
    "fashion-mnist": ((60000, 784), 10000, 10),
    "course-csv": ((10000, 10), None, 2),
    "cov1": ((522911, 54), 58101, 2),
    "adult": ((32561, 123), 16281, 2),
    "reuters": ((7770, 8315), 3299, 2),
    "ijcnn1": ((49990, 22), 91701, 2),
}


@pytest.mark.parametrize("name", SHAPES)
def test_real_files_have_the_shapes_that_are_known(name):
    skip_without(name)
    data = load({"name": name})
    shape, n_test, n_classes = SHAPES[name]
    assert data.X.shape == shape
    assert data.X.dtype == (np.float64 if name == "course-csv" else np.float32)
    assert (None if data.y_test is None else len(data.y_test)) == n_test
    assert tuple(np.unique(data.y)) == SOURCES[name].classes
    assert len(SOURCES[name].classes) == n_classes


def test_277_reviews_come_twice():
    skip_without("reviews")
    data = load({"name": "reviews"})
    assert len(data.y) + len(data.y_test) == 7661 - 277


def skip_without(name):
    folder = os.environ.get("PEGASOS_DATA")
    if not folder or not all((Path(folder) / file).exists() for file in SOURCES[name].files):
        pytest.skip(f"needs the files of {name} in the folder that PEGASOS_DATA names")
    if name == "usps":
        pytest.importorskip("h5py", reason="needs h5py to read usps.h5")
