"""The optimum of small problems from SciPy: to compare certificates with.

Sequential quadratic programming for the hinge loss, a Newton method for the log loss, both exact to
about 1e-13 on problems of this size.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def objective(w, rows, y, lam, loss, s):
    margins = y * (rows @ w)
    losses = np.maximum(0, 1 - margins) if loss == "hinge" else np.logaddexp(0, -margins)
    return lam / 2 * (w @ w) + (s @ losses) / s.sum()


def optimum(rows, y, lam, loss, s):
    w = hinge_optimum(rows, y, lam, s) if loss == "hinge" else log_optimum(rows, y, lam, s)
    return objective(w, rows, y, lam, loss, s)


def hinge_optimum(rows, y, lam, s):
    """Over w and slacks xi: lam/2 ||w||^2 + s xi/S with y <w, x> + xi >= 1 and xi >= 0."""
    n_rows, d = rows.shape
    constraint = np.hstack([y[:, np.newaxis] * rows, np.eye(n_rows)])
    slope = s / s.sum()
    best = minimize(
        lambda v: (lam / 2 * (v[:d] @ v[:d]) + slope @ v[d:], np.r_[lam * v[:d], slope]),
        np.r_[np.zeros(d), np.ones(n_rows)],
        jac=True,
        method="SLSQP",
        bounds=[(None, None)] * d + [(0, None)] * n_rows,
        constraints={
            "type": "ineq",
            "fun": lambda v: constraint @ v - 1,
            "jac": lambda v: constraint,
        },
        options={"maxiter": 300, "ftol": 1e-14},
    )
    return best.x[:d]


def log_optimum(rows, y, lam, s):
    signed = y[:, np.newaxis] * rows
    share = s / s.sum()

    def gradient(w):
        return lam * w - (share * expit(-signed @ w)) @ signed

    def hessian(w):
        p = expit(signed @ w)
        return lam * np.eye(len(w)) + signed.T @ ((share * p * (1 - p))[:, np.newaxis] * signed)

    w = np.zeros(rows.shape[1])
    options = {"gtol": 1e-9}
    value = lambda w: objective(w, rows, y, lam, "log", s)  # noqa: E731
    return minimize(value, w, jac=gradient, hess=hessian, method="trust-exact", options=options).x
