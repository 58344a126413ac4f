"""The facts a reader needs to place the figures: machine and versions."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")


def machine() -> dict[str, str]:
    return {
        "CPU": f"{_cpu_model()}, {os.cpu_count()} cores, instruction set {_cpu_level()}",
        "Caches": _caches() or "unknown",
        "Memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "OS": f"{_os_name()}, {platform.system()} {_kernel()}, {platform.machine()}",
    }


def versions(peers: tuple[str, ...]) -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in (*_PACKAGES, *peers):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def is_busy() -> bool:
    """Tell whether other programs keep the machine from measuring well."""
    return os.getloadavg()[0] > 0.5


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.replace("\t", "").split(":", 1) for line in lines if ":" in line)
    name = facts.get("model name", platform.machine()).strip()
    if "cpu family" in facts and "model" in facts:  # a virtual machine may hide the name
        name += f" (family {facts['cpu family'].strip()}, model {facts['model'].strip()})"
    return name


def _cpu_level() -> str:
    from pegasos import _core

    return _core.cpu_level()


def _caches() -> str:
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (folder / name).read_text().strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found)


def _kernel() -> str:
    return platform.release().partition("-")[0]


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()
