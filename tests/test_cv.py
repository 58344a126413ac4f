"""The grids: every cell is what fitting it by itself gives, and the best one is an estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosCV,
    PegasosClassifier,
    PegasosCV,
)
from pegasos._judge import _first_best

LAMS, STEPS = (1e-3, 0.1, 2.0), (1, 40, 300)


def data(n_classes=3, n_rows=90, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    centres = rng.standard_normal((n_classes, 5))
    X = centres[y] + rng.standard_normal((n_rows, 5))
    return X.astype(dtype), np.array(["ant", "bee", "cat", "dog"])[y]


def rows_of(X, which, kernel):
    return X[np.ix_(which, which)] if kernel == "precomputed" else X[which]


def scores_by_hand(grid, X, y, params, train, test, sample_weight=None):
    """Fit one cell by itself; return its scores of the held-out and of the training rows."""
    shared = {k: v for k, v in grid.get_params().items() if k in grid.best_estimator_.get_params()}
    cell = type(grid.best_estimator_)(**{**shared, **params}, tol=None)
    kernel = getattr(grid, "kernel", None)
    weight = None if sample_weight is None else sample_weight[train]
    cell.fit(rows_of(X, train, kernel), y[train], sample_weight=weight)
    if kernel == "precomputed":
        return [cell.decision_function(X[np.ix_(rows, train)]) for rows in (test, train)]
    return [cell.decision_function(X[rows]) for rows in (test, train)]


def errors(model_classes, scores, y, weight):
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.average(model_classes[best] != y, weights=weight)


def check_every_cell(grid, X, y, sample_weight=None, tolerance=1e-8):
    """Scores of all cells, as scoring sees them, are those of the cells fitted by themselves."""
    seen = []

    def record(estimator, rows, labels, sample_weight=None):
        seen.append(estimator.decision_function(rows))
        return estimator.score(rows, labels, sample_weight)

    grid = grid.set_params(cv=StratifiedKFold(3))
    grid.fit(X, y, sample_weight=sample_weight)
    test_error, train_error = grid.test_error_, grid.train_error_
    recorded = grid.set_params(scoring=record).fit(X, y, sample_weight=sample_weight)
    cells = recorded.cv_results_["params"]
    shape = recorded.test_error_.shape
    # Recorded in the order of the runs: kernels, losses, folds, T, lam; test, then train.
    order = np.arange(len(seen) // 2).reshape(
        *shape[1:-3], shape[0], shape[-1], shape[-2], shape[-3]
    )
    place = {}
    for index in np.ndindex(order.shape):
        *kernel, loss, fold, t, lam = index
        place[(loss, *kernel, lam, t, fold)] = order[index]
    folds = list(StratifiedKFold(3).split(X, y))
    if sample_weight is not None:  # rows of weight 0 are not learned from, nor judged by
        folds = [(train[sample_weight[train] > 0], test) for train, test in folds]
    for number, params in enumerate(cells):
        where = np.unravel_index(number, shape[:-1])
        for f, (train, test) in enumerate(folds):
            expected = scores_by_hand(recorded, X, y, params, train, test, sample_weight)
            got = seen[2 * place[(*where, f)] : 2 * place[(*where, f)] + 2]
            for mine, theirs in zip(got, expected, strict=True):
                np.testing.assert_allclose(
                    mine, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max()
                )
            for table, scores, rows in zip(
                (test_error, train_error), expected, (test, train), strict=True
            ):
                weight = None if sample_weight is None else sample_weight[rows]
                assert table[(*where, f)] == pytest.approx(
                    errors(recorded.classes_, scores, y[rows], weight)
                )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"average": None, "sampling": "uniform"},
        {"average": "uniform", "losses": ("hinge", "log"), "fit_intercept": False},
        {"batch_size": 7, "project": True, "average": None},
        {"class_weight": "balanced", "intercept_scaling": 2.0},
    ],
)
def test_every_linear_cell_equals_fitting_it_by_itself(n_classes, options):
    X, y = data(n_classes)
    check_every_cell(PegasosCV(LAMS, steps=STEPS, random_state=3, **options), X, y)


@pytest.mark.parametrize("convert", [sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_linear_cells_of_sparse_and_float32_rows(convert):
    X, y = data()
    check_every_cell(PegasosCV(LAMS, steps=STEPS, random_state=0), convert(X), y, tolerance=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"gammas": (0.1, 1.0)},
        {"gammas": (0.3,), "average": None, "sampling": "uniform"},
        {"gammas": (0.3,), "average": "uniform", "losses": ("hinge", "log")},
        {"kernel": "poly", "gammas": (0.5, 1.0), "degrees": (1, 2), "coef0": 1.0},
        {"kernel": "linear", "class_weight": "balanced"},
        {"kernel": rbf_kernel},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kernel_cell_equals_fitting_it_by_itself(n_classes, options):
    X, y = data(n_classes)
    check_every_cell(KernelPegasosCV(LAMS, steps=STEPS, random_state=3, **options), X, y)


def test_kernel_cells_of_a_precomputed_matrix():
    X, y = data()
    K = rbf_kernel(X)
    check_every_cell(KernelPegasosCV(LAMS, steps=STEPS, kernel="precomputed", random_state=0), K, y)


def test_kernel_cells_of_sparse_rows():
    X, y = data()
    grid = KernelPegasosCV(LAMS, steps=STEPS, gammas=(0.2,), random_state=0)
    check_every_cell(grid, sp.csr_matrix(X), y)


@pytest.mark.parametrize("model", [PegasosCV, KernelPegasosCV])
def test_sample_weights_hold_for_learning_and_judging(model):
    X, y = data(2)
    weight = np.random.default_rng(5).integers(0, 4, size=len(y)).astype(float)
    gamma = {} if model is PegasosCV else {"gammas": (0.2,)}
    check_every_cell(model(LAMS, steps=STEPS, random_state=0, **gamma), X, y, weight)


def test_results_have_the_format_and_the_figures_of_grid_search():
    X, y = data(2)
    cv = StratifiedKFold(4)
    ours = PegasosCV(LAMS, steps=(40, 300), losses=("log", "hinge"), cv=cv, random_state=1)
    ours.fit(X, y)
    axes = {"loss": ["log", "hinge"], "lam": list(LAMS), "max_steps": [40, 300]}
    theirs = GridSearchCV(
        PegasosClassifier(tol=None, random_state=1), axes, cv=cv, return_train_score=True
    ).fit(X, y)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    by_params = {tuple(sorted(p.items())): k for k, p in enumerate(theirs.cv_results_["params"])}
    order = [by_params[tuple(sorted(p.items()))] for p in ours.cv_results_["params"]]
    for name, values in ours.cv_results_.items():
        if "time" in name or name == "params":
            continue
        expected = theirs.cv_results_[name][order]
        if values.dtype.kind in "fi":
            np.testing.assert_allclose(values, expected, err_msg=name)
        else:
            assert list(values) == list(expected)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.n_splits_ == theirs.n_splits_
    frame = pd.DataFrame(ours.cv_results_)
    assert len(frame) == 12


def test_the_best_cell_is_an_ordinary_estimator():
    X, y = data()
    grid = PegasosCV(LAMS, steps=STEPS, losses=("log",), random_state=0).fit(X, y)
    best = PegasosClassifier(**grid.best_params_, tol=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(grid.coef_, best.coef_)
    np.testing.assert_array_equal(grid.predict_proba(X), best.predict_proba(X))
    np.testing.assert_array_equal(grid.duality_gap_, best.duality_gap_)
    assert grid.n_steps_ == grid.best_params_["max_steps"]
    assert grid.score(X, y) == best.score(X, y)
    assert isinstance(grid.best_estimator_, PegasosClassifier)


def test_the_best_kernel_cell_is_an_ordinary_estimator():
    X, y = data()
    grid = KernelPegasosCV(LAMS, steps=STEPS, gammas=(0.1, "scale"), random_state=0).fit(X, y)
    best = KernelPegasosClassifier(**grid.best_params_, tol=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(grid.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(grid.support_, best.support_)
    assert grid.objective_ == pytest.approx(best.objective_)


def test_best_is_the_smallest_mean_error():
    X, y = data()
    grid = KernelPegasosCV(LAMS, steps=STEPS, gammas=(0.01, 0.3), random_state=0).fit(X, y)
    means = grid.test_error_.mean(axis=-1)
    assert grid.best_score_ == pytest.approx(1 - means.min())
    assert grid.best_index_ == means.argmin()


def test_without_refit_there_are_results_but_no_predictions():
    X, y = data()
    grid = PegasosCV(LAMS, steps=STEPS, refit=False).fit(X, y)
    assert not hasattr(grid, "coef_")
    with pytest.raises(AttributeError, match="refit=False and cannot predict"):
        grid.predict(X)
    with pytest.raises(NotFittedError):
        PegasosCV(refit=False).predict(X)


def test_a_second_fit_leaves_nothing_of_the_first():
    X, y = data()
    grid = PegasosCV(LAMS, steps=STEPS).fit(pd.DataFrame(X).add_prefix("x"), y)
    assert list(grid.feature_names_in_) == [f"x{k}" for k in range(5)]
    grid.predict(pd.DataFrame(X).add_prefix("x"))
    grid.set_params(refit=False).fit(X[:, :3], y)
    assert grid.n_features_in_ == 3
    assert not hasattr(grid, "coef_")
    assert not hasattr(grid, "feature_names_in_")
    assert not hasattr(grid, "best_estimator_")


@pytest.mark.parametrize(
    "grid",
    [
        PegasosCV(LAMS, steps=STEPS, random_state=0, losses=("hinge", "log")),
        KernelPegasosCV(LAMS, steps=STEPS, random_state=0, gammas=(0.1, 0.7)),
    ],
)
def test_results_do_not_depend_on_threads(grid):
    X, y = data(4)
    one = grid.set_params(n_jobs=1).fit(X, y)
    errors_of_one, scores_of_one = one.test_error_, one.decision_function(X)
    three = grid.set_params(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(errors_of_one, three.test_error_)
    np.testing.assert_array_equal(scores_of_one, three.decision_function(X))


def test_results_do_not_depend_on_memory():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    grid = KernelPegasosCV((1e-3, 0.1), steps=(300, 1500), gammas=(0.02, 0.2), cv=3, random_state=0)
    plenty = grid.fit(X, y)
    test_error, train_error = plenty.test_error_, plenty.train_error_
    # Room for the arrays beside the rows and about a sixth of the matrix.
    tight = grid.set_params(memory=12 * 8 * 20 * 600 + 100 * 8 * 600).fit(X, y)
    np.testing.assert_array_equal(test_error, tight.test_error_)
    np.testing.assert_array_equal(train_error, tight.train_error_)


def test_gamma_scale_goes_by_all_rows():
    X, y = data()
    grid = KernelPegasosCV(LAMS, steps=STEPS, random_state=0).fit(X, y)
    assert grid.best_params_["gamma"] == pytest.approx(1 / (X.shape[1] * X.var()))


def test_steps_default_to_epochs_and_are_sorted():
    X, y = data(2)
    assert list(PegasosCV((0.1,)).fit(X, y).cv_results_["param_max_steps"]) == [90, 360, 1440]
    grid = PegasosCV((0.1,), steps=(30, 10)).fit(X, y)
    assert list(grid.cv_results_["param_max_steps"]) == [10, 30]


def test_anything_but_a_number_gives_one_seed_for_all():
    X, y = data()
    grid = PegasosCV((0.1,), steps=(500,), random_state=np.random.default_rng(8)).fit(X, y)
    seed = int(np.random.default_rng(8).integers(2**31))
    same = PegasosCV((0.1,), steps=(500,), random_state=seed).fit(X, y)
    np.testing.assert_array_equal(grid.test_error_, same.test_error_)
    np.testing.assert_array_equal(grid.coef_, same.coef_)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1_macro", "balanced_accuracy", "neg_log_loss"])
@pytest.mark.parametrize("model", [PegasosCV, KernelPegasosCV])
def test_scoring_by_name_is_that_of_grid_search(model, scoring):
    X, y = data(2)
    cell, own = PegasosClassifier(), {}
    if model is KernelPegasosCV:
        cell, own = KernelPegasosClassifier(gamma=0.2), {"gammas": (0.2,)}
    cell.set_params(loss="log", max_steps=200, tol=None, random_state=0)
    grid = model(LAMS, steps=(200,), losses=("log",), scoring=scoring, random_state=0, **own)
    expected = GridSearchCV(cell, {"lam": list(LAMS)}, scoring=scoring).fit(X, y)
    got = grid.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(got, expected.cv_results_["mean_test_score"], rtol=1e-9)
    assert grid.best_params_["lam"] == expected.best_params_["lam"]


def test_scoring_by_function_gets_the_real_rows():
    X, y = data(2)
    rows_seen = []

    def scorer(estimator, rows, labels):
        rows_seen.append(rows)
        return roc_auc_score(labels, estimator.decision_function(rows))

    PegasosCV((0.1,), steps=(50,), scoring=scorer, cv=3).fit(X, y)
    test = next(iter(StratifiedKFold(3).split(X, y)))[1]
    np.testing.assert_array_equal(rows_seen[0], X[test])


def test_scoring_may_not_ask_for_other_rows():
    X, y = data(2)
    with pytest.raises(ValueError, match="only the scores of the fold's"):
        PegasosCV(
            (0.1,), steps=(50,), scoring=lambda model, rows, labels: model.predict(X[:2]).size
        ).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 10, 127, 128, 300])
def test_the_first_of_the_best_classes_is_taken(n_classes):
    scores = np.random.default_rng(0).integers(-3, 3, size=(n_classes, 500)).astype(float)
    scores[n_classes // 2] = -np.inf
    scores[:, 0] = 1.0
    assert_array_equal(_first_best(scores), scores.argmax(axis=0))


def test_a_class_absent_from_a_fold_is_never_predicted_there():
    X, y = data(3)
    fold = np.where(y == "cat", 0, np.arange(len(y)) % 2)  # the only rows of "cat" are held out
    grid = PegasosCV((0.1,), steps=(400,), cv=PredefinedSplit(fold), random_state=0).fit(X, y)
    kernel = KernelPegasosCV((0.1,), steps=(400,), cv=PredefinedSplit(fold), random_state=0)
    for model in (grid, kernel.fit(X, y)):
        train, test = next(iter(PredefinedSplit(fold).split()))
        cell = type(model.best_estimator_)(**model.best_params_, tol=None, random_state=0)
        cell.fit(X[train], y[train])
        expected = 1 - cell.score(X[test], y[test])
        assert model.test_error_.ravel()[0] == pytest.approx(expected)
        assert model.test_error_.ravel()[0] >= np.mean(y[test] == "cat")


def test_groups_stay_together():
    X, y = data(2)
    groups = np.arange(len(y)) // 10
    grid = PegasosCV((0.1,), steps=(50,), cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert grid.n_splits_ == 3
    with pytest.raises(ValueError, match="groups"):
        PegasosCV((0.1,), steps=(50,), cv=GroupKFold(3)).fit(X, y)


def test_folds_may_be_any_iterable_of_rows():
    X, y = data(2)
    folds = list(ShuffleSplit(2, random_state=0).split(X))
    mask = [(np.isin(np.arange(len(y)), train), test) for train, test in folds]
    one = PegasosCV((0.1,), steps=(50,), cv=folds, random_state=0).fit(X, y)
    two = PegasosCV((0.1,), steps=(50,), cv=mask, random_state=0).fit(X, y)
    assert one.test_error_.shape == (1, 1, 1, 2)
    assert two.test_error_.shape == (1, 1, 1, 2)


def test_progress_is_shown_on_stderr_when_asked_for(capsys):
    X, y = data(2)
    PegasosCV((0.1,), steps=(50,), verbose=1).fit(X, y)
    shown = capsys.readouterr()
    assert "PegasosCV" in shown.err
    assert "smallest error" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lams": (0.1, 0.0)}, r"'lams\[1\]' parameter of PegasosCV must be a float"),
        ({"lams": ()}, "lams must be one or more values; got none"),
        ({"lams": (0.1, 0.1)}, "all differ"),
        ({"steps": (0,)}, r"'steps\[0\]'.*Got 0"),
        ({"steps": (10.5,)}, r"'steps\[0\]'.*Got 10.5"),
        ({"losses": ("square",)}, r"'losses\[0\]'.*'square'"),
        ({"lams": 0.1}, "'lams' parameter.*array-like"),
        ({"cv": 1}, "'cv' parameter of PegasosCV.*Got 1"),
        ({"scoring": "nonsense"}, "nonsense"),
        ({"refit": "yes"}, "'refit' parameter"),
    ],
)
def test_bad_grids_are_refused(options, message):
    X, y = data(2)
    with pytest.raises(ValueError, match=message):
        PegasosCV(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gammas": (-1,)}, r"'gammas\[0\]'"),
        ({"gammas": ("big",)}, r"'gammas\[0\]'"),
        ({"kernel": "poly", "degrees": (0,)}, r"'degrees\[0\]'"),
        ({"kernel": "linear", "gammas": (1, 2)}, "kernel='linear' has no use for gammas"),
        ({"degrees": (2, 3)}, "kernel='rbf' has no use for degrees"),
        ({"kernel": rbf_kernel, "gammas": (1, 2)}, "kernel=a callable has no use"),
        ({"memory": "100"}, "too small"),
    ],
)
def test_bad_kernel_grids_are_refused(options, message):
    X, y = data(2)
    with pytest.raises(ValueError, match=message):
        KernelPegasosCV(**options).fit(X, y)


def test_a_fold_of_one_class_is_refused():
    X, y = data(2)
    one_class = np.flatnonzero(y == "ant")
    rest = np.flatnonzero(y != "ant")
    with pytest.raises(ValueError, match="fold 0 has 1 classes to learn and"):
        PegasosCV(cv=[(one_class, rest)]).fit(X, y)
    with pytest.raises(ValueError, match="and 0 rows to judge by"):
        PegasosCV(cv=[(np.arange(len(y)), [])]).fit(X, y)


def test_no_folds_are_refused():
    X, y = data(2)
    with pytest.raises(ValueError, match=r"cv=\[\] gives no folds; use a number"):
        PegasosCV(cv=[]).fit(X, y)


@pytest.mark.parametrize("model", [PegasosCV, KernelPegasosCV])
def test_values_that_are_not_finite_are_refused(model):
    X, y = data(2)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model(steps=(500,)).fit(X, y)
    X[3, 2] = 1e308
    with pytest.raises(ValueError, match=r"overflow|too large|[Ss]cale the features"):
        model(steps=(500,)).fit(X, y)


def test_a_fit_that_fails_leaves_the_last_one():
    X, y = data(2)
    grid = PegasosCV((0.1,), steps=(50,), random_state=0).fit(X, y)
    before = grid.decision_function(X)
    with pytest.raises(ValueError, match="steps"):
        grid.set_params(steps=(-1,)).fit(X, y)
    np.testing.assert_array_equal(grid.decision_function(X), before)


def test_probabilities_come_with_the_log_loss_only():
    X, y = data(2)
    grid = PegasosCV((0.1,), steps=(500,), losses=("log",)).fit(X, y)
    assert log_loss(y, grid.predict_proba(X)) < 1
    hinge = PegasosCV((0.1,), steps=(500,)).fit(X, y)
    assert not hasattr(hinge, "predict_proba")
