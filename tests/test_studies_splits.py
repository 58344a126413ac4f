"""Which rows a study learns from and judges by: repeats, test parts, pairs of classes."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from pegasos import (
    KernelPegasosClassifier,
    PegasosClassifier,
    studies,
)

from .study_helpers import SMALL, check_rows, classes_of_three, error, folds_of, run_own, study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")


def test_repeats_draw_folds_and_steps_with_their_own_seeds(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        evaluate.folds = 2
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        grid = { max_steps = [60, 120] }
        """,
        head="seed = 7\nrepeats = 3",
    )
    assert len(rows) == 2 * 2 * 3
    for repeat in range(3):
        some = [row for row in rows if row["repeat"] == repeat]

        def make(row, seed=7 + repeat):
            return PegasosClassifier(max_steps=row["max_steps"], tol=None, random_state=seed)

        check_rows(some, make, X, y, folds_of(y, 2, 7 + repeat))
    assert len({row["test_error"] for row in rows}) > 1


def test_a_validation_split_chooses_and_the_test_part_decides(tmp_path):
    X, y = classes_of_three(n_rows=100)
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare = { test = 0.2, scale = "minmax" }
        evaluate.validation = 0.25
        [[models]]
        name = "kernel"
        estimator = "KernelPegasosClassifier"
        grid = { gamma = [0.001, 3.0, 1000.0], max_steps = [300] }
        """,
        head="seed = 1",
    )
    grid, final = rows[:3], rows[3]
    train, test = train_test_split(np.arange(100), test_size=0.2, stratify=y, random_state=1)
    X_train, y_train = X[train], y[train]
    split = train_test_split(np.arange(80), test_size=0.25, stratify=y_train, random_state=1)

    def make(row):
        return KernelPegasosClassifier(gamma=row["gamma"], max_steps=300, tol=None, random_state=1)

    check_rows(grid, make, X_train, y_train, [split], MinMaxScaler())
    best = min(grid, key=lambda row: row["test_error"])
    assert (final["part"], final["gamma"], final["fold"]) == ("final", best["gamma"], -1)
    scaler = MinMaxScaler().fit(X_train)
    fitted = make(best).fit(scaler.transform(X_train), y_train)
    assert final["test_error"] == error(fitted, scaler.transform(X[test]), y[test])
    assert final["train_error"] == error(fitted, scaler.transform(X_train), y_train)
    assert final["n_rows"] == 80
    assert final["gap"] == pytest.approx(np.max(fitted.duality_gap_ / fitted.objective_))


def test_the_test_part_has_no_say_in_what_is_chosen(tmp_path):
    """Finals of a repeat are of the best cell of that repeat, the first if several are."""
    results = studies.run(study_of(SMALL), tmp_path)
    rows = results.table.to_pylist()
    for model in ("Gaussian", "perceptron"):
        for repeat in (0, 1):
            mine = [row for row in rows if (row["model"], row["repeat"]) == (model, repeat)]
            grid = [row for row in mine if row["part"] == "grid"]
            (final,) = (row for row in mine if row["part"] == "final")
            cells = [grid[i : i + 3] for i in range(0, len(grid), 3)]
            means = [round(np.mean([row["test_error"] for row in cell]), 12) for cell in cells]
            best = cells[int(np.argmin(means))][0]
            for axis in ("gamma", "lam", "max_steps", "max_iter"):
                assert str(final[axis]) == str(best[axis])


def test_without_shuffling_the_end_of_the_table_is_held_out(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        prepare = { test = 0.25, shuffle = false }
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 100
        """,
    )
    (row,) = rows
    fitted = PegasosClassifier(max_steps=100, tol=None, random_state=0).fit(X[:45], y[:45])
    assert row["part"] == "final"
    assert row["test_error"] == error(fitted, X[45:], y[45:])


def test_a_test_part_of_the_datas_own(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X[:40],
        y[:40],
        """
        prepare.test = "given"
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 100
        """,
        X_test=X[40:],
        y_test=y[40:],
    )
    fitted = PegasosClassifier(max_steps=100, tol=None, random_state=0).fit(X[:40], y[:40])
    assert rows[0]["test_error"] == error(fitted, X[40:], y[40:])


def test_pairs_of_classes_are_worked_on_one_by_one(tmp_path):
    X, y = classes_of_three()
    rows = run_own(
        tmp_path,
        X,
        y,
        """
        data.pairs = [[0, 1], [0, 2]]
        [evaluate]
        folds = 2
        [[models]]
        name = "linear"
        estimator = "PegasosClassifier"
        max_steps = 50
        """,
    )
    for subset, classes in (("0 against 1", (0, 1)), ("0 against 2", (0, 2))):
        some = [row for row in rows if row["subset"] == subset]
        assert len(some) == 2
        chosen = np.isin(y, classes)
        made = PegasosClassifier(max_steps=50, tol=None, random_state=0)
        folds = folds_of(y[chosen], 2, 0)
        check_rows(some, lambda row, made=made: made, X[chosen], y[chosen], folds)
