"""
Boundary, margins and support vectors
=====================================

Two moons that no line separates: a linear machine does what it can, a Gaussian kernel follows them,
a polynomial one too. Rings mark the rows that a machine rests on.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.report import BoundaryDisplay

X, y = make_moons(200, noise=0.2, random_state=0)
ascent = {"solver": "sdca", "tol": 1e-3, "random_state": 0}
machines = {
    "a line": PegasosClassifier(lam=1e-2, **ascent),
    "Gaussian kernel": KernelPegasosClassifier(lam=1e-3, gamma=2.0, **ascent),
    "polynomial kernel": KernelPegasosClassifier(
        lam=1e-3, kernel="poly", degree=3, gamma=1.0, coef0=1.0, **ascent
    ),
}

figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    BoundaryDisplay.from_estimator(machine.fit(X, y), X, y, ax=ax)
    ax.set_title(f"{name}: error {1 - machine.score(X, y):.3f}")
    if ax is not axes[-1]:
        ax.get_legend().remove()
