"""What a notebook shows of a classifier holds its certificate."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from pegasos import (
    KernelPegasosClassifier,
    PegasosClassifier,
    PegasosCV,
    PerceptronClassifier,
)


def html_of(model):
    """Return what a notebook shows; both ways of asking for it add the same to the diagram."""
    html = model._repr_mimebundle_()["text/html"]
    assert html.partition("What this")[2] == model._repr_html_().partition("What this")[2]
    return html


def test_before_a_fit_there_is_only_the_diagram():
    html = html_of(PegasosClassifier())
    assert "PegasosClassifier" in html
    assert "has learned" not in html


def test_after_a_fit_the_certificate_is_shown(blobs):
    model = PegasosClassifier(1e-2, solver="sdca", tol=1e-3, random_state=0).fit(*blobs)
    html = html_of(model)
    assert "What this PegasosClassifier has learned" in html
    assert f">{model.objective_:.6g}<" in html
    assert f">{model.dual_objective_:.6g}<" in html
    assert f"{model.duality_gap_ / model.objective_:.2%} of the objective at most" in html
    assert f">{model.n_steps_:,}<" in html


def test_of_several_classes_the_worst_is_shown_with_its_name_escaped(three_classes):
    X, y = three_classes
    model = KernelPegasosClassifier(1e-2, max_steps=200, tol=None, random_state=0)
    model.fit(X, np.char.add(y, "<b>"))
    worst = (model.duality_gap_ / model.objective_).argmax()
    html = html_of(model)
    assert f"(class {model.classes_[worst][:3]}&lt;b&gt;, the worst)" in html
    assert f"{model.duality_gap_[worst] / model.objective_[worst]:.2%} of" in html
    assert f">{len(model.support_):,}<" in html


def test_a_kernel_without_a_bound_says_so():
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    model = KernelPegasosClassifier(
        kernel="precomputed", solver="pegasos", max_steps=20, tol=None, random_state=0
    )
    with warnings.catch_warnings(action="ignore"):
        model.fit(-X @ X.T, y)
    assert "the kernel is not positive semi-definite" in html_of(model)


def test_a_grid_shows_its_best_cell_and_error(blobs):
    model = PegasosCV(lams=[1e-3, 1e-1], steps=[50, 200], cv=3, random_state=0).fit(*blobs)
    html = html_of(model)
    errors = model.test_error_.reshape(-1, 3)[model.best_index_]
    assert errors.mean() == pytest.approx(1 - model.best_score_)
    assert f"{errors.mean():.4f} ± {errors.std():.4f}, over 3 folds" in html
    assert f"lam={model.best_params_['lam']!r}" in html
    assert "Certified gap" in html


def test_a_perceptron_shows_its_mistakes_and_partial_fit_its_steps(blobs):
    with pytest.warns(ConvergenceWarning):
        model = PerceptronClassifier(max_iter=3, random_state=0).fit(*blobs)
    html = html_of(model)
    assert "Mistakes in the last epoch</th><td" in html
    assert f">{model.history_[-1]['violations']}<" in html
    assert "Certified gap" not in html
    part = PegasosClassifier().partial_fit(*blobs, classes=[0, 1])
    assert f">{part.n_steps_:,}<" in html_of(part)


def test_where_text_is_wanted_there_is_no_html(blobs):
    model = PegasosClassifier(tol=None, random_state=0).fit(*blobs)
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")
