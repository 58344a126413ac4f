# What the C++ module offers (cpp/bindings/module.cpp). Arrays are used in place, never converted.
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

TALLY_FIELDS: int

class Rows: ...
class Data: ...

def cpu_level() -> str: ...
def dense_rows(x: npt.NDArray[Any], bias: float) -> Rows: ...
def csr_rows(
    values: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_features: int,
    bias: float,
) -> Rows: ...
def csr_fault(rows: Rows, n_threads: int) -> str: ...
def make_data(rows: Rows, code: Codes, weight: Floats | None, total_weight: float) -> Data: ...
def square_sum(data: Data, rows: Integers) -> float: ...
def nonzero_sum(data: Data, rows: Integers) -> int: ...
def pegasos_steps(
    data: Data,
    positive: Codes,
    v: Floats,
    u: Floats | None,
    mass: Floats | None,
    tally: Floats,
    draws: Integers,
    *,
    loss: str,
    lam: float,
    batch_size: int,
    project: bool,
    mean: str | None,
    n_threads: int,
) -> None: ...
def sgd_start_steps(
    data: Data,
    positive: Codes,
    w: Floats,
    u: Floats,
    tally: Floats,
    draws: Integers,
    *,
    loss: str,
    lam: float,
    eta0: float,
    n_threads: int,
) -> None: ...
def sdca_steps(
    data: Data,
    positive: Codes,
    w: Floats,
    u: Floats | None,
    mass: Floats,
    asleep: Bytes,
    tally: Floats,
    draws: Integers,
    *,
    loss: str,
    lam: float,
    relaxation: float,
    weighted_mean: bool,
    shrinking: bool,
    n_threads: int,
) -> None: ...
def perceptron_steps(
    data: Data,
    positive: Codes,
    w: Floats,
    u: Floats | None,
    tally: Floats,
    draws: Integers,
    *,
    n_threads: int,
) -> None: ...
def loss_sums(
    data: Data, positive: Codes, w: Floats, *, loss: str, n_threads: int, sums: Floats
) -> None: ...
def guess_masses(
    data: Data,
    positive: Codes,
    w: Floats,
    mass: Floats,
    *,
    loss: str,
    n_threads: int,
    dual_rows: Floats,
    sums: Floats,
) -> None: ...
def dual_rows(
    data: Data, positive: Codes, mass: Floats, *, n_threads: int, sums: Floats
) -> None: ...
def gain_sums(
    data: Data, positive: Codes, mass: Floats, *, loss: str, n_threads: int, sums: Floats
) -> None: ...
def scores(rows: Rows, weights: Floats, *, n_threads: int, scores: Floats) -> None: ...
