"""The usual ways of scikit-learn's users: pickle, joblib, skops."""

import pickle

import joblib
import pytest

from .model_helpers import CASES, assert_same, fitted

WAYS = {
    "pickle": (
        lambda model, path: path.write_bytes(pickle.dumps(model)),
        lambda path: pickle.loads(path.read_bytes()),
    ),
    "joblib": (joblib.dump, joblib.load),
    "joblib, memory-mapped": (joblib.dump, lambda path: joblib.load(path, mmap_mode="r")),
}
CAN_PREDICT = [name for name in CASES if name != "grid without refit"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CAN_PREDICT)
def test_pickles_predict_the_same(tmp_path, way, name):
    write, read = WAYS[way]
    model, rows = fitted(name)
    write(model, tmp_path / "model")
    loaded = read(tmp_path / "model")
    assert_same(loaded.decision_function(rows), model.decision_function(rows))
    assert_same(loaded.predict(rows), model.predict(rows))
    assert loaded.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", ["pegasos", "perceptron", "rbf", "kernel perceptron"])
def test_partial_fit_goes_on_after_a_pickle(name):
    model, rows = fitted(name)
    loaded = pickle.loads(pickle.dumps(model))
    labels = CASES[name][2]
    for one in (model, loaded):
        one.partial_fit(rows[::-1][:40], labels[::-1][:40])
    assert_same(loaded.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("name", ["pegasos", "sdca", "rbf", "kernel perceptron"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_goes_on_after_a_pickle(name):
    """A pickle keeps everything, the draws too."""
    model, rows = fitted(name)
    model.set_params(warm_start=True, max_steps=60)
    if hasattr(model, "tol"):
        model.set_params(tol=None)
    labels = CASES[name][2]
    model.fit(rows, labels)
    loaded = pickle.loads(pickle.dumps(model))
    for one in (model, loaded):
        one.fit(rows, labels)
    assert_same(loaded.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("name", CAN_PREDICT)
def test_skops_stores_a_model_and_asks_for_trust_in_known_types_alone(tmp_path, name):
    skops = pytest.importorskip("skops.io", reason="needs skops")
    model, rows = fitted(name)
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    known = ("pegasos.", "numpy.", "scipy.sparse.")
    assert all(type_name.startswith(known) for type_name in unknown), unknown
    loaded = skops.load(tmp_path / "model.skops", trusted=unknown)
    assert_same(loaded.decision_function(rows), model.decision_function(rows))
    assert_same(loaded.predict(rows), model.predict(rows))
