"""What pegasos.dask takes and returns, and how it refuses what it cannot take."""

import doctest
import pickle
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import pegasos
from pegasos.dask import PegasosClassifier, PerceptronClassifier

from .dask_helpers import cut, fit_serially
from .test_docs import documented_in, signature_of

SIZES = (60, 0, 40, 100)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((200, 3)), 2)
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    return fit(cut(X, SIZES), cut(y, SIZES))


def fit(*data, **options):
    return fit_serially(PegasosClassifier(0.05, solver="sdca", random_state=0, **options), *data)


def frame_of(X, y=None):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return frame if y is None else frame.assign(label=y)


def unknown(rows):
    """The same blocks, their sizes not known."""
    rows = rows.map_blocks(lambda block: block, dtype=rows.dtype, meta=rows._meta)
    rows._chunks = ((np.nan,) * len(rows.chunks[0]), *rows.chunks[1:])
    return rows


# --- What is taken --------------------------------------------------------------------------------


def test_sizes_of_chunks_need_not_be_known(data, fitted):
    X, y = data
    model = fit(unknown(cut(X, SIZES)), unknown(cut(y, SIZES)))
    assert_array_equal(model.coef_, fitted.coef_)


def test_columns_in_several_chunks_are_brought_together(data, fitted):
    X, y = data
    both = da.from_array(X, chunks=(SIZES, (2, 1)))
    assert_array_equal(fit(both, cut(y, SIZES)).coef_, fitted.coef_)
    assert_array_equal(fit(unknown(both), unknown(cut(y, SIZES))).coef_, fitted.coef_)
    halves = [cut(sp.csr_matrix(part), SIZES) for part in (X[:, :2], X[:, 2:])]
    sparse = fit(da.concatenate(halves, axis=1), cut(y, SIZES))
    assert_allclose(sparse.coef_, fitted.coef_, rtol=1e-9)


def test_labels_and_weights_in_other_chunks_are_cut_like_the_rows(data, fitted):
    X, y = data
    ones = np.ones(200)
    model = fit(cut(X, SIZES), cut(y, (150, 50)), cut(ones, (10, 190)))
    assert_allclose(model.coef_, fitted.coef_, rtol=1e-9)


def test_labels_and_weights_may_be_a_column(data, fitted):
    X, y = data
    with pytest.warns(UserWarning, match="column-vector"):
        model = fit(cut(X, SIZES), cut(y[:, np.newaxis], SIZES))
    assert_array_equal(model.coef_, fitted.coef_)


def test_dataframes_bring_their_names(data):
    X, y = data
    frame = dd.from_pandas(frame_of(X, y), npartitions=4)
    model = fit(frame[["a", "b", "c"]], frame["label"])
    arrays = fit(frame[["a", "b", "c"]].to_dask_array(), cut(y, (50,) * 4))
    assert_array_equal(model.coef_, arrays.coef_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(arrays, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"})[["z", "b", "c"]])


def test_partitions_of_a_dataframe_may_be_empty(data):
    X, y = data
    frame = dd.from_pandas(frame_of(X, y), npartitions=4)
    some = frame[frame["a"] > -5]
    some = dd.concat([some, frame[frame["a"] > 1e6]])
    model = fit(some[["a", "b", "c"]], some["label"])
    assert model.n_shards_ == 4
    assert model.predict(some[["a", "b", "c"]]).compute().shape == (200,)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-3, 7]),
        np.array([0.0, 1.0]),
        np.array(["a", "longer"]),
        np.array(["a", "b"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_are_of_any_kind(data, labels):
    X, y = data
    named = labels[(y == "yes").astype(int)]
    model = fit(cut(X, SIZES), cut(named, SIZES))
    assert_array_equal(model.classes_, labels)
    predicted = model.predict(cut(X, SIZES))
    assert predicted.dtype == model.classes_.dtype
    assert_array_equal(predicted.compute(scheduler="sync"), model.predict(X))


def test_a_block_is_used_in_place(data):
    from pegasos.dask._read import read_part

    X, y = data
    for block in (X, X.astype(np.float32), sp.csr_matrix(X)):
        read = read_part(0, 3, False, {"X": [block], "y": [y]}).view.X
        assert np.shares_memory(getattr(read, "data", read), getattr(block, "data", block))


# --- What is returned -----------------------------------------------------------------------------


def test_predictions_of_dask_collections_are_dask_collections(data, fitted):
    X, y = data
    local = fitted.to_local()
    for rows in (cut(X, SIZES), unknown(cut(X, SIZES)), cut(sp.csr_matrix(X), SIZES)):
        scores, labels = fitted.decision_function(rows), fitted.predict(rows)
        accuracy = fitted.score(rows, cut(y, SIZES))
        assert all(isinstance(lazy, da.Array) for lazy in (scores, labels, accuracy))
        with dask.config.set(scheduler="sync"):
            assert_allclose(scores.compute(), local.decision_function(X), rtol=1e-12)
            assert_array_equal(labels.compute(), local.predict(X))
            assert float(accuracy) == local.score(X, y)


def test_predictions_of_a_dataframe_are_dask_arrays(data):
    X, y = data
    frame = dd.from_pandas(frame_of(X, y), npartitions=3)
    features = frame[["a", "b", "c"]]
    model = fit(features, frame["label"])
    with dask.config.set(scheduler="sync"):
        assert isinstance(model.predict(features), da.Array)
        assert_array_equal(model.predict(features).compute(), model.predict(frame_of(X)))
        assert float(model.score(features, frame["label"])) == model.score(frame_of(X), y)


def test_several_classes_have_a_column_each(three_classes):
    X, y = three_classes
    sizes = (100, 150, 0, 50)
    model = fit(cut(X, sizes), cut(y, sizes), loss="log")
    local = model.to_local()
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    with dask.config.set(scheduler="sync"):
        for method in ("decision_function", "predict_proba", "predict_log_proba"):
            lazy = getattr(model, method)(cut(X, sizes))
            assert lazy.shape == (300, 3)
            assert_allclose(lazy.compute(), getattr(local, method)(X), rtol=1e-12)
            assert_allclose(getattr(model, method)(X), getattr(local, method)(X), rtol=1e-12)
            of_frame = getattr(model, method)(frame)
            assert_allclose(of_frame.compute(), getattr(local, method)(X), rtol=1e-12)


def test_the_score_takes_weights(data, fitted):
    X, y = data
    weight = np.arange(200.0)
    lazy = fitted.score(cut(X, SIZES), cut(y, SIZES), cut(weight, SIZES))
    assert float(lazy.compute(scheduler="sync")) == pytest.approx(fitted.score(X, y, weight))


def test_data_in_memory_is_scored_at_once(data, fitted):
    X, y = data
    assert isinstance(fitted.predict(X), np.ndarray)
    assert isinstance(fitted.score(X, y), float)


def test_probabilities_need_the_log_loss(fitted):
    assert not hasattr(fitted, "predict_proba")


# --- An ordinary model ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        PegasosClassifier(0.1, random_state=0),
        PegasosClassifier(0.1, solver="sdca", loss="log", random_state=0, shards=2),
        PerceptronClassifier(average="uniform", max_iter=3),
    ],
    ids=["pegasos", "sdca", "perceptron"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fitted_model_is_saved_as_an_ordinary_one(model, data, tmp_path):
    X, y = data
    fit_serially(model, cut(X, SIZES), cut(y, SIZES))
    pegasos.save(model, tmp_path / "model.safetensors")
    again = pegasos.load(tmp_path / "model.safetensors")
    assert type(again) is getattr(pegasos, type(model).__name__)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert "shards" not in again.get_params()
    if isinstance(model, PegasosClassifier):
        assert again.duality_gap_ == model.duality_gap_


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(pegasos.io.ModelError, match="not fitted"):
        pegasos.save(PegasosClassifier(), tmp_path / "model.safetensors")


def test_a_clone_shares_the_client_and_a_pickle_has_none(fitted):
    client = object()
    model = clone(PegasosClassifier(0.3, client=client, class_weight={"yes": 2.0}))
    assert model.client is client
    assert model.get_params()["lam"] == 0.3
    assert pickle.loads(pickle.dumps(model)).client is None
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).coef_, fitted.coef_)


def test_a_failing_fit_leaves_the_model_as_it_was(data, fitted):
    X, _ = data
    before = fitted.coef_.copy()
    with pytest.raises(ValueError, match="only one class"):
        fit_serially(fitted, cut(X, SIZES), cut(np.full(200, "no"), SIZES))
    assert_array_equal(fitted.coef_, before)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 5}, "batch_size=5 has no meaning in pegasos.dask: .* use batch_size=1"),
        ({"sampling": "uniform"}, "sampling='uniform' has no meaning .* every row .* once"),
        ({"project": True}, "project=True has no meaning"),
        ({"warm_start": True}, "warm_start=True has no meaning"),
        ({"shards": 5}, "shards=5 is more than the 4 partitions of X"),
        ({"n_jobs": 0}, "n_jobs == 0 has no meaning"),
        ({"lam": -1.0}, "'lam' parameter .* must be a float"),
        ({"shards": 0}, "'shards' parameter .* must be an int"),
        ({"class_weight": {"maybe": 2}}, "class_weight names .'maybe'."),
    ],
)
def test_options_without_a_meaning_are_refused(data, options, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        fit_serially(PegasosClassifier(**options), cut(X, SIZES), cut(y, SIZES))


def spoiled(X, row, value):
    X = X.copy()
    X[row, 1] = value
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (spoiled(X, 150, np.nan), y), "partition 3: Input X contains NaN"),
        (lambda X, y: (spoiled(X, 5, np.inf), y), "partition 0: Input X contains infinity"),
        (lambda X, y: (X, np.full(200, "no")), "only one class: .'no'."),
        (lambda X, y: (X, X[:, 0]), r"partition \d: Unknown label type: continuous"),
        (lambda X, y: (X * 1e200, y), "the objective overflows: the largest value in X"),
        (lambda X, y: (X[:0], y[:0]), "only one class: \\[\\]"),
    ],
)
def test_bad_values_are_named(data, change, message):
    X, y = change(*data)
    sizes = SIZES if len(y) else (0, 0)
    with pytest.raises(ValueError, match=message):
        fit(cut(X, sizes), cut(y, sizes))


def test_labels_that_are_missing_are_refused(data):
    X, y = data
    holes = np.where(y == "yes", 1.0, 0.0)
    holes[3] = np.nan
    with pytest.raises(ValueError, match="partition 0: Input y contains NaN"):
        fit(cut(X, SIZES), cut(holes, SIZES))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(200), "sample_weight is zero for every row"),
        (np.full(200, -1.0), r"partition \d: Negative values"),
        (np.full(200, np.nan), r"partition \d: Input sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_refused(data, weight, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        fit(cut(X, SIZES), cut(y, SIZES), cut(weight, SIZES))


def test_partitions_that_do_not_fit_together_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="X has 200 rows, y has 199"):
        fit(cut(X, SIZES), cut(y[1:], (199,)))
    with pytest.raises(ValueError, match="X has 4 partitions, y has 2; cut both alike"):
        fit(unknown(cut(X, SIZES)), unknown(cut(y, (100, 100))))
    with pytest.raises(ValueError, match=r"partition \d: .*inconsistent numbers of samples"):
        fit(unknown(cut(X, SIZES)), unknown(cut(y, (61, 0, 39, 100))))
    frame = dd.from_pandas(frame_of(X), npartitions=2)
    with pytest.raises(ValueError, match="X has 2 partitions, y has 4"):
        fit(frame, cut(y, SIZES))


def test_labels_of_different_kinds_in_different_partitions_are_refused(data):
    X, y = data
    parts = [dask.delayed(y[:100]), dask.delayed(np.arange(100) % 2)]
    mixed = da.concatenate([da.from_delayed(part, (100,), dtype=object) for part in parts])
    with pytest.raises(TypeError, match="y holds labels of kinds"):
        fit(cut(X, (100, 100)), mixed)


def test_data_in_memory_is_refused_with_the_remedy(data):
    X, y = data
    with pytest.raises(TypeError, match=r"takes a Dask array or dataframe .* got ndarray"):
        fit(X, y)
    with pytest.raises(TypeError, match="y must be a Dask array or series like X; got ndarray"):
        fit(cut(X, SIZES), y)
    with pytest.raises(TypeError, match="of two dimensions; got Array of 1 dimension"):
        fit(cut(y, SIZES), cut(y, SIZES))


def test_without_a_client_the_message_says_how_to_get_one(data):
    X, y = data
    with pytest.raises(ValueError, match=r"there is no Dask client; connect one first"):
        PegasosClassifier().fit(cut(X, SIZES), cut(y, SIZES))
    with pytest.raises(TypeError, match=r"client must be a distributed.Client"):
        PegasosClassifier(client="tcp://here:8786").fit(cut(X, SIZES), cut(y, SIZES))


def test_without_distributed_the_message_names_the_extra(data, monkeypatch):
    X, y = data
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'pegasos\[dask\]'"):
        PegasosClassifier().fit(cut(X, SIZES), cut(y, SIZES))


# --- Documentation --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PegasosClassifier, PerceptronClassifier])
def test_docstrings_document_every_parameter_and_their_examples_are_true(kind):
    for item in (kind, kind.fit, kind.predict, kind.decision_function, kind.score):
        assert list(documented_in(item)) == list(signature_of(item))
    for example in doctest.DocTestFinder(recurse=False).find(kind, kind.__name__):
        runner = doctest.DocTestRunner()
        assert runner.run(example).failed == 0
        assert runner.tries > 0
