"""Imports that take long: made while something else is done, or not at all.

Most of the time that scikit-learn takes to import goes into two packages that it asks for at once
and that no command needs: pandas, for data frames, and scipy.stats.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import Thread
from types import ModuleType
from typing import Any

__all__ = ["importing", "spare_imports"]

_NEVER = "pandas"
_LATER = "scipy.stats"


@contextmanager
def importing(*modules: str) -> Iterator[None]:
    """Import modules on a thread of their own; at the end they are there."""

    def work() -> None:
        for module in modules:
            with suppress(ImportError):  # whoever needs it is told when it is asked for
                import_module(module)

    # A daemon: an error in the meantime is not kept waiting.
    thread = Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()


def spare_imports() -> None:
    """Leave out pandas, and scipy.stats until something of it is used. For a program to do."""
    sys.meta_path.insert(0, _Sparing())


class _Sparing(MetaPathFinder, Loader):
    """Finds pandas nowhere; gives an empty module for scipy.stats, which imports it when used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _NEVER:
            raise ModuleNotFoundError(f"{name} is left out", name=name)
        real = PathFinder.find_spec(name, path) if name == _LATER else None
        if real is None:
            return None
        spec = ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        def get(attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(f"module {_LATER!r} has no attribute {attribute!r}")
            return getattr(self._real(module), attribute)

        module.__getattr__ = get  # type: ignore[method-assign]

    def _real(self, empty: ModuleType) -> ModuleType:
        """Import what the empty module stands for, and leave imports alone from then on."""
        with suppress(ValueError):
            sys.meta_path.remove(self)
        if sys.modules.get(_LATER) is empty:
            del sys.modules[_LATER]
            package, _, name = _LATER.rpartition(".")
            vars(sys.modules[package]).pop(name, None)
        return import_module(_LATER)
