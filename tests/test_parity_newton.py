"""Newton's steps of the core are those of the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import PegasosClassifier, _core, reference
from pegasos._newton import _FIRST_WIDTH, NewtonSteps
from pegasos._problem import Problem
from pegasos._validation import Target

from .core_helpers import KINDS, LOSSES, core_data, make_sample, samples, with_constant

many = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(LOSSES)
widths = st.sampled_from([0.1, 0.5, 1.0])
BINARY = np.array([1], dtype=np.int32)
SUM = 1e-11  # sums of some dozen terms of size 1 to 100, in another order


def core_terms(data, w, n_rows, **options):
    n = w.shape[1]
    terms, mass = np.empty((len(w), n + 2 + n**2)), np.empty((len(w), n_rows))
    positive = BINARY if len(w) == 1 else np.arange(len(w), dtype=np.int32)
    _core.newton_terms(data, positive, w, mass, curvature=True, terms=terms, **options)
    return terms, mass


def folded(matrix, n):
    """The core adds each pair of entries to one of the two triangles."""
    matrix = matrix.reshape(n, n)
    return matrix + matrix.T - np.diag(np.diag(matrix))


@given(sample=samples(), seed=seeds, loss=losses, width=widths)
@many
def test_terms_are_sums_over_the_rows(sample, seed, loss, width):
    w = np.random.default_rng(seed).normal(size=(1, sample.X.shape[1] + 1))
    options = {"loss": loss, "width": width, "n_threads": 1}
    terms, mass = core_terms(core_data(sample), w, sample.n_rows, **options)
    n = w.shape[1]
    s = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    margins = sample.y * (sample.rows @ w[0])
    b = reference.guess_masses(margins, loss, width)
    assert_allclose(mass[0], b, rtol=SUM, atol=SUM)
    kind = reference.LOSSES[loss]
    assert_allclose(terms[0, :n], (s * b * sample.y) @ sample.rows, rtol=SUM, atol=SUM)
    assert_allclose(terms[0, n], s @ kind.value(margins), rtol=SUM, atol=SUM)
    assert_allclose(terms[0, n + 1], s @ kind.dual_gain(b), rtol=1e-8, atol=SUM)
    # The masses of the core tell who is on the ramp: at its ends rounding decides.
    b = mass[0]
    curvature = s * (b * (1 - b) if loss == "log" else ((b > 0) & (b < 1)) / width)
    expected = (sample.rows.T * curvature) @ sample.rows
    assert_allclose(folded(terms[0, n + 2 :], n), expected, rtol=SUM, atol=1e-10)


@given(seed=seeds, n=st.integers(1, 40), ridge=st.floats(1e-3, 10))
@many
def test_the_solution_solves_the_equations(seed, n, ridge):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n))
    matrix = half @ half.T
    right = rng.normal(size=n)
    upper = np.triu(matrix).copy()  # either triangle will do, and any share of both
    x = right.copy()
    assert _core.solve_newton(upper, ridge=ridge, right=x)
    assert_allclose((matrix + ridge * np.eye(n)) @ x, right, atol=1e-7)


def test_a_matrix_that_is_not_definite_is_told():
    assert not _core.solve_newton(np.array([[1.0, 0.0], [2.0, 1.0]]), ridge=0.0, right=np.ones(2))
    assert not _core.solve_newton(np.array([[np.nan]]), ridge=1.0, right=np.ones(1))


@pytest.mark.parametrize(
    ("matrix", "right"), [((2, 3), 2), ((2, 2), 3)], ids=["not square", "too long"]
)
def test_equations_that_do_not_fit_are_refused(matrix, right):
    with pytest.raises(ValueError, match="shapes that do not match"):
        _core.solve_newton(np.zeros(matrix), ridge=1.0, right=np.zeros(right))


def test_sums_of_a_wrong_shape_are_refused():
    data, w = core_data(make_sample(1, 9, 3)), np.zeros((1, 4))
    options = {"loss": "hinge", "width": 0.5, "n_threads": 1}
    with pytest.raises(ValueError, match="terms have a wrong shape"):
        _core.newton_terms(data, BINARY, w, None, curvature=True, terms=np.empty((1, 6)), **options)
    with pytest.raises(ValueError, match="slopes have a wrong shape"):
        _core.line_slopes(data, BINARY, w, w, slopes=np.empty((1, 3)), **options)


@given(sample=samples(), seed=seeds, loss=losses, width=widths, lam=st.sampled_from([1e-3, 0.3]))
@many
def test_a_step_is_that_of_the_reference(sample, seed, loss, width, lam):
    if len(np.unique(sample.y)) < 2:
        sample.y[0] = -sample.y[0]
    w = 0.3 * np.random.default_rng(seed).normal(size=(1, sample.X.shape[1] + 1))
    target = Target(np.array([-1.0, 1.0]), (sample.y > 0).astype(np.int32))
    problem = Problem(
        np.ascontiguousarray(sample.rows[:, :-1]),
        target,
        sample.weight,
        lams=np.array([lam]),
        loss=loss,
        bias=sample.bias,
        threads=1,
    )
    steps = NewtonSteps(problem)
    steps.width = width
    masses = np.empty((1, sample.n_rows))
    certificate, point = steps.begin(w, masses)
    options = {"loss": loss, "sample_weight": sample.weight}
    expected = reference.newton_step(w[0], sample.rows, sample.y, lam, width, **options)
    assert_allclose(point.margins_at[0], expected, rtol=1e-6, atol=1e-8)
    s = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    a = np.minimum(s * masses[0], s)
    dual = reference.dual_objective(a, sample.rows, sample.y, lam, loss, sample.weight)
    assert_allclose(point.dual[0], dual, rtol=1e-8, atol=1e-8)
    primals = [
        reference.primal_objective(v, sample.rows, sample.y, lam, loss, sample.weight)
        for v in (w[0], expected)
    ]
    assert_allclose(certificate.objective[0], min(primals), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_bit_depends_on_the_threads(kind, loss):
    sample = make_sample(1, n_rows=10_000, n_features=7, kind=kind, weighted=True, bias=1.0)
    data = core_data(sample, np.arange(10_000) % 3)
    w = np.random.default_rng(2).normal(size=(3, 8))

    def passes(n_threads):
        options = {"loss": loss, "width": 0.5, "n_threads": n_threads}
        terms, mass = core_terms(data, w, 10_000, **options)
        slopes = np.empty((3, len(_core.LINE_FRACTIONS)))
        positive = np.arange(3, dtype=np.int32)
        _core.line_slopes(data, positive, w, 0.1 * w[::-1].copy(), slopes=slopes, **options)
        return terms, mass, slopes

    one = passes(1)
    for n_threads in (2, 3, 8):
        for result, expected in zip(passes(n_threads), one, strict=True):
            assert_array_equal(result, expected)


def noisy_sample(n_rows, n_features, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.5)
    y = np.where(X @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
def test_an_epoch_and_a_step_are_the_start_and_the_step_of_the_reference(loss):
    X, y = noisy_sample(3000, 6)
    lam, rows = 1e-4, with_constant(X, 1.0)
    model = PegasosClassifier(
        lam, loss=loss, solver="sdca", max_iter=1, tol=None, random_state=5
    ).fit(X, y)
    draws = np.random.default_rng(5).permutation(3000)
    eta0 = 1 / np.mean(np.sum(rows[::3] ** 2, axis=1))
    start = reference.sgd_start(rows, y, lam, draws, eta0, loss=loss)
    step = reference.newton_step(start, rows, y, lam, _FIRST_WIDTH, loss=loss)
    assert_allclose(np.append(model.coef_, model.intercept_), step, rtol=1e-6)
    a = reference.guess_masses(y * (rows @ step), loss, _FIRST_WIDTH)
    assert model.dual_objective_ >= reference.dual_objective(a, rows, y, lam, loss) - 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_epochs_suffice_where_features_are_few(loss, n_classes):
    X, y = noisy_sample(3000, 6)
    classes = y if n_classes == 2 else y + (X[:, 0] > 0.5)
    model = PegasosClassifier(1e-4, loss=loss, solver="sdca", tol=5e-3, max_iter=8, random_state=0)
    model.fit(X, classes)  # else a ConvergenceWarning, which is an error here
    assert np.all(model.duality_gap_ <= 5e-3 * np.asarray(model.objective_))
    assert np.all(np.asarray(model.duality_gap_) >= -1e-12)


def test_a_warm_start_goes_on_from_the_masses_of_the_step():
    X, y = noisy_sample(3000, 6)
    model = PegasosClassifier(
        1e-4, solver="sdca", max_iter=1, tol=None, warm_start=True, random_state=0
    )
    first = model.fit(X, y).dual_objective_
    assert model.fit(X, y).dual_objective_ > first
