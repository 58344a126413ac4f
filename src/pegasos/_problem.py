"""The optimisation problem of a fit: data, labels, lam and loss, and its two objectives."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos._errors import MendableError
from pegasos._validation import Codes, Floats, Target, is_sparse, make_rows, refuse_non_finite

# The running counts of one binary problem: struct Tally in cpp/include/pegasos/problem.hpp.
TALLY = np.dtype(
    [
        (name, np.float64)
        for name in (
            "clock",
            "mean_clock",
            "mean_weight",
            "gain",
            "violations",
            "norm2",
            "shrink",
            "mass_unit",
            "scale",
        )
    ]
)
assert len(TALLY.names or ()) == _core.TALLY_FIELDS

# Arrays of the weights' size that a fit holds at once: 3 to 7, by solver and average.
_COPIES = 6


class TooManyWeightsError(MendableError, MemoryError):
    """Weights for all features would not fit into the memory of this machine."""


def new_tally(n_problems: int) -> npt.NDArray[Any]:
    """Return counts of nothing done yet."""
    tally = np.zeros(n_problems, dtype=TALLY)
    for factor in ("shrink", "mass_unit", "scale"):
        tally[factor] = 1
    return tally


def as_floats(tally: npt.NDArray[Any]) -> Floats:
    """View the counts as the core does."""
    return tally.view(np.float64).reshape(len(tally), -1)


def inner_products(v: Floats, w: Floats) -> Floats:
    """Return ``<v, w>`` of each row."""
    return np.asarray(np.einsum("kj,kj->k", v, w))


def squared_norms(w: Floats) -> Floats:
    """Return ``||w||^2`` of each row."""
    return inner_products(w, w)


class Bounds:
    """Turns what dual masses gain, and the weights they stand for, into lower bounds."""

    def __init__(self, lams: Floats, total_weight: float) -> None:
        self.lams = lams
        self.total_weight = total_weight

    def dual(self, gain: Floats, w: Floats) -> Floats:
        """Return the dual objective of masses with this gain whose weights are ``w``."""
        return gain / self.total_weight - self.lams / 2 * squared_norms(w)

    def best_scaled_dual(self, gain: Floats, w: Floats) -> Floats:
        """Return the best bound among the masses scaled by a factor in [0, 1].

        They stay feasible, and gain(f b) >= f gain(b), so the bound at f is at least
        f G - f^2 B, largest at f = G/(2 B).
        """
        G = gain / self.total_weight
        B = self.lams / 2 * squared_norms(w)
        factor = np.divide(G, 2 * B, out=np.ones_like(G), where=G < 2 * B)
        best: Floats = factor * G - factor**2 * B
        return best


class Objectives(Bounds):
    """Minimise ``lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)``, once per lam and class.

    Row p of every array belongs to problem p: label ``positive[p]`` against all others, with
    ``lams[p]``; all classes of the first lam come first. Weight vectors have one more entry than
    there are features, for the intercept. Where the rows are is left to the subclasses.
    """

    n_rows: int  # those of weight zero included

    def __init__(
        self,
        n_features: int,
        positive: Codes,
        total_weight: float,
        *,
        lams: Floats,
        loss: str,
        bias: float,
        threads: int,
    ) -> None:
        _refuse_too_many_weights(len(lams) * len(positive), n_features)
        self.n_features = n_features
        super().__init__(np.repeat(lams, len(positive)), total_weight)
        self.positive: Codes = np.tile(positive, len(lams))
        self.loss = loss
        self.bias = bias
        self.threads = threads

    @property
    def data(self) -> _core.Data:
        """The rows that draws number, as the core sees them."""
        raise NotImplementedError

    def local(self, per_row: Any) -> Any:
        """Return the part of an array over problems and all rows that belongs to ``data``."""
        raise NotImplementedError

    def put_back(self, per_row: Any, part: Any) -> None:
        """Take over what has become of the local part of an array."""
        raise NotImplementedError

    def work_per_draw(self) -> float:
        """Return how many numbers a draw touches, on average over all problems."""
        raise NotImplementedError

    def loss_sums(self, w: Floats) -> Floats:
        """Return ``sum_i s_i loss(y_i <w, x_i>)`` of each problem."""
        raise NotImplementedError

    def gain(self, masses: Floats) -> Floats:
        """Return the dual gain of each problem's masses (a fraction of the weight, per row)."""
        raise NotImplementedError

    def dual_rows(self, masses: Floats) -> Floats:
        """Return the sum of the rows times their masses, labels and weights."""
        raise NotImplementedError

    def guess_masses(
        self, w: Floats, masses: Floats, width: float = 1 / 8
    ) -> tuple[Floats, Floats]:
        """Write masses that suit the margins at ``w``; return its losses and their dual rows."""
        raise NotImplementedError

    def newton_terms(
        self, w: Floats, width: float, *, curvature: bool, masses: Floats | None = None
    ) -> Floats:
        """Return the sums of all rows for a step of Newton's method (newton.hpp); write masses."""
        raise NotImplementedError

    def line_slopes(self, w: Floats, steps: Floats, width: float) -> Floats:
        """Return how steep the losses are at some fractions of the steps."""
        raise NotImplementedError

    def typical_row(self) -> tuple[float, float]:
        """Return the means of ``||x_i||^2`` and of the number of its entries that are not 0."""
        raise NotImplementedError

    def refuse_overflow(self, what: str) -> None:
        """Say why this is not finite."""
        raise NotImplementedError

    @cached_property
    def lam(self) -> float:
        """The lam that all problems have: dual ascent knows but one."""
        lam = float(self.lams[0])
        assert np.all(self.lams == lam)
        return lam

    @property
    def n_problems(self) -> int:
        """How many binary problems are solved side by side."""
        return len(self.positive)

    def zeros(self) -> Floats:
        """Return a weight vector for every problem."""
        return np.zeros((self.n_problems, self.n_features + 1))

    def objective(self, w: Floats, losses: Floats | None = None) -> Floats:
        """Return the primal objective of each problem at ``w``."""
        if losses is None:
            losses = self.loss_sums(w)
        objective: Floats = self.lams / 2 * squared_norms(w) + losses / self.total_weight
        if not np.all(np.isfinite(objective)):
            self.refuse_overflow("the objective")
        return objective

    def objective_and_gain(self, w: Floats, masses: Floats) -> tuple[Floats, Floats]:
        """Return the primal objective at ``w`` and the dual gain of the masses."""
        return self.objective(w), self.gain(masses)

    def weights_of(self, masses: Floats) -> Floats:
        """Return the weights that the masses stand for."""
        return self.weights_of_rows(self.dual_rows(masses))

    def weights_of_rows(self, dual_rows: Floats) -> Floats:
        """Return the weights that a sum of rows, times their masses, stands for."""
        w: Floats = dual_rows / (self.lams[:, np.newaxis] * self.total_weight)
        return w


class Problem(Objectives):
    """The problem over rows in memory."""

    def __init__(
        self,
        X: Any,
        target: Target,
        weight: Floats | None,
        *,
        lams: Floats,
        loss: str,
        bias: float,
        threads: int,
        total_weight: float | None = None,
        rows: _core.Rows | None = None,  # what make_rows gave for this X and bias, if it was called
    ) -> None:
        if total_weight is None:
            total_weight = float(X.shape[0] if weight is None else weight.sum())
        super().__init__(
            X.shape[1],
            target.positive,
            total_weight,
            lams=lams,
            loss=loss,
            bias=bias,
            threads=threads,
        )
        self.X = X
        self.n_rows = int(X.shape[0])
        self.weight = weight
        rows = rows or make_rows(X, bias, threads)
        self._data = _core.make_data(rows, target.code, weight, total_weight)

    @property
    def data(self) -> _core.Data:
        """The rows that draws number, as the core sees them: all."""
        return self._data

    def local(self, per_row: Any) -> Any:
        """Return the part of an array over all rows that belongs to ``data``: all of it."""
        return per_row

    def put_back(self, per_row: Any, part: Any) -> None:
        """Do nothing: the local part is the array itself."""

    def work_per_draw(self) -> float:
        """Return how many numbers a draw touches, on average over all problems."""
        return self.n_problems * work_per_row(self.X)

    def typical_row(self) -> tuple[float, float]:
        """Return the means of ``||x_i||^2`` and of the number of its entries that are not 0.

        Estimated on about a thousand of the rows that have weight; the same for dense and sparse.
        """
        if self.weight is None:
            some = np.arange(0, self.n_rows, sample_step(self.n_rows))
        else:
            active = np.flatnonzero(self.weight)
            some = active[:: sample_step(len(active))]
        square, nonzero = self.sums_of_rows(some)
        return square / len(some), nonzero / len(some)

    def sums_of_rows(self, rows: npt.NDArray[np.int64]) -> tuple[float, float]:
        """Return the sums of ``||x_i||^2`` and of the entries that are not 0 over some rows."""
        rows = np.ascontiguousarray(rows)
        return _core.square_sum(self.data, rows), _core.nonzero_sum(self.data, rows)

    def loss_sums(self, w: Floats) -> Floats:
        """Return ``sum_i s_i loss(y_i <w, x_i>)`` of each problem."""
        sums = np.empty(self.n_problems)
        _core.loss_sums(
            self.data, self.positive, w, loss=self.loss, n_threads=self.threads, sums=sums
        )
        return sums

    def refuse_overflow(self, what: str) -> None:
        """Say why this is not finite."""
        refuse_non_finite(self.X, what)

    def gain(self, masses: Floats) -> Floats:
        """Return the dual gain of each problem's masses (a fraction of the weight, per row)."""
        sums = np.empty(self.n_problems)
        _core.gain_sums(
            self.data, self.positive, masses, loss=self.loss, n_threads=self.threads, sums=sums
        )
        return sums

    def as_fractions(self, masses: Floats) -> Floats:
        """Turn masses that add up to weights into fractions of each row's weight, in place."""
        if self.weight is not None:
            np.divide(masses, self.weight, out=masses, where=self.weight > 0)
        return masses

    def dual_rows(self, masses: Floats) -> Floats:
        """Return the sum of the rows times their masses, labels and weights."""
        sums = self.zeros()
        _core.dual_rows(self.data, self.positive, masses, n_threads=self.threads, sums=sums)
        return sums

    def guess_masses(
        self, w: Floats, masses: Floats, width: float = 1 / 8
    ) -> tuple[Floats, Floats]:
        """Write masses that suit the margins at ``w``; return its losses and their dual rows."""
        losses, sums = np.empty(self.n_problems), self.zeros()
        _core.guess_masses(
            self.data,
            self.positive,
            w,
            masses,
            loss=self.loss,
            width=width,
            n_threads=self.threads,
            dual_rows=sums,
            sums=losses,
        )
        return losses, sums

    def newton_terms(
        self, w: Floats, width: float, *, curvature: bool, masses: Floats | None = None
    ) -> Floats:
        """Return the sums of all rows for a step of Newton's method (newton.hpp); write masses."""
        n = w.shape[1]
        terms = np.empty((self.n_problems, n + 2 + curvature * n**2))
        _core.newton_terms(
            self.data,
            self.positive,
            w,
            masses,
            loss=self.loss,
            width=width,
            curvature=curvature,
            n_threads=self.threads,
            terms=terms,
        )
        return terms

    def line_slopes(self, w: Floats, steps: Floats, width: float) -> Floats:
        """Return how steep the losses are at some fractions of the steps."""
        slopes = np.empty((self.n_problems, len(_core.LINE_FRACTIONS)))
        _core.line_slopes(
            self.data,
            self.positive,
            w,
            steps,
            loss=self.loss,
            width=width,
            n_threads=self.threads,
            slopes=slopes,
        )
        return slopes


def work_per_row(X: Any) -> float:
    """Return how many numbers a draw of these rows touches, on average, in one problem."""
    entries = X.nnz if is_sparse(X) else X.size
    return float(20 + entries / max(1, X.shape[0]))


def sample_step(n_rows: int) -> int:
    """Return of how many rows one is looked at where a thousand will do."""
    return max(1, n_rows // 1000)


def _refuse_too_many_weights(n_problems: int, n_features: int) -> None:
    """Refuse before the system ends the program for it, which no message would explain."""
    needed = n_problems * (n_features + 1) * np.dtype(np.float64).itemsize * _COPIES
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        raise TooManyWeightsError(
            f"weights of {n_features:,} features, times {n_problems:,} (classes and values of "
            f"lam), need about {needed / 2**30:.3g} GiB; this machine has {memory / 2**30:.3g} GiB",
            "check the largest index in the data and whether indices begin with 0, hash the "
            "features to fewer, or fit fewer lam at once",
        )


@dataclass(frozen=True)
class Certificate:
    """Weights, their objective, and a bound that no weights can be below; one row per problem."""

    weights: Floats
    objective: Floats
    dual: Floats

    @property
    def gap(self) -> Floats:
        """How far from optimal the weights can be at most."""
        return self.objective - self.dual

    @property
    def relative_gap(self) -> float:
        """The worst gap of all problems, as a fraction of the objective."""
        tiny = np.finfo(float).tiny
        return float(np.max(self.gap / np.maximum(self.objective, tiny)))

    def improved_by(self, new: "Certificate") -> "Certificate":
        """Take the better weights and the better bound, problem by problem."""
        improved = new.objective < self.objective
        return Certificate(
            np.where(improved[:, np.newaxis], new.weights, self.weights),
            np.where(improved, new.objective, self.objective),
            np.maximum(self.dual, new.dual),
        )
