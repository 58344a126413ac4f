"""The certificate is true: no bound above the optimum, no objective below it.

The optimum comes from SciPy: see optimum_helpers.py.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pegasos import PegasosClassifier

from .core_helpers import AVERAGES, LOSSES, SAMPLINGS, make_sample, with_constant
from .optimum_helpers import hinge_optimum, log_optimum, objective, optimum

TRUE = 1e-9  # far above the rounding of sums of 30 terms, far below any error of a formula


# --- The optimum, by other means ------------------------------------------------------------------


def test_the_optimum_to_compare_with_is_right():
    # One row (1) with lam = 1/4: w = 2, margin 2 > 1, so the hinge stops at w = 1; P = 1/8. With
    # the log loss, lam w = sigma(-w).
    rows, y, s = np.ones((1, 1)), np.ones(1), np.ones(1)
    assert_allclose(hinge_optimum(rows, y, 0.25, s), [1.0], atol=1e-10)
    (w,) = log_optimum(rows, y, 0.25, s)
    assert_allclose(0.25 * w, expit(-w), atol=1e-8)


# --- Any fit at all -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Data and parameters of a fit."""

    X: np.ndarray
    y: np.ndarray  # class numbers
    weight: np.ndarray | None
    parameters: dict

    @property
    def bias(self):
        with_intercept = self.parameters["fit_intercept"]
        return self.parameters["intercept_scaling"] if with_intercept else 0.0

    def fit(self, **changes):
        model = PegasosClassifier(**{**self.parameters, **changes})
        return model.fit(self.X, self.y, self.weight)

    def problems(self, model):
        """The rows, labels and weights of each binary problem, and the model's weights for it."""
        s = np.ones(len(self.y)) if self.weight is None else self.weight
        kept = s > 0
        rows = with_constant(self.X, self.bias)[kept]
        positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        for k, label in enumerate(positive):
            constant = model.intercept_[k] / (self.bias or 1.0)
            w = np.r_[model.coef_[k], constant]
            yield rows, np.where(self.y[kept] == label, 1.0, -1.0), s[kept], w


@st.composite
def cases(draw, solvers=("pegasos", "sdca"), max_rows=30, n_classes=(2, 2, 3)):
    n_rows = draw(st.integers(3, max_rows))
    sample = make_sample(draw(st.integers(0, 2**32 - 1)), n_rows, draw(st.integers(1, 6)))
    k = draw(st.sampled_from(n_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.where(rng.random(n_rows) < 0.7, sample.y > 0, rng.integers(0, k, size=n_rows))
    y[:k] = range(k)
    weight = None
    if draw(st.booleans()):
        weight = rng.uniform(0.1, 3.0, size=n_rows)
        weight[k:][rng.random(n_rows - k) < 0.2] = 0.0
    solver = draw(st.sampled_from(solvers))
    n_epochs = draw(st.sampled_from([0.1, 0.5, 1, 1.5, 2, 7, 300]))
    batch_size = draw(st.integers(1, n_rows)) if solver == "pegasos" else 1
    parameters = {
        "lam": 10 ** draw(st.floats(-3, 0)),
        "loss": draw(st.sampled_from(LOSSES)),
        "solver": solver,
        "sampling": draw(st.sampled_from(SAMPLINGS)),
        "average": draw(st.sampled_from(AVERAGES)),
        "batch_size": batch_size,
        "project": solver == "pegasos" and draw(st.booleans()),
        "fit_intercept": draw(st.booleans()),
        "intercept_scaling": draw(st.sampled_from([1.0, 0.3, 4.0])),
        "max_steps": max(1, round(n_epochs * n_rows / batch_size)),
        "tol": None,
        "random_state": draw(st.integers(0, 2**31)),
    }
    return Case(sample.X * draw(st.sampled_from([0.1, 1.0, 5.0])), y, weight, parameters)


def assert_certified(case, model):
    lam, loss = case.parameters["lam"], case.parameters["loss"]
    certificates = zip(
        np.atleast_1d(model.objective_),
        np.atleast_1d(model.dual_objective_),
        np.atleast_1d(model.duality_gap_),
        case.problems(model),
        strict=True,
    )
    for primal, dual, gap, (rows, y, s, w) in certificates:
        assert_allclose(primal, objective(w, rows, y, lam, loss, s), rtol=TRUE)
        best = optimum(rows, y, lam, loss, s)
        assert dual <= best + TRUE * (1 + best)
        assert best <= primal + TRUE * (1 + best)
        assert gap == primal - dual
        assert gap >= -TRUE


@given(case=cases())
@settings(max_examples=150)
def test_every_certificate_encloses_the_optimum(case):
    assert_certified(case, case.fit())


@given(case=cases(solvers=("pegasos",), max_rows=12, n_classes=(2,)))
@settings(max_examples=60)
def test_the_bound_of_pegasos_is_a_bound_and_never_below_zero(case):
    # Small and many: batches that do not divide the epoch, epochs cut short, projections.
    model = case.fit()
    assert model.dual_objective_ >= 0  # a = 0 gives D = 0, and scaling down to it is allowed
    assert_certified(case, model)


@given(case=cases(), changes=st.fixed_dictionaries({"n_jobs": st.sampled_from([2, 3])}))
@settings(max_examples=20)
def test_the_certificate_does_not_depend_on_n_jobs(case, changes):
    model, other = case.fit(), case.fit(**changes)
    assert_array_equal(other.dual_objective_, model.dual_objective_)
    assert_array_equal(other.objective_, model.objective_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_steps", [30, 150, 400, 5000])
def test_the_certificate_is_true_after_the_stochastic_start_of_sdca(n_steps, weighted, loss):
    # It takes place where rows are many per feature and lam is small. With one feature and no
    # intercept the optimum is a matter of one number, within the ball of radius 1/sqrt(lam).
    for seed in range(5):
        sample = make_sample(seed, n_rows=150, n_features=1, density=1.0, weighted=weighted)
        lam = 10.0 ** (-2 - seed)
        s = np.ones(150) if sample.weight is None else sample.weight
        model = PegasosClassifier(
            lam=lam,
            loss=loss,
            solver="sdca",
            fit_intercept=False,
            max_steps=n_steps,
            tol=None,
            random_state=seed,
        ).fit(sample.X, sample.y, sample.weight)
        best = minimize_scalar(
            lambda w: objective(np.array([w]), sample.X, sample.y, lam, loss, s),  # noqa: B023
            bounds=(-1 / np.sqrt(lam), 1 / np.sqrt(lam)),
            method="bounded",
            options={"xatol": 1e-12},
        ).fun
        assert model.dual_objective_ <= best + TRUE
        assert best <= model.objective_ + TRUE
        w = model.coef_[0]
        expected = objective(w, sample.X, sample.y, lam, loss, s)
        assert_allclose(model.objective_, expected, rtol=TRUE)


# --- Warm starts ----------------------------------------------------------------------------------


def small_case(seed, **parameters):
    sample = make_sample(seed, n_rows=5, n_features=2, density=1.0)
    y = (sample.y > 0).astype(int)
    y[:2] = [0, 1]
    defaults = {
        "lam": 0.3,
        "loss": "hinge",
        "fit_intercept": False,
        "tol": None,
        "random_state": seed,
        "warm_start": True,
    }
    return Case(sample.X, y, None, {**defaults, **parameters})


def test_a_warm_start_within_an_epoch_keeps_the_bound_true():
    # 3 steps of 5 rows, then 5 more: some rows are visited twice in these.
    for seed in range(40):
        case = small_case(seed, max_steps=3)
        model = case.fit()
        model.set_params(max_steps=5).fit(case.X, case.y)
        assert_certified(case, model)


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_warm_start_after_whole_epochs_keeps_the_bound_true(solver, sampling):
    for seed in range(10):
        case = small_case(seed, max_iter=2, solver=solver, sampling=sampling)
        model = case.fit()
        for lam in (0.3, 0.1, 1.0):  # lam may change on the way
            model.set_params(lam=lam).fit(case.X, case.y)
            again = Case(case.X, case.y, None, {**case.parameters, "lam": lam})
            assert_certified(again, model)


def test_a_fit_after_projected_partial_fits_keeps_the_bound_true():
    for seed in range(60):
        case = small_case(seed, max_iter=2, project=True)
        case.X[:] *= 5
        model = PegasosClassifier(**case.parameters)
        model.partial_fit(case.X, case.y, classes=[0, 1]).fit(case.X, case.y)
        assert_certified(case, model)


def test_projection_switched_on_by_a_warm_start_projects():
    case = small_case(1, max_iter=10, average=None)
    case.X[:] *= 50
    model = case.fit()
    assert np.linalg.norm(model.coef_) > 1 / np.sqrt(0.3)
    model.set_params(project=True, max_iter=1).fit(case.X, case.y)
    assert np.linalg.norm(model.coef_) <= (1 + TRUE) / np.sqrt(0.3)


# --- Rows that all sleep --------------------------------------------------------------------------


def separated_classes():
    """Margins far below 1 for every row and class: all masses are 1 soon, and all rows sleep.

    Not all as long, though: classes 0 and 1 share a feature, which helps against class 2 alone.
    """
    y = np.arange(3000) % 3  # a stride is one epoch
    X = 0.01 * np.random.default_rng(0).normal(size=(3000, 4))
    X[np.arange(3000), y] += 0.6
    X[y < 2, 3] += 0.8
    return X, y


@pytest.mark.parametrize("max_iter", [5, 6, 9])
def test_a_class_whose_rows_all_sleep_for_an_epoch_keeps_its_model(max_iter):
    X, y = separated_classes()
    parameters = {"lam": 1.0, "solver": "sdca", "tol": None, "random_state": 0}
    model = PegasosClassifier(**parameters, fit_intercept=False, max_iter=max_iter).fit(X, y)
    # All masses are 1: the optimum is the mean of y x over lam.
    for k in range(3):
        expected = np.mean(np.where(y == k, 1.0, -1.0)[:, np.newaxis] * X, axis=0)
        assert_allclose(model.coef_[k], expected, atol=1e-9)


def test_a_warm_start_whose_rows_all_sleep_keeps_the_model():
    X, y = separated_classes()
    parameters = {"lam": 1.0, "solver": "sdca", "tol": None, "random_state": 0}
    model = PegasosClassifier(**parameters, fit_intercept=False, warm_start=True, max_iter=3)
    before = model.fit(X, y == 2).coef_.copy()
    model.set_params(max_iter=1).fit(X, y == 2)
    assert_allclose(model.coef_, before, atol=1e-9)


# --- Stopping, warning, history -------------------------------------------------------------------


@given(
    case=cases(n_classes=(2, 3)),
    tol=st.sampled_from([0.5, 0.1, 0.01]),
)
@settings(max_examples=40)
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


def test_tol_stops_at_the_first_look_that_reaches_it():
    sample = make_sample(1, n_rows=200, n_features=4)
    options = {"lam": 0.05, "solver": "sdca", "random_state": 0, "max_iter": 2000}
    loose, tight = (
        PegasosClassifier(**options, tol=tol).fit(sample.X, sample.y) for tol in (0.05, 1e-8)
    )
    assert loose.n_steps_ < tight.n_steps_ < 2000 * 200
    assert loose.duality_gap_ <= 0.05 * loose.objective_
    assert tight.duality_gap_ <= 1e-8 * tight.objective_
    for record in tight.history_[:-1]:
        assert record["gap"] > 1e-8 * record["objective"]


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_the_warning_names_the_gap_that_is_left(solver):
    sample = make_sample(2, n_rows=40, n_features=4)
    model = PegasosClassifier(lam=1e-3, solver=solver, max_steps=50, tol=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(sample.X, sample.y)
    message = str(caught[0].message)
    gap = model.duality_gap_ / model.objective_
    assert f"relative duality gap of {gap:.2%}" in message
    assert "50 steps" in message
    assert ("use solver='sdca'" in message) == (solver == "pegasos")


def test_the_warning_points_at_the_line_that_called_fit():
    sample = make_sample(2, n_rows=40, n_features=4)
    with pytest.warns(ConvergenceWarning) as caught:
        PegasosClassifier(max_steps=50, tol=1e-6, random_state=0).fit(sample.X, sample.y)
    assert caught[0].filename == __file__


def test_without_tol_all_steps_are_made_and_nothing_is_said():
    sample = make_sample(3, n_rows=40, n_features=4)
    model = PegasosClassifier(lam=1e-3, max_steps=50, tol=None, random_state=0)
    model.fit(sample.X, sample.y)  # a warning would be an error here
    assert model.n_steps_ == 50


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
    assert (np.diff(duals, axis=0) >= 0).all()  # the best bound so far is kept
    violations = np.array([record["violations"] for record in model.history_])
    assert (np.diff(violations, axis=0) >= 0).all()


def test_the_history_of_a_long_fit_has_several_records():
    sample = make_sample(4, n_rows=100, n_features=4)
    model = PegasosClassifier(lam=0.01, max_iter=5000, tol=None, random_state=0)
    model.fit(sample.X, sample.y)
    assert len(model.history_) >= 4
    assert model.history_[0]["gap"] > 2 * model.history_[-1]["gap"]


# --- The same optimum as other packages -----------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lam", [1e-2, 0.3])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_converged_fit_has_the_objective_of_scikit_learn(loss, lam, weighted):
    sample = make_sample(5, n_rows=150, n_features=6, weighted=weighted)
    s = sample.weight if weighted else np.ones(150)
    C = 1 / (lam * s.sum())
    if loss == "hinge":
        peer = LinearSVC(
            loss="hinge", dual=True, C=C, fit_intercept=False, tol=1e-9, max_iter=10**6
        )
    else:
        peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-9, max_iter=1000)
    theirs = peer.fit(sample.X, sample.y, sample.weight).coef_[0]
    ours = PegasosClassifier(
        lam=lam, loss=loss, solver="sdca", fit_intercept=False, tol=1e-8, random_state=0
    ).fit(sample.X, sample.y, sample.weight)
    expected = objective(theirs, sample.X, sample.y, lam, loss, s)
    assert_allclose(ours.objective_, expected, rtol=1e-6)
    assert ours.dual_objective_ <= expected + TRUE
    # Strongly convex: both lie within sqrt(2 gap/lam) of the optimum.
    assert_allclose(ours.coef_[0], theirs, atol=3 * np.sqrt(2e-6 / lam))


@pytest.mark.parametrize("loss", LOSSES)
def test_pegasos_and_sdca_certify_the_same_optimum(loss):
    sample = make_sample(6, n_rows=100, n_features=5)
    parameters = {"lam": 0.05, "loss": loss, "tol": 5e-3, "random_state": 0}
    models = [
        PegasosClassifier(solver=solver, **parameters).fit(sample.X, sample.y)
        for solver in ("pegasos", "sdca")
    ]
    for model in models:
        for other in models:
            assert other.dual_objective_ <= model.objective_ + TRUE
    assert_allclose(models[0].objective_, models[1].objective_, rtol=1e-2)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
def test_rows_of_zeros_are_certified_too(solver, loss):
    # All weights give the loss of a margin of 0: the optimum is 1, or log 2.
    model = PegasosClassifier(1.0, solver=solver, loss=loss, fit_intercept=False, random_state=0)
    model.fit(np.zeros((3, 1)), [0, 1, 0])
    assert model.objective_ == pytest.approx(1 if loss == "hinge" else np.log(2))
    assert model.dual_objective_ == pytest.approx(model.objective_, rel=0.01)
