"""What the classifiers with an objective share: weights, draws, the certificate, probabilities."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from pegasos._base import ScoringClassifier
from pegasos._draws import DrawStream, as_generator
from pegasos._training import Trained, one_or_all
from pegasos._validation import Floats, Target, class_weights, row_weights, weight_unit
from pegasos.kernels._rows import count

_CERTIFICATE = ("objective_", "dual_objective_", "duality_gap_", "history_")


def is_log(self: Any) -> bool:
    """Tell whether probabilities are to be had."""
    if self.loss == "log":
        return True
    raise AttributeError("probabilities need loss='log'; with the hinge use decision_function")


def goes_on_by_pegasos(self: Any) -> bool:
    """Tell whether partial_fit is to be had."""
    if self.solver == "pegasos":
        return True
    raise AttributeError(
        "partial_fit needs solver='pegasos': sdca ties a dual variable to each row"
    )


class CertifiedClassifier(ScoringClassifier):
    """A classifier that minimises an objective and knows a bound on it."""

    loss: str
    solver: str
    sampling: str
    class_weight: Any
    tol: float | None
    max_steps: int | None
    random_state: Any

    _weight_unit: float

    @available_if(is_log)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, for ``loss="log"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. With more than two classes the one-vs-rest
            probabilities, scaled to sum to 1.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([special.expit(-scores), special.expit(scores)])
        return np.exp(_normalised(special.log_expit(scores)))

    @available_if(is_log)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, for ``loss="log"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; exact where probabilities would round to 0.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([special.log_expit(-scores), special.log_expit(scores)])
        return _normalised(special.log_expit(scores))

    def _row_weights(
        self, sample_weight: Any, X: Any, *, goes_on: bool = False
    ) -> tuple[Floats | None, float]:
        """Check the sample weights; return them, and the unit in which they are now.

        Only their ratios matter, so that huge and tiny ones can be brought to an ordinary size. A
        call that goes on with an earlier one has the unit of that.
        """
        weight = row_weights(sample_weight, X)
        unit = self._weight_unit if goes_on else weight_unit(weight)
        if unit == 1:
            return weight, unit
        return (np.ones(count(X)) if weight is None else weight) / unit, unit

    def _combined_weight(
        self, weight: Floats | None, target: Target, totals: Floats
    ) -> Floats | None:
        factors = class_weights(self.class_weight, target, totals)
        if factors is None or weight is None:
            return weight if factors is None else factors
        return weight * factors

    def _stream(
        self, n_rows: int, active: npt.NDArray[np.int64] | None, *, continued: bool
    ) -> DrawStream:
        rng = as_generator(self.random_state)
        if continued:
            earlier: DrawStream | None = getattr(self, "_draw_stream", None)
            if earlier is not None:
                if earlier.goes_on_with(n_rows, self.sampling, active):
                    return earlier.copy()
                rng = earlier.copy().rng
        return DrawStream(rng, n_rows, self.sampling, active)

    def _keep_certificate(self, trained: Trained, violations: Floats) -> None:
        certificate = trained.certificate
        self.objective_ = one_or_all(certificate.objective)
        self.dual_objective_ = one_or_all(certificate.dual)
        self.duality_gap_ = one_or_all(certificate.gap)
        self.n_violations_ = one_or_all(violations.astype(np.int64))
        self.history_ = trained.history
        self.n_iter_ = trained.n_epochs

    def _forget_certificate(self) -> None:
        for name in _CERTIFICATE:
            self.__dict__.pop(name, None)

    def _warn(self, trained: Trained) -> None:
        gap = trained.certificate.relative_gap
        worst = "" if len(self.classes_) == 2 else " (of its worst class)"
        steps = "max_iter" if self.max_steps is None else "max_steps"
        better = "" if self.solver == "sdca" else "use solver='sdca', "
        warnings.warn(
            f"{type(self).__name__} used up its {trained.n_steps} steps ({trained.n_epochs} epochs)"
            f" with a relative duality gap of {gap:.2%}{worst}, tol is {self.tol:.2%}: the "
            f"objective is at most that far from the optimum. To close the gap {better}raise "
            f"{steps} or lam, or scale the features; to accept it set tol=None.",
            ConvergenceWarning,
            stacklevel=5,  # _warn, fit, its two wrappers, the caller
        )


def _normalised(log_probabilities: Floats) -> Floats:
    total: Floats = np.logaddexp.reduce(log_probabilities, axis=1, keepdims=True)
    return log_probabilities - total
