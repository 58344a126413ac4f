"""Imports that take long: made while something else is done, or not at all.

Most of the time that scikit-learn takes to import goes into two packages that it asks for at once
and that no command needs: pandas, for data frames, and scipy.stats.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from threading import Thread
from types import ModuleType
from typing import Any

__all__ = ["importing", "spare_imports"]


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
    """Leave out pandas, and scipy.stats until something of it is used. For programs only."""
    # None means that a package cannot be imported: to scikit-learn it is one that is not there.
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]
    if "scipy.stats" not in sys.modules:
        _put_off("scipy", "stats")


def _put_off(package: str, name: str) -> None:
    """Put an empty module in the place of one; it is imported when something of it is asked for."""
    full = f"{package}.{name}"
    parent, spec = import_module(package), find_spec(full)
    if spec is None:
        return
    empty = ModuleType(full)
    empty.__spec__ = spec
    empty.__path__ = spec.submodule_search_locations or []

    def get(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"module {full!r} has no attribute {attribute!r}")
        if sys.modules.get(full) is empty:
            del sys.modules[full]
            delattr(parent, name)
        real = import_module(full)
        return getattr(real, attribute)

    empty.__getattr__ = get  # type: ignore[method-assign]
    sys.modules[full] = empty
    setattr(parent, name, empty)
