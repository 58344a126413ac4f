"""What is wrong in a study file is named with its line, however the file is laid out."""

import pytest

from pegasos.studies._locate import line_of

from .study_helpers import BASE, assert_error, error_of, study_of


def test_a_wrong_value_has_its_line():
    assert_error(
        BASE.replace("seed = 1", 'seed = "one"'), 2, "seed: must be a whole number", "'one'"
    )


def test_a_wrong_value_in_an_array_of_many_lines_has_its_own_line():
    text = BASE.replace("lam = [0.1, 1.0]", "lam = [\n  0.1, # small\n  -1.0,\n]")
    assert_error(text, 16, "models[0].grid.lam[1]")


def test_a_missing_key_has_the_line_of_its_table():
    text = BASE + '\n[[models]]\nestimator = "PegasosClassifier"\n'
    assert_error(text, 18, "models[1].name: is missing")


def test_a_missing_table_is_on_the_first_line():
    assert_error('title = "x"\n', 1, "models: there is nothing to compute")


def test_dotted_keys_have_their_line():
    text = BASE.replace("[evaluate]\nfolds = 3", "[evaluate]\n").replace(
        "seed = 1", "seed = 1\nprepare.scale = 'minmx'"
    )
    assert_error(text, 3, "prepare.scale", "did you mean 'minmax'?")


def test_inline_tables_have_their_line():
    text = BASE.replace("seed = 1", 'seed = 1\nprepare = { test = 0.5,  bias = "yes" }')
    assert_error(text, 3, "prepare.bias: must be true or false; got 'yes'")


def test_inline_tables_with_an_array_of_many_lines_have_the_line_they_begin_on():
    text = BASE.replace(
        "[models.grid]\nlam = [0.1, 1.0]\nmax_steps = [10]", "grid = { lam = [\n0.1,\n-1\n] }"
    )
    assert_error(text, 13, "models[0].grid.lam[1]")


def test_texts_of_many_lines_do_not_shift_lines():
    text = BASE.replace('title = "Base"', 'title = "Base"\nabout = """\n[x]\nlam = 3\n"""')
    assert_error(text.replace("folds = 3", "folds = 1"), 12, "evaluate.folds", "at least 2")


def test_tables_out_of_order_have_their_line():
    text = BASE + "\n[prepare]\ntest = 1.5\n"
    assert_error(text, 19, "prepare.test: must be a number between 0 and 1", "1.5")


def test_windows_line_ends_count_as_one():
    assert_error(BASE.replace("folds = 3", "folds = 1").replace("\n", "\r\n"), 8, "evaluate.folds")


def test_a_name_that_is_there_twice_has_its_second_line():
    text = BASE + '\n[[models]]\nname = "kernel"\nestimator = "PegasosClassifier"\n'
    assert_error(text, 19, "models[1].name: 'kernel' is there twice")


def test_a_model_may_not_be_called_like_a_row_of_a_race():
    race = """
[[races]]
name = "kernel"
estimator = "PegasosClassifier"
suboptimality = 0.01
data = { name = "moons" }
"""
    assert study_of(BASE + race).races[0].row_names() == [
        "kernel: optimum",
        "kernel: pegasos",
        "kernel: sdca",
    ]
    assert_error(
        BASE.replace('"kernel"', '"kernel: sdca"') + race, 19, "'kernel: sdca' is there twice"
    )


def test_what_is_no_toml_has_its_line_and_column():
    message = error_of(BASE.replace("folds = 3", "folds = = 3")).message
    assert message.startswith("small.toml, line 8, column 9: ")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 1),
        (("b", "c"), 3),
        (("b", "c", "d"), 3),
        (("e",), 5),
        (("e", 0, "f"), 6),
        (("e", 1), 7),
        (("e", 1, "f", 1), 9),
        (("e", 1, "missing"), 7),
        (("nowhere", "at", "all"), 1),
    ],
)
def test_lines_of_paths(path, line):
    text = 'a = 1\n[b]\nc.d = """\nx = 1"""\n[[e]]\nf = 1\n[[e]]\nf = [1,\n2]\n'
    assert line_of(path, text) == line
