"""Where and with what results were made."""

import os
import platform
from pathlib import Path
from typing import Any

from pegasos._packages import packages

__all__ = ["machine", "versions"]


def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {"python": platform.python_version(), **packages()}


def machine() -> dict[str, Any]:
    """Return processor, number of cores this program may use, and operating system."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it, macOS has not
    cores = os.cpu_count() if affinity is None else len(affinity(0))
    system = f"{platform.system()} {platform.machine()}"
    return {"cpu": _processor(), "cores": cores, "system": system}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
