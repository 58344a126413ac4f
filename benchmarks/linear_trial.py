"""One contestant on one task, and the three things that are measured of it."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import contestants
import ladder
import measure
from datasets import DataSet, Labels, Matrix
from linear_peers import BY_KEY, EPOCH_RIVALS, Contestant, Fitted

PARTS = ("ladder", "epochs", "memory")
# The slope between these leaves out what a fit costs before its first epoch.
_FEW_EPOCHS, _MORE_EPOCHS = 5, 15
_MEMORY_CONTESTANTS = ("sgd", "linearsvc", "liblinear", "snapml-1", "pegasos-1", "sdca-1")


@dataclass(frozen=True)
class Trial:
    """Writes what it measures into ``task``, its part of the results."""

    task: dict[str, Any]
    contestant: Contestant
    dataset: DataSet
    X: Matrix
    y: Labels
    lam: float
    repeats: int
    limit: float

    def measure(self, parts: Iterable[str]) -> str | None:
        """Measure these parts. Return why it had to be left out, if so."""
        key = self.contestant.key
        self.task["left_out"].pop(key, None)
        try:
            reason = self.contestant.why_not()
            if reason is None:
                measure.timed(lambda: self.contestant.warm_up(self.X, self.y))
                for part in parts:
                    getattr(self, f"_{part}")()
        except Exception as error:  # noqa: BLE001 - whatever a peer raises, the others go on
            reason = contestants.reason_of(error)
        if reason is not None:
            self.task["left_out"][key] = reason
        return reason

    def _fit(self, budget: float, seed: int) -> tuple[float, Fitted]:
        return measure.timed(lambda: self.contestant.fit(self.X, self.y, self.lam, budget, seed))

    def _ladder(self) -> None:
        def run_once(budget: float, seed: int) -> tuple[float, float, float]:
            seconds, fitted = self._fit(budget, seed)
            objective = measure.hinge_objective(self.X, self.y, fitted.w, self.lam)
            return seconds, objective, fitted.conversion

        key = self.contestant.key
        self.task["points"].pop(key, None)
        optimum = ladder.optimum_of(self.task)
        climb = ladder.Climb(run_once, optimum, self.repeats, self.limit)
        for point in climb.go(self.contestant.ladder):
            seconds, suboptimality = median(point.seconds), point.suboptimality(optimum)
            self._say(
                f"{point.budget:7g} {self.contestant.unit:6} {seconds:9.4f} s  "
                f"suboptimality {suboptimality:.2e}"
            )
        ladder.store_points(self.task, key, climb.points)

    def _epochs(self) -> None:
        key = self.contestant.key
        if key not in EPOCH_RIVALS and key not in EPOCH_RIVALS.values():
            return
        self.task["epoch_seconds"].pop(key, None)
        few, more = (
            median(self._fit(epochs, seed)[0] for seed in range(self.repeats))
            for epochs in (_FEW_EPOCHS, _MORE_EPOCHS)
        )
        slope = (more - few) / (_MORE_EPOCHS - _FEW_EPOCHS)
        self.task["epoch_seconds"][key] = slope
        self._say(f"{slope:.5f} s per epoch")

    def _memory(self) -> None:
        key = self.contestant.key
        if key not in _MEMORY_CONTESTANTS:
            return
        self.task["memory_bytes"].pop(key, None)
        peak = measure.in_fresh_process(peak_of_fit, key, self.dataset, self.lam)
        self.task["memory_bytes"][key] = peak
        self._say(f"{peak / 1e6:.1f} MB beyond the data")

    def _say(self, message: str) -> None:
        print(f"  {self.contestant.title:34} {message}", file=sys.stderr, flush=True)


def peak_of_fit(key: str, dataset: DataSet, lam: float) -> int:
    """Return the peak of memory beyond the data during a fit, in a process that did little else."""
    contestant = BY_KEY[key]
    X, y = dataset.load()
    measure.timed(lambda: contestant.warm_up(X, y))
    budget = 0.1 if contestant.unit == "eps" else 3
    peak, _ = measure.peak_beyond(lambda: contestant.fit(X, y, lam, budget, 0))
    return peak
