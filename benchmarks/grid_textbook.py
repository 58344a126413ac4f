"""One cell of the USPS grid on one fold, as the report on it describes its own code.

Every cell begins anew: the kernel matrix of the training rows (float32, the Gaussian one from
differences of rows, in chunks), then for each class T draws with a sum over all rows, then the
kernel of the held-out rows. ``pegasos.reference`` says why it is right; this is what it costs.
"""

from dataclasses import dataclass

import datasets
import measure
import numpy as np
import numpy.typing as npt
from datasets import Labels

Matrix = npt.NDArray[np.float32]

_ROWS_A_CHUNK = 32  # differences with all rows take 9,298 x 256 x 4 bytes per row


@dataclass(frozen=True)
class Kernel:
    """Gaussian of width g, ``exp(-||a - b||^2/(2 g))``, or polynomial ``(1 + <a, b>)^degree``."""

    family: str
    value: float

    def matrix(self, A: Matrix, B: Matrix) -> Matrix:
        if self.family == "polynomial":
            return (1 + A @ B.T) ** int(self.value)
        return np.concatenate(
            [self._gaussian(A[k : k + _ROWS_A_CHUNK], B) for k in range(0, len(A), _ROWS_A_CHUNK)]
        )

    def _gaussian(self, A: Matrix, B: Matrix) -> Matrix:
        differences = A[:, np.newaxis, :] - B
        return np.exp(-((differences**2).sum(axis=2)) / (2 * self.value))


@dataclass(frozen=True)
class CellTimes:
    """Seconds of the parts of one cell on one fold, and the zero-one error it comes to."""

    matrix: float
    loop: float
    predict: float
    error: float


def fit_and_judge(
    kernel: Kernel,
    lam: float,
    n_steps: int,
    seed: int,
    train: tuple[Matrix, Labels],
    test: tuple[Matrix, Labels],
) -> CellTimes:
    (X, y), (X_test, y_test) = train, test
    signs = datasets.one_vs_rest(y).astype(np.float32)
    matrix, K = measure.timed(lambda: kernel.matrix(X, X))
    loop, alpha = measure.timed(lambda: _loop(K, signs, lam, n_steps, seed))
    predict, scores = measure.timed(lambda: (alpha * signs) @ kernel.matrix(X, X_test))
    error = float(np.mean(np.unique(y)[scores.argmax(axis=0)] != y_test))
    return CellTimes(matrix, loop, predict, error)


def _loop(K: Matrix, signs: Matrix, lam: float, n_steps: int, seed: int) -> Matrix:
    draws = np.random.default_rng(seed).integers(K.shape[0], size=n_steps)
    alpha = np.zeros(signs.shape, dtype=np.float32)
    for c in range(len(signs)):
        y, a = signs[c], alpha[c]
        for t, i in enumerate(draws, start=1):
            if y[i] * ((a * y) @ K[i]) / (lam * t) < 1:
                a[i] += 1
    return alpha
