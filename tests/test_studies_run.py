"""Running a study: clocks and races, progress, warnings, data that will not do."""

import bz2
import math

import numpy as np
import pytest

from pegasos import studies
from pegasos.studies import StudyError

from .study_helpers import SMALL, Diary, classes_of_three, comparable, run_own, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")


# --- Timings and races ----------------------------------------------------------------------------

CLOCKS = """
title = "clocks"
seed = 1

[[timings]]
name = "ours, steps"
estimator = "PegasosClassifier"
axis = "max_steps"
values = [10, 40]
data = { name = "random", n_rows = 50, n_features = 3 }

[[timings]]
name = "perceptron, rows"
estimator = "KernelPerceptronClassifier"
axis = "n_rows"
values = [20, 30]
max_steps = 15
gamma = 1

[[timings]]
name = "loop, features"
implementation = "optimised"
axis = "n_features"
values = [2, 5]
max_steps = 10
lam = 0.1
gamma = 1.0
data = { name = "random", n_rows = 20 }

[[timings]]
name = "rows of a file"
estimator = "KernelPegasosClassifier"
axis = "n_rows"
values = [100]
max_steps = 10
data = { name = "digits", positive = 8 }

[[races]]
name = "race"
estimator = "PegasosClassifier"
lam = 0.01
suboptimality = 0.05
data = { name = "toy-linear", n_rows = 60 }

[[races]]
name = "hopeless"
estimator = "PegasosClassifier"
lam = 1e-4
suboptimality = 1e-9
solvers = ["pegasos"]
limit = 1e-9
data = { name = "moons", n_rows = 60 }
"""


def test_timings_and_races(tmp_path):
    results = studies.run(study_of(CLOCKS), tmp_path)
    assert results.is_complete
    rows = results.table.to_pylist()
    timed = [row for row in rows if row["part"] == "timing"]
    assert all(row["seconds"] > 0 for row in timed)
    columns = ("model", "max_steps", "n_rows", "n_features")
    assert [tuple(row[name] for name in columns) for row in timed] == [
        ("ours, steps", 10, 50, 3),
        ("ours, steps", 40, 50, 3),
        ("perceptron, rows", 15, 20, 20),
        ("perceptron, rows", 15, 30, 20),
        ("loop, features", 10, 20, 2),
        ("loop, features", 10, 20, 5),
        ("rows of a file", 10, 100, 64),
    ]
    raced = {row["model"]: row for row in rows if row["part"] == "race"}
    optimum = raced["race: optimum"]
    for who in ("race: pegasos", "race: sdca"):
        assert raced[who]["objective"] <= optimum["dual_objective"] + 0.05
        assert raced[who]["seconds"] > 0
    assert math.isnan(raced["hopeless: pegasos"]["seconds"])


def test_a_loop_for_two_classes_refuses_ten(tmp_path):
    text = CLOCKS.replace('axis = "n_features"\nvalues = [2, 5]', 'axis = "n_rows"\nvalues = [50]')
    text = text.replace('data = { name = "random", n_rows = 20 }', 'data = { name = "digits" }')
    with pytest.raises(StudyError, match=r"loop, features: .* knows two classes.*positive = "):
        studies.run(study_of(text), tmp_path)
    assert len(studies.open_results(tmp_path).table) == 4  # what was before it


# --- What happens around it -----------------------------------------------------------------------


def test_progress_hears_of_every_task(tmp_path):
    diary = Diary()
    results = studies.run(study_of(SMALL), tmp_path, progress=diary)
    assert diary.titles == [
        f"{model}, repeat {repeat} of 2, {what}"
        for repeat in (1, 2)
        for model, what in [
            ("Gaussian", "gamma = 0.5"),
            ("Gaussian", "gamma = 2.0"),
            ("Gaussian", "test part"),
            ("perceptron", "max_iter = 1"),
            ("perceptron", "max_iter = 4"),
            ("perceptron", "test part"),
        ]
    ]
    assert diary.done_before == 0
    assert sum(work for work, _ in diary.finished) == pytest.approx(diary.total)
    assert sum(n_rows for _, n_rows in diary.finished) == len(results.table)


def test_results_do_not_depend_on_threads(tmp_path):
    one = studies.run(study_of(SMALL), tmp_path / "1", n_jobs=1)
    two = studies.run(study_of(SMALL), tmp_path / "2", n_jobs=2)
    assert comparable(one.table) == comparable(two.table)


def test_warnings_of_fits_are_kept_once_for_each_model(tmp_path):
    text = SMALL.replace("standard", "none")
    results = studies.run(study_of(text), tmp_path)
    kinds = [": ".join(text.split(": ")[:2]) for text in results.facts["warnings"]]
    assert kinds == ["perceptron: ConvergenceWarning"]
    assert studies.open_results(tmp_path).facts == results.facts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((60, 4), np.nan)}, r"linear: 240 values are missing, in columns 1, 2, 3, 4"),
        ({"X": np.full((60, 4), np.inf)}, "infinite values"),
        ({"y": np.zeros(60)}, "60 rows of 1 classes"),
        ({"y": np.zeros(59)}, "60 rows but 59 labels"),
        ({"y": np.r_[np.zeros(59), 1]}, "smallest class has only 1 rows"),
        ({"X": np.zeros(60)}, r"rows of shape \(60,\)"),
        ({"X": np.full((60, 4), 1e300)}, r"linear.*too large|linear.*[Ss]cale"),
        ({"X": np.full((60, 4), "a")}, "linear"),
    ],
)
def test_data_that_will_not_do_is_refused_with_the_name_of_the_model(tmp_path, change, message):
    X, y = classes_of_three()
    with pytest.raises(StudyError, match=message):
        run_own(
            tmp_path,
            **{"X": X, "y": y, **change},
            tables="""
            evaluate.folds = 3
            [[models]]
            name = "linear"
            estimator = "PegasosClassifier"
            max_steps = 50
            """,
        )


def test_a_model_that_fails_loses_nothing_that_is_finished(tmp_path):
    X, y = classes_of_three()
    X[3, 2] = np.nan
    tables = """
        prepare.missing = "mean"
        evaluate.folds = 3
        [[models]]
        name = "mends"
        estimator = "PegasosClassifier"
        max_steps = 50
        [[models]]
        name = "refuses"
        estimator = "PegasosClassifier"
        max_steps = 50
        prepare.missing = "refuse"
    """
    with pytest.raises(StudyError, match="refuses: 1 values are missing, in columns 3"):
        run_own(tmp_path, X, y, tables)
    results = studies.open_results(tmp_path / "out")
    assert not results.is_complete
    assert {row["model"] for row in results.table.to_pylist()} == {"mends"}


def test_scaling_would_fill_sparse_data(tmp_path, monkeypatch):
    (tmp_path / "adult").mkdir()
    lines = b"\n".join(b"%d 1:%d 2:1" % (1 - 2 * (i % 2), i) for i in range(20))
    for part in ("trn", "tst"):
        (tmp_path / f"adult/adult.{part}.bz2").write_bytes(bz2.compress(lines))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    text = """
        title = "sparse"
        prepare.scale = "standard"
        evaluate.folds = 2
        data.name = "adult"
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 10
    """
    with pytest.raises(StudyError, match=r"linear: scale = 'standard' would move the zeros"):
        studies.run(study_of(text), tmp_path / "out")
    results = studies.run(
        study_of(text.replace("standard", "none") + "prepare.features = 2\n"), tmp_path / "out2"
    )
    assert results.is_complete


def test_data_that_is_missing_is_found_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    with pytest.raises(StudyError, match=r"usps\.h5"):
        studies.run("usps-grid", tmp_path / "out")
    assert not (tmp_path / "out").exists()
