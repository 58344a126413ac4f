"""What every benchmark knows of a contestant, and how the command line names it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeVar


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A way to fit. ``needs`` is the module that must be there."""

    key: str
    title: str
    group: str
    threads: int = 1
    ours: bool = False
    needs: str = "sklearn"

    def why_not(self) -> str | None:
        """Say why it cannot take part, if so."""
        if find_spec(self.needs) is None:
            return f"{self.needs} is not installed (it comes with the extra 'bench')"
        return None


def reason_of(error: Exception) -> str:
    """Return what went wrong, without the folders of this machine: it may be published."""
    text = re.sub(r" ?\(/[^)]*\)|/[^\s'\"]*/", "", str(error))
    return f"{type(error).__name__}: {text}"


AnyContestant = TypeVar("AnyContestant", bound=Contestant)


def names(contestants: Sequence[Contestant]) -> list[str]:
    """Return all that the command line may call them."""
    return sorted({"ours", "peers", *(n for c in contestants for n in (c.key, c.group))})


def chosen(contestants: Sequence[AnyContestant], wanted: list[str]) -> list[AnyContestant]:
    """Return those of these names: keys, groups, "ours" or "peers"; no name means all."""

    def is_meant(contestant: Contestant) -> bool:
        side = "ours" if contestant.ours else "peers"
        return not wanted or not {contestant.key, contestant.group, side}.isdisjoint(wanted)

    return [contestant for contestant in contestants if is_meant(contestant)]
