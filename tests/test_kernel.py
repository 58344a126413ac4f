"""KernelPegasosClassifier as its users see it."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    KernelPerceptronClassifier,
    PegasosClassifier,
    reference,
)

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS
from .kernel_helpers import (
    KERNELS,
    SAME,
    all_signs,
    assert_replays,
    assert_same_machine,
    draws_of,
    full_coef,
    noisy_rows,
    shared_letters,
)

EVERY_SOLVER = pytest.mark.parametrize(
    "options",
    [
        {"solver": "pegasos"},
        {"solver": "pegasos", "sampling": "uniform", "average": None},
        {"solver": "pegasos", "loss": "log", "average": "uniform"},
        {"solver": "sdca"},
        {"solver": "sdca", "loss": "log"},
        {"solver": "sdca", "sampling": "uniform"},
    ],
    ids=str,
)


def machine(lam=0.05, **options):
    return KernelPegasosClassifier(
        lam, **{"gamma": 0.3, "tol": None, "max_iter": 4, "random_state": 0, **options}
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


# --- Kernels --------------------------------------------------------------------------------------


def test_gamma_is_one_over_two_g_of_the_squared_euclidean_distance():
    # Reports write exp(-||a - b||^2/(2 g)); a norm without the square, or of order 1, is wrong.
    X, y, _ = noisy_rows(12)
    new = noisy_rows(13)[0]
    g = 2.0
    model = machine(gamma=1 / (2 * g)).fit(X, y)
    squared = cdist(new, X[model.support_], "sqeuclidean")
    scores = model.decision_function(new)
    assert_allclose(scores, np.exp(-squared / (2 * g)) @ model.dual_coef_[0], rtol=SAME)
    for wrong in (cdist(new, X[model.support_], "cityblock"), np.sqrt(squared)):
        by_wrong_norm = np.exp(-wrong / (2 * g)) @ model.dual_coef_[0]
        assert np.abs(scores - by_wrong_norm).max() > 0.1


def test_scores_are_those_of_scikit_learns_kernels():
    X, y, _ = noisy_rows(14, n_features=7)
    new = noisy_rows(15, n_features=7)[0]
    model = machine(kernel="rbf", gamma=0.7).fit(X, y)
    expected = rbf_kernel(new, X[model.support_], gamma=0.7) @ model.dual_coef_[0]
    assert_allclose(model.decision_function(new), expected, atol=SAME)
    model = machine(kernel="poly", degree=4, gamma=0.2, coef0=0.5).fit(X, y)
    K = polynomial_kernel(new, X[model.support_], degree=4, gamma=0.2, coef0=0.5)
    assert_allclose(model.decision_function(new), K @ model.dual_coef_[0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_gamma_scale_and_auto_mean_what_they_mean_in_svc(sparse):
    X, y, _ = noisy_rows(16, n_features=4)
    X[X < 0] = 0
    data = sp.csr_matrix(X) if sparse else X
    for word, value in (("scale", 1 / (4 * X.var())), ("auto", 1 / 4)):
        by_word = machine(gamma=word).fit(data, y)
        by_value = machine(gamma=value).fit(data, y)
        assert_same_machine(by_word, by_value)
        assert_allclose(
            by_word.decision_function(data), by_value.decision_function(data), atol=1e-9
        )
        assert SVC(gamma=word).fit(data, y)._gamma == pytest.approx(value)
    assert machine(gamma="scale").fit(np.ones((4, 2)), [0, 1, 0, 1])._kernel.gamma == 1.0


@EVERY_SOLVER
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_precomputed_matrix_is_the_kernel_by_name(tmp_path, options, dtype):
    X, y, s = noisy_rows(17, n_rows=90, n_classes=3)
    new = noisy_rows(18)[0]
    by_name = machine(**options).fit(X.astype(dtype), y, s)
    K, K_new = (rbf_kernel(A, X, gamma=0.3).astype(dtype) for A in (X, new))
    mapped = np.memmap(tmp_path / "K", dtype=dtype, mode="w+", shape=K.shape)
    mapped[:] = K
    mapped.flush()
    mapped = np.memmap(tmp_path / "K", dtype=dtype, mode="r", shape=K.shape)
    for matrix, matrix_new in (
        (K, K_new),
        (mapped, K_new),
        (np.asfortranarray(K), pd.DataFrame(K_new)),
        (sp.csr_matrix(K), sp.csr_array(K_new)),
        (sp.csc_array(K), K_new),
    ):
        model = machine(kernel="precomputed", **options).fit(matrix, y, s)
        exact = dtype == np.float64 and model.solver == "pegasos"
        if exact:
            assert_same_machine(model, by_name)
        assert_allclose(model.objective_, by_name.objective_, rtol=SAME if exact else 1e-3)
        assert_allclose(
            model.decision_function(matrix_new),
            by_name.decision_function(new.astype(dtype)),
            atol=1e-8 if exact else 0.02,
        )
        assert model.support_vectors_.shape == (0, 0)


def test_a_sparse_precomputed_matrix_works_within_the_memory_given():
    X, y, _ = noisy_rows(19, n_rows=200)
    K = rbf_kernel(X, gamma=0.3)
    dense = machine(kernel="precomputed").fit(K, y)
    for memory in (30_000, 100_000):
        sparse = clone(dense).set_params(memory=memory).fit(sp.csr_array(K), y)
        assert_same_machine(sparse, dense)
        assert_allclose(
            sparse.decision_function(sp.csr_array(K)), dense.decision_function(K), atol=1e-9
        )


WORDS = ["apple", "maple", "palm", "lamp", "ample", "zorro", "robot", "tutor", "roto", "broth"]


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda w: np.array(w, dtype=object)])
def test_a_callable_may_compare_strings(kind, solver):
    y = np.arange(10) // 5
    K = shared_letters(WORDS, WORDS)
    model = machine(kernel=shared_letters, solver=solver).fit(kind(WORDS), y)
    by_matrix = machine(kernel="precomputed", solver=solver).fit(K, y)
    assert_same_machine(model, by_matrix)
    assert model.support_vectors_ == [WORDS[i] for i in model.support_]
    new = ["plum", "zoo", "port"]
    expected = by_matrix.decision_function(shared_letters(new, WORDS))
    assert_allclose(model.decision_function(kind(new)), expected, rtol=SAME)
    assert model.predict(kind(new)).tolist() == [0, 1, 1]


def test_a_callable_may_compare_lists_of_different_lengths():
    bags = [[1, 2, 3], [2, 3], [3, 1], [7, 8], [9, 8, 7, 6], [6, 9]]
    model = machine(kernel=shared_letters, solver="sdca").fit(bags, list("aaabbb"))
    assert model.predict([[1], [8, 6]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_a_callable_gets_rows_of_arrays_and_may_return_a_sparse_matrix(solver):
    X, y, _ = noisy_rows(20)
    by_name = machine(kernel="linear", solver=solver).fit(X, y)
    for kernel in (lambda A, B: A @ B.T, lambda A, B: sp.csr_array(A @ B.T)):
        model = machine(kernel=kernel, solver=solver).fit(X, y)
        assert_allclose(model.decision_function(X), by_name.decision_function(X), atol=1e-6)
        assert model.objective_ == pytest.approx(by_name.objective_, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_with_the_linear_kernel_sdca_finds_the_optimum_of_the_linear_machine(loss):
    X, y, s = noisy_rows(21, n_rows=150, n_classes=3)
    options = {"loss": loss, "solver": "sdca", "tol": 1e-7, "random_state": 0}
    kernel = KernelPegasosClassifier(0.02, kernel="linear", **options).fit(X, y, s)
    linear = PegasosClassifier(0.02, fit_intercept=False, **options).fit(X, y, s)
    assert_allclose(kernel.objective_, linear.objective_, rtol=2e-7)
    assert_allclose(kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, atol=1e-2)
    assert np.all(kernel.dual_objective_ <= linear.objective_ + SAME)
    assert np.all(linear.dual_objective_ <= kernel.objective_ + SAME)


def test_duplicate_and_zero_rows_work():
    X, y, _ = noisy_rows(22)
    X[5:10] = X[4]
    X[20:23] = 0
    for kernel in ("linear", "poly2", "rbf"):
        for solver in ("pegasos", "sdca"):
            model = machine(0.05, **KERNELS[kernel][0], solver=solver, tol=1e-2, max_iter=5000)
            model.fit(X, y)
            assert -SAME <= model.duality_gap_ <= 0.01 * model.objective_
    nothing = machine(kernel="linear", solver="sdca", tol=1e-2).fit(np.zeros((6, 2)), [0, 1] * 3)
    assert (nothing.objective_, nothing.dual_objective_) == (1, 1)
    assert_array_equal(nothing.decision_function(np.zeros((2, 2))), 0)


# --- Sample and class weights ---------------------------------------------------------------------


@EVERY_SOLVER
def test_a_row_of_weight_zero_is_a_row_left_out(options):
    X, y, s = noisy_rows(23, n_rows=90, n_classes=3)
    kept = np.arange(90) % 3 > 0
    weighted = machine(**options).fit(X, y, sample_weight=s * kept)
    left_out = machine(**options).fit(X[kept], y[kept], sample_weight=s[kept])
    assert_array_equal(weighted.support_, np.flatnonzero(kept)[left_out.support_])
    assert_allclose(weighted.dual_coef_, left_out.dual_coef_, rtol=SAME, atol=SAME)
    assert_allclose(weighted.objective_, left_out.objective_, rtol=SAME)
    assert_allclose(weighted.dual_objective_, left_out.dual_objective_, rtol=1e-7)
    assert_array_equal(weighted.n_violations_, left_out.n_violations_)


@EVERY_SOLVER
def test_only_the_ratios_of_the_weights_matter(options):
    X, y, s = noisy_rows(24)
    once = machine(**options).fit(X, y, sample_weight=s)
    # A power of two scales without rounding, so no decision can differ.
    scaled = machine(**options).fit(X, y, sample_weight=8 * s)
    assert_same_machine(scaled, once)
    assert scaled.duality_gap_ == pytest.approx(once.duality_gap_, rel=1e-6, abs=1e-12)


@EVERY_SOLVER
def test_weights_mean_repetition(options):
    X, y, _ = noisy_rows(25, n_rows=60)
    weight = np.random.default_rng(0).integers(1, 5, len(X))
    options = {**options, "tol": 1e-2, "max_iter": 5000}
    weighted = machine(**options).fit(X, y, sample_weight=weight)
    repeated = machine(**options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    # One problem, two certificates: each bound holds for the other's objective.
    assert weighted.dual_objective_ <= repeated.objective_ + SAME
    assert repeated.dual_objective_ <= weighted.objective_ + SAME
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-2)


def test_balanced_classes_weigh_the_same():
    rng = np.random.default_rng(0)
    y = (np.arange(400) < 20).astype(int)
    X = rng.standard_normal((400, 2)) + y[:, np.newaxis]
    plain = machine(0.01, solver="sdca").fit(X, y)
    balanced = machine(0.01, solver="sdca", class_weight="balanced").fit(X, y)
    by_hand = machine(0.01, solver="sdca").fit(X, y, np.where(y, 400 / 40, 400 / 760))
    assert_same_machine(balanced, by_hand)
    assert plain.predict(X).mean() < 0.02 < 0.15 < balanced.predict(X).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_multiply_sample_weights(n_classes):
    X, y, s = noisy_rows(26, n_classes=n_classes)
    both = machine(class_weight={1: 3.0}).fit(X, y, sample_weight=s)
    by_hand = machine().fit(X, y, sample_weight=s * np.where(y == 1, 3, 1))
    assert_same_machine(both, by_hand)
    assert not np.array_equal(both.dual_coef_, machine().fit(X, y, s).dual_coef_)


# --- Warm starts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_two_warm_starts_make_the_steps_of_one_fit(loss, sampling, average, kernel):
    X, y, s = noisy_rows(27, n_classes=3)
    if kernel == "precomputed":
        X = rbf_kernel(X, gamma=0.3)
    options = {"loss": loss, "sampling": sampling, "average": average, "kernel": kernel}
    whole = machine(**options, max_steps=110).fit(X, y, s)
    parts = machine(**options, max_steps=55, warm_start=True).fit(X, y, s)  # within an epoch
    assert parts.n_steps_ == 55
    parts.fit(X, y, s)
    assert parts.n_steps_ == 110
    assert_same_machine(parts, whole)
    assert_allclose(parts.objective_, whole.objective_, rtol=SAME)


def test_a_fit_without_warm_start_begins_anew():
    X, y, _ = noisy_rows(28)
    model = machine(warm_start=True).fit(X, y)
    first = clone(model).fit(X, y)
    model.fit(X, y).set_params(warm_start=False).fit(X, y)
    assert_same_machine(model, first)
    model.set_params(warm_start=True).fit(X, y)  # nothing was kept to go on from
    assert_same_machine(model, first)


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_warm_starts_follow_a_path_of_lam(solver):
    X, y, _ = noisy_rows(29, n_rows=80)
    model = machine(
        1.0, solver=solver, warm_start=True, tol=1e-2, max_iter=3000, average="weighted"
    )
    for lam in (1.0, 0.3, 0.1, 0.03):
        model.set_params(lam=lam).fit(X, y)
        cold = machine(lam, solver="sdca", tol=1e-6, max_iter=1000).fit(X, y)
        assert model.duality_gap_ <= 0.01 * model.objective_
        assert model.dual_objective_ <= cold.objective_ + SAME
        assert cold.dual_objective_ <= model.objective_ + SAME


def test_a_warm_start_with_another_lam_keeps_the_function():
    X, y, _ = noisy_rows(30)
    K, signs = KERNELS["rbf"][1](X, X), all_signs(y)[0]
    model = machine(0.5, average=None, warm_start=True, max_steps=40).fit(X, y)
    model.set_params(lam=0.05).fit(X, y)
    draws = draws_of(model, 40)
    coef = reference.kernel_pegasos(K, signs, 0.5, draws[:40]).last
    for t in range(41, 81):
        coef = published_step(coef, K, signs, 0.05, t, draws[t - 1])
    assert_allclose(full_coef(model, 40)[0], coef, atol=SAME)


def published_step(coef, K, signs, lam, t, i):
    coef = coef * (t - 1) / t
    if signs[i] * (K[i] @ coef) < 1:
        coef[i] += signs[i] / (lam * t)
    return coef


def test_sdca_goes_on_from_its_dual_point():
    X, y, _ = noisy_rows(31, n_rows=100)
    model = machine(1e-4, gamma=0.05, solver="sdca", warm_start=True, max_steps=100)
    fits = [model.fit(X, y).history_[-1] for _ in range(6)]
    bounds = [record["dual"] for record in fits]
    assert bounds == sorted(bounds)
    assert model.n_steps_ == 600
    assert fits[-1]["gap"] < 0.2 * fits[0]["gap"]
    assert fits[-1]["violations"] > fits[0]["violations"]
    cold = clone(model).fit(X, y)
    assert model.dual_objective_ > cold.dual_objective_


def test_sdca_going_on_never_returns_a_worse_function():
    X, y, _ = noisy_rows(0, n_rows=200)
    model = machine(1e-6, gamma=0.05, solver="sdca", warm_start=True, max_steps=200)
    objectives = [model.fit(X, y).objective_ for _ in range(8)]
    assert objectives == sorted(objectives, reverse=True)


def test_sdca_goes_on_when_lam_and_weights_change():
    X, y, s = noisy_rows(32)
    model = machine(0.1, solver="sdca", warm_start=True, tol=1e-6, max_iter=1000)
    for lam, weight in ((0.1, None), (0.01, s), (0.03, 1 / s)):
        model.set_params(lam=lam).fit(X, y, weight)
        cold = machine(lam, solver="sdca", tol=1e-6, max_iter=1000).fit(X, y, weight)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-6)


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_a_warm_start_with_other_rows_or_classes_is_refused_and_leaves_the_model(solver):
    X, y, _ = noisy_rows(33)
    model = machine(solver=solver, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    message = r"classes or the number of rows differ.*warm_start=False"
    for data, labels in ((X[:30], y[:30]), (X, np.arange(40) % 3), (X, y + 5)):
        with pytest.raises(ValueError, match=message):
            model.fit(data, labels)
    other = {"pegasos": "sdca", "sdca": "pegasos"}[solver]
    with pytest.raises(ValueError, match=r"solver, classes.*warm_start=False"):
        model.set_params(solver=other).fit(X, y)
    assert_array_equal(model.decision_function(X), before)
    model.set_params(solver=solver).fit(X, y)
    assert model.n_steps_ == 2 * 4 * 40


def test_a_warm_start_may_change_the_average():
    X, y, _ = noisy_rows(34)
    K = KERNELS["rbf"][1](X, X)
    signs = all_signs(y)[0]
    model = machine(average=None, warm_start=True, max_steps=60).fit(X, y)
    model.set_params(average="uniform", max_steps=30).fit(X, y)
    draws = draws_of(model, 40)
    functions = [reference.kernel_pegasos(K, signs, 0.05, draws[:t]).last for t in range(61, 91)]
    assert_allclose(full_coef(model, 40)[0], np.mean(functions, axis=0), atol=SAME)  # since then
    model.set_params(average=None, max_steps=10).fit(X, y)
    assert_replays(model, K, y, draws_of(model, 40))


# --- partial_fit ----------------------------------------------------------------------------------


def two_calls(model, X, y, s, split=23):
    model.partial_fit(X[:split], y[:split], classes=np.unique(y), sample_weight=s[:split])
    return model.partial_fit(X[split:], y[split:], sample_weight=s[split:])


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_halves_of_partial_fit_equal_one_pass(kernel, loss, average):
    X, y, s = noisy_rows(35, n_classes=3)
    options, gram = KERNELS[kernel]
    model = machine(**options, loss=loss, average=average)
    whole = clone(model).partial_fit(X, y, classes=[0, 1, 2], sample_weight=s)
    halves = two_calls(model, X, y, s)
    assert_same_machine(halves, whole)
    assert_replays(halves, gram(X, X), y, np.arange(40), s)  # in the order given
    assert_array_equal(np.asarray(halves.support_vectors_), X[halves.support_])


def test_partial_fit_may_compare_strings():
    y = np.arange(10) % 2
    model = machine(kernel=shared_letters).partial_fit(WORDS[:4], y[:4], classes=[0, 1])
    model.partial_fit(WORDS[4:], y[4:])
    assert_replays(model, shared_letters(WORDS, WORDS), y, np.arange(10))
    assert model.support_vectors_ == [WORDS[i] for i in model.support_]


def test_sparse_and_dense_rows_may_join():
    X, y, s = noisy_rows(36)
    whole = two_calls(machine(), X, y, s)
    first_sparse = machine().partial_fit(sp.csr_array(X[:23]), y[:23], [0, 1], s[:23])
    first_sparse.partial_fit(X[23:], y[23:], sample_weight=s[23:])
    first_dense = machine().partial_fit(X[:23], y[:23], [0, 1], s[:23])
    first_dense.partial_fit(sp.csr_array(X[23:]), y[23:], sample_weight=s[23:])
    for mixed in (first_sparse, first_dense):
        assert_same_machine(mixed, whole)
        assert_allclose(mixed.decision_function(X), whole.decision_function(X), atol=SAME)


def test_partial_fit_goes_on_after_fit_and_drops_the_certificate():
    X, y, _ = noisy_rows(37, n_rows=60)
    model = machine(max_steps=100).fit(X[:40], y[:40])
    draws = np.r_[draws_of(model, 40), np.arange(40, 60)]
    model.partial_fit(X[40:], y[40:])
    assert model.n_steps_ == 120
    assert_replays(model, KERNELS["rbf"][1](X, X), y, draws)
    for name in ("objective_", "dual_objective_", "duality_gap_", "history_"):
        assert not hasattr(model, name)
    assert hasattr(model.fit(X, y), "duality_gap_")


def test_the_kernel_of_the_first_call_stays():
    # "scale" goes by the first rows: those to come are not known.
    X, y, s = noisy_rows(38)
    model = two_calls(machine(gamma="scale"), X, y, s)
    fixed = two_calls(machine(gamma=1 / (3 * X[:23].var())), X, y, s)
    assert_same_machine(model, fixed)


@pytest.mark.parametrize("estimator", [KernelPegasosClassifier, KernelPerceptronClassifier])
@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ({}, {"gamma": 2.0}, r"kernel='rbf', gamma='scale'; got kernel='rbf', gamma=2.0"),
        ({"gamma": 0.5}, {"gamma": "scale"}, r"gamma=0.5; got kernel='rbf', gamma='scale'"),
        ({}, {"kernel": "linear"}, r"gamma='scale'; got kernel='linear'\. Set it back"),
        ({"kernel": "poly"}, {"degree": 2}, r"degree=3, coef0=0.0; got .* degree=2"),
        ({"kernel": "poly"}, {"coef0": 1.0}, r"coef0=0.0; got .* coef0=1.0"),
        ({"kernel": shared_letters}, {"kernel": "rbf"}, r"shared_letters.*; got kernel='rbf'"),
    ],
    ids=str,
)
def test_a_kernel_changed_before_partial_fit_is_refused(estimator, first, then, message, tmp_path):
    X, y, _ = noisy_rows(38)
    rows = list(X.round().astype(str)) if callable(first.get("kernel")) else X
    model = estimator(**first).partial_fit(rows[:20], y[:20], classes=[0, 1])
    kept = model.dual_coef_
    if not callable(first.get("kernel")):
        pegasos.save(model, tmp_path / "model")
        model = pegasos.load(tmp_path / "model")
    model.set_params(**then)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X[20:], y[20:])
    assert_array_equal(model.dual_coef_, kept)
    model.set_params(**estimator(**first).get_params()).partial_fit(rows[20:], y[20:])
    assert model.n_steps_ == 40


def test_parameters_that_its_kernel_does_not_have_may_change_before_partial_fit():
    X, y, _ = noisy_rows(38)
    model = machine().partial_fit(X[:20], y[:20], classes=[0, 1])
    model.set_params(degree=7, coef0=3.0).partial_fit(X[20:], y[20:])
    assert_same_machine(model, machine().partial_fit(X, y, classes=[0, 1]))


def test_partial_fit_may_change_the_average():
    X, y, _ = noisy_rows(39)
    K, signs = KERNELS["rbf"][1](X, X), all_signs(y)[0]
    functions = [reference.kernel_pegasos(K, signs, 0.05, np.arange(t)).last for t in range(1, 41)]
    model = machine(average=None).partial_fit(X[:15], y[:15], classes=[0, 1])
    model.set_params(average="weighted").partial_fit(X[15:], y[15:])
    expected = np.average(functions[15:], axis=0, weights=np.arange(16, 41))
    assert_allclose(full_coef(model, 40)[0], expected, atol=SAME)
    model = machine(average="weighted").partial_fit(X[:15], y[:15], classes=[0, 1])
    model.set_params(average=None).partial_fit(X[15:], y[15:])
    assert_allclose(full_coef(model, 40)[0], functions[-1], atol=SAME)


def test_partial_fit_may_change_lam_and_keeps_the_function():
    X, y, _ = noisy_rows(40)
    K, signs = KERNELS["rbf"][1](X, X), all_signs(y)[0]
    model = machine(0.5, average=None).partial_fit(X[:20], y[:20], classes=[0, 1])
    model.set_params(lam=0.05).partial_fit(X[20:], y[20:])
    coef = reference.kernel_pegasos(K, signs, 0.5, np.arange(20)).last
    for t in range(21, 41):
        coef = published_step(coef, K, signs, 0.05, t, t - 1)
    assert_allclose(full_coef(model, 40)[0], coef, atol=SAME)


def test_partial_fit_balances_by_the_rows_seen_so_far():
    X, _, _ = noisy_rows(41, n_rows=100)
    y = (np.arange(100) % 10 == 0).astype(int)
    model = machine(class_weight="balanced").partial_fit(X[:50], y[:50], classes=[0, 1])
    model.partial_fit(X[50:], y[50:])
    by_hand = two_calls(machine(), X, y, np.where(y, 100 / 20, 100 / 180), split=50)
    assert_same_machine(model, by_hand)


def test_partial_fit_may_meet_a_class_late():
    X, y, _ = noisy_rows(42, n_rows=300, n_classes=3)
    model = machine(0.003)
    model.partial_fit(X[y < 2], y[y < 2], classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    for _ in range(3):
        model.partial_fit(X, y)
    assert model.score(X[y == 2], y[y == 2]) > 0.6


def test_rows_of_weight_zero_do_not_join():
    X, y, s = noisy_rows(43)
    zero = np.arange(40) % 4 == 0
    model = two_calls(machine(), X, y, np.where(zero, 0, s))
    kept = two_calls(machine(), X[~zero], y[~zero], s[~zero], split=17)
    assert_array_equal(model.support_, np.flatnonzero(~zero)[kept.support_])
    assert_allclose(model.dual_coef_, kept.dual_coef_, rtol=SAME)
    assert model.n_steps_ == 30


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize("memory", [60_000, "1GB"])
def test_partial_fit_depends_on_neither_threads_nor_memory(n_jobs, memory):
    X, y, s = noisy_rows(44, n_rows=300)
    plain = two_calls(machine(), X, y, s, split=150)
    model = two_calls(machine(n_jobs=n_jobs, memory=memory), X, y, s, split=150)
    assert_same_machine(model, plain)


def test_a_partial_fit_that_fails_changes_nothing():
    X, y, _ = noisy_rows(45)
    model = machine().partial_fit(X[:20], y[:20], classes=[0, 1])
    before = pickle.dumps(model.__dict__)
    for data, labels in ((X * np.nan, y), (X, y + 1), (X[:, :2], y), (X * 1e200, y)):
        with pytest.raises(ValueError, match=r"NaN|not among|features|overflows"):
            model.partial_fit(data, labels)
    assert pickle.dumps(model.__dict__) == before
    model.partial_fit(X[20:], y[20:])
    assert_same_machine(model, machine().partial_fit(X, y, classes=[0, 1]))


def test_partial_fit_after_sdca_says_why_it_cannot_go_on():
    X, y, _ = noisy_rows(46)
    for warm_start in (False, True):
        model = machine(solver="sdca", warm_start=warm_start).fit(X, y)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(ValueError, match=r"solver='sdca'; clone it"):
            model.set_params(solver="pegasos").partial_fit(X, y)


def test_a_warm_start_after_partial_fit_counts_the_steps_of_its_model():
    # fit goes on from the last fit, on the same rows: rows of partial_fit are not among them.
    X, y, _ = noisy_rows(47)
    model = machine(warm_start=True, average=None).fit(X, y)
    model.partial_fit(X[:10] + 1, y[:10])
    model.fit(X, y)
    rng = np.random.default_rng(0)
    draws = np.concatenate([rng.permutation(40) for _ in range(8)])
    assert_replays(model, KERNELS["rbf"][1](X, X), y, draws)
    assert model.n_steps_ == len(draws)


# --- Scores and probabilities ---------------------------------------------------------------------


@pytest.mark.parametrize("memory", [3000, "1GB"])
@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed"])
def test_scores_do_not_depend_on_how_rows_are_tiled(kernel, memory):
    X, y, _ = noisy_rows(48, n_rows=100, n_classes=3)
    new = noisy_rows(49, n_rows=333)[0]
    if kernel == "precomputed":
        options, gram = {"kernel": kernel}, KERNELS["rbf"][1]
        X, new, K = gram(X, X), gram(new, X), gram(new, X)
    else:
        options, gram = KERNELS[kernel]
        K = gram(new, X)
    model = machine(**options).fit(X, y)
    scores = model.set_params(memory=memory).decision_function(new)
    assert_allclose(scores, K @ full_coef(model, 100).T, atol=1e-8)
    for i in (0, 100, 332):
        assert_allclose(model.decision_function(new[i : i + 1])[0], scores[i], atol=1e-9)


def test_probabilities_are_the_logistic_of_the_score():
    X, y, _ = noisy_rows(50)
    model = machine(loss="log").fit(X, y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    assert_allclose(model.predict_proba(X)[:, 1], expected)
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_probabilities_of_several_classes_sum_to_one():
    X, y, _ = noisy_rows(51, n_rows=90, n_classes=3)
    model = machine(loss="log", solver="sdca").fit(X, y)
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(probabilities.argmax(axis=1), model.predict(X))


def test_the_log_loss_is_calibrated_on_its_own_data():
    # At the optimum of an almost unregularised model the mean probability is the share of class 1.
    X, y, _ = noisy_rows(52, n_rows=200)
    options = {"kernel": lambda A, B: A @ B.T + 10, "loss": "log", "solver": "sdca"}
    model = machine(1e-5, **options, tol=1e-5, max_iter=2000).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.005)


def test_the_hinge_has_no_probabilities_and_says_so():
    X, y, _ = noisy_rows(53)
    model = machine().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)


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
