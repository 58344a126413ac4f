"""The loop of a fit on a cluster: rounds until the gap is small enough or the steps are used up."""

from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from pegasos._problem import Certificate
from pegasos._progress import FitProgress
from pegasos._training import Schedule, Trained, record
from pegasos._validation import Floats
from pegasos.dask._load import Loaded
from pegasos.dask._looks import Look, better_of, weights_of

# A round costs the cluster tens of milliseconds beside the steps. Shards so small that an epoch
# takes far less make several epochs a round: as many as touch so many numbers (some ten
# milliseconds), within a limit, for by themselves shards learn what the others will contradict.
_WORK_A_ROUND = 5e6
_MOST_EPOCHS_A_ROUND = 4
# With this tolerance the first look is after a part of an epoch: weights that gradient steps have
# found on so many of many rows are often good enough for all of them.
_LOOSE_TOLERANCE = 5e-3
_FIRST_PART = 5 / 8
# Rounds under way at once: the cluster need not wait for the client, nor Ctrl-C for many of them.
_ROUNDS_AHEAD = 8


class Method(Protocol):
    """A solver on a cluster: submits rounds, and knows what they have come to."""

    keeps_best: bool  # whether the best weights seen are kept, rather than the last ones
    begins_with_steps: bool  # gradient steps, which may lead to good weights before the first epoch

    @property
    def state(self) -> Any:
        """Future of what all shards have come to."""

    def advance(self, tick: int, n_draws: int, *, certified: bool) -> None:
        """Submit a round of so many draws; a certificate may be due at its end."""

    def look(self) -> Look:
        """Look at the state."""


@dataclass(frozen=True)
class Outcome:
    """What a fit has come to."""

    trained: Trained
    violations: Floats


def epochs_a_round(n_active: list[int], work_per_draw: float) -> int:
    """Return how many epochs each shard makes by itself: more of them where they are short."""
    work = max(n_active) * work_per_draw
    return min(_MOST_EPOCHS_A_ROUND, max(1, ceil(_WORK_A_ROUND / work)))


def first_draws(method: Method, schedule: Schedule, n_epochs: int) -> int:
    """Return the draws of the first round: a part of an epoch, where that may be enough."""
    loose = schedule.tol is not None and schedule.tol >= _LOOSE_TOLERANCE
    if loose and n_epochs == 1 and method.begins_with_steps:
        return ceil(_FIRST_PART * schedule.n_active)
    return n_epochs * schedule.n_active


def run_rounds(
    method: Method,
    loaded: Loaded,
    schedule: Schedule,
    n_epochs: int,
    *,
    name: str,
    verbose: Any,
) -> Outcome:
    """Submit rounds and look at them now and then, until the end."""
    rounds = _Rounds(method, loaded)
    cluster = loaded.cluster
    history: list[dict[str, Any]] = []
    started = perf_counter()
    steps = tick = 0
    look_at = schedule.next_look(0)
    with FitProgress(name, schedule.n_steps, verbose) as progress:
        while True:
            n_draws = n_epochs * schedule.n_active
            if tick == 0:
                n_draws = first_draws(method, schedule, n_epochs)
            n_draws = min(n_draws, schedule.n_steps - steps)
            steps += n_draws
            tick += 1
            last = steps == schedule.n_steps
            certified = last or tick == look_at
            method.advance(tick, n_draws, certified=certified)
            if certified:
                look_at = schedule.next_look(tick)
                certificate, violations = rounds.certify()
                seconds = perf_counter() - started
                history.append(record(certificate, steps, seconds, violations))
                gap = certificate.relative_gap
                progress.say(f"objective {certificate.objective.mean():.6g}, gap {gap:.3%}")
                converged = schedule.tol is None or gap <= schedule.tol
                if last or (schedule.tol is not None and converged):
                    break
            elif tick % _ROUNDS_AHEAD == 0:
                cluster.result(cluster.submit(_done, method.state))
            progress.advance(n_draws)
    certificate = rounds.with_weights()
    n_done = ceil(steps / schedule.n_active)
    return Outcome(Trained(certificate, history, steps, n_done, converged), violations)


class _Rounds:
    """Keeps the best weights on the cluster and the best figures here."""

    def __init__(self, method: Method, loaded: Loaded) -> None:
        self.cluster = loaded.cluster
        self.method = method
        self.loaded = loaded
        self._weights: Any = None
        self._best: Certificate | None = None

    def certify(self) -> tuple[Certificate, Floats]:
        """Look at the state; return the best so far (without the weights) and the violations."""
        state = self.method.state
        # Sent along: the weights are there when they turn out to be the last ones.
        weights = self.cluster.submit(weights_of, state)
        look = self.method.look()
        if not np.all(np.isfinite(look.objective)):
            self.loaded.explain_overflow("the objective")
        none = np.empty((len(look.objective), 0))
        new = Certificate(none, look.objective, look.dual)
        if self._best is None:
            self._best, self._weights = new, weights
        elif self.method.keeps_best:
            improved = look.objective < self._best.objective
            self._best = self._best.improved_by(new)
            if improved.any():
                self._weights = self.cluster.submit(better_of, improved, state, self._weights)
        else:
            best_dual = np.fmax(self._best.dual, look.dual)
            self._best, self._weights = Certificate(none, look.objective, best_dual), weights
        return self._best, look.violations

    def with_weights(self) -> Certificate:
        """Return the best weights with their figures."""
        assert self._best is not None
        weights = self.cluster.result(self._weights)
        return Certificate(weights, self._best.objective, self._best.dual)


def _done(state: Any) -> None:
    """Come back when the state is there."""
