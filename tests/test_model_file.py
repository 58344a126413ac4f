"""What is saved and loaded is the same model: to the last bit, and able to go on."""

import json
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosCV, PerceptronClassifier
from pegasos.io import ModelError

from .model_helpers import CASES, HOLES, Y2, Y3, X, assert_same, fitted, opened

# Kept for every training row, or of the draws: a warm start begins anew.
NOT_KEPT = ("_draw_stream", "_earlier", "_rng")
OF_SDCA = ("_state", "_state_lam", "_state_bias")


def round_trip(model, folder):
    path = folder / "model.safetensors"
    pegasos.save(model, path)
    return pegasos.load(path)


def forget_rows(model):
    """Drop from a model what the file does not keep."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    for one in (last, getattr(last, "best_estimator_", last)):
        of_rows = OF_SDCA if getattr(one, "solver", "") == "sdca" else ()
        for name in (*NOT_KEPT, *of_rows):
            vars(one).pop(name, None)
    return model


@pytest.mark.parametrize("name", CASES)
def test_all_that_is_kept_comes_back(tmp_path, name):
    model, _ = fitted(name)
    loaded = round_trip(model, tmp_path)
    clone(loaded)  # as scikit-learn expects: parameters are as the constructor left them
    assert_same(forget_rows(model), loaded)


@pytest.mark.parametrize("name", [name for name in CASES if name != "grid without refit"])
def test_predictions_are_the_same_to_the_last_bit(tmp_path, name):
    model, rows = fitted(name)
    loaded = round_trip(model, tmp_path)
    assert_same(model.predict(rows), loaded.predict(rows))
    assert_same(model.decision_function(rows), loaded.decision_function(rows))
    if hasattr(model, "predict_proba"):
        assert_same(model.predict_proba(rows), loaded.predict_proba(rows))
    assert hasattr(model, "predict_proba") == hasattr(loaded, "predict_proba")


def test_a_grid_without_refit_keeps_its_results_and_cannot_predict(tmp_path):
    loaded = round_trip(fitted("grid without refit")[0], tmp_path)
    assert loaded.best_params_["lam"] in (0.1, 1.0)
    with pytest.raises(AttributeError, match="refit=False"):
        loaded.predict(X)


@pytest.mark.parametrize(
    "name",
    [
        "pegasos",
        "pegasos log",
        "pegasos projected",
        "perceptron",
        "perceptron mean",
        "rbf",
        "rbf of float32",
        "kernel perceptron",
        "kernel perceptron mean",
    ],
)
def test_partial_fit_goes_on_as_if_nothing_had_happened(tmp_path, name):
    model, rows = fitted(name)
    loaded = round_trip(model, tmp_path)
    labels = CASES[name][2]
    for one in (model, loaded):
        one.partial_fit(rows[::-1][:40], labels[::-1][:40])
    assert_same(model.decision_function(rows), loaded.decision_function(rows))
    assert loaded.n_steps_ == model.n_steps_
    assert not hasattr(loaded, "objective_")


def test_a_warm_start_goes_on_with_the_weights_and_new_draws(tmp_path):
    options = {"max_steps": 50, "tol": None, "warm_start": True, "random_state": 0}
    model = PegasosClassifier(**options).fit(X, Y2)
    loaded = round_trip(model, tmp_path).fit(X, Y2)
    assert loaded.n_steps_ == 100
    del model._draw_stream
    assert_same(model.fit(X, Y2).coef_, loaded.coef_)


def test_sparse_coefficients_stay_sparse(tmp_path):
    model = fitted("pegasos log")[0].sparsify()
    loaded = round_trip(model, tmp_path)
    assert_same(model.coef_, loaded.coef_)
    assert sp.issparse(loaded.coef_)
    assert_same(model.decision_function(X), loaded.decision_function(X))
    assert_same(model.densify().coef_, loaded.densify().coef_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-1, 1], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([-1.0, 2.0]),
        np.array([-1.0, 2.0], dtype=np.float32),
        np.array(["no", "yes"], dtype="U9"),
        np.array(["ä", "😀\ud800"], dtype=object),
        np.array([1, 2], dtype=object),
        np.array(["", 'x\n"\\'], dtype=object),
    ],
    ids=repr,
)
def test_labels_of_every_kind(tmp_path, labels):
    model = PerceptronClassifier(max_iter=1, max_steps=5)
    model.partial_fit(X[:20], labels[Y2[:20]], classes=labels)
    assert_same(model.classes_, round_trip(model, tmp_path).classes_)


def test_feature_names_are_kept_and_checked(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b", "c", "d", "é"])
    model = PegasosClassifier(solver="sdca").fit(table, Y2)
    loaded = round_trip(model, tmp_path)
    assert_same(model.feature_names_in_, loaded.feature_names_in_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table.rename(columns={"a": "z"}))
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(solver="sdca")).fit(table, Y2)
    assert_same(pipeline.feature_names_in_, round_trip(pipeline, tmp_path).feature_names_in_)


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": {0: 1.0, 1: 2.5}},
        {"class_weight": "balanced", "lam": 1, "max_iter": np.int64(7)},
        {"lam": 0.1 + 0.2, "tol": 0, "n_jobs": -1, "verbose": False},
        {"random_state": 2**32 - 1, "intercept_scaling": np.float32(0.1)},
    ],
)
def test_parameters_come_back_as_they_were(tmp_path, params):
    model = PegasosClassifier(solver="sdca")
    model.fit(X, Y2).set_params(**params)
    loaded = round_trip(model, tmp_path).get_params()
    assert loaded == model.get_params()


def test_the_header_says_what_the_model_is(tmp_path):
    model, _ = fitted("sdca")
    pegasos.save(model, tmp_path / "m")
    header, arrays = opened((tmp_path / "m").read_bytes())
    node = header["model"]
    assert node["estimator"] == "PegasosClassifier"
    assert node["classes"]["values"] == ["ant", "bee", "cat"]
    assert node["certificate"]["gap"] == model.duality_gap_.tolist()
    assert header["versions"]["pegasos"] == pegasos.__version__
    np.testing.assert_array_equal(arrays["coef"], model.coef_)


def test_a_loaded_model_saves_as_the_same_header_and_arrays(tmp_path):
    model, _ = fitted("rbf")
    pegasos.save(model, tmp_path / "a")
    pegasos.save(pegasos.load(tmp_path / "a"), tmp_path / "b")
    assert_same(opened((tmp_path / "a").read_bytes()), opened((tmp_path / "b").read_bytes()))


@pytest.mark.parametrize("name", ["pegasos", "rbf", "grid", "imputer, scaler, model"])
def test_how_indices_are_counted_is_kept_until_the_next_fit(tmp_path, name):
    model, _ = fitted(name)
    last = model[-1] if name.startswith("imputer") else model
    last.zero_based_ = True
    try:
        loaded = round_trip(model, tmp_path)
        last_loaded = loaded[-1] if name.startswith("imputer") else loaded
        assert last_loaded.zero_based_ is True
        assert opened((tmp_path / "model.safetensors").read_bytes())[0]["zero_based"] is True
    finally:
        del last.zero_based_
    last_loaded.fit(X, Y2)
    assert not hasattr(last_loaded, "zero_based_")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: PegasosClassifier(), "is not fitted"),
        (lambda: make_pipeline(StandardScaler(), PegasosClassifier()), "not fitted"),
        (lambda: StandardScaler().fit(X), "StandardScaler cannot be stored"),
        (
            lambda: KernelPegasosClassifier(
                kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T, solver="sdca"
            ).fit(X, Y2),
            "kernel that is a function",
        ),
        (
            lambda: PegasosClassifier(solver="sdca", random_state=np.random.default_rng(0)).fit(
                X, Y2
            ),
            "random_state=Generator.* cannot be stored.*set_params",
        ),
        (
            lambda: PegasosCV((0.1,), steps=(20,), scoring=lambda m, X, y: 0.0).fit(X, Y2),
            "scoring=.* cannot be stored",
        ),
        (
            lambda: make_pipeline(PolynomialFeatures(2), PegasosClassifier(solver="sdca")).fit(
                X, Y2
            ),
            "PolynomialFeatures cannot be stored; use SimpleImputer",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_written(tmp_path, model, message):
    with pytest.raises(ModelError, match=message) as caught:
        pegasos.save(model(), tmp_path / "model")
    assert caught.value.message
    assert caught.value.hint
    assert not list(tmp_path.iterdir())


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    model, _ = fitted("pegasos")
    model.coef_[0, 0] = np.nan
    with pytest.raises(ModelError, match="coef holds values that are not finite"):
        pegasos.save(model, tmp_path / "model")


def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path):
    model, _ = fitted("pegasos")
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    pegasos.save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert_same(model.coef_, pegasos.load(tmp_path / "real").coef_)
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link"}


@pytest.mark.parametrize("place", ["", "missing/model", "file/model"])
def test_a_place_that_cannot_be_written_to_is_an_error_with_a_hint(tmp_path, place):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"cannot write .*; choose a folder"):
        pegasos.save(fitted("pegasos")[0], tmp_path / place)


def test_paths_may_be_texts(tmp_path):
    model, _ = fitted("pegasos")
    pegasos.save(model, str(tmp_path / "m"))
    assert_same(pegasos.load(str(tmp_path / "m")).coef_, model.coef_)


def test_the_description_of_the_format_is_true(tmp_path):
    text = (Path(__file__).parents[1] / "docs/model_files.md").read_text()
    example = text.split("```json\n")[1].split("```")[0]
    header = json.loads(example)
    pegasos.save(PegasosClassifier(solver="sdca").fit(X, Y2), tmp_path / "m")
    written, _ = opened((tmp_path / "m").read_bytes())
    for part in (lambda h: h, lambda h: h["model"], lambda h: h["model"]["parameters"]):
        assert list(part(header)) == list(part(written))


def test_missing_values_and_labels_survive_a_pipeline_that_goes_on(tmp_path):
    model, _ = fitted("imputer, scaler, model")
    loaded = round_trip(model, tmp_path)
    assert_same(loaded.score(HOLES, Y3), model.score(HOLES, Y3))
    assert_same(loaded.fit(HOLES, Y3).steps[0][1].statistics_, model.steps[0][1].statistics_)
