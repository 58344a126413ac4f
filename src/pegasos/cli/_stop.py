"""Ctrl-C, also where Python does not pass it on, and being asked to end by another program."""

import signal
import sys
from _thread import interrupt_main
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["hear_every_stop"]

_SOON = 0.01  # seconds


def hear_every_stop() -> None:
    """Let no Ctrl-C go unheard: in a destructor or a callback Python reports and forgets it.

    What other programs end this one with counts as Ctrl-C: half-written files are taken away.
    """
    sys.unraisablehook = _repeat_stop
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _repeat_stop(fault: "UnraisableHookArgs") -> None:
    if fault.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(fault)
        return
    again = Timer(_SOON, interrupt_main)  # later: here it would be forgotten once more
    again.daemon = True
    again.start()
