"""Bad input gets one clear message: what, got, remedy."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import PegasosClassifier, PegasosCV, PerceptronClassifier

X = np.random.default_rng(0).standard_normal((20, 3))
Y = np.arange(20) % 2

BOTH = pytest.mark.parametrize(
    "estimator", [PegasosClassifier(0.1), PerceptronClassifier()], ids=str
)


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_not_finite_is_named(estimator, value, sparse):
    bad = X.copy()
    bad[7, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        estimator.fit(sp.csr_array(bad) if sparse else bad, Y)
    estimator.fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        estimator.predict(sp.csr_array(bad) if sparse else bad)


@pytest.mark.parametrize("options", [{}, {"solver": "sdca"}, {"loss": "log", "solver": "sdca"}])
def test_a_value_that_is_not_finite_is_found_even_if_no_step_meets_it(options):
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PegasosClassifier(max_steps=1, sampling="uniform", random_state=0, **options).fit(bad, Y)


@pytest.mark.parametrize("options", [{}, {"solver": "sdca"}, {"loss": "log"}, {"project": True}])
def test_margins_that_overflow_ask_for_scaling(options):
    with pytest.raises(ValueError, match=r"overflows: the largest value in X is .*StandardScaler"):
        PegasosClassifier(**options, max_iter=5, random_state=0).fit(X * 1e200, Y)


@pytest.mark.parametrize("average", [None, "uniform"])
def test_margins_of_a_perceptron_that_overflow_ask_for_scaling(average):
    model = PerceptronClassifier(average=average, random_state=0)
    with pytest.raises(ValueError, match=r"overflows: the largest value in X is .*StandardScaler"):
        model.fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="overflows"):
        model.partial_fit(X * 1e200, Y, classes=[0, 1])


@BOTH
def test_scores_that_overflow_ask_for_scaling(estimator):
    model = clone(estimator).fit(X, X[:, 0] > 0)
    model.coef_ *= 1e10
    with pytest.raises(ValueError, match=r"score of a row overflows: .* X is .*StandardScaler"):
        model.predict(X * 1e306)


def test_sums_that_overflow_in_partial_fit_ask_for_scaling_and_change_nothing():
    model = PegasosClassifier(1e-12).partial_fit(X, Y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="overflows"):
        model.partial_fit(X * 1e300, Y)
    assert np.array_equal(model.coef_, before)
    assert model.n_steps_ == 20


@BOTH
def test_one_class_is_refused_by_name(estimator):
    with pytest.raises(ValueError, match=r"at least two classes .* only one class: \['cat'\]"):
        estimator.fit(X, ["cat"] * 20)


def test_one_class_of_positive_weight_is_refused():
    with pytest.raises(ValueError, match="only one class among the rows of positive weight"):
        PegasosClassifier().fit(X, Y, sample_weight=Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0}, r"'lam'.*\(0.*Got 0"),
        ({"lam": -1.0}, r"'lam'.*\(0.*Got -1"),
        ({"lam": "small"}, "'lam'.*Got 'small'"),
        ({"max_steps": 0}, r"'max_steps'.*\[1.*Got 0"),
        ({"max_iter": 0}, "'max_iter'.*Got 0"),
        ({"batch_size": 0}, "'batch_size'.*Got 0"),
        ({"loss": "squared"}, "'loss'.*hinge.*Got 'squared'"),
        ({"solver": "adam"}, "'solver'.*pegasos.*Got 'adam'"),
        ({"sampling": "cyclic"}, "'sampling'.*permutation.*Got 'cyclic'"),
        ({"average": "median"}, "'average'.*uniform.*Got 'median'"),
        ({"tol": -0.1}, "'tol'.*Got -0.1"),
        ({"intercept_scaling": 0}, "'intercept_scaling'.*Got 0"),
        ({"class_weight": "heavy"}, "'class_weight'.*balanced.*Got 'heavy'"),
        ({"class_weight": {5: 1.0}}, r"class_weight names \[5\].*the classes are \[0, 1\]"),
        ({"class_weight": {1: -1.0}}, "class_weight must be positive"),
        ({"n_jobs": 0}, "n_jobs == 0 has no meaning; use None or 1"),
        ({"random_state": "x"}, "'random_state'.*Got 'x'"),
        ({"solver": "sdca", "batch_size": 4}, "one row at a time.*solver='pegasos'"),
        ({"solver": "sdca", "project": True}, "no projection.*solver='pegasos'"),
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_named_with_what_it_may_be(options, message):
    with pytest.raises(ValueError, match=message):
        PegasosClassifier(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(19), "sample_weight.shape"),
        (-np.ones(20), "[Nn]egative"),
        (np.full(20, np.nan), "NaN"),
        (np.zeros(20), "zero"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        PegasosClassifier().fit(X, Y, sample_weight=weight)


@BOTH
@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X[0], Y[:1], "Expected 2D array, got 1D"),
        (X, Y[:19], "inconsistent numbers of samples"),
        (X, np.column_stack([Y, Y]), "1d array|1D array"),
        (X, X[:, 0], "Unknown label type"),
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((20, 0)), Y, "0 feature"),
        (np.array([["a", "b"]] * 20), Y, "could not convert string"),
    ],
)
def test_wrong_shapes_and_types_are_refused(estimator, data, labels, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(data, labels)


@BOTH
def test_predict_with_another_number_of_columns_is_refused(estimator):
    estimator.fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"has 2 features.*expecting 3"):
        estimator.predict(X[:, :2])


@BOTH
def test_partial_fit_needs_all_classes_first_and_keeps_to_them(estimator):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        type(estimator)().partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"at least two classes; got \[1\]"):
        type(estimator)().partial_fit(X, Y, classes=[1, 1])
    model = type(estimator)().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"labels \[2\] that are not among the classes \[0, 1\]"):
        model.partial_fit(X, Y + 1)
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] differs"):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="has 2 features"):
        model.partial_fit(X[:, :2], Y)


def test_sdca_has_no_partial_fit_and_says_why():
    with pytest.raises(AttributeError, match="partial_fit"):
        PegasosClassifier(solver="sdca").partial_fit(X, Y, classes=[0, 1])


@BOTH
def test_a_warm_start_with_other_data_is_refused_with_the_remedy(estimator):
    y = X[:, 0] > 0
    model = clone(estimator).set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X[:, :2], y)


@BOTH
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.indices.__setitem__(0, 99), r"outside 0\.\.2"),
        (lambda m: m.indices.__setitem__(0, -1), r"outside 0\.\.2"),
        (lambda m: m.indptr.__setitem__(3, 1), "indptr must start at 0"),
        (lambda m: m.indptr.__setitem__(-1, 10_000), "indptr|index pointer"),
    ],
)
def test_a_broken_sparse_matrix_is_refused(estimator, change, message):
    broken = sp.csr_matrix(X)
    change(broken)
    with pytest.raises(ValueError, match=message):
        estimator.fit(broken, Y)


def test_a_sparse_matrix_of_strided_arrays_is_as_good_as_any():
    plain = sp.csr_matrix(X)
    values, indices = np.repeat(plain.data, 2), np.repeat(plain.indices, 2)
    strided = sp.csr_matrix((values[::2], indices[::2], plain.indptr), shape=X.shape, copy=False)
    model = PegasosClassifier(0.1, max_iter=3, tol=None, random_state=0)
    assert np.array_equal(clone(model).fit(strided, Y).coef_, model.fit(plain, Y).coef_)


@pytest.mark.parametrize(
    "estimator",
    [
        PegasosClassifier(0.1),
        PegasosClassifier(0.1, solver="sdca"),
        PegasosCV((0.1, 1.0)),
        PerceptronClassifier(),
    ],
    ids=str,
)
def test_weights_that_exceed_the_memory_are_refused(estimator, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1 << 18, "SC_PAGE_SIZE": 4096}.get)
    wide = sp.csr_matrix((np.ones(20), (np.arange(20), np.arange(20))), shape=(20, 25_000_000))
    with pytest.raises(MemoryError, match=r"25,000,000 features, .* has 1 GiB; check the largest"):
        estimator.fit(wide, Y)
    estimator.set_params(random_state=0).fit(wide[:, :100], np.arange(20) < 10)
