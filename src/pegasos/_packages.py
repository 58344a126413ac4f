"""The packages that results depend on."""

from importlib.metadata import version

__all__ = ["PACKAGES", "packages"]

PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")


def packages() -> dict[str, str]:
    """Return their versions."""
    return {name: version(name) for name in PACKAGES}
