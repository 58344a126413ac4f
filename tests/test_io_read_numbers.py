"""Large csv files of numbers are read in pieces: the same data, and the same words for faults."""

import tracemalloc

import numpy as np
import pytest

from pegasos.io import DataError, _table_numbers, read

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
    """Read a text in pieces, if that is possible, and as a table."""

    def both_ways(text, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        results = []
        in_pieces = _table_numbers.read_numbers

        def noting(*arguments):
            results.append(in_pieces(*arguments))
            return results[-1]

        monkeypatch.setattr(_table_numbers, "_PIECE", 1000)
        monkeypatch.setattr(_table_numbers, "read_numbers", noting)
        results.append(_outcome(path, options))
        monkeypatch.setattr(_table_numbers, "read_numbers", lambda *_: None)
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
        (changed("decimals", 0, '"1.5"'), {}),
        (changed("decimals", 400, "-0.0"), {}),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_pieces_and_tables_give_the_same_data(both_ways, text, options):
    in_pieces, data, expected = both_ways(text, **options)
    assert in_pieces is data
    assert_same(data, expected)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (changed("whole", 400, "-0"), {}),
        (changed("whole", 400, "0x1F"), {"target": "decimals"}),
        (changed("class", 400, "1.5"), {}),
        (changed("class", 400, "many"), {}),
        (changed("decimals", 400, ""), {"missing": "mean"}),
        (changed("class", 400, "-0"), {"target": "whole"}),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
)
def test_what_pieces_cannot_tell_is_read_as_a_table(both_ways, text, options):
    in_pieces, data, expected = both_ways(text, **options)
    assert in_pieces is None
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
    in_pieces, data, expected = both_ways(changed("whole", 400, "many"), one_hot=True)
    assert in_pieces is None
    assert (data.X != expected.X).nnz == 0


def test_a_mark_in_the_middle_of_a_file_is_no_beginning_of_one(both_ways):
    lines = text_of().splitlines(keepends=True)
    for number in range(50, 100):  # one of them begins a piece
        lines[number] = "\ufeff" + lines[number]
    in_pieces, error, expected = both_ways("".join(lines))
    assert in_pieces is None
    assert error.message == expected.message


def test_more_rows_than_the_first_piece_lets_expect(both_ways):
    wide = {name: ["0.123456789012345"] * 100 + ["1", "2"] * 5000 for name in "abcd"}
    in_pieces, data, expected = both_ways(text_of(wide))
    assert in_pieces is data
    assert_same(data, expected)


def test_a_large_file_takes_little_more_memory_than_its_numbers(tmp_path):
    path = tmp_path / "t.csv"
    row = ",".join(["0.25"] * 50)
    path.write_text(",".join(f"x{j}" for j in range(50)) + "\n" + f"{row}\n" * 40_000)
    tracemalloc.start()
    data = read(path)
    _, peak = tracemalloc.get_traced_memory()  # of NumPy's arrays: those of pyarrow are not seen
    tracemalloc.stop()
    assert data.X.nbytes <= peak < 2 * data.X.nbytes
