"""Study files: what is right becomes a Study, what is wrong is named with its line."""

import pytest

from pegasos import studies
from pegasos.studies import StudyError

from .study_helpers import BASE, SMALL, assert_error, error_of, study_of

# --- What is right --------------------------------------------------------------------------------


def test_what_the_file_says_is_what_the_study_is():
    study = study_of(SMALL)
    assert (study.title, study.seed, study.repeats) == ("Small", 3, 2)
    assert study.data.options["n_rows"] == 90
    assert (study.splits.test, study.splits.folds) == (0.2, 3)
    gaussian, perceptron = study.models
    assert gaussian.grid == {"gamma": (0.5, 2.0), "lam": (1e-3, 0.1), "max_steps": (50, 20)}
    assert gaussian.in_lockstep
    assert not perceptron.in_lockstep
    assert gaussian.prepare.scale == "standard"
    assert study.text == SMALL


def test_words_are_no_settings_and_all_else_is():
    worded = SMALL + '\n[[reported]]\nmodel = "perceptron"\nquantity = "test_error"\nvalue = 0.1\n'
    worded = worded.replace('title = "Small"', 'title = "Other"\nabout = "words"\nsource = "me"')
    assert study_of(worded).settings == study_of(SMALL).settings
    assert study_of(SMALL).settings.keys() == {
        "seed",
        "repeats",
        "data",
        "prepare",
        "evaluate",
        "models",
    }


def test_a_model_may_prepare_its_rows_in_its_own_way():
    own = "[models.prepare]\nfeatures = 2\n\n[models.grid]\nmax_iter"
    models = study_of(SMALL.replace("[models.grid]\nmax_iter", own)).models
    assert (models[0].prepare.features, models[1].prepare.features) == (1, 2)
    assert models[1].prepare.scale == "standard"


def test_whole_numbers_serve_as_numbers():
    grid = study_of(BASE.replace("lam = [0.1, 1.0]", "gamma = [1, 2]\nlam = [1]")).models[0].grid
    assert grid["lam"] == (1.0,)
    assert all(isinstance(value, float) for value in grid["gamma"])


def test_the_text_none_stands_for_none():
    model = study_of(BASE.replace("[models.grid]", 'average = "none"\n[models.grid]')).models[0]
    assert model.params["average"] is None


def test_keys_of_class_weights_are_labels():
    weights = "class_weight = { 1 = 2.0, -1 = 1, cat = 3 }\n[models.grid]"
    model = study_of(BASE.replace("[models.grid]", weights)).models[0]
    assert model.params["class_weight"] == {1: 2.0, -1: 1, "cat": 3}


def test_digits_of_reported_values_are_kept():
    reported = '[[reported]]\nmodel = "kernel"\nquantity = "test_error"\nvalue = 0.070\n'
    (item,) = study_of(BASE + reported).reported
    assert item.rounding == pytest.approx(0.0005)
    assert item.is_met_by(0.0705)
    assert not item.is_met_by(0.0706)


def test_accuracies_are_met_from_above():
    reported = '[[reported]]\nmodel = "kernel"\nquantity = "test_accuracy"\nvalue = 0.98\n'
    (item,) = study_of(BASE + reported).reported
    assert item.is_met_by(0.975)
    assert item.is_met_by(1.0)
    assert not item.is_met_by(0.97)


# --- What is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("seed = 1", "sed = 1", 2, "sed: there is no such key here; did you mean 'seed'?"),
        ("seed = 1", "seed = true", 2, "seed: must be a whole number"),
        ("seed = 1", "seed = -1", 2, "of at least 0; got -1"),
        ("seed = 1", "seed = 4294967296", 2, "must be below 2**32"),
        ("seed = 1", "seed = 99999999999999999999", 2, "more than 64 bits"),
        ("seed = 1", "repeats = 0", 2, "repeats"),
        ("seed = 1", "seed = 2020-01-01", 2, "seed: must be a whole number"),
        ('title = "Base"', "title = 5", 1, 'must be a text in " "'),
        ('title = "Base"\n', "", 1, "title: is missing"),
        ('title = "Base"', 'titel = "Base"', 1, "(is 'titel' meant for it?)"),
        ("[data]", "[[data]]", 4, "data: must be a table"),
        ('name = "digits"', 'name = "digit"', 5, "did you mean 'digits'?"),
        ('name = "digits"', 'nam = "digits"', 4, "data.name: is missing"),
        ('name = "digits"', 'name = "digits"\nclasses = 3', 6, "must be an array"),
        ('name = "digits"', 'name = "digits"\nclasses = [1, 1]', 6, "1 is there twice"),
        ('name = "digits"', 'name = "digits"\nclasses = [1.5, 2]', 6, "must hold labels"),
        ('name = "digits"', 'name = "digits"\npositive = true', 6, "must be a label"),
        ('name = "digits"', 'name = "digits"\npairs = [[1, 2], [2, 1]]', 6, "there twice"),
        ('name = "digits"', 'name = "digits"\npairs = [[1, [2]]]', 6, "must be"),
        ("folds = 3", "folds = 1", 8, "of at least 2"),
        ("folds = 3", "folds = 2.5", 8, "must be a whole number"),
        ("folds = 3", "folds = 3\nvalidation = 0.2", 9, "goes without folds"),
        ("folds = 3", "fold = 3", 8, "did you mean 'folds'?"),
        ("[evaluate]\nfolds = 3", "", 1, "no rows are held out"),
        ("[evaluate]\nfolds = 3", "[prepare]\ntest = 0.5", 1, "2 cells of model 'kernel'"),
        ("[evaluate]", "[prepare]\nfeatures = 3\n[evaluate]", 8, "use a polynomial kernel"),
        ("[evaluate]", "[prepare]\nmissing = 'zero'\n[evaluate]", 8, "known are"),
        ("[evaluate]", "[prepare]\nscal = 'none'\n[evaluate]", 8, "did you mean 'scale'?"),
        ("[[models]]", "[models]", 10, "models: must be an array in [ ]; got a table"),
        ('name = "kernel"', "name = 3", 11, "must be a text"),
        ("KernelPegasosClassifier", "KernelPegasos", 12, "did you mean 'KernelPegasosClass"),
        ("[models.grid]", "lamb = 3\n[models.grid]", 13, "no such parameter; did you mean 'lam'"),
        ("[models.grid]", "n_jobs = 3\n[models.grid]", 13, "say it when the study is run"),
        ("[models.grid]", "random_state = 3\n[models.grid]", 13, "seed, at the top"),
        ("[models.grid]", "gamma = -1\n[models.grid]", 13, "'gamma' parameter"),
        ("[models.grid]", "gamma = inf\n[models.grid]", 13, "must be finite"),
        ("[models.grid]", "degree = 2.5\n[models.grid]", 13, "'degree' parameter"),
        ("[models.grid]", "lam = [1.0]\n[models.grid]", 13, "'lam' parameter"),
        ("[models.grid]", "lam = 1.0\n[models.grid]", 15, "is both here and among"),
        ("[models.grid]", "sampling = true\n[models.grid]", 13, "a value such as 'permutation'"),
        ("[models.grid]", 'memory = "lots"\n[models.grid]', 13, "memory"),
        ("[models.grid]", 'kernel = "precomputed"\n[models.grid]', 13, "'precomputed'"),
        ("[models.grid]", 'kernel = "laplace"\n[models.grid]', 13, "'kernel' parameter"),
        ("[models.grid]", 'kernel = "laplace-squared"\n[models.grid]', 13, "gamma as numbers"),
        ("[models.grid]", 'kernel = "linear"\ngrid = { gamma = [1] }\n[data2]', 14, "has no gamma"),
        ("[models.grid]", 'solver = "sgd"\n[models.grid]', 13, "'solver' parameter"),
        ("lam = [0.1, 1.0]", "lam = []", 14, "is an empty array"),
        ("lam = [0.1, 1.0]", "lam = 0.1", 14, "must be an array"),
        ("lam = [0.1, 1.0]", "lam = [1, 1.0]", 14, "1.0 is there twice"),
        ("lam = [0.1, 1.0]", "lam = [0.0]", 14, "'lam' parameter"),
        ("lam = [0.1, 1.0]", 'lam = ["x"]', 14, "'lam' parameter"),
        ("lam = [0.1, 1.0]", 'kernel = ["rbf"]', 14, "make one model for each value of kernel"),
        ("lam = [0.1, 1.0]", "C = [1]", 14, "has no such parameter"),
        ("lam = [0.1, 1.0]", "degree = [2]", 14, "the rbf kernel has no degree"),
        ("lam = [0.1, 1.0]", 'gamma = ["scale", "auto"]', 14, "one rule at most"),
        ("max_steps = [10]", "max_steps = [10]\nmax_iter = [1]", 16, "nothing beside max_steps"),
        ("max_steps = [10]", 'max_steps = ["none"]', 15, "must hold numbers of steps"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old, new, line, message):
    assert BASE.count(old) == 1 or old.startswith(("[[", '"'))
    assert_error(BASE.replace(old, new, 1), line, message)


REPORTED = """
[[reported]]
model = "kernel"
quantity = "test_error"
value = 0.05
at = { lam = 0.1 }
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"kernel"', '"kernal"', 19, "did you mean 'kernel'?"),
        ("test_error", "error", 20, "did you mean 'test_error'?"),
        ("value = 0.05", "value = 5", 21, "a fraction from 0 to 1"),
        ("value = 0.05", "value = nan", 21, "finite"),
        ("value = 0.05", "", 18, "reported[0].value: is missing"),
        ("lam = 0.1", "lam = 0.3", 22, "has no cell at {'lam': 0.3}"),
        ("lam = 0.1", "lamb = 0.1", 22, "the results have no such column"),
        ("lam = 0.1", "seconds = 0.1", 22, "the results have no such column"),
        ("lam = 0.1", 'lam = "x"', 22, "must be a number"),
        ("lam = 0.1", 'subset = "1 against 2"', 22, "none: [data] has no pairs"),
        ("at = ", "note = 3 # ", 22, "must be a text"),
    ],
)
def test_a_wrong_report_is_named_with_its_line(old, new, line, message):
    study_of(BASE + REPORTED)
    assert REPORTED.count(old) == 1
    assert_error(BASE + REPORTED.replace(old, new), line, message)


CLOCK = """
[[timings]]
name = "clock"
axis = "n_rows"
values = [10, 20]
implementation = "dense"
max_steps = 10
lam = 1.0
[[reported]]
model = "clock"
quantity = "slope"
value = 0.0
at = { max_steps = 10 }
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('model = "clock"', 'model = "kernel"', 27, "'kernel' is none of [[timings]]"),
        ("[10, 20]", "[10]", 27, "give clock 'clock' more values"),
        ("{ max_steps", "{ n_rows", 29, "leave n_rows out of at"),
    ],
)
def test_a_slope_that_cannot_be_is_named_with_its_line(old, new, line, message):
    study_of(BASE + CLOCK)
    assert CLOCK.count(old) == 1
    assert_error(BASE + CLOCK.replace(old, new), line, message)


FIGURE = '\n[[figures]]\nkind = "heatmap"\nmodel = "kernel"\n'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("heatmap", "heatmat", 19, "did you mean 'heatmap'?"),
        ('model = "kernel"', 'model = "kern"', 20, "no model is called 'kern'"),
        ('model = "kernel"', 'model = "kernel"\nsubset = "0 against 1"', 21, "no subset"),
        ('model = "kernel"', 'model = "kernel"\nvalue = "loss"', 21, "value is one of"),
        ('model = "kernel"', 'model = "kernel"\nwidth = 3', 21, "no key 'width'"),
    ],
)
def test_a_wrong_figure_is_named_with_its_line(old, new, line, message):
    study_of(BASE + FIGURE)
    assert_error(BASE + FIGURE.replace(old, new), line, message)


TIMING = """
[[timings]]
name = "clock"
axis = "n_rows"
values = [100, 200]
max_steps = 50
estimator = "PegasosClassifier"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("n_rows", "rows", 20, "did you mean 'n_rows'?"),
        ("[100, 200]", "[100, 100]", 21, "100 is there twice"),
        ("[100, 200]", "[0]", 21, "of at least 1"),
        ("max_steps = 50\n", "", 18, "timings[0].max_steps: is missing"),
        ("PegasosClassifier", "Pegasos", 23, "known are"),
        ('estimator = "PegasosClassifier"', 'implementation = "numpy"', 23, "known are"),
        ('estimator = "PegasosClassifier"', 'implementation = "dense"', 18, "lam: is missing"),
        ('"PegasosClassifier"', '"PegasosClassifier"\ngrid = { lam = [1] }', 24, "leave it out"),
        ('"PegasosClassifier"', '"PegasosClassifier"\ntol = 0.1', 24, "the clock decides about it"),
        ('"PegasosClassifier"', '"PegasosClassifier"\nprepare.bias = true', 24, "as they are"),
        (
            '"PegasosClassifier"',
            '"PegasosClassifier"\ndata = { name = "digits", pairs = "all" }',
            24,
            "pairs are for models only",
        ),
        (
            'axis = "n_rows"',
            'axis = "max_steps"',
            22,
            "the clock decides about it",
        ),
        (
            '"n_rows"',
            '"n_features"\ndata = { name = "digits" }',
            20,
            "can only grow where data is made up",
        ),
    ],
)
def test_a_wrong_timing_is_named_with_its_line(old, new, line, message):
    study_of(BASE + TIMING)
    assert TIMING.count(old) == 1
    assert_error(BASE + TIMING.replace(old, new), line, message)


RACE = """
[[races]]
name = "race"
suboptimality = 0.01
estimator = "PegasosClassifier"
data = { name = "moons" }
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("0.01", "0.0", 20, "above 0"),
        ('data = { name = "moons" }', "", 18, "races[0].data: is missing"),
        ("PegasosClassifier", "PerceptronClassifier", 21, "has no objective to race for"),
        ("0.01", '0.01\nsolver = "sdca"', 21, "the race decides about it"),
        ("0.01", '0.01\nsolvers = ["sgd"]', 21, "is not known here"),
        ("0.01", "0.01\nprepare = { bias = true }", 21, "a race takes rows as they are"),
    ],
)
def test_a_wrong_race_is_named_with_its_line(old, new, line, message):
    study_of(BASE + RACE)
    assert RACE.count(old) == 1
    assert_error(BASE + RACE.replace(old, new), line, message)


def test_parameters_that_clash_are_refused_before_anything_runs():
    clash = 'solver = "sdca"\nbatch_size = 5\n[models.grid]'
    text = BASE.replace("Kernel", "", 1).replace("[models.grid]", clash)
    assert "models[0].estimator" in error_of(text).message


# --- Files ----------------------------------------------------------------------------------------


def test_a_study_of_ones_own_is_called_like_its_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(BASE)
    for given in (path, str(path)):
        study = studies.load(given)
        assert (study.name, study.folder) == ("mine", tmp_path)
    assert studies.text_of(path) == BASE


def test_a_byte_order_mark_does_not_matter(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(BASE, encoding="utf-8-sig")
    assert studies.load(path).title == "Base"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"mine\.toml is empty"),
        (b"# only words\n", r"mine\.toml is empty"),
        (b"title = 'a'\n\xff\xfe", r"not UTF-8 text: line 2"),
        (b"\x00\x01\x02", r"mine\.toml, line 1"),
        (b"\x89PNG\r\n\x1a\n", r"not UTF-8 text: line 1"),
        (b"x = " + 2000 * b"[", r"mine\.toml.*"),
        (b"title = 'a'\ntitle = 'b'\n", r"mine\.toml, line 2"),
        (b"title = 'a", r"mine\.toml, line 1"),
    ],
)
def test_files_that_are_no_studies_are_refused(tmp_path, content, message):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(StudyError, match=message) as caught:
        studies.load(path)
    assert caught.value.hint


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"other\.toml is not there; check the name"):
        studies.load(tmp_path / "other.toml")


def test_a_folder_is_no_study(tmp_path):
    with pytest.raises(StudyError, match="is a folder; name the study file in it"):
        studies.load(tmp_path)


def test_an_unknown_name_is_answered_with_the_closest():
    with pytest.raises(StudyError, match="no study is called 'digit'; did you mean 'digits'"):
        studies.load("digit")


def test_a_path_with_a_short_folder_is_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match="d/x is not there"):
        studies.load("d/x")


def test_all_built_in_studies_load():
    assert "digits" in studies.names()
    for name in studies.names():
        assert studies.load(name).name == name
        assert studies.text_of(name) == studies.load(name).text
