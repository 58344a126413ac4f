"""
The textbook's loop and ours
============================

``pegasos.reference`` is the published algorithm in plain NumPy, to be read beside the paper. The
core takes the same steps with the same draws, and comes to the same weights; only sooner.
"""

from time import perf_counter

import numpy as np
from sklearn.datasets import make_classification

from pegasos import PegasosClassifier, reference
from pegasos.report import BarsDisplay, ScalingDisplay

X, y = make_classification(2000, 50, random_state=0)
signs = np.where(y == 1, 1.0, -1.0)
lam, sizes = 1e-3, [2000, 8000, 32000]


def in_numpy(steps):
    draws = reference.draw_rows(np.random.default_rng(0), len(X), steps, "permutation")
    return reference.pegasos(X, signs, lam, draws).w


def in_the_core(steps):
    model = PegasosClassifier(lam, max_steps=steps, average=None, fit_intercept=False, tol=None)
    return model.set_params(random_state=0).fit(X, y).coef_[0]


def seconds(work, steps):
    taken = []
    for _ in range(3):
        start = perf_counter()
        work(steps)
        taken.append(perf_counter() - start)
    return min(taken)


np.testing.assert_allclose(in_the_core(8000), in_numpy(8000), rtol=1e-9, atol=1e-12)
times = {
    "NumPy, step by step": [seconds(in_numpy, steps) for steps in sizes],
    "the core": [seconds(in_the_core, steps) for steps in sizes],
}

# %%
# Seconds of training, with how many times faster the core is. It also computes the certificate,
# which the loop does not.

BarsDisplay(times, groups=[f"T = {steps:,}" for steps in sizes]).plot()

# %%
# Twice the steps take twice the time: a slope of 1.

lines = {name: (sizes, taken) for name, taken in times.items()}
ScalingDisplay(lines, against="max_steps").plot()
