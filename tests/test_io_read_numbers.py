"""csv files of plain numbers are read in C++: the same data, and the same words for faults."""

import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegasos.io import DataError, _mapped, _table_numbers, read

pytest.importorskip("pyarrow")

N_ROWS = 500
RNG = np.random.default_rng(0)
COLUMNS = {
    "decimals": [f"{value:.6g}" for value in RNG.normal(size=N_ROWS)],
    "whole": [str(value) for value in RNG.integers(-9, 9, N_ROWS)],
    "whole at first": ["0"] * (N_ROWS - 3) + ["0.5", "-7", "1e-30"],
    "class": [str(value) for value in RNG.integers(0, 3, N_ROWS)],
}


def text_of(columns=COLUMNS, delimiter=",", end="\n", header=True):
    lines = [delimiter.join(columns)] if header else []
    lines += [delimiter.join(row) for row in zip(*columns.values(), strict=True)]
    return end.join(lines) + end


def changed(name, row, value):
    column = list(COLUMNS[name])
    column[row] = value
    return text_of({**COLUMNS, name: column})


@pytest.fixture
def both_ways(tmp_path, monkeypatch):
    """Read a text in C++, if that is possible, and as a table."""

    def both_ways(text, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        results = []
        in_cpp = _table_numbers.read_numbers

        def noting(*arguments):
            results.append(in_cpp(*arguments))
            return results[-1]

        with monkeypatch.context() as patch:
            patch.setattr(_mapped, "BLOCK", 1000)
            patch.setattr(_table_numbers, "read_numbers", noting)
            results.append(_outcome(path, options))
            patch.setattr(_table_numbers, "read_numbers", lambda *_: None)
            results.append(_outcome(path, options))
        return results

    return both_ways


def _outcome(path, options):
    try:
        return read(path, **options)
    except DataError as error:
        return error


def assert_same(data, expected):
    assert data.X.tobytes() == expected.X.tobytes()
    assert data.X.flags.c_contiguous
    assert (data.X.dtype, data.X.shape) == (expected.X.dtype, expected.X.shape)
    assert data.names == expected.names
    if expected.y is None:
        assert data.y is None
    else:
        np.testing.assert_array_equal(data.y, expected.y)
        assert data.y.dtype == expected.y.dtype


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (text_of(), {}),
        (text_of(), {"dtype": "float64", "n_jobs": 1}),
        (text_of(), {"target": "whole", "n_jobs": 3}),
        (text_of(), {"target": None}),
        (text_of(), {"target": 0}),
        (text_of(), {"names": ["whole at first", "decimals"], "target": "class"}),
        (text_of(), {"missing": "mean"}),
        (text_of(header=False), {"header": False}),
        (text_of(end="\r\n"), {}),
        (text_of(end="\n\n"), {}),
        ("\ufeff" + text_of(), {}),
        (text_of().removesuffix("\n"), {}),
        (text_of(delimiter="\t"), {"format": "tsv"}),
        (
            text_of({**COLUMNS, "class": ["yes", "no, never"] * 250}, delimiter="\t"),
            {"format": "tsv"},
        ),
        (text_of({**COLUMNS, "class": ["1.0", "2.0"] * 250}), {}),
        (text_of({**COLUMNS, "class": ["1.0", "2.0"] * 249 + ["1.5", "2.5"]}), {}),
        (text_of({**COLUMNS, "class": ["yes", "no "] * 250}), {}),
        (text_of({**COLUMNS, "class": ["true", "false"] * 250}), {}),
        (text_of({**COLUMNS, "class": ["2020-01-02", "x"] * 250}), {}),
        (text_of({**COLUMNS, "class": ["a", "b"] * 250}), {"target": None, "names": ["whole"]}),
        (text_of().replace("decimals,whole,", '"decimals","whole",', 1), {}),
        (text_of(delimiter=", "), {}),
        (text_of(), {"one_hot": True}),
        (text_of(), {"names": ["class", "whole"], "target": None}),
        (changed("class", 400, "1.5"), {}),
        (changed("decimals", 400, "-0.0"), {}),
        (changed("whole at first", 400, "1e22"), {"dtype": "float64"}),
        ("a,b\n1,2", {}),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_cpp_and_tables_give_the_same_data(both_ways, text, options):
    in_cpp, data, expected = both_ways(text, **options)
    assert in_cpp is data
    assert_same(data, expected)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (changed("whole", 400, "-0"), {}),
        (changed("whole", 400, "0x1F"), {"target": "decimals"}),
        (changed("class", 400, "many"), {}),
        (changed("decimals", 0, '"1.5"'), {}),
        (changed("whole", 400, str(2**24 + 1 + 2**60)), {}),
        (text_of().replace("\n", "\r"), {}),
        ("\n" + text_of(), {}),
        (text_of().replace("decimals,whole,", '"decimals","whole, too",', 1), {}),
        (changed("whole", 0, '"1"').replace("decimals,whole,", 'decimals,"who""le",', 1), {}),
        (changed("decimals", 400, ""), {"missing": "mean"}),
        (changed("class", 400, "-0"), {"target": "whole"}),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_what_is_not_plain_is_read_as_a_table(both_ways, text, options):
    in_cpp, data, expected = both_ways(text, **options)
    assert in_cpp is None
    assert_same(data, expected)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (changed("decimals", 400, "many"), {}, "line 402, column 1 .*'many' is not a number"),
        (changed("decimals", 400, ""), {}, "line 402, column 1 .*missing"),
        (changed("decimals", 400, "nan"), {}, "line 402, column 1 .*missing"),
        (changed("decimals", 400, "inf"), {}, "line 402, column 1 .*not finite"),
        (changed("decimals", 400, "1e39"), {}, "line 402, column 1 .*1e\\+39 is too large"),
        (changed("decimals", 400, "1,2"), {}, "line 402, column 5: there are 5 values"),
        (changed("decimals", 400, "1\0"), {}, "line 402, column 1 .*is not a number"),
        (changed("class", 400, ""), {}, "line 402, column 4 .*label is missing"),
        (changed("class", 400, "é").encode("latin-1"), {}, "line 402, column 4 .*not UTF-8"),
        ("1,2", {"header": False}, "there are no rows"),
        (text_of(), {"target": "label"}, "there is no column 'label'"),
        (text_of(), {"target": 9}, "there is no column 9"),
        (text_of(), {"names": ["width"], "target": None}, "there is no column 'width'"),
        (text_of(), {"missing": "mode"}, "missing='mode' is not known"),
        (text_of(header=False), {}, "there are only numbers where names should be"),
        (text_of().replace("whole,", "decimals,", 1), {}, "two columns have the name 'decimals'"),
        (text_of({"class": COLUMNS["class"]}), {}, "there is no column beside the labels"),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_faults_are_told_as_in_tables(both_ways, text, options, message):
    *_, error, expected = both_ways(text, **options)
    assert isinstance(error, DataError)
    assert (error.message, error.hint) == (expected.message, expected.hint)
    with pytest.raises(DataError, match=message):
        raise error


def test_columns_of_texts_are_no_plain_numbers(both_ways):
    in_cpp, data, expected = both_ways(changed("whole", 400, "many"), one_hot=True)
    assert in_cpp is None
    assert (data.X != expected.X).nnz == 0


def test_a_mark_in_the_middle_of_a_file_is_no_beginning_of_one(both_ways):
    lines = text_of().splitlines(keepends=True)
    for number in range(50, 100):  # one of them begins a piece
        lines[number] = "\ufeff" + lines[number]
    in_cpp, error, expected = both_ways("".join(lines))
    assert in_cpp is None
    assert error.message == expected.message


CELLS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32).map(str),
    st.from_regex(r"[ +-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,3})? ?", fullmatch=True),
    st.sampled_from(["0", "-0", "007", "1e-400", "1e400", "", " ", "NA", "0x1F", "1_0", "\0", "é"]),
    st.sampled_from(['"1"', "true", "1/2", "12:30", "2020-01-02", "inf", "1\r", "+1", "5.", ".5"]),
)


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=4),
    dtype=st.sampled_from(["float32", "float64"]),
    missing=st.sampled_from(["error", "mean"]),
)
@example([["1e-400", "16777217.000000001", "1"]], "float32", "error")
@example([["9007199254740993", "0.1", "1"]], "float32", "error")
@example([["1e23", "8.41e21", "-0"], ["9007199254740993.0", "4.9e-324", "0.5"]], "float64", "error")
def test_any_cells_are_read_as_in_tables(tmp_path_factory, rows, dtype, missing):
    path = tmp_path_factory.getbasetemp() / "any-cells.csv"
    path.write_text("a,b,c\n" + "".join(",".join(row) + "\n" for row in rows), newline="")
    with pytest.MonkeyPatch.context() as patch:
        data = _outcome(path, {"dtype": dtype, "missing": missing})
        patch.setattr(_table_numbers, "read_numbers", lambda *_: None)
        expected = _outcome(path, {"dtype": dtype, "missing": missing})
    if isinstance(expected, DataError):
        assert str(data) == str(expected)
    else:
        assert_same(data, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_have_the_bits_that_python_gives_them(tmp_path, dtype):
    path = tmp_path / "t.csv"
    numbers = np.random.default_rng(1).standard_normal(3000) * 10.0 ** RNG.integers(-30, 30, 3000)
    texts = list(chain.from_iterable((repr(x), f"{x:.6g}", f"{x:.20e}") for x in numbers.tolist()))
    path.write_text("x,y\n" + "".join(f"{text},1\n" for text in texts))
    expected = np.array([float(text) for text in texts]).astype(dtype)
    assert read(path, dtype=dtype).X.ravel().tobytes() == expected.tobytes()


def test_plain_numbers_need_no_pyarrow(tmp_path):
    (tmp_path / "t.csv").write_text(text_of())
    code = """
import sys
sys.modules["pyarrow"] = None
from pegasos.io import DataError, read
print(read("t.csv").X.shape)
try:
    read("t.csv", target="whole", one_hot=["class"])
except DataError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == (
        f"({N_ROWS}, 3)\nt.csv: reading it needs pyarrow, which is not installed; "
        "pip install 'pegasos[io]'\n"
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_a_large_file_takes_little_more_memory_than_its_numbers(tmp_path):
    path = tmp_path / "t.csv"
    row = ",".join(["0.25"] * 50)
    path.write_text(",".join(f"x{j}" for j in range(50)) + "\n" + f"{row}\n" * 200_000)
    code = """
import re
from pathlib import Path
from pegasos.io import read


def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])


read("small.csv")
before = peak()
data = read("t.csv")
print((peak() - before) / data.X.nbytes)
"""
    (tmp_path / "small.csv").write_text("a,b\n1,2\n")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    # The text (50 MB) is mapped in blocks of 32 MiB, which are given back; the array has 40 MB.
    assert 0.9 < float(done.stdout) < 2.5


def test_columns_are_found_by_name_whatever_their_order(both_ways):
    names = [f"x{j}" for j in range(300)]
    text = text_of({name: [str(j), str(-j - 1)] for j, name in enumerate([*names, "y"])})
    wanted = names[::-3]
    in_cpp, data, expected = both_ways(text, names=wanted, target="y")
    assert in_cpp is data
    assert_same(data, expected)
    assert data.names == wanted
    np.testing.assert_array_equal(data.X[0], np.arange(300)[::-3])
