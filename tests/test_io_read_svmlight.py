"""svmlight text: numbers are exact, threads change nothing, scikit-learn reads the same."""

import bz2
import gzip
import io
import locale
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pegasos.io import DataError, _mapped, read

ROWS = "1 1:0.5 3:-2e-3 # seven 7:7\n\n# a comment\n-1 qid:4 2:+.25\r\n+1\n"

finite = st.floats(allow_nan=False, allow_infinity=False)
finite_32 = st.floats(min_value=-3.4028234e38, max_value=3.4028234e38)
indices = st.lists(st.integers(1, 2**31 - 1), unique=True, min_size=1, max_size=6).map(sorted)


def lines_of(values, columns):
    entries = " ".join(f"{j}:{v!r}" for j, v in zip(columns, values, strict=False))
    return f"{values[-1]!r} {entries}\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="rows.svm"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("svmlight")


def assert_same(a, b):
    assert a.X.dtype == b.X.dtype
    assert a.X.shape == b.X.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(a.X, part), getattr(b.X, part))
    np.testing.assert_array_equal(a.y, b.y)


# --- Numbers --------------------------------------------------------------------------------------


@given(st.lists(finite, min_size=1, max_size=7), indices)
def test_float64_values_and_labels_come_back_bit_for_bit(folder, values, columns):
    path = folder / "f64.svm"
    path.write_text(lines_of(values, columns))
    X, y, _ = read(path, dtype="float64", zero_based=False)
    n = min(len(values), len(columns))
    assert X.data.tobytes() == np.array(values[:n]).tobytes()
    np.testing.assert_array_equal(X.indices, np.array(columns[:n]) - 1)
    assert y[0] == values[-1]


@given(st.lists(finite_32, min_size=1, max_size=7), indices)
def test_float32_values_are_rounded_once(folder, values, columns):
    path = folder / "f32.svm"
    path.write_text(lines_of(values, columns))
    X, _, _ = read(path, zero_based=False)
    n = min(len(values), len(columns))
    assert X.dtype == np.float32
    assert X.data.tobytes() == np.array(values[:n], dtype=np.float32).tobytes()


@given(st.integers(0, 2**64), st.integers(-30, 30), st.sampled_from(["", "-", "+"]))
def test_digits_with_exponents_are_what_python_makes_of_them(folder, digits, exponent, sign):
    path = folder / "digits.svm"
    text = f"{sign}{digits}e{exponent}"
    path.write_text(f"1 1:{text}\n")
    assert read(path, dtype="float64").X.data[0] == float(text)


def test_a_float_between_two_float32_is_not_rounded_twice(write):
    # 1 + 2^-24 + a little: as a double it would be the middle between 1 and the next float32.
    text = "1.000000059604644775390626"
    assert read(write(f"1 1:{text}")).X.data[0] == np.nextafter(np.float32(1), np.float32(2))
    assert np.float32(float(text)) == 1


def test_a_comma_for_a_decimal_point_in_the_locale_changes_nothing(write):
    path = write("1 1:0.5\n")
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8"):
        try:
            old = locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        try:
            assert read(path).X.data[0] == 0.5
            return
        finally:
            locale.setlocale(locale.LC_ALL, old)
    pytest.skip("no locale with a comma is installed")


# --- Lines ----------------------------------------------------------------------------------------


def test_comments_empty_lines_qid_and_ends_of_lines_are_not_data(write):
    X, y, names = read(write(ROWS))
    assert sp.issparse(X)
    assert X.format == "csr"
    expected = np.array([[0.5, 0, -2e-3], [0, 0.25, 0], [0, 0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(X.toarray(), expected)
    np.testing.assert_array_equal(y, [1, -1, 1])
    assert y.dtype == np.int64
    assert names is None


def test_indices_are_int32_and_the_matrix_canonical(write):
    X = read(write(ROWS)).X
    assert X.indices.dtype == X.indptr.dtype == np.int32
    X.check_format(full_check=True)
    again = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)  # knows nothing of X
    assert again.has_canonical_format


def test_query_numbers_are_returned_on_request(write):
    path = write("2 qid:7 1:1\n1 qid:-8 2:1\n")
    X, _, _, query_id = read(path, query_id=True)
    np.testing.assert_array_equal(query_id, [7, -8])
    assert X.shape == (2, 2)
    assert len(read(path)) == 3


@pytest.mark.parametrize(("zero_based", "shape"), [(None, (1, 3)), (False, (1, 3)), (True, (1, 4))])
def test_indices_begin_with_one_unless_there_is_a_zero(write, zero_based, shape):
    assert read(write("1 2:1 3:1"), zero_based=zero_based).X.shape == shape


def test_an_index_zero_in_the_last_line_counts_for_all(write):
    X = read(write("1 1:5\n1 0:6\n")).X
    np.testing.assert_array_equal(X.toarray(), [[0, 5], [6, 0]])


def test_more_features_than_there_are_can_be_asked_for(write):
    assert read(write("1 2:1"), n_features=9).X.shape == (1, 9)


def test_labels_are_whole_numbers_if_all_are(write):
    assert read(write("1 1:1\n2.0 1:1\n")).y.dtype == np.int64
    y = read(write("1 1:1\n2.5 1:1\n")).y
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, [1, 2.5])


def test_target_none_leaves_the_labels_out(write):
    assert read(write(ROWS), target=None).y is None


def test_the_last_line_need_not_be_ended_and_a_mark_of_utf8_is_skipped(write):
    X, y, _ = read(write(b"\xef\xbb\xbf3 1:1\n4 2:2.5"))
    np.testing.assert_array_equal(y, [3, 4])
    assert X[1, 1] == 2.5


# --- Files ----------------------------------------------------------------------------------------


def generated(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n_rows, 500, density=0.02, random_state=rng, format="csr")
    X.data = X.data * 10.0 ** rng.integers(-12, 12, X.nnz)
    y = rng.integers(0, 5, n_rows)
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False, comment="made up\n1:1 2:2")
    return file.getvalue()


@pytest.fixture(scope="module")
def text():
    return generated(15_000)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scikit_learn_reads_the_same(write, dtype):
    path = write(generated(500))
    X, y, _ = read(path, dtype=dtype)
    other, labels = load_svmlight_file(str(path), dtype=np.float64)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(X.indices, other.indices)
    np.testing.assert_array_equal(X.indptr, other.indptr)
    np.testing.assert_array_equal(X.data, other.data.astype(dtype))


def test_threads_and_blocks_change_nothing(write, text, monkeypatch):
    path = write(text)  # several pieces, so that there is work for all threads
    one = read(path, n_jobs=1)
    for n_jobs in (2, 5, None, -1):
        assert_same(read(path, n_jobs=n_jobs), one)
    monkeypatch.setattr(_mapped, "BLOCK", 100_003)
    assert_same(read(path, n_jobs=2), one)


def compress_zst(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", compress_zst)]
)
def test_compressed_files_give_the_same(write, text, monkeypatch, ending, compress):
    whole = read(write(text))
    path = write(compress(text), f"rows.svm.{ending}")
    assert_same(read(path), whole)
    monkeypatch.setattr(_mapped, "BLOCK", 100_003)
    assert_same(read(path), whole)


def test_a_line_longer_than_a_block_is_read(write, monkeypatch):
    monkeypatch.setattr(_mapped, "BLOCK", 64)
    text = "1 " + " ".join(f"{j}:{j}" for j in range(1, 500)) + "\n2 1:1\n"
    for path in (write(text), write(gzip.compress(text.encode()), "rows.svm.gz")):
        X, y, _ = read(path)
        np.testing.assert_array_equal(X.toarray()[0], np.arange(1, 500))
        np.testing.assert_array_equal(y, [1, 2])


def test_standard_input_is_read():
    code = "from pegasos.io import read; print(read('-', format='svmlight').X.toarray())"
    for data in (b"1 2:3", gzip.compress(b"1 2:3")):
        done = subprocess.run(
            [sys.executable, "-c", code], input=data, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == "[[0. 3.]]"


# --- Faults ---------------------------------------------------------------------------------------

LONG = "7" * 10_000_000
FAULTS = {
    "a label that is no number": ("cat 1:1", "line 1, column 1: the label 'cat' is not a number"),
    "no label": ("1 1:1\n1:1 2:2", "line 2, column 1: the line begins with '1:1'"),
    "several labels": ("1,2 1:1", "line 1, column 1: '1,2' is more than one label"),
    "a label that is not finite": ("nan 1:1", "line 1, column 1: the label 'nan' is not a number"),
    "out of order": ("1 3:1 2:1", "line 1, column 7: '2:1' comes after"),
    "twice": ("1 3:1 3:1", "line 1, column 7: '3:1' has the same index"),
    "beyond 2^31": ("1 2147483648:1", "line 1, column 3: '2147483648:1' has an index beyond"),
    "negative index": ("1 -1:1", "line 1, column 3: '-1:1' does not begin with the number"),
    "no value": ("1 1:1 2", "line 1, column 7: the entry '2' has no value"),
    "cut off": ("1 1:1 2:", "line 1, column 7: the value of '2:' is not a number"),
    "no number": ("1 1:x", "line 1, column 3: the value of '1:x' is not a number"),
    "not finite": ("1 1:inf", "line 1, column 3: the value of '1:inf' is not finite"),
    "too large": ("1 1:1e39", "line 1, column 3: '1:1e39' is too large for float32"),
    "NUL": (b"1 1:1\n1 \0\0\0", "line 2, column 3: there is a NUL byte"),
    "NUL in a value": (b"1 1:1\0", "line 1, column 3: there is a NUL byte"),
    "latin-1": (b"1 caf\xe9:1", r"line 1, column 3: 'caf\xe9:1' is not plain text"),
    "utf-16": ("1 1:1".encode("utf-16"), "line 1, column 1: the text is UTF-16"),
    "a long line": (f"1 1:1\n1 {LONG}", "line 2, column 3: the entry '777"),
    "a long number": (f"1 1:{LONG}", "line 1, column 3: '1:777"),
    "wrong qid": ("1 qid:x 1:1", "line 1, column 3: 'qid:x' is not a query number"),
    "no rows": ("# nothing\n\n", "there are no rows"),
    "csv": ("5.1,3.5,setosa\n", "is more than one label"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_with_file_line_and_column(write, name):
    text, message = FAULTS[name]
    path = write(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.value.message.startswith(str(path))
    assert message in caught.value.message
    assert caught.value.hint
    assert len(str(caught.value)) < 500


def test_the_line_of_a_fault_is_right_in_a_large_file(write, text):
    path = write(text + b"1 1:1\noops\n" + text)
    with pytest.raises(DataError, match=f"line {text.count(10) + 2}, column 1"):
        read(path, n_jobs=3)


def test_what_was_asked_for_must_agree_with_the_file(write):
    path = write("1 0:1 5:1\n")
    with pytest.raises(DataError, match=r"has the index 0.*zero_based=True"):
        read(path, zero_based=False)
    with pytest.raises(DataError, match="there are 6 features, and n_features=5"):
        read(path, n_features=5)
    with pytest.raises(DataError, match="no qid: after its label"):
        read(path, query_id=True)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(folder, data):
    path = folder / "bytes.svm"
    path.write_bytes(data)
    try:
        X, y, _ = read(path)
    except DataError:
        return
    X.check_format(full_check=True)
    assert X.shape[0] == len(y)


@given(st.text(alphabet="0123456789:.e+-# \nqid,\r", max_size=80))
def test_anything_like_svmlight_is_read_as_scikit_learn_does_or_refused(folder, text):
    path = folder / "like.svm"
    path.write_text(text)
    try:
        X, y, _ = read(path, dtype="float64")
    except DataError:
        return
    other, labels = load_svmlight_file(io.BytesIO(text.encode()), dtype=np.float64)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(
        X.toarray() if X.shape[1] < 1000 else X.data,
        other.toarray()[:, : X.shape[1]] if X.shape[1] < 1000 else other.data,
    )


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ("1 1:2\n", None, False),
        ("1 1:2\n0 0:3\n", None, True),
        ("1 1:2\n", True, True),
        ("1 1:2\n", False, False),
    ],
)
def test_what_the_indices_were_taken_to_begin_with_is_told(tmp_path, text, said, found):
    path = tmp_path / "rows.svm"
    path.write_text(text)
    data = read(path, zero_based=said)
    assert data.zero_based is found
    assert len(data) == 3
    assert read(path, zero_based=said, target=None).zero_based is found
    np.save(tmp_path / "rows.npy", [[1.0, 2.0]])
    assert read(tmp_path / "rows.npy").zero_based is None
