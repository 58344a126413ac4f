"""Data from one format to another, what is wrong with files, and how reading ends."""

import gzip
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from pegasos.cli._app import run
from pegasos.cli._reading import in_options
from pegasos.io import read

from .cli_data import PEOPLE, iris, write_files
from .cli_helpers import PROGRAM, complaint, environment
from .cli_helpers import pegasos as program

pytest.importorskip("pyarrow", reason="tables need the extra io")
pytest.importorskip("h5py", reason="HDF5 needs the extra io")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_files(folder)
    return folder


@pytest.fixture
def here(folder, capsys, monkeypatch):
    """Run the program in this process, in the folder; return what it said."""
    monkeypatch.chdir(folder)

    def run_here(*arguments):
        code = run(list(arguments))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return run_here


@pytest.mark.parametrize("name", ["iris.csv", "iris.svm.zst", "iris.npz", "iris.h5", "iris.npy"])
def test_every_format_becomes_every_other_and_comes_back(name, here, folder, tmp_path):
    X, y = iris()
    numbers = np.unique(y, return_inverse=True)[1]
    for ending in ("svm", "csv", "tsv.gz", "parquet", "arrow", "npz", "npy"):
        if ending == "npy" and name == "iris.svm.zst":
            continue  # sparse rows, which are refused
        out = tmp_path / f"out.{ending}"
        done = here("convert", name, str(out))
        assert done.returncode == 0, done.stderr
        back = read(out)
        dense = back.X if isinstance(back.X, np.ndarray) else back.X.toarray()
        np.testing.assert_array_equal(dense, X)
        if name == "iris.csv" and ending in ("svm", "npy"):
            assert done.stderr == (
                "note: the labels became numbers: 1 is setosa, 2 is versicolor, 3 is virginica\n"
            )
            np.testing.assert_array_equal(back.y, numbers + 1)
        else:
            np.testing.assert_array_equal(back.y, y if name == "iris.csv" else numbers)


def test_it_works_in_a_pipe():
    arguments = ("convert", "-", "-", "--format", "csv", "--to", "svmlight")
    done = program(*arguments, "--one-hot", "--impute", "0", "--target", "income", input=PEOPLE)
    assert done.returncode == 0
    assert done.stderr == "note: the labels became numbers: 1 is high, 2 is low\n"
    assert done.stdout.splitlines()[:2] == ["2 1:31.0 3:1.0 5:1.0", "1 2:1.0"]


def test_a_column_of_labels_keeps_its_name_or_is_left_alone(here, folder):
    here("convert", "people.csv", "out.csv", "--target", "works", "--one-hot", "--impute", "mean")
    header = (folder / "out.csv").read_text().splitlines()[0]
    assert header.endswith('"income=high","income=low","works"')
    here("convert", "iris.npz", "out.csv", "--no-target")
    assert (folder / "out.csv").read_text().splitlines()[0] == '"x1","x2","x3","x4"'


def test_no_digit_is_lost_unless_float32_is_asked_for(here, folder):
    digits = '"a","b","label"\n16777217,0.123456789012,1\n'
    (folder / "digits.csv").write_text(digits)
    here("convert", "digits.csv", "out.csv")
    assert (folder / "out.csv").read_text() == digits
    here("convert", "digits.csv", "out.csv", "--dtype", "float32")
    assert (folder / "out.csv").read_text().endswith("16777216,0.12345679,1\n")


@pytest.mark.parametrize(
    ("arguments", "what", "remedy"),
    [
        (("iris.csv", "out.doc"), "tells no format", "--to"),
        (("iris.csv", "-"), "standard output has no ending", "arrow, hdf5, npy, npz"),
        (("iris.csv", "out.idx"), "idx files are not written", "svmlight, csv"),
        (("missing.csv", "out.idx"), "idx files are not written", "svmlight, csv"),
        (("people.csv", "out.svm", "--impute", "0"), "is not a number", "--one-hot"),
        (("people.csv", "out.svm", "--one-hot"), "the value is missing", "--impute mean"),
        (("people.csv", "out.svm", "--impute", "x"), "--impute x: this is not known", "mean"),
        (("iris.svm", "out.h5"), "no agreed form for sparse rows", "npz"),
        (("iris.csv", "out.csv", "--target", "0", "--no-target"), "do not go together", "one of"),
    ],
)
def test_what_cannot_be_converted_is_refused(arguments, what, remedy, here):
    error, hint = complaint(here("convert", *arguments))
    assert what in error
    assert remedy in hint


# --- Every fault of a file, through the program. --------------------------------------------------

FAULTS = {
    "missing.svm": (None, "missing.svm: there is no such file", "check the name"),
    "empty.svm": (b"", "empty.svm: the file is empty", "how it was made"),
    "blank.svm": (b"\n\n", "blank.svm: there are no rows", "how the file was made"),
    "word.svm": (b"1 1:1\n1 2:x\n", "word.svm, line 2, column 3: the value of '2:x'", "write"),
    "order.svm": (b"1 3:1 2:1\n", "line 1, column 7: '2:1' comes after an entry", "sort"),
    "large.svm": (b"1 3000000000:1\n", "has an index beyond 2147483647", "smaller"),
    "labels.svm": (b"1,2 1:1\n", "'1,2' is more than one label", "--format csv"),
    "nul.svm": (b"1 1:1\n\x00\x00\n", "line 2, column 1: there is a NUL byte", "again"),
    "coded.svm": ("1 1:1\n".encode("utf-16"), "the text is UTF-16", "UTF-8"),
    "latin.svm": (b"1 1:\xe9\n", "is not plain text", "--format"),
    "long.svm": (b"x" * 10_000_000, "line 1, column 1", ""),
    "cut.svm.gz": (gzip.compress(b"1 1:1\n" * 999)[:-9], "ends too early", "again"),
    "ragged.csv": (b"a,b,y\n1,2,p\n3,4\n", "line 3, column 3: there are 2 values", "cut off"),
    "texts.csv": (b"a,b,y\n1,2,p\nx,4,q\n", "line 3, column 1 (a): 'x' is not a", "--one-hot"),
    "gaps.csv": (b"a,b,y\n1,,p\n3,4,q\n", "line 2, column 2 (b): the value is", "--impute mean"),
    "bare.csv": (b"1,2,0\n3,4,1\n", "only numbers where names should be", "--no-header"),
    "twice.csv": (b"a,a,y\n1,2,p\n3,4,q\n", "two columns have the name 'a'", "rename"),
    "latin.csv": (b"a,y\n\xe9,p\n3,q\n", "is not UTF-8", "UTF-8"),
    "no.parquet": (b"PAR1" + b"x" * 99, "this is no parquet file", "again"),
    "no.arrow": (b"ARROW1" + b"x" * 99, "this is no arrow file", "again"),
    "no.h5": (b"x" * 99, "this is no HDF5 file", "again"),
    "no.npz": (b"PK\x03\x04" + b"x" * 99, "no file of NumPy arrays", "again"),
    "no.npy": (b"\x93NUMPY\x01\x00" + b"x" * 99, "no file of NumPy arrays", "again"),
    "no.idx": (b"x" * 99, "this is no IDX file", "--format"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_file_is_named_with_its_place_and_remedy(name, here, folder, tmp_path):
    content, what, remedy = FAULTS[name]
    if content is not None:
        (folder / name).write_bytes(content)
    error, hint = complaint(here("fit", name, "-o", str(tmp_path / "model")))
    assert what in error
    assert remedy in hint
    assert "=" not in hint.replace("==", "")  # options, no Python
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_no_file_and_a_fault_ends_a_real_process_with_2(folder, tmp_path):
    error, _ = complaint(program("fit", folder, "-o", tmp_path / "model"))
    assert error.endswith("this is a directory")
    (folder / "bad.svm").write_text("1 1:1\n1 2:x\n")
    error, _ = complaint(program("fit", "bad.svm", "-o", tmp_path / "model", cwd=folder))
    assert error.startswith("bad.svm, line 2, column 3")


def test_a_name_that_is_not_utf8_is_a_name(here, folder):
    for ending in ("csv", "parquet", "arrow"):
        name = os.fsdecode(b"bad\xff." + ending.encode())
        assert here("convert", "iris.csv", name).returncode == 0
        done = here("convert", name, "out.csv")
        assert done.returncode == 0, done.stderr
        assert (folder / "out.csv").read_text().count("\n") == 151


# --- What can happen to standard output. ----------------------------------------------------------

UNBUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"])


@pytest.fixture(scope="module")
def large(folder):
    """Rows whose text is larger than any pipe holds."""
    np.savez(folder / "large.npz", X=np.random.default_rng(0).random((8000, 10)))
    return ("convert", "large.npz", "-", "--to", "csv", "--no-target")


@UNBUFFERED
def test_a_reader_who_leaves_midway_ends_it_quietly(unbuffered, large, folder):
    with subprocess.Popen(
        [PROGRAM, *large],
        cwd=folder,
        env=environment(PYTHONUNBUFFERED=unbuffered),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.read(10) == b'"x1","x2",'
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


@UNBUFFERED
def test_output_that_has_no_room_is_not_cut_off_in_silence(unbuffered, large, folder):
    with (folder / "out").open("wb") as out:
        done = subprocess.run(
            [PROGRAM, *large],
            cwd=folder,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
            # The last write that fits is a short one, as on a disk that is almost full.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: standard output: could not be written (File too large)",
        "hint: make room on the disk",
    ]


def test_hints_name_options_in_place_of_arguments():
    assert in_options("fill them with missing='mean' or a number") == (
        "fill them with --impute mean or a number"
    )
    assert in_options("choose another column, or target=None if there are no labels") == (
        "choose another column"
    )
    assert in_options("choose with key= and target= among: a, b") == (
        "choose with --key and --target among: a, b"
    )


# Threads of pyarrow may outlive a read by a moment: what they hold then must not be Python's.
READ = "import sys; from pegasos.io import read; print(read(sys.argv[1]).X.shape)"


@pytest.mark.parametrize("name", ["many.csv", "many.csv.gz", "many.parquet"])
def test_reading_a_table_of_many_blocks_never_spoils_the_end_of_the_program(name, tmp_path):
    from pegasos.io import write

    X = np.random.default_rng(0).random((200_000, 8), dtype=np.float32)  # 16 MB of text a block
    write(tmp_path / name, X, np.arange(200_000) % 2)
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", READ, tmp_path / name],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "(200000, 8)\n", "")


@pytest.mark.parametrize("name", ["iris.csv", "iris.csv.gz"])
def test_pyarrow_reads_from_what_is_its_own(name, folder):
    import pyarrow as pa

    from pegasos.io._table_files import TableText

    source = TableText(str(folder / name), ",", True)._source()
    assert type(source) is {"iris.csv": pa.OSFile, "iris.csv.gz": pa.BufferReader}[name]
