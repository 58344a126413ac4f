"""The loop of a fit: strides of whole epochs, certificates now and then, an end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from pegasos._draws import Rows
from pegasos._problem import Certificate
from pegasos._progress import FitProgress
from pegasos._validation import Floats

# Tiny data: several epochs make a stride, so that Python's overhead stays small beside the steps.
_FEWEST_DRAWS_A_STRIDE = 2048
# Numbers touched per call of the core, well under 0.1 s: Ctrl-C and progress wait no longer.
_WORK_A_CALL = 4e7
# A certificate costs about a quarter of an epoch. With tol it is due when a quarter more epochs are
# done, without tol only at every fourfold number, for the history.
_GROWTH_WITH_TOL = 1.25
_GROWTH_WITHOUT_TOL = 4


class Run(Protocol):
    """A solver under way."""

    @property
    def violations(self) -> Floats:
        """Visits with a margin below 1, per problem."""

    def begin_stride(self, *, certified: bool) -> None:
        """Take note that a stride begins, and whether a certificate is due at its end."""
        return  # most solvers need not know

    def advance(self, draws: Rows) -> None:
        """Make the steps of these draws."""

    def end_of_stride(self) -> None:
        """Take note that whole epochs are done."""

    def certify(self) -> Certificate:
        """Return weights, objective and bound."""


@dataclass(frozen=True)
class Trained:
    """What a fit has come to."""

    certificate: Certificate
    history: list[dict[str, Any]]
    n_steps: int
    n_epochs: int
    converged: bool


@dataclass(frozen=True)
class Schedule:
    """How long to run: at most ``n_steps`` steps of ``batch_size`` draws over ``n_active`` rows."""

    n_steps: int
    batch_size: int
    n_active: int
    tol: float | None
    work_per_draw: float

    @property
    def steps_per_stride(self) -> int:
        """Steps from one look at the run to the next: one epoch, or several of tiny data."""
        epochs = ceil(_FEWEST_DRAWS_A_STRIDE / self.n_active)
        return ceil(epochs * self.n_active / self.batch_size)

    @property
    def draws_per_call(self) -> int:
        """Draws that the core gets at a time: whole batches."""
        return draws_per_call(self.work_per_draw, self.batch_size)

    def next_look(self, strides: int) -> int:
        """Return at how many strides the next certificate is due."""
        if self.tol is None:
            return max(1, strides) * _GROWTH_WITHOUT_TOL
        return max(strides + 1, int(strides * _GROWTH_WITH_TOL))


def draws_per_call(work_per_draw: float, batch_size: int = 1) -> int:
    """Return how many draws the core gets at a time: whole batches, for a fraction of a second."""
    return batch_size * max(1, int(_WORK_A_CALL / (work_per_draw * batch_size)))


class Draws(Protocol):
    """Where the next rows come from."""

    def expect(self, n_draws: int, n_threads: int) -> None:
        """Take note of how many draws there will be."""

    def take(self, n_draws: int) -> Rows:
        """Return the next draws: as many as asked for, or fewer."""

    def finish(self) -> None:
        """Let go of threads."""


@dataclass
class Place:
    """Where a fit stands."""

    steps: int = 0
    strides: int = 0  # that have begun
    left: int = 0  # steps of the stride under way
    look_at: int = 0  # the stride at whose end the next certificate is due
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)


def train(
    run: Run,
    draws: Draws,
    schedule: Schedule,
    *,
    threads: int,
    name: str,
    verbose: Any,
    place: Place | None = None,
    after_each_part: Callable[[Place], None] | None = None,
) -> Trained:
    """Run until the gap is small enough or the steps are used up.

    ``place`` is where an earlier call stood, whose run and draws these are.
    """
    place = place or Place(look_at=schedule.next_look(0))
    draws.expect((schedule.n_steps - place.steps) * schedule.batch_size, threads)
    # Sums that overflow are found, and explained, by the objective; NumPy's warnings would only
    # come first.
    quiet = np.errstate(over="ignore", invalid="ignore")
    try:
        with quiet, FitProgress(name, schedule.n_steps, verbose) as progress:
            progress.advance(place.steps)
            return _Fit(run, draws, schedule, progress, place, after_each_part).run_strides()
    finally:
        draws.finish()


class _Fit:
    """A fit under way."""

    def __init__(
        self,
        run: Run,
        draws: Draws,
        schedule: Schedule,
        progress: FitProgress,
        place: Place,
        after_each_part: Callable[[Place], None] | None,
    ) -> None:
        self.run = run
        self.draws = draws
        self.schedule = schedule
        self.progress = progress
        self.place = place
        self.after_each_part = after_each_part
        self.started = perf_counter() - place.seconds

    def run_strides(self) -> Trained:
        tol = self.schedule.tol
        while True:
            certificate = self._stride()
            if certificate is not None:
                close_enough = tol is not None and certificate.relative_gap <= tol
                if close_enough or self._is_last:
                    return self._trained(certificate, converged=tol is None or close_enough)
            self._look_around()

    def _stride(self) -> Certificate | None:
        """Make the steps of a stride, or of what is left of it; certify the weights if due."""
        place, schedule = self.place, self.schedule
        if place.left == 0:
            place.left = min(schedule.steps_per_stride, schedule.n_steps - place.steps)
            place.strides += 1
            self.run.begin_stride(certified=self._is_certified)
        self._part()
        while place.left > 0:
            self._look_around()
            self._part()
        self.run.end_of_stride()
        return self._certificate() if self._is_certified else None

    @property
    def _is_last(self) -> bool:
        return self.place.steps + self.place.left == self.schedule.n_steps

    @property
    def _is_certified(self) -> bool:
        return self._is_last or self.place.strides == self.place.look_at

    def _part(self) -> None:
        place, schedule = self.place, self.schedule
        n_draws = min(place.left * schedule.batch_size, schedule.draws_per_call)
        draws = self.draws.take(n_draws)
        self.run.advance(draws)
        n_steps = len(draws) // schedule.batch_size
        place.left -= n_steps
        place.steps += n_steps
        self.progress.advance(n_steps)

    def _look_around(self) -> None:
        if self.after_each_part is not None:
            self.place.seconds = perf_counter() - self.started
            self.after_each_part(self.place)

    def _certificate(self) -> Certificate:
        place, run = self.place, self.run
        place.look_at = self.schedule.next_look(place.strides)
        certificate = run.certify()
        seconds = perf_counter() - self.started
        place.history.append(record(certificate, place.steps, seconds, run.violations))
        gap = certificate.relative_gap
        self.progress.say(f"objective {certificate.objective.mean():.6g}, gap {gap:.3%}")
        return certificate

    def _trained(self, certificate: Certificate, converged: bool) -> Trained:
        place, schedule = self.place, self.schedule
        n_epochs = ceil(place.steps * schedule.batch_size / schedule.n_active)
        return Trained(certificate, place.history, place.steps, n_epochs, converged)


def record(
    certificate: Certificate, step: int, seconds: float, violations: Floats
) -> dict[str, Any]:
    """Return what the history says of a certificate."""
    return {
        "step": step,
        "seconds": seconds,
        "objective": one_or_all(certificate.objective),
        "dual": one_or_all(certificate.dual),
        "gap": one_or_all(certificate.gap),
        "violations": one_or_all(violations.astype(np.int64)),
    }


def one_or_all(values: Any) -> Any:
    """Return a number for one binary problem, an array for several."""
    return values[0].item() if len(values) == 1 else np.array(values)
