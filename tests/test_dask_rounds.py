"""The rounds of pegasos.dask: what they compute, and that their certificate is true.

The tasks run in this process, one after the other; test_dask_cluster.py runs them on a cluster.
"""

import inspect
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import pegasos
from pegasos import reference
from pegasos.dask import PegasosClassifier, PerceptronClassifier, _ascent
from pegasos.dask._read import read_part
from pegasos.dask._shard import Everyone, at_shard

from .core_helpers import LOSSES, make_sample, with_constant
from .dask_helpers import cut, draws_of, fit_serially, replay_ascent, replay_mixing, replay_steps
from .optimum_helpers import objective, optimum

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SIZES = (13, 1, 26, 20)
EPOCHS = 4  # a round of shards as small as these


def small_data(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 4))
    y = np.where(X[:, 0] + rng.standard_normal(n_rows) > 0, 1.0, -1.0)
    return X, y


# --- What a round computes ------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [30, 210])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_first_epoch_ends_with_the_mean_of_what_the_shards_end_with(loss, n_features):
    rng = np.random.default_rng(15)
    sizes, lam = (260, 240), 0.01
    n_rows = sum(sizes)
    X = np.zeros((n_rows, n_features))
    for row in X:  # two entries a row: of 210 features that is so few that no shard keeps a mean
        row[rng.permutation(n_features)[:2]] = rng.choice([-1.0, 1.0], size=2)
    y = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    model = PegasosClassifier(
        lam, loss=loss, solver="sdca", max_steps=n_rows, tol=None, random_state=3
    )
    fit_serially(model, cut(sp.csr_matrix(X), sizes), cut(y, sizes))
    rows, ends = with_constant(X, 1.0), np.cumsum([0, *sizes])
    shards = [
        reference.sgd_start(
            rows[ends[k] : ends[k + 1]],
            y[ends[k] : ends[k + 1]],
            lam,
            draws_of(3, k, 0, size, 1),
            eta0=1 / 3,  # one over the mean of ||x||^2
            loss=loss,
            average="weighted" if n_features == 30 else None,
        )
        for k, size in enumerate(sizes)
    ]
    expected = np.average(shards, axis=0, weights=sizes)
    assert_allclose(np.r_[model.coef_[0], model.intercept_], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", [SIZES, (60,), (30, 30)])
def test_ascent_is_a_replay_of_its_rounds_row_by_row(sizes):
    X, y = small_data()
    n_rounds = 7
    model = PegasosClassifier(
        0.02, solver="sdca", tol=1e-12, max_iter=n_rounds * EPOCHS, random_state=5
    )
    fit_serially(model, cut(X, sizes), cut(y, sizes))
    rows = with_constant(X, 1.0)
    seen = replay_ascent(rows, y, 0.02, sizes, 5, n_rounds, EPOCHS)
    primals = [objective(w, rows, y, 0.02, "hinge", np.ones(60)) for w, _ in seen]
    assert len(model.history_) == n_rounds
    # Sums in another order: rounding, and what the steps make of it.
    assert_allclose([r["objective"] for r in model.history_], np.minimum.accumulate(primals), 1e-9)
    assert_allclose(
        [r["dual"] for r in model.history_], np.maximum.accumulate([d for _, d in seen]), 1e-9
    )
    best = seen[int(np.argmin(primals))][0]
    assert_allclose(np.r_[model.coef_[0], model.intercept_], best, rtol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("average", [None, "weighted"])
def test_averaged_pegasos_is_a_replay_of_the_published_steps(average, loss):
    X, y = small_data(1)
    model = PegasosClassifier(
        0.05, loss=loss, average=average, tol=None, max_iter=3 * EPOCHS, random_state=2
    )
    fit_serially(model, cut(X, SIZES), cut(y, SIZES))
    last, mean = replay_steps(with_constant(X, 1.0), y, 0.05, SIZES, 2, 3, EPOCHS, loss)
    expected = last if average is None else mean
    assert_allclose(np.r_[model.coef_[0], model.intercept_], expected, rtol=1e-9)
    assert model.n_steps_ == 3 * EPOCHS * 60


@pytest.mark.parametrize("average", [None, "uniform", "weighted"])
def test_one_shard_of_pegasos_makes_the_steps_of_one_machine(average):
    X, y = small_data(3)
    options = {"tol": None, "average": average, "max_iter": EPOCHS}
    model = PegasosClassifier(0.1, random_state=9, **options)
    fit_serially(model, cut(X, (60,)), cut(y, (60,)))
    seed = np.random.SeedSequence(9, spawn_key=(0, 1))
    local = pegasos.PegasosClassifier(0.1, random_state=np.random.default_rng(seed), **options)
    local.fit(X, y)
    assert_allclose(model.coef_, local.coef_, rtol=1e-10)
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-10)
    assert model.n_violations_ == local.n_violations_
    # And both go on alike.
    for twin in (again := model.to_local(), local):
        twin.partial_fit(X[:20], y[:20])
    assert_allclose(again.coef_, local.coef_, rtol=1e-10)


def test_perceptrons_are_a_replay_of_their_mixing():
    X, y = small_data(4)
    model = PerceptronClassifier(max_iter=5, random_state=3)
    fit_serially(model, cut(X, SIZES), cut(y, SIZES))
    seen = replay_mixing(with_constant(X, 1.0), y, SIZES, 3, 5)
    assert [r["violations"] for r in model.history_] == [wrong for _, wrong in seen]
    assert_allclose(np.r_[model.coef_[0], model.intercept_], seen[-1][0], rtol=1e-12)


@pytest.mark.parametrize("average", [None, "uniform"])
def test_one_shard_of_the_perceptron_learns_as_one_machine(average):
    X, y = small_data(5)
    model = PerceptronClassifier(max_iter=1, average=average, random_state=1)
    fit_serially(model, cut(X, (60,)), cut(y, (60,)))
    rng = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0, 0)))
    local = pegasos.PerceptronClassifier(max_iter=1, average=average, random_state=rng).fit(X, y)
    assert_allclose(model.coef_, local.coef_, rtol=1e-12)
    assert model.n_violations_ == local.n_violations_
    for twin in (again := model.to_local(), local):
        twin.partial_fit(X, y)
    assert_allclose(again.coef_, local.coef_, rtol=1e-12)


def test_mixed_perceptrons_end_without_a_mistake_where_classes_are_separable(separable):
    X, y = separable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_serially(
            PerceptronClassifier(random_state=0), cut(X, (50, 100, 50)), cut(y, (50, 100, 50))
        )
    assert model.history_[-1]["violations"] == 0
    assert model.score(X, y) == 1


def test_two_tasks_share_a_computation_in_any_order_and_one_that_comes_again_repeats_it():
    X, y = small_data()
    part = read_part(0, X.shape[1], False, {"X": [X], "y": [y]})
    everyone = Everyone(np.unique(y), np.ones(2), 1.0, None)
    calls = []

    def ascend(shard, tick):
        calls.append((shard.n_active, tick))
        begun = _ascent.begin(shard)
        return replace(begun, update={"tick": tick})

    for tick, (first, second) in enumerate(
        [(_ascent.told, _ascent.kept), (_ascent.kept, _ascent.told)]
    ):
        results = {f: at_shard(f, everyone, part, tick, ascend, tick) for f in (first, second)}
        assert results[_ascent.told] == {"tick": tick}
        assert results[_ascent.kept].update == {}
    assert calls == [(len(y), 0), (len(y), 1)]
    # A worker that has lost one of the two results computes it again.
    assert at_shard(_ascent.told, everyone, part, 1, ascend, 1) == {"tick": 1}
    assert len(calls) == 3


# --- The certificate ------------------------------------------------------------------------------


@st.composite
def cases(draw):
    n_rows = draw(st.integers(4, 30))
    sample = make_sample(draw(st.integers(0, 2**32 - 1)), n_rows, draw(st.integers(1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.sampled_from([2, 2, 3]))
    y = np.where(rng.random(n_rows) < 0.7, sample.y > 0, rng.integers(0, n_classes, size=n_rows))
    y[:n_classes] = range(n_classes)
    weight = None
    if draw(st.booleans()):
        weight = rng.uniform(0.1, 3.0, size=n_rows)
        weight[n_classes:][rng.random(n_rows - n_classes) < 0.3] = 0.0
    inner = np.sort(rng.integers(0, n_rows + 1, size=draw(st.integers(0, 5))))
    sizes = tuple(int(n) for n in np.diff([0, *inner, n_rows]))  # some may be empty
    parameters = {
        "lam": 10 ** draw(st.floats(-3, 0)),
        "loss": draw(st.sampled_from(LOSSES)),
        "solver": draw(st.sampled_from(["pegasos", "sdca"])),
        "average": draw(st.sampled_from([None, "uniform", "weighted"])),
        "fit_intercept": draw(st.booleans()),
        "intercept_scaling": draw(st.sampled_from([1.0, 0.3])),
        "max_steps": max(1, round(draw(st.sampled_from([0.1, 1, 1.5, 8, 100])) * n_rows)),
        "tol": None,
        "random_state": draw(st.integers(0, 2**31)),
    }
    return sample.X, y, weight, sizes, parameters


@given(case=cases())
@settings(max_examples=100)
def test_every_certificate_encloses_the_optimum(case):
    X, y, weight, sizes, parameters = case
    data = [cut(X, sizes), cut(y, sizes)]
    if weight is not None:
        data.append(cut(weight, sizes))
    model = fit_serially(PegasosClassifier(**parameters), *data)
    s = np.ones(len(y)) if weight is None else weight
    kept = s > 0
    bias = parameters["intercept_scaling"] if parameters["fit_intercept"] else 0.0
    rows = with_constant(X, bias)[kept]
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    for k, label in enumerate(positive):
        signs = np.where(y[kept] == label, 1.0, -1.0)
        w = np.r_[model.coef_[k], model.intercept_[k] / (bias or 1.0)]
        primal, dual = np.atleast_1d(model.objective_)[k], np.atleast_1d(model.dual_objective_)[k]
        lam, loss = parameters["lam"], parameters["loss"]
        assert_allclose(primal, objective(w, rows, signs, lam, loss, s[kept]), rtol=1e-9)
        best = optimum(rows, signs, lam, loss, s[kept])
        assert dual <= best + 1e-9 * (1 + best)
        assert best <= primal + 1e-9 * (1 + best)
    assert model.n_steps_ == parameters["max_steps"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_steps", [40, 600, 900, 60_000])
def test_the_certificate_is_true_after_the_gradient_steps_of_the_first_epoch(max_steps, loss):
    # They take place where rows are many per entry of a row; also if cut short.
    X, y = small_data(6, n_rows=600)
    sizes = (200, 1, 250, 149)
    model = PegasosClassifier(
        0.01,
        loss=loss,
        solver="sdca",
        fit_intercept=False,
        max_steps=max_steps,
        tol=None,
        random_state=0,
    )
    fit_serially(model, cut(X, sizes), cut(y, sizes))
    assert_allclose(
        model.objective_, objective(model.coef_[0], X, y, 0.01, loss, np.ones(600)), rtol=1e-9
    )
    # An independent bracket of the optimum, tight to 1e-7.
    other = pegasos.PegasosClassifier(
        0.01, loss=loss, solver="sdca", fit_intercept=False, tol=1e-7, random_state=0
    ).fit(X, y)
    assert model.dual_objective_ <= other.objective_ + 1e-12
    assert other.dual_objective_ - 1e-12 <= model.objective_
    if max_steps == 60_000:
        assert model.duality_gap_ <= 1e-3 * model.objective_


@pytest.mark.parametrize("solver", ["pegasos", "sdca"])
@pytest.mark.parametrize("loss", LOSSES)
def test_stops_at_tol_close_to_what_one_machine_finds(make_blobs, solver, loss):
    X, y = make_blobs(400)
    sizes = (100, 0, 250, 50)
    options = {"loss": loss, "solver": solver, "tol": 1e-2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = fit_serially(PegasosClassifier(0.1, **options), cut(X, sizes), cut(y, sizes))
    local = pegasos.PegasosClassifier(0.1, **options).fit(X, y)
    assert model.duality_gap_ <= 0.01 * model.objective_
    assert model.objective_ == pytest.approx(local.objective_, rel=0.02)  # both within tol
    assert model.dual_objective_ <= local.objective_
    assert local.dual_objective_ <= model.objective_
    assert model.n_shards_ == 3


def test_a_tight_gap_is_not_a_matter_of_rounding():
    X, y = small_data(7)
    model = PegasosClassifier(0.1, solver="sdca", tol=1e-10, max_iter=20_000, random_state=0)
    fit_serially(model, cut(X, SIZES), cut(y, SIZES))
    assert model.duality_gap_ + 1e-15 >= 0
    assert model.duality_gap_ <= 1e-10 * model.objective_
    rows = with_constant(X, 1.0)
    assert model.objective_ == pytest.approx(optimum(rows, y, 0.1, "hinge", np.ones(60)), rel=1e-9)


def test_a_used_up_fit_says_how_far_it_is():
    X, y = small_data()
    model = PegasosClassifier(1e-4, solver="sdca", max_iter=1, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as caught:
        fit_serially(model, cut(X, SIZES), cut(y, SIZES))
    assert caught[0].filename == __file__ or "dask_helpers" in caught[0].filename


# --- Weights and classes --------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced", {"cat": 3.0, "ant": 0.5}])
def test_several_classes_and_class_weights_mean_what_they_mean_in_memory(
    three_classes, class_weight
):
    X, y = three_classes
    order = np.argsort(y)  # a class is absent from most partitions
    X, y = X[order], y[order]
    sizes = (100, 0, 120, 80)
    options = {
        "solver": "sdca",
        "tol": 1e-4,
        "max_iter": 30_000,
        "class_weight": class_weight,
        "random_state": 0,
    }
    model = fit_serially(PegasosClassifier(0.05, **options), cut(X, sizes), cut(y, sizes))
    local = pegasos.PegasosClassifier(0.05, **options).fit(X, y)
    assert_array_equal(model.classes_, local.classes_)
    assert_allclose(model.objective_, local.objective_, rtol=2e-4)
    assert_allclose(model.coef_, local.coef_, atol=0.02)


@pytest.mark.parametrize("scale", [1.0, 1e-250, 1e250])
def test_sample_weights_of_any_size_mean_repetition(scale):
    X, y = small_data(8)
    weight = np.random.default_rng(0).integers(0, 4, size=60).astype(float)
    options = {"solver": "sdca", "tol": 1e-6, "max_iter": 20_000, "random_state": 0}
    weighted = fit_serially(
        PegasosClassifier(0.1, **options), cut(X, SIZES), cut(y, SIZES), cut(weight * scale, SIZES)
    )
    times = weight.astype(int)
    repeated = pegasos.PegasosClassifier(0.1, **options).fit(X.repeat(times, 0), y.repeat(times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-6)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-2)


# --- One meaning ----------------------------------------------------------------------------------


def test_dense_and_sparse_float32_and_float64_are_the_same_model():
    X, y = small_data(9)
    X = np.where(np.abs(X) < 0.5, 0, np.round(X, 1)).astype(np.float32)
    first, *others = (
        fit_serially(
            PegasosClassifier(0.05, solver="sdca", random_state=0), cut(kind, SIZES), cut(y, SIZES)
        )
        for kind in (X, X.astype(float), sp.csr_matrix(X), sp.coo_matrix(X).tocsr())
    )
    for other in others:
        assert_allclose(other.coef_, first.coef_, rtol=1e-9, atol=1e-12)


def test_the_model_depends_on_the_seed_and_the_shards_alone():
    X, y = small_data(10)

    def fit(sizes, **options):
        model = PegasosClassifier(0.05, tol=None, max_iter=8, **options)
        return fit_serially(model, cut(X, sizes), cut(y, sizes)).coef_

    first = fit(SIZES, random_state=0)
    assert_array_equal(fit(SIZES, random_state=0, n_jobs=3), first)
    assert not np.array_equal(fit(SIZES, random_state=1), first)
    # Partitions that are joined to a shard are a partition.
    joined = fit((14, 46), random_state=0)
    assert_array_equal(fit(SIZES, random_state=0, shards=2), joined)
    assert_array_equal(fit((10, 4, 40, 6), random_state=0, shards=2), joined)


def test_generators_and_fresh_seeds_draw_anew():
    X, y = small_data(11)
    first, again, other = (
        fit_serially(
            PegasosClassifier(0.05, tol=None, max_iter=4, random_state=state),
            cut(X, SIZES),
            cut(y, SIZES),
        ).coef_
        for state in (np.random.default_rng(1), np.random.default_rng(1), None)
    )
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", ["PegasosClassifier", "PerceptronClassifier"])
def test_parameters_are_those_of_the_estimator_in_memory_and_two_more(name):
    here = inspect.signature(getattr(pegasos.dask, name)).parameters
    there = inspect.signature(getattr(pegasos, name)).parameters
    assert [*here] == [*there, "shards", "client"]
    assert all(here[key].default == there[key].default for key in there)
    assert all(here[key].kind == there[key].kind for key in there)
