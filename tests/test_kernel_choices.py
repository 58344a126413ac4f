"""Which kernel: by name, precomputed, or a function of the user."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from pegasos import (
    KernelPegasosClassifier,
    PegasosClassifier,
)

from .core_helpers import LOSSES
from .kernel_helpers import (
    EVERY_SOLVER,
    KERNELS,
    SAME,
    WORDS,
    assert_same_machine,
    machine,
    noisy_rows,
    shared_letters,
)


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
