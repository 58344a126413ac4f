"""What can be asked of results: the best cell, reported beside measured, fits made again."""

import math

import numpy as np
import pytest

from pegasos import studies
from pegasos.studies import StudyError
from pegasos.studies._best import best_cell
from pegasos.studies._store import Saved, new_table
from pegasos.studies._tasks import new_row

from .study_helpers import SMALL, Diary, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return studies.run(study_of(SMALL), tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    text = """
        title = "pairs"
        data = { name = "digits", pairs = [[1, 7], [3, 8]] }
        evaluate.folds = 2
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        grid = { max_steps = [5, 100] }
    """
    return studies.run(study_of(text), tmp_path_factory.mktemp("pairs"))


def rows_of(results, **wanted):
    rows = results.table.to_pylist()
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


# --- The best cell --------------------------------------------------------------------------------


def test_the_best_cell_has_the_smallest_mean_over_folds_and_repeats(small):
    best = small.best("Gaussian")
    cells = {}
    for row in rows_of(small, model="Gaussian", part="grid"):
        cells.setdefault((row["gamma"], row["lam"], row["max_steps"]), []).append(row)
    errors = {cell: [row["test_error"] for row in rows] for cell, rows in cells.items()}
    assert all(len(some) == 6 for some in errors.values())
    chosen = errors[best["gamma"], best["lam"], best["max_steps"]]
    assert best["test_error"] == pytest.approx(np.mean(chosen))
    assert best["test_error"] == pytest.approx(min(np.mean(some) for some in errors.values()))
    assert best["test_error_std"] == pytest.approx(np.std(chosen))
    assert {"train_error", "train_error_std", "seconds", "kernel", "loss"} <= best.keys()


def test_of_cells_that_are_equally_good_the_first_is_the_best():
    # 0.1 + 0.2 and 0.3 + 0 differ in their last digit.
    errors = {3.0: (0.5, 0.5), 1.0: (0.1, 0.2), 2.0: (0.3, 0.0), 0.5: (0.0, 0.3)}
    rows = [
        new_row(model="m", lam=lam, fold=f, test_error=error)
        for f in (0, 1)
        for lam, pair in errors.items()
        for error in (pair[f],)
    ]
    assert {row["lam"] for row in best_cell(rows)} == {1.0}


def test_what_could_not_be_measured_is_never_the_best():
    rows = [new_row(model="m", lam=1.0), new_row(model="m", lam=2.0, test_error=0.9)]
    assert best_cell(rows)[0]["lam"] == 2.0


def test_without_folds_the_test_part_speaks(tmp_path):
    text = (
        SMALL.split("[[models]]")[0].replace("[evaluate]\nfolds = 3", "")
        + """
        [[models]]
        name = "one"
        estimator = "PegasosClassifier"
        max_steps = 30
    """
    )
    best = studies.run(study_of(text), tmp_path).best("one")
    assert best["part"] == "final"
    assert 0 <= best["test_error"] <= 1


def test_names_that_are_not_there_are_answered_with_the_closest(small, pairs):
    with pytest.raises(StudyError, match="no model 'Gausian'; did you mean 'Gaussian'"):
        small.best("Gausian")
    with pytest.raises(StudyError, match="no results of 'linear' on '1 against 2'"):
        pairs.best("linear", "1 against 2")
    with pytest.raises(StudyError, match="no subset '1 against 8'; did you mean"):
        pairs.refit("linear", "1 against 8")


def test_each_subset_has_a_best_cell_of_its_own(pairs):
    for subset in ("1 against 7", "3 against 8"):
        rows = rows_of(pairs, subset=subset)
        means = {
            T: np.mean([row["test_error"] for row in rows if row["max_steps"] == T])
            for T in (5, 100)
        }
        best = pairs.best("linear", subset)
        assert best["subset"] == subset
        assert best["test_error"] == pytest.approx(min(means.values()))


# --- Data and fits --------------------------------------------------------------------------------


def test_the_data_of_a_study_whole_and_in_pairs(pairs):
    assert len(pairs.dataset().y) == 1797
    assert set(pairs.dataset("3 against 8").y) == {3, 8}


def test_a_fit_made_again_is_the_one_of_the_first_repeat(small):
    (final,) = rows_of(small, model="Gaussian", part="final", repeat=0)
    again = small.refit("Gaussian")
    assert np.mean(again.estimator.predict(again.X_test) != again.y_test) == final["test_error"]
    assert np.mean(again.estimator.predict(again.X) != again.y) == final["train_error"]
    assert again.cell["gamma"] == final["gamma"]
    assert len(again.y) == len(again.X) == 72
    assert len(again.y_test) == 18
    np.testing.assert_allclose(again.X.mean(axis=0), 0, atol=1e-6)  # scaled by these rows
    np.testing.assert_array_equal(again.prepare.transform(again.X_raw_test), again.X_test)
    np.testing.assert_array_equal(again.prepare.transform(again.X_raw), again.X)
    assert len(again.data.y) == 90
    np.testing.assert_array_equal(
        again.estimator.decision_function(again.X_test),
        small.refit("Gaussian").estimator.decision_function(again.X_test),
    )


def test_without_a_test_part_the_first_fold_is_made_again(pairs):
    again = pairs.refit("linear", "3 against 8")
    (row,) = rows_of(pairs, subset="3 against 8", fold=0, max_steps=again.cell["max_steps"])
    assert np.mean(again.estimator.predict(again.X_test) != again.y_test) == row["test_error"]
    assert again.prepare is None
    assert len(again.y) + len(again.y_test) == len(again.data.y)


def test_what_is_not_finished_is_not_made_again(tmp_path):
    class Stop(Diary):
        def finish(self, work, rows):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies.run(study_of(SMALL), tmp_path, progress=Stop())
    with pytest.raises(StudyError, match="'Gaussian' is not finished; run the study to its end"):
        studies.open_results(tmp_path).refit("Gaussian")


def test_a_study_of_clocks_has_no_data_of_its_own(tmp_path):
    text = """
        title = "clock"
        [[timings]]
        name = "loop"
        axis = "max_steps"
        values = [3]
        implementation = "dense"
        lam = 1.0
    """
    results = studies.run(study_of(text), tmp_path)
    with pytest.raises(StudyError, match=r"no \[data\] for models"):
        results.dataset()
    assert results.is_complete


# --- Reported beside measured ---------------------------------------------------------------------

STUDY = """
title = "reported"
repeats = 2
data = { name = "digits", pairs = [[0, 1], [2, 3]] }
prepare.test = 0.5
evaluate.folds = 2
[[models]]
name = "m"
estimator = "PegasosClassifier"
grid = { lam = [0.1, 1.0], max_steps = [10, 20] }
[[races]]
name = "race"
estimator = "PegasosClassifier"
suboptimality = 0.1
data = { name = "moons" }
[[timings]]
name = "clock"
axis = "max_steps"
values = [1, 2]
implementation = "dense"
lam = 1.0
"""


def measured(text, rows, *, done=True):
    """Return the comparison of one report with a table of results that is made up."""
    study = study_of(STUDY + "[[reported]]\n" + text)
    saved = Saved(study.text, study.name, ".", {}, new_table(rows))
    results = studies.Results(study, None, saved)
    if done:
        results._unfinished = set()
    (comparison,) = results.comparisons()
    return comparison


def grid_rows(errors):
    """Rows of all cells: errors by (subset, lam, max_steps), the same on all folds and repeats."""
    return [
        new_row(
            model="m",
            part="grid",
            subset=subset,
            lam=lam,
            max_steps=T,
            fold=fold,
            repeat=repeat,
            test_error=error + 0.01 * (2 * fold - 1),
            train_error=error / 2,
            seconds=T,
        )
        for (subset, lam, T), error in errors.items()
        for fold in (0, 1)
        for repeat in (0, 1)
    ]


def final_rows(errors):
    return [
        new_row(model="m", part="final", subset=subset, repeat=repeat, test_error=error, lam=0.1)
        for (subset, repeat), error in errors.items()
    ]


GRID = grid_rows(
    {
        ("0 against 1", 0.1, 10): 0.20,
        ("0 against 1", 0.1, 20): 0.10,
        ("0 against 1", 1.0, 10): 0.30,
        ("0 against 1", 1.0, 20): 0.16,
        ("2 against 3", 0.1, 10): 0.40,
        ("2 against 3", 0.1, 20): 0.30,
        ("2 against 3", 1.0, 10): 0.20,
        ("2 against 3", 1.0, 20): 0.24,
    }
)
FINALS = final_rows(
    {
        ("0 against 1", 0): 0.12,
        ("0 against 1", 1): 0.14,
        ("2 against 3", 0): 0.20,
        ("2 against 3", 1): 0.22,
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quantity = 'test_error'", 0.17),  # finals: mean of 0.13 and 0.21
        ("quantity = 'test_accuracy'", 0.83),
        ("quantity = 'test_error'\nat = { subset = '2 against 3' }", 0.21),
        ("quantity = 'test_error'\nat = { lam = 0.1, max_steps = 20 }", 0.20),
        ("quantity = 'test_error'\nat = { max_steps = 20 }", 0.17),  # best lam: 0.10 and 0.24
        ("quantity = 'test_error'\nat = { lam = 1.0, subset = '0 against 1' }", 0.16),
        ("quantity = 'train_error'\nat = { max_steps = 20 }", 0.085),
        ("quantity = 'seconds'\nat = { max_steps = 20 }", 20),
        ("quantity = 'test_error'\nat = { max_steps = 20, fold = 1 }", 0.18),
    ],
)
def test_what_stands_beside_a_report(text, expected):
    value = measured(f"model = 'm'\nvalue = 0.5\n{text}", GRID + FINALS).measured
    assert value == pytest.approx(expected)


def test_without_a_test_part_the_best_cells_stand_beside_a_report():
    value = measured("model = 'm'\nvalue = 0.5\nquantity = 'test_error'", GRID).measured
    assert value == pytest.approx((0.10 + 0.20) / 2)


@pytest.mark.parametrize(
    ("value", "note", "verdict"),
    [
        ("0.17", "", "met"),
        ("0.2", "", "met"),
        ("0.168", "", "missed"),
        ("0.169", "", "missed"),
        ("0.170", "", "met"),
        ("0.1", "note = 'Other data.'", "explained"),
        ("0.2", "note = 'Other data.'", "met"),
    ],
)
def test_verdicts(value, note, verdict):
    text = f"model = 'm'\nquantity = 'test_error'\nvalue = {value}\n{note}"
    assert measured(text, GRID + FINALS).verdict == verdict


def test_what_is_not_finished_is_not_measured():
    text = "model = 'm'\nquantity = 'test_error'\nvalue = 0.5"
    comparison = measured(text, GRID + FINALS, done=False)
    assert (comparison.measured, comparison.verdict) == (None, "not measured")
    assert measured(text, []).verdict == "not measured"


def test_clocks_and_races_beside_reports():
    rows = [
        new_row(model="clock", part="timing", max_steps=1, seconds=0.5),
        new_row(model="clock", part="timing", max_steps=2, seconds=0.25),
        new_row(model="race: sdca", part="race", seconds=2.0, test_error=0.125),
        new_row(model="race: pegasos", part="race", seconds=math.nan, test_error=0.5),
    ]
    head = "quantity = 'seconds'\nvalue = 1.0\nmodel = "
    assert measured(head + "'clock'\nat = { max_steps = 1 }", rows).measured == 0.5
    assert measured(head + "'clock'", rows).measured == 0.25
    assert measured(head + "'race: sdca'", rows).verdict == "missed"
    assert measured(head + "'race: sdca'\nnote = 'x'", rows).verdict == "explained"
    given_up = measured(head + "'race: pegasos'", rows)
    assert (given_up.measured, given_up.verdict) == (None, "missed")
    head = head.replace("seconds", "test_accuracy")
    assert measured(head + "'race: sdca'", rows).measured == 0.875


def clock_rows(power, sizes=(1, 2, 8)):
    return [
        new_row(model="clock", part="timing", max_steps=T, n_rows=40, seconds=0.25 * T**power)
        for T in sizes
    ]


@pytest.mark.parametrize(
    ("power", "value", "verdict"),
    [
        (0.04, "0.0", "met"),
        (0.06, "0.0", "missed"),
        (-0.5, "0.0", "met"),
        (1.5, "1.0", "missed"),
        (1.5, "1.5", "met"),
    ],
)
def test_the_slope_of_a_clock_is_the_power_it_grows_by(power, value, verdict):
    text = f"model = 'clock'\nquantity = 'slope'\nvalue = {value}\nat = {{ n_rows = 40 }}"
    comparison = measured(text, clock_rows(power))
    assert comparison.measured == pytest.approx(power)
    assert comparison.verdict == verdict


def test_a_clock_whose_sizes_were_all_the_same_has_no_slope():
    comparison = measured(
        "model = 'clock'\nquantity = 'slope'\nvalue = 1.0", clock_rows(1, sizes=(2, 2))
    )
    assert (comparison.measured, comparison.verdict) == (None, "missed")
