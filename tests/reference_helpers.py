"""Small problems that the tests of the reference share."""

import numpy as np

from pegasos import reference

LOSS_NAMES = ("hinge", "log")
EXACT = 1e-12  # the same number by two routes in float64, sums of a few hundred terms

# Two rows whose Pegasos run with lam = 1/2 stays within short fractions.
X2 = np.array([[1.0, 0.0], [0.0, 2.0]])
Y2 = np.array([1.0, -1.0])


def random_problem(seed, n_rows=24, n_features=5):
    """Overlapping classes and weights between 1/2 and 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = np.where(X[:, 0] + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=n_rows)


def epochs_of_rows(seed, n_rows, n_epochs):
    rng = np.random.default_rng(seed)
    return reference.draw_rows(rng, n_rows, n_epochs * n_rows, "permutation")
