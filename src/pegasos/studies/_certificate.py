"""What an estimator says about itself, as columns of the results."""

from typing import Any

import numpy as np

__all__ = ["certificate"]


def certificate(fitted: Any) -> dict[str, Any]:
    """Return objective, bound, relative gap and number of support vectors, as far as there are."""
    columns: dict[str, Any] = {}
    if hasattr(fitted, "objective_"):
        objective, dual, gap = (
            np.atleast_1d(value)
            for value in (fitted.objective_, fitted.dual_objective_, fitted.duality_gap_)
        )
        worst = int(np.argmax(gap / objective))
        columns["objective"] = objective[worst]
        columns["dual_objective"] = dual[worst]
        columns["gap"] = gap[worst] / objective[worst]
    if hasattr(fitted, "support_"):
        columns["n_support"] = len(fitted.support_)
    return columns
