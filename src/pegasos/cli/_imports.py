"""Imports that take long, made while something else is done."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread

__all__ = ["importing"]


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
