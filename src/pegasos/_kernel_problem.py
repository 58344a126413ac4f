"""The optimisation problems of a kernel fit, and their objectives, all from scores that are kept.

``f = sum_i coef_i K(x_i, .)`` is the function of a problem; its scores are its values at all rows,
and ``||f||^2 = sum_i coef_i f(x_i)``: primal, dual and gap cost no kernel value.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from pegasos import _core
from pegasos._validation import Codes, Floats
from pegasos.kernels import KernelRows

RowNumbers = npt.NDArray[np.int64]

# A violation reads a kernel row; how often rows violate is not known beforehand.
_VIOLATIONS_EXPECTED = 0.03


class KernelProblem:
    """Minimise ``lam/2 ||f||^2 + (1/S) sum_i s_i loss(y_i f(x_i))``, several times side by side.

    Row p of every array belongs to problem p: label ``positive[p]`` against all others, with
    ``lams[p]``. All problems share rows, weights and draws.
    """

    def __init__(
        self,
        source: KernelRows,
        code: Codes,
        positive: Codes,
        weight: Floats | None,
        *,
        lams: Floats,
        loss: str,
        threads: int,
    ) -> None:
        self.source = source
        self.code = code
        self.positive = positive
        self.weight = weight
        self.lams = lams
        self.loss = loss
        self.threads = threads
        self.total_weight = float(source.n_rows if weight is None else weight.sum())

    @property
    def n_problems(self) -> int:
        """How many problems are solved side by side."""
        return len(self.positive)

    @property
    def n_rows(self) -> int:
        """Rows of the data, those of weight zero included."""
        return self.source.n_rows

    def work_per_draw(self) -> float:
        """Return how many numbers a draw touches, on average over all problems."""
        return self.n_problems * (20 + _VIOLATIONS_EXPECTED * self.n_rows)

    def only(self, which: RowNumbers | slice) -> "KernelProblem":
        """Return some of the problems."""
        return KernelProblem(
            self.source,
            self.code,
            self.positive[which],
            self.weight,
            lams=self.lams[which],
            loss=self.loss,
            threads=self.threads,
        )

    def zeros(self) -> Floats:
        """Return a number for every problem and row."""
        return np.zeros((self.n_problems, self.n_rows))

    def signs(self, p: int) -> Floats:
        """Return the labels of problem p: +1 and -1."""
        return np.where(self.code == self.positive[p], 1.0, -1.0)

    def add_rows(self, which: RowNumbers, coef: Floats, *targets: Floats) -> None:
        """Add ``sum_k coef[p, k] K(x_which[k], .)`` to the scores of each problem.

        With two targets the coefficients come in two halves, one for each.
        """
        n = self.n_problems
        for part, columns in self._parts(which):
            for k, scores in enumerate(targets):
                _core.add_stored_rows(
                    self.source.values,
                    self.source.slots,
                    part,
                    np.ascontiguousarray(coef[k * n : (k + 1) * n, columns]),
                    scores,
                    n_threads=self.threads,
                )

    def _parts(self, which: RowNumbers) -> Any:
        first = 0
        for part in self.source.parts(which):
            yield part, slice(first, first + len(part))
            first += len(part)

    def scores_of(self, coef: Floats) -> Floats:
        """Return the scores of functions given by their coefficients."""
        scores = self.zeros()
        used = np.flatnonzero(coef.any(axis=0))
        self.add_rows(used, coef[:, used], scores)
        return scores

    def objective(self, coef: Floats, scores: Floats) -> Floats:
        """Return the primal objective of each problem."""
        objective = np.empty(self.n_problems)
        for p, (c, f) in enumerate(zip(coef, scores, strict=True)):
            margins = self.signs(p) * f
            losses = (
                np.maximum(0, 1 - margins) if self.loss == "hinge" else np.logaddexp(0, -margins)
            )
            mean = np.average(losses, weights=self.weight)
            objective[p] = self.lams[p] / 2 * (c @ f) + mean
        refuse_not_finite(objective)
        return objective

    def best_scaled_dual(self, masses: Floats, scores: Floats, *, scale: bool = True) -> Floats:
        """Return the dual objective of masses b in [0, 1] (a fraction of each row's weight).

        ``scores`` are those of ``sum_i s_i b_i y_i K(x_i, .)``. With ``scale``, the best bound
        among the masses times a factor in [0, 1], which stay feasible: gain(f b) >= f gain(b).
        """
        dual = np.empty(self.n_problems)
        for p, (b, f) in enumerate(zip(masses, scores, strict=True)):
            gain = b if self.loss == "hinge" else _entropy(b)
            G = float(np.average(gain, weights=self.weight))
            signed = self.signs(p) * b if self.weight is None else self.signs(p) * b * self.weight
            B = float(signed @ f) / (2 * self.lams[p] * self.total_weight**2)
            factor = G / (2 * B) if scale and G < 2 * B else 1.0
            dual[p] = factor * G - factor**2 * B
        return dual

    def as_fractions(self, masses: Floats) -> Floats:
        """Return masses that add up to weights as fractions of each row's weight."""
        if self.weight is None:
            return masses.copy()
        return np.divide(masses, self.weight, out=np.zeros_like(masses), where=self.weight > 0)

    def as_signed(self, masses: Floats) -> Floats:
        """Return the masses with the signs of the labels."""
        return np.array([self.signs(p) * masses[p] for p in range(self.n_problems)])

    def as_coefficients(self, masses: Floats) -> Floats:
        """Return ``s_i b_i y_i`` for masses b."""
        signed = self.as_signed(masses)
        return signed if self.weight is None else signed * self.weight


def refuse_not_finite(values: Floats) -> None:
    """Say what may be wrong with a kernel whose scores or objectives are not finite."""
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "the scores are not finite: the kernel has values that are NaN, infinite or too large. "
            "Check the kernel matrix or function, scale the features, and see that lam and the "
            "sample weights are numbers of ordinary size"
        )


def _entropy(b: Floats) -> Any:
    """Return ``-b log b - (1 - b) log(1 - b)``."""
    return special.entr(b) + special.entr(np.maximum(0, 1 - b))
