"""A model file from anyone: it is the model that was saved, or a ModelError, and never runs."""

import os
import pickle
import struct

import joblib
import numpy as np
import pytest

import pegasos
from pegasos.io import ModelError
from pegasos.io._model_container import from_bytes
from pegasos.io._model_file import _restored

from .model_helpers import CASES, X, closed, fitted, opened


def content_of(model, folder):
    pegasos.save(model, folder / "model")
    return (folder / "model").read_bytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {name: content_of(fitted(name)[0], folder) for name in CASES}


@pytest.fixture
def refuses(tmp_path):
    """Return a function that loads some content, and checks how it is refused."""

    def refuses(content, message):
        (tmp_path / "given").write_bytes(content)
        with pytest.raises(ModelError, match=message) as caught:
            pegasos.load(tmp_path / "given")
        assert caught.value.message.startswith(str(tmp_path / "given"))
        assert caught.value.hint
        assert isinstance(caught.value, ValueError)

    return refuses


class Trap:
    """Whoever unpickles this makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("sprung",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_refused_and_not_run(refuses, tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    refuses(pickle.dumps(Trap(), protocol=protocol), "pickle, which may run any program")
    assert not (tmp_path / "sprung").exists()


def test_other_files_are_refused(refuses, tmp_path, files):
    joblib.dump(fitted("pegasos")[0], tmp_path / "joblib.gz", compress=3)
    np.savez(tmp_path / "arrays.npz", a=X)
    refuses((tmp_path / "joblib.gz").read_bytes(), "not a model file|no model file")
    refuses((tmp_path / "arrays.npz").read_bytes(), "not a model file|no model file")
    refuses(b"", "not a model file")
    refuses(b"solver_type L2R_LR\n", "not a model file of pegasos; .*from_liblinear")
    refuses(bytes(1000), "cut off, or no model file")
    refuses(pickle.dumps(Trap(), protocol=0), "not a model file")
    import safetensors.numpy

    refuses(safetensors.numpy.save({"a": X}), "not a model file of pegasos")
    refuses(safetensors.numpy.save({"a": X}, {"format": "pt"}), "not a model file of pegasos")


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path, "is not a file"),
        (tmp_path / "pipe", "is not a file"),
        ("/dev/zero", "is not a file"),
        (tmp_path / "missing", "cannot read the file: No such file"),
    ]:
        with pytest.raises(ModelError, match=message):
            pegasos.load(path)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 10**8 + 1, 10**7, 1, 0])
def test_an_absurd_length_of_the_header_is_refused(refuses, files, length):
    refuses(struct.pack("<Q", length) + files["pegasos"][8:], "model file|cut off")


def test_every_truncation_is_refused(files):
    content = files["perceptron"]
    for n in range(0, len(content), 7):
        with pytest.raises(ModelError):
            from_bytes(content[:n])
    with pytest.raises(ModelError):
        from_bytes(content + b"\0")


def test_a_newer_format_is_refused_with_the_remedy(refuses, files):
    header, arrays = opened(files["pegasos"])
    refuses(closed(header, arrays, version="2"), "format version 2; .*pip install --upgrade")
    refuses(closed(header, arrays, version="9" * 5000), "format version 999999999;")
    for odd in ("0", "", "one", "-1", "1.0", "²"):
        refuses(closed(header, arrays, version=odd), "is no format version")
    refuses(closed(header, arrays, more="?"), "other entries")


def test_changed_arrays_and_headers_are_noticed(refuses, files):
    content = bytearray(files["pegasos"])
    content[-1] ^= 1
    refuses(bytes(content), "not those that were saved")
    lam = files["pegasos"].replace(b'\\"lam\\": 0.001', b'\\"lam\\": 0.002', 1)
    assert lam != files["pegasos"]
    refuses(lam, "another checksum")


def edit(content, change):
    """Return the file after a change of its header and arrays, with checksums that fit."""
    header, arrays = opened(content)
    change(header, arrays)
    return closed(header, arrays)


def put(*keys, value):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        assert keys[-1] in header
        header[keys[-1]] = value

    return change


def swap(name, value):
    def change(header, arrays):
        assert name in arrays
        arrays[name] = value(arrays[name]) if callable(value) else value

    return change


def with_nan(array):
    array.flat[0] = np.nan
    return array


def certificate(objective, dual, gap):
    return {"objective": objective, "dual": dual, "gap": gap}


EDITS = [
    ("pegasos", put("model", "estimator", value="os.system"), "estimator is 'os.system'"),
    ("pegasos", put("model", "estimator", value=["PegasosClassifier"]), "estimator is"),
    ("pegasos", put("model", value=None), "is not an object"),
    ("pegasos", put("versions", value={"pegasos": 1}), "versions are not texts"),
    ("pegasos", lambda h, a: h.update(zero_based=1), "zero_based is neither true nor false"),
    ("pegasos", put("model", "parameters", value={"lam": 1.0}), "lacks some"),
    ("pegasos", put("model", "parameters", "lam", value=-1.0), "'lam' parameter"),
    ("pegasos", put("model", "parameters", "lam", value="1"), "'lam' parameter"),
    ("pegasos", put("model", "parameters", "solver", value="lbfgs"), "'solver' parameter"),
    ("pegasos", put("model", "parameters", "max_iter", value=10**30), "too large"),
    ("pegasos", put("model", "parameters", "n_jobs", value=10**6), "1000000 threads"),
    ("pegasos", put("model", "parameters", "tol", value={"call": "x"}), "not the value of a"),
    ("pegasos", put("model", "parameters", "class_weight", value={"dict": [[[], 1]]}), "keys"),
    ("pegasos", put("model", "n_features", value=4), "array coef is float64 of shape"),
    ("pegasos", put("model", "n_features", value=2**62), "array coef is float64 of shape"),
    ("pegasos", put("model", "n_features", value=-5), "not a whole number"),
    ("pegasos", put("model", "n_features", value=5.0), "not a whole number"),
    ("pegasos", put("model", "n_features", value=True), "not a whole number"),
    ("pegasos", put("model", "feature_names", value=["a"]), "1 names for 5 features"),
    ("pegasos", put("model", "feature_names", value=list("abcda")), "have the same name"),
    ("pegasos", put("model", "n_steps", value=2**63), "not a whole number"),
    ("pegasos", put("model", "n_violations", value=[1, 2]), "n_violations"),
    ("pegasos", put("model", "certificate", "gap", value="nan"), "certificate"),
    ("pegasos", put("model", "certificate", "gap", value=[0.0]), "certificate"),
    ("pegasos", put("model", "certificate", value={"gap": 0.0}), "objective is missing"),
    ("pegasos", put("model", "certificate", value=certificate(1.0, 2.0, -1.0)), "impossible"),
    ("pegasos", put("model", "certificate", value=certificate(1.0, 0.5, 0.1)), "impossible"),
    ("pegasos", put("model", "certificate", value=certificate(1.0, 0.5, "inf")), "impossible"),
    ("pegasos", put("model", "certificate", value=certificate(1.0, "-inf", 0.1)), "impossible"),
    ("pegasos", put("model", "certificate", value=certificate("inf", 0.1, "inf")), "impossible"),
    ("sdca", put("model", "certificate", "gap", value=[0.0, 0.0, 0.0]), "impossible"),
    ("pegasos", put("model", "history", value=["step"]), "history has other columns"),
    ("pegasos", put("model", "coef", value="csc_matrix"), "coef is 'csc_matrix'"),
    ("pegasos", put("model", "state", "lam", value="x"), "state.lam is not a finite number"),
    ("pegasos", put("model", "classes", "values", value=[1, 0]), "in order"),
    ("pegasos", put("model", "classes", "values", value=[1, 1]), "in order"),
    ("pegasos", put("model", "classes", "values", value=[1]), "two or more"),
    ("pegasos", put("model", "classes", "values", value=["a", "b"]), "not all numbers of type"),
    ("pegasos", put("model", "classes", "values", value=[0, 2**63]), "not all numbers of type"),
    ("pegasos", put("model", "classes", "dtype", value="datetime64[s]"), "not a type of numbers"),
    ("pegasos", put("model", "classes", "dtype", value="object"), None),
    ("sdca", put("model", "classes", "width", value=2**40), "cannot hold the classes"),
    ("sdca", put("model", "classes", "width", value=1), "cannot hold the classes"),
    ("sdca", put("model", "classes", "values", value=["a", "b", 3]), "not all classes are texts"),
    ("pegasos", swap("coef", with_nan), "coef holds values that are not finite"),
    ("pegasos", swap("intercept", with_nan), "intercept holds values that are not finite"),
    ("pegasos", swap("coef", lambda a: a.T.copy()), "of shape"),
    ("pegasos", swap("coef", lambda a: a.astype(np.int64)), "is int64"),
    ("pegasos", swap("state.tally", lambda a: a * 0), "counts no steps"),
    ("pegasos", lambda h, a: a.pop("coef"), "array coef is missing"),
    ("pegasos", lambda h, a: a.update(more=X), "array more is unknown"),
    ("pegasos", lambda h, a: h["model"].update(code="import os"), "code is unknown"),
    ("pegasos", lambda h, a: h.update(code="import os"), "code is unknown"),
    ("rbf", swap("dual_coef", with_nan), "dual_coef holds values that are not finite"),
    ("rbf", swap("support_vectors", with_nan), "support_vectors holds values"),
    ("rbf", swap("support_vectors", lambda a: a[:, 1:].copy()), "of shape"),
    ("rbf", swap("support", lambda a: a - 1), "not among the 90 rows"),
    ("rbf", put("model", "kernel", "gamma", value=0.0), "gamma is not positive"),
    ("rbf", put("model", "kernel", "degree", value=0), "degree is not a whole number"),
    ("rbf", put("model", "kernel", "name", value="precomputed"), "coef0 is unknown"),
    ("rbf", put("model", "kernel", "name", value="sigmoid"), "name is 'sigmoid'"),
    ("rbf", put("model", "kernel", value={"name": "precomputed"}), "do not fit each other"),
    ("rbf", put("model", "parameters", "memory", value="all"), "memory"),
    ("rbf", put("model", "rows_seen", value=3), "not among the 3 rows"),
    ("rbf", put("model", "support_vectors", value=None), "support vectors are missing"),
    ("rbf", put("model", "intercept", value=1.0), "one intercept for several classes"),
    ("precomputed", put("model", "n_features", value=3), "not among the 3 rows"),
    ("precomputed", put("model", "support_vectors", value="dense"), "there in vain"),
    ("rbf of csr_array", swap("support_vectors.indices", lambda a: a + 5), "columns outside"),
    ("rbf of csr_array", swap("support_vectors.indices", lambda a: a - 1), "columns outside"),
    ("rbf of csr_array", swap("support_vectors.indptr", lambda a: a[::-1].copy()), "do not follow"),
    ("rbf of csr_array", swap("support_vectors.indptr", lambda a: a + 1), "do not follow"),
    ("rbf of csr_array", swap("support_vectors.data", lambda a: a[1:].copy()), "of shape"),
    ("grid", put("model", "axes", "lam", value=[0.1, -1.0]), "lam"),
    ("grid", put("model", "axes", "lam", value=[0.1]), "of shape"),
    ("grid", put("model", "axes", value={"lam": [0.1]}), "other axes"),
    ("grid", put("model", "n_splits", value=4), "of shape"),
    ("grid", put("model", "best", value=None), "best estimator is missing"),
    ("grid", put("model", "best", "estimator", value="PegasosCV"), "estimator is 'PegasosCV'"),
    ("grid", put("model", "classes", "values", value=["a", "b", "c"]), "other data"),
    ("grid", put("model", "parameters", "lams", value=3), "'lams' parameter"),
    ("imputer, scaler, model", put("model", "names", value=["a", "a", "b"]), "not allowed"),
    ("imputer, scaler, model", put("model", "names", value=["a", "b", "c__d"]), "not allowed"),
    ("imputer, scaler, model", put("model", "names", value=["a", "b"]), "estimator is"),
    ("imputer, scaler, model", put("model", "names", value=[]), "not a list of texts"),
    (
        "imputer, scaler, model",
        put("model", "steps", "0", "estimator", value="FunctionTransformer"),
        "estimator is 'FunctionTransformer'",
    ),
    (
        "imputer, scaler, model",
        put("model", "steps", "1", "parameters", "with_mean", value=7),
        "'with_mean' parameter",
    ),
    (
        "imputer, scaler, model",
        lambda h, a: h["model"]["steps"]["1"]["parameters"].update(new=1),
        "has no parameter new; update scikit-learn",
    ),
    (
        "two scalers, kernel",
        put("model", "steps", "0", "parameters", "feature_range", value={"tuple": [1]}),
        "scales to",
    ),
    ("imputer, scaler, model", swap("steps.1.scale", lambda a: a * 0), "divides by zero"),
    ("imputer, scaler, model", swap("steps.1.mean", with_nan), "not finite"),
    ("imputer, scaler, model", swap("steps.0.statistics", with_nan), "do not fit each other"),
]


@pytest.mark.parametrize(("name", "change", "message"), EDITS)
def test_an_edited_file_with_right_checksums_is_refused(refuses, files, name, change, message):
    content = edit(files[name], change)
    if message is not None:
        refuses(content, message)
    else:  # another model, but a sound one
        _restored(*from_bytes(content)).predict(X)


def test_arrays_of_other_types_are_refused(refuses, files):
    for dtype in (np.float16, np.uint8, np.complex64, bool):
        content = edit(files["pegasos"], swap("coef", lambda a, dtype=dtype: a.astype(dtype)))
        refuses(content, "array coef is of type")


def test_json_that_is_deep_or_repeats_itself_is_refused(refuses, files):
    text = b'{"__metadata__": {"format": "pegasos-model", "version": "1", "version": "1"}}'
    refuses(struct.pack("<Q", len(text)) + text, "not JSON")
    text = b'{"__metadata__": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    refuses(struct.pack("<Q", len(text)) + text, "not JSON")
    text = b'{"a": ' + b"9" * 100_000 + b"}"
    refuses(struct.pack("<Q", len(text)) + text, "not JSON")
