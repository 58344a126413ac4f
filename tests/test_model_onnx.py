"""A model as an ONNX graph: onnxruntime gives the same classes, scores and probabilities."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier, PerceptronClassifier
from pegasos.io import ModelError, from_libsvm, to_onnx

from .model_helpers import CASES, HOLES, Y2, Y3, X, fitted

onnx = pytest.importorskip("onnx", reason="needs onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")

# Sums of a few hundred products and kernel values, relative to the largest score: a few hundred
# roundings, and in float32 the difference of squares that a distance is.
CLOSE = {"float32": 2e-5, "float64": 1e-12}


def run(path, rows):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def check(model, rows, path, dtype):
    to_onnx(model, path, dtype=dtype)
    rows = (rows.toarray() if sp.issparse(rows) else rows).astype(dtype)
    answer = run(path, rows)
    scores = model.decision_function(rows)
    largest = np.abs(scores).max()
    assert answer["scores"].dtype == dtype
    assert answer["scores"].shape == scores.shape
    np.testing.assert_allclose(answer["scores"], scores, rtol=0, atol=CLOSE[dtype] * largest)
    # Where two classes are as close as rounding, either may win.
    gap = np.abs(scores) if scores.ndim == 1 else np.ptp(np.sort(scores)[:, -2:], axis=1)
    clear = gap > 2 * CLOSE[dtype] * largest
    assert clear.mean() > 0.9
    expected = model.predict(rows)
    assert answer["label"].dtype.kind == (
        "O" if expected.dtype.kind == "U" else expected.dtype.kind
    )
    np.testing.assert_array_equal(answer["label"][clear], expected[clear])
    assert ("probabilities" in answer) == hasattr(model, "predict_proba")
    if "probabilities" in answer:
        probabilities = model.predict_proba(rows)
        atol = CLOSE[dtype] * max(1, largest)
        np.testing.assert_allclose(answer["probabilities"], probabilities, rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "grid without refit"])
def test_onnxruntime_answers_as_the_model_does(tmp_path, name, dtype):
    model, rows = fitted(name)
    check(model, rows, tmp_path / "model.onnx", dtype)


@pytest.mark.parametrize("labels", [Y2 == 1, Y2.astype(np.uint8), Y2 * 2.0 - 1, Y3.astype(object)])
def test_labels_of_every_kind(tmp_path, labels):
    model = PegasosClassifier(solver="sdca").fit(X, labels)
    check(model, X, tmp_path / "model.onnx", "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_far_from_the_origin_keep_their_distances(tmp_path, dtype):
    # In float32 alone, distances of about 1 between rows of norm 2,000 would be lost.
    far = (X + 1000).astype(np.float32)
    model = KernelPegasosClassifier(gamma=0.5, solver="sdca").fit(far, Y2)
    check(model, far, tmp_path / "model.onnx", dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_probabilities_are_true_where_sigmoids_vanish(tmp_path, dtype):
    model = PegasosClassifier(0.01, loss="log", solver="sdca").fit(X, Y3)
    model.intercept_ -= 1000  # all sigmoids are 0 in float64
    to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    probabilities = run(tmp_path / "model.onnx", X.astype(dtype))["probabilities"]
    # Scores of about 1,000 have an absolute error of 1e-4 in float32.
    atol = {"float32": 1e-3, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=atol)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Skipping features without any observed:UserWarning")
def test_features_never_seen_are_left_out_as_the_imputer_does(tmp_path):
    rows = HOLES.copy()
    rows[:, 2] = np.nan
    model = make_pipeline(SimpleImputer(strategy="median"), PegasosClassifier(solver="sdca"))
    model.fit(rows, Y2)
    check(model, rows, tmp_path / "model.onnx", "float64")


def test_sparse_coefficients_are_exported(tmp_path):
    model = PegasosClassifier(solver="sdca").fit(X, Y3).sparsify()
    check(model, X, tmp_path / "model.onnx", "float64")


def test_the_bias_of_an_imported_model_is_exported(tmp_path):
    text = (
        "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\n"
        "label 1 -1\nnr_sv 1 1\nSV\n1 1:1 5:2 \n-1 2:1 \n"
    )
    (tmp_path / "text").write_text(text)
    check(from_libsvm(tmp_path / "text"), X, tmp_path / "model.onnx", "float64")


def test_any_number_of_rows_is_taken(tmp_path):
    model, rows = fitted("rbf")
    to_onnx(model, tmp_path / "model.onnx")
    for n in (0, 1, 7):
        answer = run(tmp_path / "model.onnx", rows[:n].astype(np.float32))
        assert answer["label"].shape == (n,)
        assert answer["scores"].shape == (n, 3)


def test_old_runtimes_can_read_the_graph(tmp_path):
    to_onnx(fitted("rbf")[0], tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    assert model.ir_version == 7
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 13)]
    assert model.producer_name == "pegasos"


def test_a_graph_replaces_a_file_at_once(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"old")
    to_onnx(fitted("pegasos")[0], tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (lambda: PegasosClassifier(), {}, "is not fitted"),
        (lambda: fitted("grid without refit")[0], {}, "is not fitted"),
        (lambda: StandardScaler().fit(X), {}, "StandardScaler cannot be exported"),
        (
            lambda: make_pipeline(PolynomialFeatures(2), PerceptronClassifier(max_steps=5)),
            {},
            "PolynomialFeatures cannot be exported",
        ),
        (
            lambda: make_pipeline(
                SimpleImputer(missing_values=-1), PegasosClassifier(solver="sdca")
            ).fit(X, Y2),
            {},
            "impute values that are NaN",
        ),
        (
            lambda: KernelPegasosClassifier(
                kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T, solver="sdca"
            ).fit(X, Y2),
            {},
            "kernel that is a function",
        ),
        (lambda: fitted("pegasos")[0], {"dtype": "float16"}, "got 'float16'"),
    ],
)
def test_what_cannot_be_exported_is_refused(tmp_path, model, options, message):
    with pytest.raises(ModelError, match=message):
        to_onnx(model(), tmp_path / "model.onnx", **options)
    assert not list(tmp_path.iterdir())


def test_a_graph_beyond_the_limit_of_onnx_is_refused(tmp_path):
    model, _ = fitted("rbf of csr_array")
    model.n_features_in_ = 2**31
    with pytest.raises(ModelError, match="more than its 2 GB"):
        to_onnx(model, tmp_path / "model.onnx")


def test_without_onnx_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelError, match=r"pip install 'pegasos\[onnx\]'"):
        to_onnx(fitted("pegasos")[0], tmp_path / "model.onnx")
