"""The two solvers on a cluster: which tasks make a round."""

from typing import Any

import numpy as np

from pegasos._sdca_run import ROUNDING_MATTERS, Pace
from pegasos.dask import _ascent, _ascent_start, _local_steps, _looks
from pegasos.dask._load import Loaded
from pegasos.dask._looks import Look
from pegasos.dask._shard import Setting


class Ascending:
    """Local dual ascent with added updates."""

    keeps_best = True

    def __init__(
        self, loaded: Loaded, setting: Setting, *, squared_norm: float, entries: float
    ) -> None:
        self.cluster = loaded.cluster
        self.loaded = loaded
        self.setting = setting
        self.squared_norm = squared_norm
        n_active = sum(loaded.n_active)
        self.pace = Pace.over(squared_norm, entries, lam=setting.lam, n_active=n_active)
        self.state = self.cluster.submit(
            _ascent.begin_together, loaded.n_problems, loaded.n_features
        )
        self._ascents: list[Any] = []
        self._is_start = False

    def advance(self, tick: int, n_draws: int, *, certified: bool) -> None:
        """Submit a round; where rows are many, the first one goes into gradient steps."""
        if tick == 1 and self.pace.many_rows and self.squared_norm > 0:  # zeros lead nowhere
            n_start = min(n_draws, sum(self.loaded.n_active))
            self._start(n_start)
            n_draws -= n_start
            if n_draws == 0:
                return
        elif tick == 1:
            self._ascents = self.loaded.each(_ascent.begin)
        self._is_start = False
        self._ascents = self.loaded.each(
            _ascent.ascend,
            self.state,
            self.setting,
            self.pace,
            own=[self.loaded.turns(tick, n_draws), self._ascents],
            keeps_mean=certified and self.setting.average is not None,
        )
        self.state = self.cluster.fold(_ascent.gather, self._updates(), self.setting, self.state)

    def _start(self, n_draws: int) -> None:
        descents = self.loaded.each(
            _ascent_start.descend,
            self.setting,
            self.squared_norm,
            own=[self.loaded.turns(0, n_draws)],
        )
        mixed = self.cluster.fold(_ascent_start.mix, descents)
        self._ascents = self.loaded.each(_ascent_start.guess, mixed, self.setting)
        self.state = self.cluster.fold(
            _ascent_start.gather_guesses, self._updates(), self.setting, mixed
        )
        self._is_start = True

    def _updates(self) -> list[Any]:
        return [self.cluster.submit(_ascent.update_of, ascent) for ascent in self._ascents]

    def look(self) -> Look:
        """Look at the state; add up the masses anew where rounding might show."""
        if self._is_start:
            seen: Look = self.cluster.result(
                self.cluster.submit(_looks.look, self.setting, self.state)
            )
            return seen
        seen = _look(self)
        if not np.any(seen.objective - seen.dual < ROUNDING_MATTERS * seen.objective):
            return seen
        sums = self.loaded.each(_ascent.anew, self.setting, own=[self._ascents])
        self.state = self.cluster.fold(_ascent.gather_anew, sums, self.setting, self.state)
        return _look(self)


class Stepping:
    """Local Pegasos with averaged weights."""

    keeps_best = False

    def __init__(self, loaded: Loaded, setting: Setting) -> None:
        self.cluster = loaded.cluster
        self.loaded = loaded
        self.setting = setting
        self.state = self.cluster.submit(
            _local_steps.begin_steps, loaded.n_problems, loaded.n_features, setting
        )

    def advance(self, tick: int, n_draws: int, *, certified: bool) -> None:
        """Submit a round."""
        turns = self.loaded.turns(tick, n_draws)
        updates = self.loaded.each(_local_steps.step, self.state, self.setting, own=[turns])
        n_epochs = n_draws / sum(self.loaded.n_active)
        self.state = self.cluster.fold(
            _local_steps.gather_steps, updates, self.setting, self.state, n_epochs
        )

    def look(self) -> Look:
        """Look at the state."""
        return _look(self)


def _look(method: Ascending | Stepping) -> Look:
    losses = method.loaded.each(_looks.losses, method.state, method.setting)
    seen: Look = method.cluster.result(
        method.cluster.fold(_looks.look, losses, method.setting, method.state)
    )
    return seen
