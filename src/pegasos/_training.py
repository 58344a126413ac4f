"""The loop of a fit: strides of whole epochs, certificates now and then, an end."""

from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from pegasos._draws import DrawStream, Rows
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


def train(
    run: Run, stream: DrawStream, schedule: Schedule, *, threads: int, name: str, verbose: Any
) -> Trained:
    """Run until the gap is small enough or the steps are used up."""
    stream.expect(schedule.n_steps * schedule.batch_size, threads)
    # Sums that overflow are found, and explained, by the objective; NumPy's warnings would only
    # come first.
    quiet = np.errstate(over="ignore", invalid="ignore")
    try:
        with quiet, FitProgress(name, schedule.n_steps, verbose) as progress:
            return _train(run, stream, schedule, progress)
    finally:
        stream.finish()


def _train(run: Run, stream: DrawStream, schedule: Schedule, progress: FitProgress) -> Trained:
    history: list[dict[str, Any]] = []
    started = perf_counter()
    steps = strides = 0
    look_at = schedule.next_look(0)
    converged = False
    while True:
        n_steps = min(schedule.steps_per_stride, schedule.n_steps - steps)
        steps += n_steps
        strides += 1
        last = steps == schedule.n_steps
        certified = last or strides == look_at
        run.begin_stride(certified=certified)
        _advance(run, stream, n_steps * schedule.batch_size, schedule, progress)
        run.end_of_stride()
        if certified:
            look_at = schedule.next_look(strides)
            certificate = run.certify()
            history.append(_record(certificate, steps, perf_counter() - started, run.violations))
            gap = certificate.relative_gap
            progress.say(f"objective {certificate.objective.mean():.6g}, gap {gap:.3%}")
            converged = schedule.tol is None or gap <= schedule.tol
            if last or (schedule.tol is not None and converged):
                break
    n_epochs = ceil(steps * schedule.batch_size / schedule.n_active)
    return Trained(certificate, history, steps, n_epochs, converged)


def _advance(
    run: Run, stream: DrawStream, n_draws: int, schedule: Schedule, progress: FitProgress
) -> None:
    while n_draws > 0:
        draws = stream.take(min(n_draws, schedule.draws_per_call))
        run.advance(draws)
        n_draws -= len(draws)
        progress.advance(len(draws) // schedule.batch_size)


def _record(
    certificate: Certificate, step: int, seconds: float, violations: Floats
) -> dict[str, Any]:
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
