"""Fitting to chunks: the published steps on the draws of the chunks, with a true certificate."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pegasos import PegasosClassifier, PerceptronClassifier, _draws, reference

from .chunk_helpers import Chunks, make_rows
from .core_helpers import AVERAGES, LOSSES, with_constant
from .optimum_helpers import optimum

FITTED = ("coef_", "intercept_", "n_violations_", "n_steps_", "n_iter_")
CERTIFIED = ("objective_", "dual_objective_", "duality_gap_")
SOLVERS = ("pegasos", "sdca")
CUTS = [30, 100, 100, 250, 350, 400]

warnings_off = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same_fit(one, other, names=FITTED + CERTIFIED):
    for name in names:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def epoch(rng, chunk_rows):
    """The draws of an epoch, by the numbers of the rows in the files."""
    starts = np.concatenate([[0], np.cumsum(chunk_rows)])
    order = rng.permutation(len(chunk_rows))
    draws = []
    for four in (order[i : i + 4] for i in range(0, len(order), 4)):
        rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in four])
        draws.append(rows[rng.permutation(len(rows))])
    return np.concatenate(draws)


# --- Which model it is ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_single_chunk_gives_the_model_of_data_in_memory(solver, loss, kind, n_classes):
    X, y = make_rows(n_classes=n_classes, kind=kind)
    model = PegasosClassifier(lam=1e-3, loss=loss, solver=solver, random_state=1)
    assert_same_fit(
        PegasosClassifier(**model.get_params()).fit_stream(Chunks(X, y, [])), model.fit(X, y)
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_class_weights_mean_the_same_as_in_memory(solver, class_weight):
    X, y = make_rows(2500, dtype=np.float64)
    y = (np.arange(len(y)) % 5 == 0) ^ y  # more of one than of the other
    model = PegasosClassifier(
        lam=1e-2, solver=solver, class_weight=class_weight, max_iter=3, tol=None, random_state=1
    )
    assert_same_fit(
        PegasosClassifier(**model.get_params()).fit_stream(Chunks(X, y, [])), model.fit(X, y)
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("project", [False, True])
def test_the_steps_are_the_published_ones_on_the_draws_of_the_chunks(loss, average, project):
    X, y = make_rows(600, dtype=np.float64)
    chunks = Chunks(X, y, CUTS)
    model = PegasosClassifier(
        lam=1e-2, loss=loss, average=average, project=project, max_iter=12, tol=None, random_state=3
    ).fit_stream(chunks)
    rng = np.random.default_rng(3)
    draws = np.concatenate([epoch(rng, chunks.chunk_rows) for _ in range(12)])
    run = reference.pegasos(
        with_constant(X, 1.0), 2.0 * y - 1, 1e-2, draws, loss=loss, average=average, project=project
    )
    assert_allclose(np.r_[model.coef_[0], model.intercept_], run.w, rtol=1e-9, atol=1e-12)
    assert model.n_violations_ == run.violations


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_rows", [600, 2500])  # from 800 on it begins with gradient steps
def test_dual_ascent_is_that_of_memory_on_the_draws_of_the_chunks(loss, kind, n_rows, monkeypatch):
    X, y = make_rows(n_rows, n_classes=3, kind=kind, dtype=np.float64)
    chunks = Chunks(X, y, CUTS)
    model = PegasosClassifier(lam=1e-2, loss=loss, solver="sdca", tol=1e-4, random_state=3)
    streamed = PegasosClassifier(**model.get_params()).fit_stream(chunks)
    monkeypatch.setattr(
        _draws.DrawStream, "_permutation", lambda draws: epoch(draws.rng, chunks.chunk_rows)
    )
    model.fit(X, y)
    assert_allclose(streamed.coef_, model.coef_, rtol=1e-9)
    assert_array_equal(streamed.n_violations_, model.n_violations_)
    assert_allclose(streamed.dual_objective_, model.dual_objective_, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_shuffling_the_chunks_make_no_difference(solver):
    X, y = make_rows(n_classes=3, dtype=np.float64)
    model = PegasosClassifier(lam=1e-3, solver=solver, max_iter=8, tol=None, random_state=1)
    whole = PegasosClassifier(**model.get_params()).fit_stream(Chunks(X, y, []), shuffle=False)
    for cuts in ([1000], [1, 2, 1500, 2999], [0, 700, 700], range(100, 3000, 300)):
        model.fit_stream(Chunks(X, y, cuts), shuffle=False)
        if solver == "pegasos":  # sums over all rows are part of dual ascent, and rounded otherwise
            assert_same_fit(model, whole, FITTED)
        assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
        assert_allclose(model.objective_, whole.objective_, rtol=1e-12)
        assert_allclose(model.dual_objective_, whole.dual_objective_, rtol=1e-9)


@pytest.mark.parametrize("average", [None, "uniform"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_perceptron_learns_from_a_single_chunk_as_from_memory(average, n_classes):
    X, y = make_rows(500, n_classes=n_classes)
    model = PerceptronClassifier(average=average, max_iter=5, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        streamed = PerceptronClassifier(**model.get_params()).fit_stream(Chunks(X, y, []))
        assert_same_fit(streamed, model.fit(X, y), FITTED)
        parts = PerceptronClassifier(**model.get_params())
        parts.fit_stream(Chunks(X, y, [10, 300]), shuffle=False)
        parts_too = PerceptronClassifier(**model.get_params())
        parts_too.fit_stream(Chunks(X, y, [499]), shuffle=False)
    assert_same_fit(parts, parts_too, FITTED)


def test_the_perceptron_stops_when_an_epoch_of_all_chunks_has_no_mistake():
    X, _ = make_rows(400, dtype=np.float64)
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 1, -1)
    model = PerceptronClassifier(random_state=0).fit_stream(Chunks(X, y, [100, 200]))
    assert model.history_[-1]["violations"] == 0
    assert model.n_iter_ < 100
    assert model.score(X, y) == 1


@pytest.mark.parametrize("estimator", [PegasosClassifier, PerceptronClassifier])
@warnings_off
def test_threads_make_no_difference(estimator):
    X, y = make_rows(n_classes=3, kind="csr")
    chunks = Chunks(X, y, [1000, 2000])
    one, two = (
        estimator(max_iter=3, n_jobs=n_jobs, random_state=0).fit_stream(chunks) for n_jobs in (1, 2)
    )
    assert_same_fit(one, two, FITTED)


# --- The certificate ------------------------------------------------------------------------------


@given(
    n_rows=st.integers(2, 30),
    cut=st.integers(0, 30),
    solver=st.sampled_from(SOLVERS),
    loss=st.sampled_from(LOSSES),
    average=st.sampled_from(AVERAGES),
    lam=st.sampled_from([1e-3, 1e-1, 1.0]),
    steps=st.integers(1, 200),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60)
def test_the_certificate_is_true(n_rows, cut, solver, loss, average, lam, steps, seed):
    X, y = make_rows(n_rows, 3, seed=seed, dtype=np.float64)
    y[:2] = [0, 1]
    model = PegasosClassifier(
        lam, loss=loss, solver=solver, average=average, max_steps=steps, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit_stream(Chunks(X, y, [min(cut, n_rows)]))
    best = optimum(with_constant(X, 1.0), 2.0 * y - 1, lam, loss, np.ones(n_rows))
    assert model.dual_objective_ <= best + 1e-9
    assert best <= model.objective_ + 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_gap_is_closed_over_several_chunks(solver):
    X, y = make_rows(n_classes=3, kind="csr")
    model = PegasosClassifier(lam=1e-2, solver=solver, random_state=0)
    model.fit_stream(Chunks(X, y, range(200, 3000, 300)))
    assert np.all(model.duality_gap_ <= 0.01 * model.objective_)
    assert model.history_[-1]["step"] == model.n_steps_


def test_steps_that_run_out_are_told():
    X, y = make_rows()
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        PegasosClassifier(lam=1e-5, max_steps=700, random_state=0).fit_stream(Chunks(X, y, [1000]))


# --- What the model knows, and goes on with -------------------------------------------------------


def test_names_of_the_features_are_kept():
    X, y = make_rows(n_features=2)
    model = PegasosClassifier(random_state=0)
    model.fit_stream(Chunks(X, y, [50], names=["a", "b"]))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit_stream(Chunks(X, y, [50]))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("estimator", [PegasosClassifier, PerceptronClassifier])
@warnings_off
def test_how_indices_were_counted_is_forgotten_by_a_new_fit_only(estimator):
    X, y = make_rows(50)
    model = estimator(max_iter=1).fit(X, y)
    model.zero_based_ = True
    assert model.partial_fit(X, y).zero_based_ is True
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(Chunks(X, y, [10], fails_at=1))
    assert model.zero_based_ is True
    assert not hasattr(model.fit_stream(Chunks(X, y, [10])), "zero_based_")


def test_partial_fit_goes_on_where_the_stream_ended():
    X, y = make_rows(dtype=np.float64)
    model = PegasosClassifier(lam=1e-2, average=None, max_iter=1, tol=None, random_state=0)
    model.fit_stream(Chunks(X, y, [1000]), shuffle=False)
    twice = PegasosClassifier(lam=1e-2, average=None)
    twice.partial_fit(X, y, classes=[0, 1])
    assert_array_equal(model.partial_fit(X, y).coef_, twice.partial_fit(X, y).coef_)


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"batch_size": 2}, "batch_size=1; got 2"),
        ({"sampling": "uniform"}, "sampling='permutation'; got 'uniform'"),
        ({"warm_start": True}, "give a checkpoint"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused(parameter, message):
    X, y = make_rows(20)
    with pytest.raises(ValueError, match=message):
        PegasosClassifier(**parameter).fit_stream(Chunks(X, y, [10]))


@pytest.mark.parametrize("estimator", [PegasosClassifier, PerceptronClassifier])
def test_one_class_only_is_refused(estimator):
    X, _ = make_rows(20)
    with pytest.raises(ValueError, match=r"at least two classes.*the stream holds only"):
        estimator().fit_stream(Chunks(X, np.ones(20), [10]))


@pytest.mark.parametrize("estimator", [PegasosClassifier, PerceptronClassifier])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_found_in_any_chunk(estimator, value):
    X, y = make_rows(50)
    X[45, 2] = value
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        estimator().fit_stream(Chunks(X, y, [10, 40]))


def test_values_that_overflow_are_told():
    X, y = make_rows(50, dtype=np.float64)
    X[:20] *= 1e200
    with pytest.raises(ValueError, match=r"overflows: the largest value in X is .*e[+]2"):
        PegasosClassifier().fit_stream(Chunks(X, y, [30]))


def test_a_chunk_that_is_not_as_announced_is_refused():
    X, y = make_rows(50)
    chunks = Chunks(X, y, [30])
    chunks.chunk_rows = np.array([31, 19])
    with pytest.raises(ValueError, match="announced 31 rows"):
        PegasosClassifier().fit_stream(chunks, shuffle=False)


@pytest.mark.parametrize("estimator", [PegasosClassifier, PerceptronClassifier])
def test_a_fit_that_fails_leaves_the_model_as_it_was(estimator):
    X, y = make_rows(50, dtype=np.float64)
    y = X[:, 0] > 0
    model = estimator(max_iter=5000).fit(X, y)
    before = vars(model).copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(Chunks(X, y, [10], names=list("abcdefg"), fails_at=3))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
