"""Text models of liblinear and libsvm mean the same there and here."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosCV,
    KernelPerceptronClassifier,
    PegasosClassifier,
    PegasosCV,
    PerceptronClassifier,
)
from pegasos.io import ModelError, from_liblinear, from_libsvm, to_liblinear, to_libsvm

from .model_helpers import Y2, X, assert_same, fitted

liblinear = pytest.importorskip("liblinear.liblinearutil", reason="needs liblinear-official")
libsvm = pytest.importorskip("libsvm.svmutil", reason="needs libsvm-official")

Y3 = np.array([-3, 1, 20])[Y2 + (X[:, 1] > 0.5)]
# Both add up the same products in another order: 5 features, values of about 1.
CLOSE = {"rtol": 1e-12, "atol": 1e-13}
# And each kernel value has rounding errors of its own, through exp or a power.
KERNEL_CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def predict_by_liblinear(path, rows, options="-q"):
    labels, _, values = liblinear.predict(
        [], sp.csr_matrix(rows), liblinear.load_model(str(path)), options
    )
    return np.array(labels), np.array(values)


def predict_by_libsvm(path, rows):
    labels, _, values = libsvm.svm_predict(
        [], sp.csr_matrix(rows), libsvm.svm_load_model(str(path)), "-q"
    )
    return np.array(labels), np.array(values)[:, 0]


LINEAR = {
    "two classes": (PegasosClassifier(solver="sdca"), Y2),
    "labels -1 and 1": (PegasosClassifier(solver="sdca"), 2 * Y2 - 1),
    "bools": (PegasosClassifier(solver="sdca"), Y2 == 1),
    "floats": (PegasosClassifier(solver="sdca"), Y2.astype(float)),
    "three classes": (PegasosClassifier(solver="sdca"), Y3),
    "no intercept": (PegasosClassifier(solver="sdca", fit_intercept=False), Y3),
    "scaled intercept": (PegasosClassifier(solver="sdca", intercept_scaling=3.0), Y3),
    "log": (PegasosClassifier(solver="sdca", loss="log"), Y2),
    "log of three": (PegasosClassifier(0.01, solver="sdca", loss="log"), Y3),
    "perceptron": (PerceptronClassifier(average="uniform", max_steps=50), Y3),
    "grid": (PegasosCV((0.1,), steps=(100,)), Y3),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_liblinear_predicts_as_the_model_does(tmp_path, name):
    model, y = LINEAR[name]
    model.fit(X, y)
    to_liblinear(model, tmp_path / "model")
    labels, values = predict_by_liblinear(tmp_path / "model", X)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(labels, model.predict(X).astype(int))
    np.testing.assert_allclose(values[:, 0] if scores.ndim == 1 else values, scores, **CLOSE)
    if hasattr(model, "predict_proba"):
        _, values = predict_by_liblinear(tmp_path / "model", X, "-q -b 1")
        order = [1, 0] if scores.ndim == 1 else [0, 1, 2]
        np.testing.assert_allclose(values, model.predict_proba(X)[:, order], **CLOSE)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_goes_to_liblinear_comes_back_exactly(tmp_path, name):
    model, y = LINEAR[name]
    model.fit(X, y)
    to_liblinear(model, tmp_path / "model")
    again = from_liblinear(tmp_path / "model")
    assert_same(again.coef_, model.coef_)
    assert_same(again.intercept_, model.intercept_)
    np.testing.assert_array_equal(again.classes_, model.classes_)
    pegasos.save(again, tmp_path / "saved")
    assert_same(pegasos.load(tmp_path / "saved"), again)


def test_sparse_coefficients_are_exported(tmp_path):
    model = PegasosClassifier(solver="sdca").fit(X, Y2)
    coef = model.coef_
    to_liblinear(model.sparsify(), tmp_path / "model")
    assert_same(from_liblinear(tmp_path / "model").coef_, coef)


@pytest.mark.parametrize("solver", [0, 1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("bias", [-1, 2.5])
@pytest.mark.parametrize("labels", [Y2, 1 - Y2, Y3, Y3[::-1]], ids=["01", "10", "three", "other"])
def test_models_of_liblinear_predict_here_as_there(tmp_path, solver, bias, labels):
    model = liblinear.train(labels, sp.csr_matrix(X), f"-s {solver} -B {bias} -q")
    liblinear.save_model(str(tmp_path / "model"), model)
    expected, _ = predict_by_liblinear(tmp_path / "model", X)
    imported = from_liblinear(tmp_path / "model")
    np.testing.assert_array_equal(imported.predict(X), expected)
    assert hasattr(imported, "predict_proba") == (solver in (0, 6, 7))
    if solver in (0, 6, 7):
        _, values = predict_by_liblinear(tmp_path / "model", X, "-q -b 1")
        order = np.argsort(model.get_labels())
        np.testing.assert_allclose(imported.predict_proba(X), values[:, order], **CLOSE)


def test_regressions_of_liblinear_are_refused(tmp_path):
    model = liblinear.train(X[:, 0], sp.csr_matrix(X), "-s 11 -q")
    liblinear.save_model(str(tmp_path / "model"), model)
    with pytest.raises(ModelError, match="L2R_L2LOSS_SVR is not a classifier"):
        from_liblinear(tmp_path / "model")


KERNELS = {
    "rbf": (KernelPegasosClassifier(solver="sdca"), X, Y2),
    "labels -1 and 1": (KernelPegasosClassifier(0.1, solver="sdca"), X, 2 * Y2 - 1),
    "poly": (KernelPegasosClassifier(0.1, kernel="poly", coef0=1, solver="sdca"), X, Y2),
    "linear": (KernelPegasosClassifier(0.1, kernel="linear", solver="sdca"), X, Y2),
    "csr": (KernelPegasosClassifier(0.1, solver="sdca"), sp.csr_array(X * (X > 0)), Y2),
    "perceptron": (KernelPerceptronClassifier(), X, Y2),
    "grid": (KernelPegasosCV((0.1,), steps=(100,)), X, Y2),
}


@pytest.mark.parametrize("name", KERNELS)
def test_libsvm_predicts_as_the_model_does(tmp_path, name):
    model, rows, y = KERNELS[name]
    model.fit(rows, y)
    to_libsvm(model, tmp_path / "model")
    labels, values = predict_by_libsvm(tmp_path / "model", rows)
    np.testing.assert_array_equal(labels, model.predict(rows))
    np.testing.assert_allclose(values, model.decision_function(rows), **KERNEL_CLOSE)
    again = from_libsvm(tmp_path / "model", n_features=X.shape[1])
    np.testing.assert_allclose(again.decision_function(rows), values, **KERNEL_CLOSE)
    order = np.argsort(-np.sign(model.dual_coef_[0]), kind="stable")
    assert_same(again.dual_coef_, model.dual_coef_[:, order])
    vectors = model.support_vectors_
    vectors = vectors.toarray() if sp.issparse(vectors) else vectors
    assert_same(again.support_vectors_.toarray(), vectors[order])
    assert again._kernel == model._kernel
    pegasos.save(again, tmp_path / "saved")
    assert_same(pegasos.load(tmp_path / "saved"), again)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_constant_of_a_kernel_becomes_libsvms_bias(tmp_path, kernel):
    model = KernelPegasosClassifier(0.1, kernel=kernel, coef0=2.0, solver="sdca").fit(X, Y2)
    to_libsvm(model, tmp_path / "model")
    labels, values = predict_by_libsvm(tmp_path / "model", X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(values, model.decision_function(X), **KERNEL_CLOSE)
    again = from_libsvm(tmp_path / "model", n_features=X.shape[1])
    np.testing.assert_allclose(again.intercept_, 2 * model.dual_coef_.sum(axis=1))
    np.testing.assert_allclose(again.decision_function(X), values, **KERNEL_CLOSE)


def test_a_precomputed_kernel_goes_to_libsvm_and_back(tmp_path):
    K = X @ X.T + 1
    model = KernelPegasosClassifier(0.1, kernel="precomputed", solver="sdca").fit(K, Y2)
    to_libsvm(model, tmp_path / "model")
    rows = [{0: i + 1, **{j + 1: value for j, value in enumerate(row)}} for i, row in enumerate(K)]
    labels, _, values = libsvm.svm_predict(
        [], rows, libsvm.svm_load_model(str(tmp_path / "model")), "-q"
    )
    np.testing.assert_array_equal(labels, model.predict(K))
    np.testing.assert_allclose(np.ravel(values), model.decision_function(K), **KERNEL_CLOSE)
    again = from_libsvm(tmp_path / "model", n_features=len(K))
    np.testing.assert_allclose(
        again.decision_function(K), model.decision_function(K), **KERNEL_CLOSE
    )


@pytest.mark.parametrize("options", ["-t 2 -g 0.3", "-t 1 -d 2 -r 1 -g 0.5", "-t 0", "-s 1 -n 0.3"])
@pytest.mark.parametrize("labels", [Y2, 1 - Y2, 7 * Y2 - 3], ids=["01", "10", "-3 and 4"])
def test_models_of_libsvm_predict_here_as_there(tmp_path, options, labels):
    model = libsvm.svm_train(labels, sp.csr_matrix(X), f"{options} -q")
    libsvm.svm_save_model(str(tmp_path / "model"), model)
    expected, values = predict_by_libsvm(tmp_path / "model", X)
    imported = from_libsvm(tmp_path / "model")
    np.testing.assert_array_equal(imported.predict(X), expected)
    sign = 1 if model.get_labels()[0] > model.get_labels()[1] else -1
    np.testing.assert_allclose(imported.decision_function(X), sign * values, **KERNEL_CLOSE)
    pegasos.save(imported, tmp_path / "saved")
    loaded = pegasos.load(tmp_path / "saved")
    assert_same(loaded.decision_function(X), imported.decision_function(X))
    to_libsvm(loaded, tmp_path / "again")
    np.testing.assert_allclose(predict_by_libsvm(tmp_path / "again", X)[1], sign * values, **CLOSE)


def test_a_fit_forgets_an_imported_bias(tmp_path):
    model = libsvm.svm_train(Y2, sp.csr_matrix(X), "-q")
    libsvm.svm_save_model(str(tmp_path / "model"), model)
    imported = from_libsvm(tmp_path / "model").set_params(random_state=0)
    assert imported.intercept_[0] != 0
    imported.fit(X, Y2)
    fresh = KernelPegasosClassifier(**imported.get_params()).fit(X, Y2)
    assert_same(imported.decision_function(X), fresh.decision_function(X))


def test_libsvm_models_of_three_classes_are_refused_both_ways(tmp_path):
    libsvm.svm_save_model(str(tmp_path / "m"), libsvm.svm_train(Y3, sp.csr_matrix(X), "-q"))
    with pytest.raises(ModelError, match="two classes was expected; got c_svc of 3"):
        from_libsvm(tmp_path / "m")
    model = KernelPegasosClassifier(solver="sdca").fit(X, Y3)
    with pytest.raises(ModelError, match="pairs, this model each of its 3 classes"):
        to_libsvm(model, tmp_path / "n")
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("export", "model", "message"),
    [
        (to_liblinear, "pegasos log", "whole numbers as labels only; .*'ant'"),
        (to_liblinear, "rbf", "is not a linear model"),
        (to_libsvm, "pegasos", "is not a kernel machine; .*to liblinear"),
        (to_libsvm, "rbf", "whole numbers as labels only"),
        (to_liblinear, "grid without refit", "PegasosCV is not fitted; .*refit=True"),
        (to_liblinear, "scaler of sparse rows", "Pipeline is not a linear model; .*last step"),
    ],
)
def test_models_that_the_format_cannot_hold_are_refused(tmp_path, export, model, message):
    with pytest.raises(ModelError, match=message):
        export(fitted(model)[0], tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_callable_kernel_is_refused(tmp_path):
    def kernel(a, b):
        return np.asarray(a) @ np.asarray(b).T

    model = KernelPegasosClassifier(kernel=kernel, solver="sdca").fit(X, Y2)
    with pytest.raises(ModelError, match="kernel that is a function"):
        to_libsvm(model, tmp_path / "model")


LINEAR_TEXT = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n1 \n2 \n3 \n"
KERNEL_TEXT = (
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\n"
    "nr_sv 1 1\nSV\n1 1:1 3:2 \n-1 2:1 \n"
)


@pytest.mark.parametrize(
    ("read", "text", "old", "new", "message"),
    [
        (from_liblinear, LINEAR_TEXT, "3 \n", "", "line 8: .*2 lines of weights, not 3"),
        (from_liblinear, LINEAR_TEXT, "3 \n", "3 \n4\n", "4 lines of weights, not 3"),
        (from_liblinear, LINEAR_TEXT, "2 \n", "2 2\n", "line 8: .*1 weights were expected; got 2"),
        (from_liblinear, LINEAR_TEXT, "2 \n", "two\n", "line 8: .*'two' is not a number"),
        (from_liblinear, LINEAR_TEXT, "2 \n", "nan\n", "line 8: .*'nan' is not finite"),
        (from_liblinear, LINEAR_TEXT, "2 \n", "1_0\n", "underscore"),
        (from_liblinear, LINEAR_TEXT, "\nw\n", "\n", "line 'w' is missing|was expected"),
        (from_liblinear, LINEAR_TEXT, "label 1 -1\n", "", "'label' is missing"),
        (from_liblinear, LINEAR_TEXT, "1 -1", "1 1", "twice"),
        (from_liblinear, LINEAR_TEXT, "1 -1", "1 -1 0", "label has 3 values, not 2"),
        (from_liblinear, LINEAR_TEXT, "1 -1", "1 x", "line 3: .*not made of whole numbers"),
        (from_liblinear, LINEAR_TEXT, "nr_class 2", "nr_class 1", "outside 2"),
        (from_liblinear, LINEAR_TEXT, "bias 1", "bias 1\nmore 1", "'more' is unknown"),
        (from_liblinear, LINEAR_TEXT, "bias 1", "bias 1\nbias 1", "line 6: .*header was expected"),
        (from_liblinear, LINEAR_TEXT, "L2R_LR", "ONECLASS_SVM", "not a classifier"),
        (from_libsvm, KERNEL_TEXT, "3:2", "1:2", "line 10: .*follows the one before"),
        (from_libsvm, KERNEL_TEXT, "3:2", "0:2", "line 10: .*follows the one before"),
        (from_libsvm, KERNEL_TEXT, "3:2", "3", "line 10: .*follows the one before"),
        (from_libsvm, KERNEL_TEXT, "3:2", "3:x", "line 10: .*'x' is not a number"),
        (from_libsvm, KERNEL_TEXT, "3:2", "9999999999:1", "line 10: "),
        (from_libsvm, KERNEL_TEXT, "-1 2:1 \n", "", "1 support vectors, not 2"),
        (from_libsvm, KERNEL_TEXT, "nr_sv 1 1", "nr_sv 2 1", "contradict each other"),
        (from_libsvm, KERNEL_TEXT, "rbf", "sigmoid", "kernel 'sigmoid' is not one of"),
        (from_libsvm, KERNEL_TEXT, "gamma 0.5", "gamma -1", "gamma must be positive"),
        (from_libsvm, KERNEL_TEXT, "c_svc", "one_class", "classifier of two classes"),
    ],
)
def test_a_damaged_text_model_is_refused_with_its_line(tmp_path, read, text, old, new, message):
    (tmp_path / "model").write_text(text)
    read(tmp_path / "model")
    assert text.count(old)
    head, _, tail = text.rpartition(old)
    (tmp_path / "model").write_text(head + new + tail)
    with pytest.raises(ModelError, match=message):
        read(tmp_path / "model")


@pytest.mark.parametrize("read", [from_liblinear, from_libsvm])
def test_what_is_no_text_model_is_refused(tmp_path, read):
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    (tmp_path / "empty").write_bytes(b"")
    for name in ("bytes", "empty", "missing", "."):
        with pytest.raises(ModelError, match=r"line 1|cannot read"):
            read(tmp_path / name)


def test_the_number_of_features_must_hold_the_support_vectors(tmp_path):
    (tmp_path / "model").write_text(KERNEL_TEXT)
    assert from_libsvm(tmp_path / "model").n_features_in_ == 3
    assert from_libsvm(tmp_path / "model", n_features=7).predict(np.zeros((1, 7))).shape == (1,)
    with pytest.raises(ModelError, match="feature 3; got n_features=2; pass n_features=3"):
        from_libsvm(tmp_path / "model", n_features=2)


def test_a_pipeline_is_exported_by_its_last_step(tmp_path):
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(solver="sdca")).fit(X, Y2)
    to_liblinear(pipeline[-1], tmp_path / "model")
    labels, _ = predict_by_liblinear(tmp_path / "model", pipeline[:-1].transform(X))
    np.testing.assert_array_equal(labels, pipeline.predict(X))
