"""Imports that take long: made while something else is done, or not at all.

Most of the time that scikit-learn takes to import goes into packages that it, or SciPy, asks for at
once and that few commands need: pandas and narwhals, for data frames, solvers of equations,
statistics, progress bars and more.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import Lock, Thread
from types import ModuleType
from typing import Any

__all__ = ["importing", "spare_blas_threads", "spare_imports"]

_NEVER = "pandas"
# Imported when something of them is used; and what others take from them at once, to use it at some
# time or never.
_LATER: dict[str, tuple[str, ...]] = {
    "asyncio": (),
    "narwhals": (),
    "narwhals.stable": (),
    "narwhals.stable.v2": (),
    "narwhals.stable.v2.dependencies": ("is_into_dataframe", "is_into_series"),
    "numpy.f2py": (),
    "numpy.ma": (),
    "numpy.polynomial": (),
    "numpy.testing": (),
    "psutil": ("Process",),
    "scipy.linalg": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
    "scipy.special": (),
    "scipy.stats": (),
    "sklearn.callback": (),
}
_OF_FRAMES = "narwhals.stable.v2.dependencies"


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
        self._lock = Lock()

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
        full = module.__name__

        def get(attribute: str) -> Any:
            if attribute.startswith("__"):
                raise AttributeError(f"module {full!r} has no {attribute!r}")
            if f"{full}.{attribute}" in self._later:
                return import_module(f"{full}.{attribute}")

            def find() -> Any:
                return getattr(self._real(module), attribute)

            if full in self._later and attribute in _LATER[full]:
                return _TellsFrames(find) if full == _OF_FRAMES else _StandIn(find)
            return find()

        module.__getattr__ = get  # type: ignore[method-assign]

    def _real(self, empty: ModuleType) -> ModuleType:
        """Import what an empty module stands for."""
        full = empty.__name__
        package, _, name = full.rpartition(".")
        if package in self._later:
            self._real(sys.modules[package])
        self._later.discard(full)
        with self._lock:  # not while importing: another thread may wait for this one in there
            if sys.modules.get(full) is empty:
                del sys.modules[full]
                if package:
                    vars(sys.modules[package]).pop(name, None)
        real = import_module(full)
        # Its parts that were imported before, by their own names, are bound by nobody else.
        for part, module in list(vars(empty).items()):
            if isinstance(module, ModuleType):
                vars(real).setdefault(part, module)
        return real


class _StandIn:
    """Stands for a function or a class, which is imported when it is used."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._find()(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._find(),)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._find())


class _TellsFrames(_StandIn):
    """Knows by itself that arrays are no data frames: scikit-learn asks this of all data."""

    def __call__(self, data: Any) -> Any:
        return not type(data).__module__.startswith(("numpy", "scipy")) and super().__call__(data)
