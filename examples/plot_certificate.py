"""
How close to optimal a fit is
=============================

Every fit comes with a certificate: its objective, a bound that no model can be below, and the gap
between the two. Pegasos steps come near the optimum soon; dual ascent closes the gap.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pegasos import PegasosClassifier
from pegasos.report import ConvergenceDisplay

X, y = load_digits(return_X_y=True)
X, is_eight = X / 16, y == 8

pegasos = PegasosClassifier(lam=1e-3, max_iter=50, tol=None, random_state=0).fit(X, is_eight)
ascent = PegasosClassifier(lam=1e-3, solver="sdca", tol=1e-4, random_state=0).fit(X, is_eight)

# %%
# The same objective, two ways down.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
ConvergenceDisplay.from_estimator(pegasos, ax=left)
ConvergenceDisplay.from_estimator(ascent, ax=right)
left.set_title("Pegasos steps")
right.set_title("dual ascent")

# %%
# What the two certificates say.

for name, model in (("Pegasos", pegasos), ("dual ascent", ascent)):
    print(f"{name}: objective {model.objective_:.5f}, optimum at least {model.dual_objective_:.5f}")

# %%
# A notebook shows the certificate with the model.

ascent
