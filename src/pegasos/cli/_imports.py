"""Imports that take long: made while something else is done, or not at all.

Most of the time that scikit-learn takes to import goes into packages that it, or SciPy, asks for at
once and that few commands need: pandas, for data frames, scipy.stats and scipy.special, numpy.f2py,
numpy.testing and asyncio.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import Thread
from types import ModuleType
from typing import Any

__all__ = ["importing", "spare_blas_threads", "spare_imports"]

_NEVER = "pandas"
_LATER = ("scipy.stats", "scipy.special", "numpy.f2py", "numpy.testing", "asyncio")


@contextmanager
def importing(*modules: str) -> Iterator[None]:
    """Import modules on a thread of their own; at the end they are there."""

    def work() -> None:
        for module in modules:
            with suppress(Exception):  # whoever needs it is told when it is asked for
                import_module(module)

    # A daemon: an error in the meantime is not kept waiting.
    thread = Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()


def spare_blas_threads() -> None:
    """Let OpenBLAS start no threads, for work that has no use for them; the user may say otherwise.

    NumPy and SciPy have a set each. They wait for work by spinning, and so take time from the
    threads that read the file.
    """
    if "numpy" not in sys.modules:  # else they are there already
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def spare_imports() -> None:
    """Leave out pandas, and the others until something of them is used. For a program to do."""
    sys.meta_path.insert(0, _Sparing())


class _Sparing(MetaPathFinder, Loader):
    """Finds pandas nowhere; gives empty modules for others, which import them when used."""

    def __init__(self) -> None:
        self._later = set(_LATER)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _NEVER:
            raise ModuleNotFoundError(f"{name} is left out", name=name)
        real = PathFinder.find_spec(name, path) if name in self._later else None
        if real is None:
            return None
        spec = ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        def get(attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no {attribute!r}")
            return getattr(self._real(module), attribute)

        module.__getattr__ = get  # type: ignore[method-assign]

    def _real(self, empty: ModuleType) -> ModuleType:
        """Import what an empty module stands for."""
        full = empty.__name__
        self._later.discard(full)
        if sys.modules.get(full) is empty:
            del sys.modules[full]
            package, _, name = full.rpartition(".")
            if package:
                vars(sys.modules[package]).pop(name, None)
        return import_module(full)
