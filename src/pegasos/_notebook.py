"""What a notebook shows of a classifier: scikit-learn's diagram, and below it what was learned."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as _Shown
else:
    _Shown = object

_CELL = "text-align:left;padding:.15em .8em .15em 0;background:none"


class ShownInNotebooks(_Shown):
    """Mixin: adds the certificate to what scikit-learn shows, if that shows anything."""

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # raises AttributeError where no diagram is wanted
        return lambda: diagram() + learned_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += learned_html(self)
        return bundle


def learned_html(model: Any) -> str:
    """Return a table of what a fit has come to; nothing before a fit."""
    facts = [*_choice(model), *_certificate(model), *_work(model)]
    if not facts:
        return ""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:600">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    caption = f"What this {escape(type(model).__name__)} has learned"
    style = "margin:.5em 0;border-collapse:collapse"
    return (
        f'<table style="{style}"><caption style="{_CELL};caption-side:top">{caption}</caption>'
        f"<tbody>{rows}</tbody></table>"
    )


def _choice(model: Any) -> list[tuple[str, str]]:
    """Return the best cell of a grid and its error."""
    if not hasattr(model, "best_params_"):
        return []
    cell = ", ".join(f"{name}={value!r}" for name, value in model.best_params_.items())
    errors = model.test_error_.reshape(-1, model.n_splits_)[model.best_index_]
    error = f"{errors.mean():.4f} ± {errors.std():.4f}, over {model.n_splits_} folds"
    return [("Best cell", cell), ("Test error", error)]


def _certificate(model: Any) -> list[tuple[str, str]]:
    """Return objective, bound and gap; of several classes those with the largest gap."""
    if not hasattr(model, "objective_"):
        return []
    objective, dual = np.atleast_1d(model.objective_), np.atleast_1d(model.dual_objective_)
    gaps = (objective - dual) / objective
    worst = int(gaps.argmax())
    whose = f" (class {model.classes_[worst]}, the worst)" if len(gaps) > 1 else ""
    facts = [("Objective", f"{objective[worst]:.6g}{whose}")]
    if not np.isfinite(dual[worst]):
        return [*facts, ("Certificate", "none: the kernel is not positive semi-definite")]
    gap = f"{gaps[worst]:.2%} of the objective at most"
    return [*facts, ("The optimum is at least", f"{dual[worst]:.6g}"), ("Certified gap", gap)]


def _work(model: Any) -> list[tuple[str, str]]:
    """Return steps, support vectors and, for perceptrons, mistakes."""
    facts = []
    if hasattr(model, "n_steps_"):
        facts.append(("Steps", f"{model.n_steps_:,}"))
    if hasattr(model, "support_"):
        facts.append(("Support vectors", f"{len(model.support_):,}"))
    if hasattr(model, "history_") and not hasattr(model, "objective_"):
        mistakes = int(np.sum(model.history_[-1]["violations"]))
        facts.append(("Mistakes in the last epoch", f"{mistakes:,}"))
    return facts
