"""What a fitted model is, in plain values and in words."""

from pathlib import Path
from typing import Any

from pegasos._errors import MendableError

__all__ = [
    "certificate_of",
    "certificate_text",
    "parts_of",
    "plain",
    "portrait",
    "refuse_unfitted",
]

Facts = dict[str, Any]
_FAR = 0.5  # a relative gap that says nothing


def parts_of(model: Any) -> list[Any]:
    """Return the steps of a pipeline, or the model alone, which is the last in any case."""
    return list(model) if type(model).__name__ == "Pipeline" else [model]


def refuse_unfitted(model: Any, path: Path) -> None:
    """Refuse the results of a grid whose best cell was not fitted."""
    if not hasattr(parts_of(model)[-1], "n_iter_"):
        raise MendableError(
            f"{path}: this is a grid with refit=False: it has results, and no model",
            "fit the grid with refit=True and save it again",
        )


def portrait(model: Any) -> Facts:
    """Return estimator, parameters, steps before it, counts and certificate of a fitted model."""
    steps = parts_of(model)
    last = steps[-1]
    facts = {
        "estimator": type(last).__name__,
        "parameters": {
            name: plain(value) for name, value in sorted(last.get_params(deep=False).items())
        },
        "preparation": [type(step).__name__ for step in steps[:-1]],
        "classes": last.classes_.tolist(),
        "features": int(model.n_features_in_),
        "zero_based": getattr(last, "zero_based_", None),
        "epochs": int(last.n_iter_),
        "steps": int(last.n_steps_),
        "certificate": certificate_of(last),
    }
    if hasattr(last, "support_"):
        facts["support_vectors"] = len(last.support_)
    return facts


def certificate_of(model: Any) -> Facts | None:
    """Return the certificate of a fit; of several classes the relative gap is the largest."""
    import numpy as np

    if not hasattr(model, "objective_"):
        return None
    objective, gap = np.asarray(model.objective_), np.asarray(model.duality_gap_)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = float(np.max(np.where(gap > 0, gap / objective, 0.0)))
    return {
        "objective": plain(model.objective_),
        "bound": plain(model.dual_objective_),
        "gap": plain(model.duality_gap_),
        "relative_gap": plain(relative),
    }


def certificate_text(certificate: Facts | None) -> str:
    """Say in one line how close to the optimum a model is."""
    if certificate is None:
        return "none"
    if certificate["relative_gap"] is None:
        return "no bound: this kernel gives none"
    within = f"certified within {certificate['relative_gap']:.2g} of the optimum (relative)"
    if certificate["relative_gap"] > _FAR:
        within = f"a gap of {certificate['relative_gap']:.0%}, which certifies nothing"
    if isinstance(certificate["objective"], list):
        return f"the objective of every class: {within}"
    return (
        f"objective {certificate['objective']:.6g} >= optimum >= {certificate['bound']:.6g}: "
        f"{within}"
    )


def plain(value: Any) -> Any:
    """Return a value as JSON has it; what is not finite is null."""
    import numpy as np

    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
