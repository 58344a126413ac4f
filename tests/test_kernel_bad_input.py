"""Bad input to the kernel machines gets one clear message: what, got, remedy."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pegasos import KernelPegasosClassifier, KernelPerceptronClassifier

X = np.random.default_rng(0).standard_normal((20, 3))
Y = np.arange(20) % 2
EASY = X[:, 0] > 0  # any machine here learns it
K = np.exp(-0.5 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))

BOTH = pytest.mark.parametrize(
    "estimator",
    [KernelPegasosClassifier(0.1, random_state=0), KernelPerceptronClassifier(random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
ALL = pytest.mark.parametrize(
    "estimator",
    [
        KernelPegasosClassifier(0.1, random_state=0),
        KernelPegasosClassifier(0.1, solver="sdca", random_state=0),
        KernelPerceptronClassifier(random_state=0),
    ],
    ids=["pegasos", "sdca", "perceptron"],
)


def given(estimator, **parameters):
    return clone(estimator).set_params(**parameters)


# --- Values ---------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_value_that_is_not_finite_is_named(estimator, kernel, value, sparse):
    bad = X.copy()
    bad[7, 1] = value
    bad = sp.csr_array(bad) if sparse else bad
    model = given(estimator, kernel=kernel)
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        model.fit(bad, Y)
    model.set_params(kernel="rbf").fit(X, EASY)
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        model.predict(bad)


@pytest.mark.parametrize("options", [{}, {"solver": "sdca"}, {"loss": "log"}], ids=str)
def test_a_value_that_is_not_finite_is_found_even_if_no_step_meets_it(options):
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KernelPegasosClassifier(max_steps=1, random_state=0, **options).fit(bad, Y)


@ALL
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_kernel_matrix_that_is_not_finite_is_refused(estimator, value, sparse):
    bad = K.copy()
    bad[3, 5] = bad[5, 3] = value
    model = given(estimator, kernel="precomputed", max_iter=50)
    with pytest.raises(ValueError, match=r"(?i)NaN|infinit"):
        model.fit(sp.csr_array(bad) if sparse else bad, Y)


@ALL
def test_a_kernel_with_new_rows_that_is_not_finite_is_refused(estimator):
    model = given(estimator, kernel="precomputed").fit(K, EASY)
    bad = K.copy()
    bad[3, model.support_[0]] = np.nan
    for data in (bad, sp.csr_array(bad)):
        with pytest.raises(ValueError, match="NaN"):
            model.predict(data)


@ALL
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_high_degree_on_unscaled_data_asks_for_scaling(estimator, dtype):
    model = given(estimator, kernel="poly", degree=14, gamma=1.0)
    large = (X * (1e3 if dtype == np.float32 else 1e12)).astype(dtype)
    name = np.dtype(dtype).name
    message = rf"poly kernel of degree 14 overflows {name}: rows of norm .*StandardScaler.*degree"
    with pytest.raises(ValueError, match=message):
        model.fit(large, EASY)
    model.set_params(max_steps=20, **({"tol": None} if hasattr(model, "tol") else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((X / 4).astype(dtype), EASY)
    with pytest.raises(ValueError, match=message):
        model.predict(large)


@BOTH
def test_float32_that_overflows_may_be_passed_as_float64(estimator):
    model = given(estimator, kernel="poly", degree=3, gamma=1.0, max_iter=1000)
    large = (X * 1e6).astype(np.float32)
    with pytest.raises(ValueError, match="or pass X as float64"):
        model.fit(large, EASY)
    if hasattr(model, "tol"):
        model.set_params(tol=None, max_iter=2)
    model.fit(large.astype(np.float64), EASY)


@BOTH
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_constant_that_swamps_the_kernel_needs_float64(estimator, kernel):
    """In float32 the scores, and with them the certificate, would be off by more than tol."""
    model = given(estimator, kernel=kernel, gamma=1.0, coef0=1e5)
    with pytest.raises(ValueError, match=r"coef0=100000 leaves float32 .* or pass X as float64"):
        model.fit(X.astype(np.float32), EASY)
    model.set_params(max_iter=2, **({"tol": None} if hasattr(model, "tol") else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, EASY)


@BOTH
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_norms_that_overflow_ask_for_scaling(estimator, kernel):
    with pytest.raises(ValueError, match=r"overflows.*StandardScaler"):
        given(estimator, kernel=kernel, gamma=1.0).fit(X * 1e200, Y)


# --- Labels and weights ---------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_one_class_is_refused_by_name(estimator, kernel):
    with pytest.raises(ValueError, match=r"at least two classes .* only one class: \['cat'\]"):
        given(estimator, kernel=kernel).fit(K, ["cat"] * 20)


def test_one_class_of_positive_weight_is_refused():
    with pytest.raises(ValueError, match="only one class among the rows of positive weight"):
        KernelPegasosClassifier().fit(X, Y, sample_weight=Y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(19), r"sample_weight.shape"),
        (-np.ones(20), "[Nn]egative"),
        (np.full(20, np.nan), "NaN"),
        (np.zeros(20), "zero"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    for data, kernel in ((X, "rbf"), (K, "precomputed"), (["a"] * 20, lambda A, B: 1)):
        with pytest.raises(ValueError, match=message):
            KernelPegasosClassifier(kernel=kernel).fit(data, Y, sample_weight=weight)


# --- Parameters -----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0}, r"'gamma'.*scale.*\(0.*Got 0"),
        ({"gamma": -0.5}, r"'gamma'.*\(0.*Got -0.5"),
        ({"gamma": "big"}, "'gamma'.*scale.*Got 'big'"),
        ({"gamma": np.inf}, "'gamma'.*Got inf"),
        ({"degree": 0}, r"'degree'.*\[1.*Got 0"),
        ({"degree": 2.5}, "'degree'.*int.*Got 2.5"),
        ({"coef0": np.nan}, "'coef0'.*Got nan"),
        ({"kernel": "sigmoid"}, "'kernel'.*rbf.*callable.*Got 'sigmoid'"),
        ({"kernel": None}, "'kernel'.*rbf.*callable.*Got None"),
        ({"max_steps": 0}, r"'max_steps'.*\[1.*Got 0"),
        ({"max_iter": 0}, r"'max_iter'.*\[1.*Got 0"),
        ({"sampling": "cyclic"}, "'sampling'.*permutation.*Got 'cyclic'"),
        ({"average": "median"}, "'average'.*uniform.*Got 'median'"),
        ({"random_state": "x"}, "'random_state'.*Got 'x'"),
        ({"n_jobs": 0}, "n_jobs == 0 has no meaning; use None or 1"),
        ({"memory": 0}, r"'memory'.*\[1.*Got 0"),
        ({"memory": 1.5}, r"'memory'.*Got 1.5"),
        ({"memory": "lots"}, "memory='lots' is not a size; write .*'500MB'"),
        ({"memory": "5 XB"}, "memory='5 XB' is not a size; write .*'4GB'"),
        ({"memory": "-3GB"}, "memory='-3GB' is not a size; write .*'4GB'"),
        ({"memory": ""}, "memory='' is not a size"),
        ({"memory": "0.1B"}, "memory='0.1B' leaves no room at all"),
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_named_with_what_it_may_be(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        given(estimator, **options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0}, r"'lam'.*\(0.*Got 0"),
        ({"lam": -1.0}, r"'lam'.*\(0.*Got -1"),
        ({"loss": "squared"}, "'loss'.*hinge.*Got 'squared'"),
        ({"solver": "adam"}, "'solver'.*pegasos.*Got 'adam'"),
        ({"tol": -0.1}, "'tol'.*Got -0.1"),
        ({"class_weight": "heavy"}, "'class_weight'.*balanced.*Got 'heavy'"),
        ({"class_weight": {5: 1.0}}, r"class_weight names \[5\].*the classes are \[0, 1\]"),
        ({"class_weight": {1: -1.0}}, "class_weight must be positive"),
    ],
    ids=str,
)
def test_a_parameter_of_pegasos_out_of_range_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        KernelPegasosClassifier(**options).fit(X, Y)


def test_the_perceptron_has_one_kind_of_mean():
    with pytest.raises(ValueError, match=r"'average'.*uniform.*Got 'weighted'"):
        KernelPerceptronClassifier(average="weighted").fit(X, Y)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("500MB", 5 * 10**8), ("4 GiB", 2**32), ("1.5kb", 1500), (" 2TB ", 2 * 10**12)],
)
def test_memory_may_be_written_as_people_write_it(text, size):
    from pegasos.kernels import memory_bytes

    assert memory_bytes(text) == size == memory_bytes(size)


@ALL
@pytest.mark.parametrize("memory", [100, 1000, "2kB"])
def test_memory_too_small_for_one_row_says_how_much_is_enough(estimator, memory):
    model = given(estimator, memory=memory)
    message = r"memory=.* is too small: .*one row .* 160 bytes; give at least ([\d.]+) (\w+)"
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, EASY)
    number, unit = re.search(message, str(caught.value)).groups()
    model.set_params(memory=number + unit.replace("bytes", "")).fit(X, EASY)  # the remedy works


# --- Shapes ---------------------------------------------------------------------------------------


@ALL
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


@ALL
def test_predict_with_another_number_of_columns_is_refused(estimator):
    model = given(estimator).fit(X, EASY)
    with pytest.raises(ValueError, match=r"has 2 features.*expecting 3"):
        model.predict(X[:, :2])
    model = given(estimator, kernel="precomputed").fit(K, EASY)
    with pytest.raises(ValueError, match=r"has 19 features.*expecting 20"):
        model.predict(K[:, :19])


@ALL
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, pd.DataFrame])
def test_a_precomputed_matrix_must_be_square_and_symmetric(estimator, kind):
    model = given(estimator, kernel="precomputed")
    name = type(estimator).__name__
    message = rf"{name}\(kernel='precomputed'\) needs a square matrix.*got shape \(20, 3\)"
    with pytest.raises(ValueError, match=message):
        model.fit(kind(X), Y)
    message = r"symmetric matrix.*differ from their mirror images by up to .*\(K \+ K.T\) / 2"
    with pytest.raises(ValueError, match=message):
        model.fit(kind(np.triu(K)), Y)
    almost = K.astype(np.float32)
    almost[3, 5] *= 1 + 1e-6
    model.fit(kind(almost), EASY)  # rounding is forgiven


def test_asymmetry_is_found_within_large_matrices():
    from pegasos.kernels._checks import refuse_asymmetric

    matrix = np.eye(700)
    refuse_asymmetric(matrix)
    matrix[3, 690] = 0.5
    with pytest.raises(ValueError, match=r"by up to 0\.5"):
        refuse_asymmetric(matrix)


# --- Callables ------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: np.ones((len(A), 1)), r"must return a matrix of shape \(\d+, 20\).*\d+, 1\)"),
        (lambda A, B: np.ones(len(A)), r"must return a matrix of shape .*returned shape \(1,\)"),
        (lambda A, B: 1.0, r"must return a matrix of shape .*returned shape \(\)"),
        (lambda A, B: A @ B.T * np.nan, "kernel function returned NaN or infinity"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "returned NaN or infinity; scale"),
    ],
)
def test_a_callable_that_returns_nonsense_is_blamed(estimator, kernel, message):
    with pytest.raises(ValueError, match=message):
        given(estimator, kernel=kernel).fit(X, Y)


@ALL
def test_a_callable_that_fails_only_for_new_rows_is_blamed(estimator):
    def kernel(A, B):
        return np.where(A[:, :1] < 0, np.nan, 1.0) * (A @ B.T)

    rows = np.where(EASY[:, np.newaxis], [0.0, 1.0], [1.0, 0.0])
    model = given(estimator, kernel=kernel).fit(rows, EASY)
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict(-rows)


@ALL
def test_an_exception_of_the_callable_comes_through(estimator):
    def kernel(A, B):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        given(estimator, kernel=kernel).fit(X, Y)


@ALL
def test_objects_for_a_callable_must_be_as_many_as_labels_and_some(estimator):
    model = given(estimator, kernel=lambda A, B: np.ones((len(A), len(B))))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(["a", "b", "c"], [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        model.fit([], [])
    with pytest.raises(ValueError, match=r"only one class: \[1\]"):
        model.fit(["a", "b", "c"], [1, 1, 1])


@ALL
def test_a_series_of_strings_is_a_sequence_of_objects(estimator):
    words = pd.Series(["abc", "abd", "xyz", "xyw"])

    def kernel(A, B):
        return np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A])

    model = given(estimator, kernel=kernel, max_iter=5000).fit(words, [0, 0, 1, 1])
    assert model.predict(words).tolist() == [0, 0, 1, 1]


# --- Going on -------------------------------------------------------------------------------------


@BOTH
def test_partial_fit_needs_all_classes_first_and_keeps_to_them(estimator):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        given(estimator).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"at least two classes; got \[1\]"):
        given(estimator).partial_fit(X, Y, classes=[1, 1])
    model = given(estimator).partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"labels \[2\] that are not among the classes \[0, 1\]"):
        model.partial_fit(X, Y + 1)
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] differs"):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="has 2 features"):
        model.partial_fit(X[:, :2], Y)


@BOTH
def test_partial_fit_of_a_precomputed_matrix_is_refused_with_the_remedy(estimator):
    message = r"new rows with old ones.*use a kernel by name or a callable"
    with pytest.raises(ValueError, match=message):
        given(estimator, kernel="precomputed").partial_fit(K, Y, classes=[0, 1])


def test_sdca_has_no_partial_fit_and_says_why():
    model = KernelPegasosClassifier(solver="sdca")
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        model.partial_fit(X, Y, classes=[0, 1])
    assert "solver='pegasos'" in str(caught.value.__cause__)


@ALL
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_warm_start_with_other_data_is_refused_with_the_remedy(estimator, kernel):
    model = given(estimator, kernel=kernel, warm_start=True).fit(K, EASY)
    with pytest.raises(ValueError, match=r"classes.*differ.*warm_start=False"):
        model.fit(K, np.arange(20) % 3)
    with pytest.raises(ValueError, match=r"number of rows differ.*warm_start=False"):
        model.fit(K[:19, :19], EASY[:19])


@BOTH
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.indices.__setitem__(0, 99), r"outside 0\.\.2"),
        (lambda m: m.indices.__setitem__(0, -1), r"outside 0\.\.2"),
        (lambda m: m.indptr.__setitem__(3, 1), "indptr must start at 0"),
    ],
)
def test_a_broken_sparse_matrix_is_refused(estimator, change, message):
    broken = sp.csr_matrix(X)
    change(broken)
    with pytest.raises(ValueError, match=message):
        given(estimator, gamma=1.0).fit(broken, Y)


@ALL
def test_a_model_that_was_not_fitted_says_so(estimator):
    for kernel in ("rbf", "precomputed", lambda A, B: 1):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            given(estimator, kernel=kernel).predict(X)


@pytest.mark.parametrize("estimator", [KernelPegasosClassifier, KernelPerceptronClassifier])
def test_rows_too_far_from_the_origin_ask_for_centring(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) + 1e7
    with pytest.raises(ValueError, match=r"too far from the origin .*StandardScaler"):
        estimator(gamma=0.3).fit(X, np.arange(20) % 2)


def test_scores_go_by_the_kernel_of_the_fit():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = KernelPegasosClassifier(gamma=0.3, tol=None, max_iter=3).fit(X, np.arange(20) % 2)
    scores = model.decision_function(X)
    model.set_params(kernel="precomputed")
    np.testing.assert_array_equal(model.decision_function(X), scores)
