"""The two solvers on a cluster: which tasks make a round."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pegasos._sdca_run import ROUNDING_MATTERS, Pace
from pegasos.dask import _ascent, _ascent_start, _local_steps, _looks
from pegasos.dask._cluster import made
from pegasos.dask._load import Loaded
from pegasos.dask._looks import Look
from pegasos.dask._shard import Setting


class _Method:
    """What both solvers keep: the state of all shards together, and the recipe it is made by."""

    def __init__(self, loaded: Loaded, setting: Setting) -> None:
        self.cluster = loaded.cluster
        self.loaded = loaded
        self.setting = setting
        self.recipe: list[Any] = []
        self._state: Any = None

    @property
    def state(self) -> Any:
        """Future of what all shards have come to; made when it is asked for."""
        if self._state is None:
            gather, *_ = self.recipe
            self._state = self.cluster.submit(made, self.recipe, name=gather.__name__)
        return self._state

    def _become(self, gather: Callable[..., Any], *args: Any) -> None:
        self.recipe, self._state = [gather, *args], None

    def _look(self, certify: Callable[..., Any]) -> Look:
        sums = self.loaded.each(certify, self.setting, self.recipe)
        seen: Look = self.cluster.result(
            self.cluster.fold(_looks.look, sums, self.setting, self.state)
        )
        return seen


class Ascending(_Method):
    """Local dual ascent with added updates."""

    keeps_best = True

    def __init__(self, loaded: Loaded, setting: Setting) -> None:
        super().__init__(loaded, setting)
        self.squared_norm, entries, _ = map(float, loaded.typical_row)
        self.pace = Pace.over(
            self.squared_norm,
            entries,
            n_features=loaded.n_features,
            lam=setting.lam,
            n_active=sum(loaded.n_active),
        )
        # Where rows are many, the first round goes into gradient steps; zeros lead nowhere.
        self.begins_with_steps = self.pace.many_rows and self.squared_norm > 0
        self._ascents: list[Any] = []
        self._updates: list[Any] = []
        self._is_start = False

    def advance(self, tick: int, n_draws: int, *, certified: bool) -> None:
        """Submit a round."""
        if tick == 1 and self.begins_with_steps:
            n_start = min(n_draws, sum(self.loaded.n_active))
            self._start(n_start)
            n_draws -= n_start
            if n_draws == 0:
                return
        elif tick == 1:
            self._ascents = self.loaded.each(_ascent.begin)
            self._become(_ascent.begin_together, self.loaded.n_problems, self.loaded.n_features)
        self._is_start = False
        keeps_mean = certified and self.setting.average is not None
        self._ascend(
            tick,
            _ascent.ascend,
            *(self.setting, self.recipe, self.pace, keeps_mean),
            own=[self.loaded.turns(tick, n_draws), self._ascents],
        )
        self._become(_ascent.gather, self.setting, self.state, *self._updates)

    def _start(self, n_draws: int) -> None:
        descents = self.cluster.added(
            self.loaded.each(
                _ascent_start.descend,
                self.setting,
                self.squared_norm,
                self.pace.averages_start,
                own=[self.loaded.turns(0, n_draws)],
            )
        )
        self._ascend(0, _ascent_start.guess, self.setting, descents)
        self._become(_ascent_start.gather_guesses, self.setting, descents, *self._updates)
        self._is_start = True

    def _ascend(
        self, tick: int, function: Callable[..., Any], *args: Any, own: Sequence[Any] = ()
    ) -> None:
        """Submit ``function`` for every shard: what it tells the others, and what stays there.

        The others need not wait until a second task has taken what concerns them from the result.
        """
        own = [[tick] * len(self.loaded.parts), [function] * len(self.loaded.parts), *own]
        updates = self.loaded.each(_ascent.told, *args, own=own, name=function.__name__)
        self._ascents = self.loaded.each(_ascent.kept, *args, own=own)
        self._updates = self.cluster.added(updates)

    def look(self) -> Look:
        """Look at the state; add up the masses anew where rounding might show."""
        if self._is_start:
            seen: Look = self.cluster.result(
                self.cluster.submit(_looks.look_at, self.setting, self.recipe)
            )
            return seen
        seen = self._look(_looks.losses)
        if not np.any(seen.objective - seen.dual < ROUNDING_MATTERS * seen.objective):
            return seen
        sums = self.cluster.added(self.loaded.each(_ascent.anew, self.setting, own=[self._ascents]))
        self._become(_ascent.gather_anew, self.setting, self.state, *sums)
        return self._look(_looks.losses)


class Stepping(_Method):
    """Local Pegasos with averaged weights."""

    keeps_best = False
    begins_with_steps = True
    local_state: Any = None  # future, for partial_fit of the local model

    def __init__(self, loaded: Loaded, setting: Setting) -> None:
        super().__init__(loaded, setting)
        self._become(_local_steps.begin_steps, loaded.n_problems, loaded.n_features, setting)

    def advance(self, tick: int, n_draws: int, *, certified: bool) -> None:
        """Submit a round."""
        updates = self.loaded.each(
            _local_steps.step,
            self.setting,
            self.recipe,
            own=[self.loaded.turns(tick, n_draws)],
        )
        n_epochs = n_draws / sum(self.loaded.n_active)
        self._become(
            _local_steps.gather_steps,
            self.setting,
            self.state,
            n_epochs,
            *self.cluster.added(updates),
        )

    def look(self) -> Look:
        """Look at the state."""
        # Sent along, like the weights: it is there when this look turns out to be the last.
        self.local_state = self.cluster.submit(_local_steps.state_of, self.state)
        return self._look(_looks.losses_and_guess)
