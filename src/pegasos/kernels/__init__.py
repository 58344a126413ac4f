"""Kernels: functions of vectors, and the rows of the kernel matrix when they are needed.

``rbf``, ``poly`` and ``linear`` return kernel matrices. ``gamma`` has scikit-learn's meaning: a
report that writes the Gaussian kernel as ``exp(-||a - b||^2 / (2 g))`` means ``gamma = 1/(2 g)``.

>>> import numpy as np
>>> from pegasos.kernels import rbf
>>> g = 2.0
>>> K = rbf(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]), gamma=1 / (2 * g))
>>> bool(np.allclose(K, np.exp(-np.array([[0, 4], [1, 1]]) / (2 * g))))
True

The kernel machines take their rows from a :class:`KernelRows`: a matrix that is already there, or
a cache of rows made on demand that stays below a limit of bytes.
"""

from pegasos._memory import memory_bytes
from pegasos.kernels._functions import VectorKernel, linear, poly, rbf
from pegasos.kernels._rows import CachedRows, KernelRows, StoredMatrix

__all__ = [
    "CachedRows",
    "KernelRows",
    "StoredMatrix",
    "VectorKernel",
    "linear",
    "memory_bytes",
    "poly",
    "rbf",
]
