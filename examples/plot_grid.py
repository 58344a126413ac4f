"""
What lam, T and the kernel do
=============================

A whole grid of kernel machines on the digits, cross-validated in one run: every lam and every T
share their draws, all folds one kernel matrix.
"""

from sklearn.datasets import load_digits

from pegasos import KernelPegasosCV
from pegasos.report import CurvesDisplay, HeatmapDisplay

X, y = load_digits(return_X_y=True)
grid = KernelPegasosCV(
    lams=[1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
    steps=[300, 1000, 3000, 10000],
    gammas=[0.1, 0.3],
    random_state=0,
).fit(X / 16, y)
print(f"best of {len(grid.cv_results_['params'])} cells: {grid.best_params_}")

# %%
# The error of rows that were held out; a frame marks the best cell.

HeatmapDisplay.from_estimator(grid)

# %%
# The error of the rows that were learned from: small lam and many steps learn them by heart.

HeatmapDisplay.from_estimator(grid, value="train_error")

# %%
# The same against T. Bars are standard deviations over the folds.

CurvesDisplay.from_estimator(grid)
