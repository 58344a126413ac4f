"""Rows that join a kernel machine call by call."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    KernelPerceptronClassifier,
    reference,
)

from .core_helpers import AVERAGES, LOSSES
from .kernel_helpers import (
    KERNELS,
    SAME,
    WORDS,
    all_signs,
    assert_replays,
    assert_same_machine,
    draws_of,
    full_coef,
    machine,
    noisy_rows,
    published_step,
    shared_letters,
)


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
        ({}, {"gamma": 2.0}, r"kernel='rbf', gamma='scale', .*; got kernel='rbf', gamma=2.0"),
        ({"gamma": 0.5}, {"gamma": "scale"}, r"gamma=0.5, .*; got kernel='rbf', gamma='scale'"),
        (
            {},
            {"kernel": "linear"},
            r"gamma='scale', .*; got kernel='linear', coef0=0.0\. Set",
        ),
        ({"kernel": "poly"}, {"degree": 2}, r"degree=3, coef0=0.0; got .* degree=2"),
        ({"kernel": "poly"}, {"coef0": 1.0}, r"coef0=0.0; got .* coef0=1.0"),
        ({"kernel": "rbf"}, {"coef0": 1.0}, r"coef0=0.0; got .* coef0=1.0"),
        ({"kernel": shared_letters}, {"kernel": "rbf"}, r"shared_letters.*; got kernel='rbf'"),
    ],
    ids=["gamma", "gamma to scale", "kernel", "degree", "coef0", "constant", "callable"],
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
    model.set_params(degree=7).partial_fit(X[20:], y[20:])
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
