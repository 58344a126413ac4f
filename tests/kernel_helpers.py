"""Small problems for the kernel machines, and their kernels as the reference computes them."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pegasos import KernelPegasosClassifier, reference

SAME = 1e-9  # decisions that agree give the same counts; sums in another order round differently

# Parameters of an estimator, and the same kernel in plain NumPy.
KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.3}, partial(reference.gaussian_kernel, gamma=0.3)),
    "poly2": (
        {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        partial(reference.polynomial_kernel, degree=2, gamma=0.5, coef0=1.0),
    ),
    "poly3": (
        {"kernel": "poly", "gamma": 0.2},
        partial(reference.polynomial_kernel, degree=3, gamma=0.2),
    ),
    "linear": ({"kernel": "linear"}, reference.linear_kernel),
    "rbf and 1": (
        {"kernel": "rbf", "gamma": 0.3, "coef0": 1.0},
        partial(reference.gaussian_kernel, gamma=0.3, coef0=1.0),
    ),
    "linear and 1/2": (
        {"kernel": "linear", "coef0": 0.5},
        partial(reference.linear_kernel, coef0=0.5),
    ),
    "callable": ({"kernel": lambda A, B: np.tanh(A) @ np.tanh(B).T}, lambda A, B: tanh_gram(A, B)),
}

EVERY_SOLVER = pytest.mark.parametrize(
    "options",
    [
        {"solver": "pegasos"},
        {"solver": "pegasos", "sampling": "uniform", "average": None},
        {"solver": "pegasos", "loss": "log", "average": "uniform"},
        {"solver": "sdca"},
        {"solver": "sdca", "loss": "log"},
        {"solver": "sdca", "sampling": "uniform"},
    ],
    ids=str,
)


def machine(lam=0.05, **options):
    return KernelPegasosClassifier(
        lam, **{"gamma": 0.3, "tol": None, "max_iter": 4, "random_state": 0, **options}
    )


def tanh_gram(A, B):
    return np.tanh(A) @ np.tanh(B).T


WORDS = ["apple", "maple", "palm", "lamp", "ample", "zorro", "robot", "tutor", "roto", "broth"]


def shared_letters(A, B):
    """A kernel of strings: letters that both have, and a constant."""
    return np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A])


def noisy_rows(seed, n_rows=40, n_features=3, n_classes=2):
    """Classes that overlap, numbered from 0, and weights between 1/2 and 2."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    noisy = X[:, 0] + 0.7 * rng.standard_normal(n_rows)
    y = np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)
    return X, y, rng.uniform(0.5, 2.0, size=n_rows)


def all_signs(y):
    """Labels -1 and +1 of each binary problem."""
    classes = np.unique(y)
    positive = classes[1:] if len(classes) == 2 else classes
    return [np.where(y == label, 1.0, -1.0) for label in positive]


def draws_of(model, n_rows):
    rng = np.random.default_rng(model.random_state)
    return reference.draw_rows(rng, n_rows, model.n_steps_, model.sampling)


def full_coef(model, n_rows):
    """Coefficients of all training rows, support vectors or not."""
    coef = np.zeros((len(model.dual_coef_), n_rows))
    coef[:, model.support_] = model.dual_coef_
    return coef


def assert_replays(model, K, y, draws, weight=None):
    """The model is that of the reference after these draws, for each class."""
    counts = np.atleast_1d(model.n_violations_)
    rows = zip(full_coef(model, len(y)), all_signs(y), counts, strict=True)
    for coef, signs, n_violations in rows:
        run = reference.kernel_pegasos(
            K,
            signs,
            model.lam,
            draws,
            loss=model.loss,
            sample_weight=weight,
            average=model.average,
        )
        assert n_violations == run.violations
        assert_allclose(coef, run.coef, rtol=SAME, atol=SAME * np.abs(run.coef).max())


def assert_same_machine(one, other, rtol=SAME):
    """Same decisions: the same support and counts, coefficients up to rounding."""
    assert_array_equal(one.support_, other.support_)
    assert_array_equal(one.n_violations_, other.n_violations_)
    assert one.n_steps_ == other.n_steps_
    size = np.abs(one.dual_coef_).max()
    assert_allclose(one.dual_coef_, other.dual_coef_, rtol=rtol, atol=rtol * size)


def published_step(coef, K, signs, lam, t, i):
    coef = coef * (t - 1) / t
    if signs[i] * (K[i] @ coef) < 1:
        coef[i] += signs[i] / (lam * t)
    return coef
