"""KernelPegasosClassifier: the published steps, and the same model in every form of its input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import (
    KernelPegasosClassifier,
)

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS
from .kernel_helpers import (
    EVERY_SOLVER,
    KERNELS,
    SAME,
    assert_replays,
    assert_same_machine,
    draws_of,
    full_coef,
    machine,
    noisy_rows,
)

# --- The published algorithm, draw for draw -------------------------------------------------------


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_replays_the_reference_draw_for_draw(kernel, loss, sampling, average):
    X, y, s = noisy_rows(1)
    options, gram = KERNELS[kernel]
    model = machine(**options, loss=loss, sampling=sampling, average=average, max_steps=150)
    for weight in (None, s):
        model.fit(X, y, weight)
        assert model.n_steps_ == 150
        assert_replays(model, gram(X, X), y, draws_of(model, 40), weight)


@pytest.mark.parametrize("memory", [40_000, "1MB", "1GB"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_replays_the_reference_over_many_blocks_whatever_the_memory(sampling, memory):
    # 1,500 draws: a dozen blocks of stored rows, or three of rows to be made.
    X, y, _ = noisy_rows(2, n_rows=100, n_classes=3)
    model = machine(0.02, sampling=sampling, max_steps=1500, memory=memory).fit(X, y)
    _, gram = KERNELS["rbf"]
    assert_replays(model, gram(X, X), y, draws_of(model, 100))


@pytest.mark.parametrize("sparse", [False, True])
def test_replays_the_reference_on_float32(sparse):
    X, y, _ = noisy_rows(3)
    X = X.astype(np.float32)
    model = machine(max_steps=200).fit(sp.csr_array(X) if sparse else X, y)
    _, gram = KERNELS["rbf"]
    # The hinge counts violations: no coefficient is off, as long as no decision is.
    assert_replays(model, gram(X, X), y, draws_of(model, 40))


def test_tests_against_lam_t_as_published_where_the_linear_machine_has_t_minus_one():
    # Two equal rows x = 1 and their mirror image: the second margin is 1/(2 lam) = 2/3.
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    model = machine(0.75, kernel="linear", average=None).partial_fit(X[:2], y[:2], classes=[0, 1])
    assert model.n_violations_ == 2
    assert_allclose(model.dual_coef_, [[1 / 1.5, 1 / 1.5]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_steps_do_not_depend_on_how_many_are_made_between_two_certificates():
    X, y, _ = noisy_rows(4)
    few, many = (machine(max_steps=9000, tol=tol).fit(X, y) for tol in (None, 1e-12))
    assert len(few.history_) < len(many.history_)
    assert_same_machine(few, many)


# --- One meaning: classes, threads, memory, formats -----------------------------------------------


@EVERY_SOLVER
def test_each_class_of_several_is_the_binary_fit_against_the_rest(options):
    X, y, s = noisy_rows(5, n_rows=80, n_classes=4)
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    model = machine(**options).fit(X, labels, s)
    assert model.classes_.tolist() == ["ant", "bee", "cat", "dog"]
    assert model.dual_coef_.shape == (4, len(model.support_))
    for k, label in enumerate(model.classes_):
        alone = clone(model).fit(X, labels == label, s)
        if model.solver == "pegasos":
            assert model.n_violations_[k] == alone.n_violations_
            assert_allclose(full_coef(model, 80)[k], full_coef(alone, 80)[0], rtol=SAME)
        # Dual ascent moves the classes together on shared working sets: the same optimum.
        assert model.dual_objective_[k] <= alone.objective_ + SAME
        assert alone.dual_objective_ <= model.objective_[k] + SAME


def test_predicts_the_class_of_the_largest_score():
    X, y, _ = noisy_rows(6, n_rows=90, n_classes=3)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = machine(0.001, solver="sdca").fit(X, labels)
    scores = model.decision_function(X)
    assert scores.shape == (90, 3)
    assert_array_equal(model.predict(X), np.array(["ant", "bee", "cat"])[scores.argmax(axis=1)])
    assert model.score(X, labels) > 0.7
    two = machine(0.001).fit(X, y > 0)
    assert two.decision_function(X).shape == (90,)
    assert_array_equal(two.predict(X), two.decision_function(X) > 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("memory", [500_000, "1GB"])
@EVERY_SOLVER
def test_no_bit_depends_on_the_number_of_threads(options, memory, dtype):
    X, y, _ = noisy_rows(7, n_rows=700, n_classes=3)
    X = X.astype(dtype)
    one, *others = (
        machine(1e-3, **options, max_iter=2, memory=memory, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, -1)
    )
    for other in others:
        for name in ("support_", "dual_coef_", "objective_", "dual_objective_", "n_violations_"):
            assert_array_equal(getattr(other, name), getattr(one, name))
        assert_array_equal(other.decision_function(X), one.decision_function(X))


@pytest.mark.parametrize("kernel", ["rbf", "poly2", "linear", "callable"])
@pytest.mark.parametrize("options", [{}, {"loss": "log"}, {"sampling": "uniform"}], ids=str)
def test_memory_from_barely_enough_to_plenty_makes_the_same_decisions(kernel, options):
    # 200 rows: scores take 19 kB, a row of the kernel 1.6 kB, all rows 320 kB.
    X, y, _ = noisy_rows(8, n_rows=200)
    plenty = machine(0.01, **KERNELS[kernel][0], **options).fit(X, y)
    for memory in (29_000, 60_000, 200_000, 400_000):
        tight = clone(plenty).set_params(memory=memory).fit(X, y)
        assert_same_machine(tight, plenty)
        assert tight.objective_ == pytest.approx(plenty.objective_, rel=SAME)


@pytest.mark.parametrize("loss", LOSSES)
def test_memory_does_not_move_the_optimum_of_sdca(loss):
    X, y, _ = noisy_rows(8, n_rows=200, n_classes=3)
    fits = [
        machine(0.01, loss=loss, solver="sdca", tol=1e-9, max_iter=1000, memory=m).fit(X, y)
        for m in (100_000, 200_000, "1GB")
    ]
    for model in fits[:2]:
        assert_allclose(model.objective_, fits[2].objective_, rtol=2e-9)
        assert_allclose(model.decision_function(X), fits[2].decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_dense_sparse_and_frames_mean_the_same_model(kernel):
    X, y, _ = noisy_rows(9, n_features=6)
    X[np.abs(X) < 0.5] = 0
    options = KERNELS[kernel][0]
    if kernel == "callable":
        options = {"kernel": lambda A, B: A @ B.T}  # the product of sparse matrices is sparse
    dense = machine(**options).fit(X, y)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for same in (sp.csr_array(X), sp.csr_matrix(X), wide, sp.csc_array(X), np.asfortranarray(X)):
        model = clone(dense).fit(same, y)
        assert_same_machine(model, dense)
        assert_allclose(model.decision_function(X), dense.decision_function(same), atol=1e-8)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = clone(dense).fit(frame, pd.Series(y))
    assert_same_machine(model, dense)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert_array_equal(model.decision_function(frame), dense.decision_function(X))


@pytest.mark.parametrize("kernel", ["rbf", "poly2", "linear"])
def test_float32_rounds_the_kernel_and_no_more(kernel):
    X, y, _ = noisy_rows(10, n_rows=100)
    X = X.astype(np.float32)
    options = {**KERNELS[kernel][0], "solver": "sdca", "tol": 1e-7, "max_iter": 2000}
    single = machine(0.01, **options).fit(X, y)
    double = machine(0.01, **options).fit(X.astype(np.float64), y)
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-5)
    assert not np.array_equal(single.dual_coef_, double.dual_coef_)
    assert single.support_vectors_.dtype == np.float32
    single, double = (machine(0.01, **KERNELS[kernel][0]).fit(X.astype(t), y) for t in "fd")
    assert_allclose(
        single.decision_function(X), double.decision_function(X.astype(float)), rtol=1e-3, atol=1e-3
    )


def test_data_is_used_where_it_is_and_not_changed():
    X, y, s = noisy_rows(11)
    for data in (X, X.astype(np.float32), sp.csr_array(X)):
        before, weight = data.copy(), s.copy()
        (data.data if sp.issparse(data) else data).flags.writeable = False
        for solver in ("pegasos", "sdca"):
            machine(solver=solver).fit(data, y, weight).predict(data)
        assert (data != before).sum() == 0
        assert_array_equal(weight, s)


# --- Failures, progress ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_a_fit_that_fails_leaves_the_earlier_model(solver, monkeypatch):
    X, y, _ = noisy_rows(54)
    model = machine(solver=solver, warm_start=True).fit(X, y)
    twin = clone(model).fit(X, y)
    scores = model.decision_function(X)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    function = {"pegasos": "kernel_steps", "sdca": "kernel_decisions"}[solver]
    with monkeypatch.context() as patch:
        patch.setattr(f"pegasos._kernel_steps._core.{function}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    with pytest.raises(ValueError, match="'lam'"):
        model.set_params(lam=-1).fit(X, y)
    model.set_params(lam=0.05)
    assert_array_equal(model.decision_function(X), scores)
    assert model.n_steps_ == 160
    assert_same_machine(model.fit(X, y), twin.fit(X, y))  # and goes on as if nothing had been


def test_verbose_shows_objective_and_gap_on_stderr(capsys):
    X, y, _ = noisy_rows(55)
    machine().fit(X, y)
    assert capsys.readouterr() == ("", "")
    machine(verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    for word in ("KernelPegasosClassifier", "objective", "gap"):
        assert word in captured.err


def test_max_steps_overrides_max_iter_and_may_be_less_than_an_epoch():
    X, y, _ = noisy_rows(56)
    for solver in ("pegasos", "sdca"):
        model = machine(max_steps=17, solver=solver).fit(X, y)
        assert (model.n_iter_, model.n_steps_) == (1, 17)
        model = machine(max_iter=3, solver=solver).fit(X, y)
        assert (model.n_iter_, model.n_steps_) == (3, 120)
        assert len(machine(max_steps=1, solver=solver).fit(X, y).support_) == 1


def test_scaled_data_reaches_one_percent_with_sdca_and_else_defaults():
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = KernelPegasosClassifier(solver="sdca", random_state=0).fit(X, y)
    assert model.duality_gap_ <= 0.01 * model.objective_
    assert model.score(X, y) > 0.97


def test_the_warning_of_used_up_steps_is_the_only_one():
    X, y, _ = noisy_rows(57)
    with pytest.warns(ConvergenceWarning) as caught:
        machine(1e-5, tol=1e-3).fit(X, y)
    assert len(caught) == 1
