"""Climbing a ladder of budgets until the objective is close enough to the optimum."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

LEVELS = (1e-1, 1e-2, 1e-3)  # relative suboptimality, (P - P*) / P*
_SHORT = 0.2  # seconds


@dataclass
class Point:
    """What one budget has cost and brought: an entry per run, each with another seed."""

    budget: float
    seconds: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    conversions: list[float] = field(default_factory=list)

    def suboptimality(self, optimum: float) -> float:
        return median(self.objectives) / optimum - 1


# Makes one run: (budget, seed) -> seconds, objective, seconds of conversion among them.
RunOnce = Callable[[float, int], tuple[float, float, float]]


@dataclass
class Climb:
    """Points from the bottom up. Where runs are long, one a point shows the way, and only those
    points get all runs that a result hangs on.
    """

    run_once: RunOnce
    optimum: float
    repeats: int
    limit: float
    points: list[Point] = field(default_factory=list)

    def go(self, budgets: tuple[float, ...]) -> Iterator[Point]:
        """Climb until the finest level is reached or the seconds are used up; yields new runs."""
        spent = 0.0
        for budget in budgets:
            point = Point(budget)
            self.points.append(point)
            self._run(point)
            if point.seconds[0] < _SHORT or self._reaches(point, LEVELS[-1]):
                self._complete(point)
            yield point
            if self._reaches(point, LEVELS[-1]):
                break
            spent += point.seconds[0]
            if spent > self.limit:
                break
        for level in LEVELS:
            yield from self._settle(level)

    def _settle(self, level: float) -> Iterator[Point]:
        """Give all runs to the first point that reaches the level, and to the one before it."""
        while True:
            first = next((i for i, p in enumerate(self.points) if self._reaches(p, level)), None)
            if first is None:
                return
            todo = [
                p for p in self.points[max(0, first - 1) : first + 1] if not self._is_complete(p)
            ]
            if not todo:
                return
            for point in todo:
                self._complete(point)
                yield point

    def _reaches(self, point: Point, level: float) -> bool:
        return point.suboptimality(self.optimum) <= level

    def _complete(self, point: Point) -> None:
        while not self._is_complete(point):
            self._run(point)

    def _is_complete(self, point: Point) -> bool:
        return len(point.seconds) >= self.repeats or sum(point.seconds) > self.limit

    def _run(self, point: Point) -> None:
        seed = len(point.seconds)
        seconds, objective, conversion = self.run_once(point.budget, seed)
        point.seconds.append(seconds)
        point.objectives.append(objective)
        point.conversions.append(conversion)


def cheapest(points: list[Point], optimum: float, level: float) -> Point | None:
    """Return the point that reaches the level in the fewest seconds.

    Points run only once are passed over where others reach the level too: their luck is untested.
    """
    reaching = [point for point in points if point.suboptimality(optimum) <= level]
    most = max((len(point.seconds) for point in reaching), default=0)
    tested = [point for point in reaching if len(point.seconds) > 1 or most == 1]
    return min(tested, key=lambda point: median(point.seconds), default=None)


def points_of(task: dict[str, Any], key: str) -> list[Point]:
    return [Point(**point) for point in task["points"].get(key, [])]


def store_points(task: dict[str, Any], key: str, points: list[Point]) -> None:
    task["points"][key] = [asdict(point) for point in points]


def optimum_of(task: dict[str, Any]) -> float:
    """Return P*: the lowest objective that anyone has found."""
    found = [
        objective
        for points in task["points"].values()
        for point in points
        for objective in point["objectives"]
    ]
    best: float = min([task["reference"]["objective"], *found])
    return best
