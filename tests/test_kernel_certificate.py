"""The certificate of the kernel machine is true: the optimum lies between bound and objective.

The optimum comes from SciPy, on features whose inner products are the kernel matrix.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import KernelPegasosClassifier, reference

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS
from .kernel_helpers import KERNELS, all_signs, draws_of, full_coef, noisy_rows
from .optimum_helpers import optimum

TRUE = 1e-9  # far above the rounding of sums of 15 terms, far below any error of a formula
SOLVERS = ("pegasos", "sdca")


def features_of(K):
    """Rows whose inner products are K, without directions that are rounding only."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def test_the_features_to_compare_with_have_the_kernel():
    K = KERNELS["rbf"][1](*2 * [noisy_rows(0, n_rows=12)[0]])
    assert_allclose(features_of(K) @ features_of(K).T, K, atol=1e-12)
    assert features_of(np.ones((5, 5))).shape == (5, 1)


# --- Any fit at all -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Data and parameters of a fit, and its kernel matrix."""

    X: np.ndarray
    K: np.ndarray
    y: np.ndarray  # class numbers
    weight: np.ndarray | None
    parameters: dict

    def fit(self, **changes):
        model = KernelPegasosClassifier(**{**self.parameters, **changes})
        return model.fit(self.X, self.y, self.weight)


@st.composite
def cases(draw, max_rows=14, n_classes=(2, 2, 3)):
    n_rows = draw(st.integers(3, max_rows))
    k = draw(st.sampled_from(n_classes))
    seed = draw(st.integers(0, 2**32 - 1))
    X, y, weight = noisy_rows(seed, n_rows, draw(st.integers(1, 4)), n_classes=k)
    rng = np.random.default_rng(seed)
    y[:k] = range(k)
    X = X * draw(st.sampled_from([0.1, 1.0, 3.0]))
    if n_rows > 4:
        X[n_rows - 2] = X[3]  # the same row twice, perhaps with other labels
    if draw(st.booleans()):
        weight[k:][rng.random(n_rows - k) < 0.2] = 0.0
    else:
        weight = None
    name = draw(st.sampled_from([*KERNELS, "precomputed"]))
    options, gram = KERNELS.get(name, KERNELS["rbf"])
    K = gram(X, X)
    if name == "precomputed":
        X, options = (sp.csr_array(K) if draw(st.booleans()) else K), {"kernel": name}
    n_epochs = draw(st.sampled_from([0.1, 0.5, 1, 1.5, 2, 7, 300]))
    parameters = {
        **options,
        "lam": 10 ** draw(st.floats(-3, 0)),
        "loss": draw(st.sampled_from(LOSSES)),
        "solver": draw(st.sampled_from(SOLVERS)),
        "sampling": draw(st.sampled_from(SAMPLINGS)),
        "average": draw(st.sampled_from(AVERAGES)),
        "max_steps": max(1, round(n_epochs * n_rows)),
        "tol": None,
        "random_state": draw(st.integers(0, 2**31)),
        "memory": draw(st.sampled_from([10_000, "1GB"])),
    }
    return Case(X, K, y, weight, parameters)


def assert_certified(case, model):
    lam, loss = model.lam, model.loss
    s = np.ones(len(case.y)) if case.weight is None else case.weight
    kept = s > 0
    rows = features_of(case.K[np.ix_(kept, kept)])
    certificates = zip(
        np.atleast_1d(model.objective_),
        np.atleast_1d(model.dual_objective_),
        np.atleast_1d(model.duality_gap_),
        full_coef(model, len(case.y)),
        all_signs(case.y),
        strict=True,
    )
    for primal, dual, gap, coef, y in certificates:
        expected = reference.kernel_primal_objective(
            coef[kept], case.K[np.ix_(kept, kept)], y[kept], lam, loss, s[kept]
        )
        assert_allclose(primal, expected, rtol=TRUE)
        best = optimum(rows, y[kept], lam, loss, s[kept])
        # The objective may be far above the optimum; both round with it.
        assert dual <= best + TRUE * (1 + best)
        assert best <= primal + TRUE * (1 + best)
        assert gap == primal - dual
        assert gap >= -TRUE


@given(case=cases())
@settings(max_examples=200)
def test_every_certificate_encloses_the_optimum(case):
    assert_certified(case, case.fit())


@given(case=cases(max_rows=8, n_classes=(2,)))
@settings(max_examples=60)
def test_the_bound_is_never_below_zero(case):
    # b = 0 gives D = 0: Pegasos may scale down to it, dual ascent begins there and climbs.
    assert case.fit().dual_objective_ >= -TRUE


@given(case=cases(), n_jobs=st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_the_certificate_does_not_depend_on_n_jobs(case, n_jobs):
    model, other = case.fit(), case.fit(n_jobs=n_jobs)
    assert_array_equal(other.dual_objective_, model.dual_objective_)
    assert_array_equal(other.objective_, model.objective_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_is_that_of_the_scores_and_coefficients(solver, loss, n_classes):
    X, y, s = noisy_rows(1, n_rows=60, n_classes=n_classes)
    model = KernelPegasosClassifier(0.03, loss=loss, solver=solver, max_iter=5, tol=None)
    model.fit(X, y, s)
    scores = model.decision_function(X).reshape(60, -1).T
    for k, signs in enumerate(all_signs(y)):
        margins = signs * scores[k]
        losses = np.maximum(0, 1 - margins) if loss == "hinge" else np.log1p(np.exp(-margins))
        square = model.dual_coef_[k] @ scores[k, model.support_]
        expected = 0.03 / 2 * square + np.average(losses, weights=s)
        assert np.atleast_1d(model.objective_)[k] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_of_sdca_is_the_dual_objective_of_its_coefficients(loss, sampling):
    X, y, s = noisy_rows(2, n_rows=50)
    K, signs = rbf_kernel(X, gamma=0.5), all_signs(y)[0]
    for max_steps in (1, 20, 130):
        model = KernelPegasosClassifier(
            0.01, kernel="precomputed", loss=loss, solver="sdca", sampling=sampling, tol=None
        )
        model.set_params(max_steps=max_steps, random_state=0).fit(K, y, s)
        masses = full_coef(model, 50)[0] * signs * 0.01 * s.sum() / s
        assert masses.min() >= 0
        assert masses.max() <= 1 + TRUE
        masses = np.minimum(masses, 1)
        expected = reference.kernel_dual_objective(masses, K, signs, 0.01, loss, s)
        assert model.dual_objective_ == pytest.approx(expected, rel=1e-9)


def test_the_bound_of_one_pegasos_epoch_by_hand():
    # K = 1, two rows of opposite labels, lam = 1: both violate, whatever the order. Their masses
    # cancel: f = 0, P = 1, and masses (1, 1) give D = 1.
    model = KernelPegasosClassifier(1.0, kernel="precomputed", max_iter=1, tol=None, average=None)
    model.fit(np.ones((2, 2)), [0, 1])
    certificate = (model.objective_, model.dual_objective_, model.duality_gap_)
    assert certificate == pytest.approx((1, 1, 0), abs=1e-8)
    # With lam = 1/4 and K the identity alpha = 1, coef = 1/(lam t) = 2: P = 1/8 (4 + 4) = 1. The
    # masses (1, 1) give D = 1 - 1 = 0; half of them 1/2 - 1/4, the best of all multiples.
    model.set_params(lam=0.25).fit(np.eye(2), [0, 1])
    assert_allclose(model.dual_coef_, [[-2, 2]])
    assert (model.objective_, model.dual_objective_) == pytest.approx((1, 0.25), abs=1e-8)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_bound_is_worth_something(solver, sampling):
    X, y, _ = noisy_rows(3, n_rows=100)
    model = KernelPegasosClassifier(0.05, solver=solver, sampling=sampling, max_iter=200, tol=None)
    model.set_params(random_state=0).fit(X, y)
    assert model.duality_gap_ < 0.04 * model.objective_  # noisy draws with replacement: 3%


# --- Warm starts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_starts_keep_the_bound_true(solver, sampling, weighted):
    # 3 steps of 6 rows, then 5 more: some rows are visited twice in these. lam changes on the way.
    for seed in range(15):
        X, y, s = noisy_rows(seed, n_rows=6)
        y[:2] = [0, 1]
        weight = s if weighted else None
        model = KernelPegasosClassifier(
            gamma=0.3, solver=solver, sampling=sampling, warm_start=True, tol=None
        ).set_params(random_state=seed)
        for lam, max_steps in ((0.3, 3), (0.3, 5), (0.03, 7), (1.0, 12)):
            model.set_params(lam=lam, max_steps=max_steps).fit(X, y, weight)
            assert_certified(Case(X, KERNELS["rbf"][1](X, X), y, weight, {}), model)


def test_a_warm_started_bound_is_true_for_new_rows_and_weights():
    X, y, s = noisy_rows(4, n_rows=12)
    other, y_other, _ = noisy_rows(5, n_rows=12)
    for solver in SOLVERS:
        model = KernelPegasosClassifier(
            0.05, gamma=0.3, solver=solver, warm_start=True, tol=None, max_iter=20, random_state=0
        ).fit(X, y)
        for data, labels, weight in ((other, y_other, None), (other, y_other, s), (X, 1 - y, s)):
            model.fit(data, labels, weight)
            case = Case(data, KERNELS["rbf"][1](data, data), labels, weight, {})
            assert_certified(case, model)


# --- Stopping, warning, history -------------------------------------------------------------------


@given(case=cases(n_classes=(2, 3)), tol=st.sampled_from([0.5, 0.1, 0.01]))
@settings(max_examples=60)
def test_a_fit_that_does_not_warn_has_reached_tol_and_one_that_warns_has_not(case, tol):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = case.fit(tol=tol)
    gaps = np.atleast_1d(model.duality_gap_) / np.atleast_1d(model.objective_)
    if caught:
        assert [w.category for w in caught] == [ConvergenceWarning]
        assert gaps.max() > tol
        assert model.n_steps_ == case.parameters["max_steps"]
    else:
        assert gaps.max() <= tol


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_tol_stops_at_the_first_look_that_reaches_it(solver, loss):
    X, y, _ = noisy_rows(6, n_rows=200)
    options = {"loss": loss, "solver": solver, "random_state": 0, "max_iter": 5000}
    tols = (0.2, 5e-3) if solver == "pegasos" else (0.2, 1e-8)
    loose, tight = (KernelPegasosClassifier(3e-3, **options, tol=t).fit(X, y) for t in tols)
    assert loose.n_steps_ <= tight.n_steps_ < 5000 * 200
    for model, tol in zip((loose, tight), tols, strict=True):
        assert model.duality_gap_ <= tol * model.objective_
        for record in model.history_[:-1]:
            assert record["gap"] > tol * record["objective"]
    if (solver, loss) == ("pegasos", "hinge"):  # the others are that good at the first look
        assert loose.n_steps_ < tight.n_steps_


@pytest.mark.parametrize("kernel", ["rbf", "poly2", "linear", "callable"])
@pytest.mark.parametrize("loss", LOSSES)
def test_sdca_closes_the_gap_to_one_in_a_million(loss, kernel):
    X, y, s = noisy_rows(7, n_rows=150, n_classes=3)
    model = KernelPegasosClassifier(
        1e-3, **KERNELS[kernel][0], loss=loss, solver="sdca", tol=1e-6, max_iter=5000
    ).fit(X, y, s)
    assert np.all(model.duality_gap_ <= 1e-6 * model.objective_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_warning_names_the_gap_and_the_remedy(solver):
    X, y, _ = noisy_rows(8)
    model = KernelPegasosClassifier(1e-4, solver=solver, max_steps=50, tol=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    message = str(caught[0].message)
    gap = model.duality_gap_ / model.objective_
    assert f"relative duality gap of {gap:.2%}" in message
    assert message.startswith("KernelPegasosClassifier used up its 50 steps (2 epochs)")
    assert "raise max_steps or lam" in message
    assert "tol=None" in message
    assert ("use solver='sdca'" in message) == (solver == "pegasos")
    assert caught[0].filename == __file__  # it points at the user's line


def test_the_warning_names_the_worst_class_and_max_iter():
    X, y, _ = noisy_rows(8, n_classes=3)
    with pytest.warns(ConvergenceWarning, match=r"worst class.*raise max_iter"):
        KernelPegasosClassifier(1e-5, max_iter=2, random_state=0).fit(X, y)


@given(case=cases(n_classes=(2, 3)), tol=st.sampled_from([None, 0.05]))
@settings(max_examples=40)
def test_the_history_leads_to_the_certificate(case, tol):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = case.fit(tol=tol, max_steps=7 * case.parameters["max_steps"])
    steps = [record["step"] for record in model.history_]
    assert steps == sorted(set(steps))
    assert steps[-1] == model.n_steps_
    seconds = [record["seconds"] for record in model.history_]
    assert seconds == sorted(seconds)
    last = model.history_[-1]
    assert_array_equal(last["objective"], model.objective_)
    assert_array_equal(last["dual"], model.dual_objective_)
    assert_array_equal(last["gap"], model.duality_gap_)
    assert_array_equal(last["violations"], model.n_violations_)
    for record in model.history_:
        assert set(record) == {"step", "seconds", "objective", "dual", "gap", "violations"}
        assert_array_equal(record["gap"], np.subtract(record["objective"], record["dual"]))
    duals = np.array([record["dual"] for record in model.history_])
    assert (np.diff(duals, axis=0) >= -TRUE).all()
    violations = np.array([record["violations"] for record in model.history_])
    assert (np.diff(violations, axis=0) >= 0).all()


def test_a_record_of_the_history_is_what_a_shorter_fit_would_have_been():
    X, y, _ = noisy_rows(9, n_rows=100)
    model = KernelPegasosClassifier(0.01, gamma=0.3, max_iter=2000, tol=None, random_state=0)
    model.fit(X, y)
    assert len(model.history_) >= 3
    record = model.history_[0]
    shorter = KernelPegasosClassifier(0.01, gamma=0.3, tol=None, random_state=0)
    shorter.set_params(max_steps=record["step"]).fit(X, y)
    assert record["objective"] == pytest.approx(shorter.objective_, rel=1e-9)
    assert record["violations"] == shorter.n_violations_
    assert record["gap"] > 2 * model.history_[-1]["gap"]


def test_sdca_keeps_the_best_function_and_the_best_bound_per_class():
    X, y, _ = noisy_rows(10, n_rows=150, n_classes=3)
    model = KernelPegasosClassifier(
        1e-6, gamma=0.05, solver="sdca", max_iter=300, tol=1e-12, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    objectives = np.array([record["objective"] for record in model.history_])
    bounds = np.array([record["dual"] for record in model.history_])
    assert len(objectives) > 5
    assert (np.diff(objectives, axis=0) <= 0).all()
    assert (np.diff(bounds, axis=0) >= 0).all()
    K = rbf_kernel(X, gamma=0.05)
    for k, signs in enumerate(all_signs(y)):
        coef = full_coef(model, 150)[k]
        expected = reference.kernel_primal_objective(coef, K, signs, 1e-6)
        assert model.objective_[k] == pytest.approx(expected, rel=1e-7)


# --- Kernels without a bound ----------------------------------------------------------------------


def indefinite():
    """A symmetric matrix with eigenvalues of both signs, by a wide margin."""
    X, y, _ = noisy_rows(10)
    return np.tanh(X @ X.T - 1), y


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_indefinite_kernel_warns_and_has_no_bound(solver, n_classes):
    K, y = indefinite()
    X = noisy_rows(10)[0]
    y = y if n_classes == 2 else np.arange(40) % 3
    for data, options in (
        (K, {"kernel": "precomputed"}),
        (sp.csr_array(K), {"kernel": "precomputed"}),
        (X, {"kernel": lambda A, B: np.tanh(A @ B.T - 1)}),
        (X, {"kernel": "poly", "coef0": -1.0}),
        (X, {"kernel": "rbf", "coef0": -1.0}),
    ):
        model = KernelPegasosClassifier(**options, solver=solver, max_iter=3, tol=None)
        with pytest.warns(UserWarning, match=r"indefinite.*no bound.*positive") as caught:
            model.fit(data, y)
        assert caught[0].filename == __file__
        assert_array_equal(model.dual_objective_, np.full(np.shape(model.objective_), -np.inf))
        assert_array_equal(model.duality_gap_, np.full(np.shape(model.objective_), np.inf))
        assert np.all(np.isfinite(model.objective_))
        assert isinstance(model.duality_gap_, float if n_classes == 2 else np.ndarray)
        for record in model.history_:
            assert_array_equal(record["dual"], model.dual_objective_)
            assert_array_equal(record["gap"], model.duality_gap_)
        assert np.all(np.isfinite(model.decision_function(data)))


@pytest.mark.filterwarnings("ignore::UserWarning")  # ConvergenceWarning is one, too
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_bound_no_gap_can_stop_a_fit(solver):
    K, y = indefinite()
    model = KernelPegasosClassifier(kernel="precomputed", solver=solver, max_iter=200, tol=0.5)
    model.fit(K, y)
    assert model.n_steps_ == 200 * 40


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_matrix_that_is_indefinite_by_rounding_keeps_its_bound(solver):
    # 40 rows of 2 features: 38 eigenvalues are zero, half of them rounded below it.
    X, y, _ = noisy_rows(11, n_features=2)
    for dtype in (np.float32, np.float64):
        K = (X @ X.T).astype(dtype)
        assert np.linalg.eigvalsh(K)[0] < 0
        model = KernelPegasosClassifier(0.1, kernel="precomputed", solver=solver, max_iter=5000)
        model.fit(K, y)  # a warning would be an error here
        assert -TRUE <= model.duality_gap_ <= 0.01 * model.objective_


def test_a_poly_kernel_with_coef0_of_zero_has_a_bound():
    X, y, _ = noisy_rows(12)
    for degree in (1, 2, 3):
        model = KernelPegasosClassifier(0.1, kernel="poly", degree=degree, solver="sdca")
        assert np.isfinite(model.fit(X, y).dual_objective_)


# --- Draws ----------------------------------------------------------------------------------------


def test_whole_epochs_of_pegasos_are_a_dual_point_of_the_last_function():
    X, y, _ = noisy_rows(13)
    K, signs = KERNELS["rbf"][1](X, X), all_signs(y)[0]
    model = KernelPegasosClassifier(
        0.1, gamma=0.3, average=None, max_iter=3, tol=None, random_state=0
    ).fit(X, y)
    run = reference.kernel_pegasos(K, signs, 0.1, draws_of(model, 40))
    plain = reference.kernel_dual_objective(run.alpha / 3, K, signs, 0.1)
    assert model.dual_objective_ >= plain - TRUE  # that point, or a better multiple of it
    assert model.dual_objective_ > 0
