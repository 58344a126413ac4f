"""From a file to a model file with another package, as a script of a few lines would.

    python benchmarks/end_to_end_fit.py sgd|linearsvc|liblinear|vw DATA MODEL LAM BUDGET

All minimise ``lam/2 ||w||^2 + mean hinge`` without intercept. Each function imports what it needs,
and no more: importing is part of the time.
"""

import sys
from typing import Any


def sgd(data: str, model: str, lam: float, budget: float) -> None:
    import joblib
    from sklearn.linear_model import SGDClassifier

    X, y = _scikit_learn_rows(data)
    machine = SGDClassifier(
        loss="hinge",
        alpha=lam,
        average=True,
        max_iter=int(budget),
        tol=None,
        fit_intercept=False,
        random_state=0,
    )
    joblib.dump(machine.fit(X, y), model)


def linearsvc(data: str, model: str, lam: float, budget: float) -> None:
    import joblib
    from sklearn.svm import LinearSVC

    X, y = _scikit_learn_rows(data)
    machine = LinearSVC(
        loss="hinge",
        C=1 / (lam * len(y)),
        max_iter=int(budget),
        tol=1e-12,  # the number of epochs decides
        fit_intercept=False,
        random_state=0,
    )
    joblib.dump(machine.fit(X, y), model)


def liblinear(data: str, model: str, lam: float, budget: float) -> None:
    from liblinear.commonutil import svm_read_problem
    from liblinear.liblinearutil import save_model, train

    y, X = svm_read_problem(data, return_scipy=True)
    save_model(model, train(y, X, f"-s 3 -c {1 / (lam * len(y)):.17g} -B -1 -e {budget:.17g} -q"))


def vw(data: str, model: str, lam: float, budget: float) -> None:
    import vowpalwabbit

    cache = f"--cache_file {model}.cache -k" if budget > 1 else ""
    vowpalwabbit.Workspace(
        f"-d {data} -f {model} --loss_function hinge --l2 {lam:.17g} --noconstant "
        f"--passes {int(budget)} {cache} --holdout_off --predict_only_model --sgd --quiet"
    ).finish()


def _scikit_learn_rows(data: str) -> tuple[Any, Any]:
    import numpy as np

    if data.endswith(".csv"):
        import pandas as pd

        table = pd.read_csv(data, dtype=np.float32)
        return table.iloc[:, :-1].to_numpy(), table.iloc[:, -1].to_numpy()
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(data, dtype=np.float32)
    # It returns indices of 64 bits, which these machines refuse.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # a short budget is meant
    name, data, model, lam, budget = sys.argv[1:]
    {"sgd": sgd, "linearsvc": linearsvc, "liblinear": liblinear, "vw": vw}[name](
        data, model, float(lam), float(budget)
    )
