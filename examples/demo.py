# The built-in study of scikit-learn's digits: two kernels, all lam and T, five folds, one page.
# `make demo` runs it; run again, it finds its results and only writes the page.
import os
from pathlib import Path

from sklearn.base import clone

from pegasos import report, studies

folder = Path(__file__).resolve().parents[1] / "build" / "demo"
print("running the study 'digits' ...", flush=True)
try:
    results = studies.run("digits", folder, n_jobs=-1)
except studies.StudyError:  # the study was another one then
    results = studies.run("digits", folder, n_jobs=-1, fresh=True)
page = report.write(results)

n_cells = sum(len(model.cells()) for model in results.study.models)
seconds = sum(run["seconds"] for run in results.facts["runs"])
best = min(
    (results.best(model.name) for model in results.study.models), key=lambda row: row["test_error"]
)
kernel = f"degree {best['degree']}" if best["kernel"] == "poly" else f"gamma {best['gamma']:g}"

# The best machine again by dual ascent, which closes the gap: the best objective there is, nearly.
fitted = results.refit(best["model"])
exact = clone(fitted.estimator).set_params(solver="sdca", max_steps=None, max_iter=1000, tol=1e-3)
exact.fit(fitted.X, fitted.y)


def error(model):
    return 1 - model.score(fitted.X_test, fitted.y_test)


def gap(model):
    return max(model.duality_gap_ / model.objective_)


print(
    f"best model     {best['kernel']} kernel, {kernel}, lam {best['lam']:g}, "
    f"T {best['max_steps']:,}; {error(fitted.estimator):.2%} wrong of unseen digits"
)
print(f"error          {best['test_error']:.2%} ± {best['test_error_std']:.2%} over five folds")
print(f"time           {seconds:.1f} s for {n_cells} cells, 5 folds and 10 classes")
print(
    f"certified gap  {gap(fitted.estimator):.1%} after these steps; "
    f"{gap(exact):.3%} by dual ascent, {error(exact):.2%} wrong of unseen digits"
)
print(f"report         {os.path.relpath(page)}")
