"""Text models of liblinear: linear classifiers, one-vs-rest."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from pegasos._base import LinearModel
from pegasos._linear import PegasosClassifier
from pegasos._validation import Floats, is_sparse
from pegasos.io._model_common import refuse_unfitted
from pegasos.io._model_errors import ModelError
from pegasos.io._model_text import TextModel, text_number, whole_labels
from pegasos.io._model_write import replace_file

__all__ = ["from_liblinear", "to_liblinear"]

_LOG = ("L2R_LR", "L2R_LR_DUAL", "L1R_LR")
_MULTICLASS = "MCSVM_CS"
_HINGE = ("L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L2LOSS_SVC_DUAL", "L1R_L2LOSS_SVC")


def to_liblinear(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a linear model as a text model of liblinear.

    liblinear's ``predict`` gives the same classes; with ``loss="log"`` its ``-b 1`` gives the same
    probabilities. Every number reads back exactly.

    Parameters
    ----------
    model : PegasosClassifier, PerceptronClassifier or PegasosCV
        A fitted model whose classes are whole numbers.
    path : str or path
        The file.

    Raises
    ------
    ModelError
        If the model is not linear, or its classes are not whole numbers.
    """
    if not isinstance(model, LinearModel):
        raise ModelError(
            f"{type(model).__name__} is not a linear model",
            "liblinear takes PegasosClassifier, PerceptronClassifier and PegasosCV; of a pipeline, "
            "export the last step, and prepare the rows as the other steps do",
        )
    refuse_unfitted(model, ["coef_"])
    labels = whole_labels(model.classes_, "liblinear")
    if len(labels) == 2:  # its scores are positive for the first label
        labels.reverse()
    coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
    has_bias = bool(np.any(model.intercept_))
    weights = np.column_stack([coef, model.intercept_]) if has_bias else np.asarray(coef)
    solver = "L2R_LR" if getattr(model, "loss", "hinge") == "log" else "L2R_L1LOSS_SVC_DUAL"
    lines = [
        f"solver_type {solver}",
        f"nr_class {len(labels)}",
        f"label {' '.join(str(label) for label in labels)}",
        f"nr_feature {coef.shape[1]}",
        f"bias {1 if has_bias else -1}",
        "w",
        *(" ".join(text_number(value) for value in row) for row in weights.T),
    ]
    replace_file(Path(path), ("\n".join(lines) + "\n").encode("ascii"))


def from_liblinear(path: str | os.PathLike[str]) -> PegasosClassifier:
    """Read a text model of liblinear: a linear classifier of any of its solvers.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    PegasosClassifier
        It predicts as liblinear does, with probabilities if it is a logistic regression. There is
        no certificate, and all parameters but ``loss`` and ``fit_intercept`` mean nothing: the file
        does not say with what the model was made.

    Raises
    ------
    ModelError
        If the file is not such a model.
    """
    text = TextModel(path, "liblinear", "w")
    text.finish("solver_type", "nr_class", "label", "nr_feature", "bias")
    solver = text.word("solver_type")
    if solver not in (*_LOG, *_HINGE, _MULTICLASS):
        raise ModelError(
            f"{path}: {solver[:40]} is not a classifier", "import a model of one of its classifiers"
        )
    n_classes = text.whole("nr_class", at_least=2)
    labels = np.array(text.wholes("label", n_classes))
    if len(np.unique(labels)) < n_classes:
        text.refuse(3, "a label is there twice")
    bias = text.number("bias")
    n_features = text.whole("nr_feature", at_least=1)
    n_rows = 1 if n_classes == 2 and solver != _MULTICLASS else n_classes
    weights = _weights(text, n_features + (bias >= 0), n_rows)
    if n_classes == 2:
        weights = _for_larger_label(weights, labels)
    else:
        weights = weights[np.argsort(labels)]
    loss = "log" if solver in _LOG else "hinge"
    model = PegasosClassifier(loss=loss, solver="sdca", fit_intercept=bias >= 0)
    model.classes_ = np.sort(labels)
    model.n_features_in_ = n_features
    model.coef_ = np.ascontiguousarray(weights[:, :n_features])
    model.intercept_ = weights[:, n_features] * bias if bias >= 0 else np.zeros(len(weights))
    model.n_iter_ = model.n_steps_ = 0
    model.n_violations_ = 0 if n_classes == 2 else np.zeros(n_classes, dtype=np.int64)
    model._class_totals, model._weight_unit = np.zeros(n_classes), 1.0
    return model


def _weights(text: TextModel, n_features: int, n_rows: int) -> Floats:
    rows = []
    for line, words in text.rows():
        if len(words) != n_rows:
            text.refuse(line, f"{n_rows} weights were expected; got {len(words)}")
        rows.append([text.as_number(line, word) for word in words])
    if len(rows) != n_features:
        text.refuse(6 + len(rows), f"there are {len(rows)} lines of weights, not {n_features}")
    return np.array(rows).T


def _for_larger_label(weights: Floats, labels: Any) -> Floats:
    """Return the one row of weights whose scores are positive for the larger label."""
    if len(weights) == 2:
        low, high = np.argsort(labels)
        return weights[[high]] - weights[[low]]
    return weights if labels[0] > labels[1] else -weights
