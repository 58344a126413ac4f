# What the C++ module offers (cpp/bindings/module.cpp). Arrays are used in place, never converted.
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

TALLY_FIELDS: int
LINE_FRACTIONS: tuple[float, ...]

class Rows: ...
class Data: ...

def cpu_level() -> str: ...
def has_matrix_unit() -> bool: ...
def dense_rows(x: npt.NDArray[Any], bias: float) -> Rows: ...
def csr_rows(
    values: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_features: int,
    bias: float,
) -> Rows: ...
def csr_fault(rows: Rows, n_threads: int) -> str: ...
def use_blas(single: Any, twice: Any) -> None: ...
def squared_norms(rows: Rows, squares: Floats, *, n_threads: int) -> None: ...
def find_grid(rows: Rows, likely: float, *, n_threads: int) -> float: ...
def kernel_rows(
    rows: Rows,
    squares: Floats,
    picked: Integers,
    other_rows: Rows,
    other_squares: Floats,
    others: Integers | None,
    out: npt.NDArray[Any],
    slots: Integers,
    *,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    same_matrix: bool,
    in_double: bool,
    n_threads: int,
) -> None: ...
def count_nonzero(x: npt.NDArray[Any], counts: Integers, *, n_threads: int) -> None: ...
def compress(
    x: npt.NDArray[Any],
    starts: npt.NDArray[Any],
    values: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    *,
    n_threads: int,
) -> None: ...
def kernel_matrix(
    rows: Rows,
    squares: Floats,
    which: Integers | None,
    first: int,
    last: int,
    out: npt.NDArray[Any],
    *,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    in_double: bool,
    n_threads: int,
) -> None: ...
def kernel_scores(
    support: Rows,
    support_squares: Floats,
    picked: Integers | None,
    coef: Floats,
    rows: Rows,
    squares: Floats,
    scores: Floats,
    *,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    same_matrix: bool,
    in_double: bool,
    n_threads: int,
) -> None: ...
def unit_depth(
    rows: Rows,
    squares: Floats,
    *,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    in_double: bool,
) -> int: ...

class Svmlight:
    def feed(self, text: npt.NDArray[np.uint8], *, is_last: bool, n_threads: int) -> int: ...
    def fault(self) -> tuple[str, int, int, bytes]: ...
    def finish(
        self, *, n_threads: int
    ) -> tuple[Floats, npt.NDArray[Any], Codes, Integers, Integers, int]: ...
    def counts_from_zero(self) -> bool: ...

def svmlight_reader(*, in_double: bool, zero_based: bool | None, with_qid: bool) -> Svmlight: ...

class NumberTable:
    def feed(self, text: npt.NDArray[np.uint8], *, is_last: bool, n_threads: int) -> int: ...
    def is_plain(self) -> bool: ...
    def finish(self) -> tuple[npt.NDArray[Any], Floats, bytes]: ...

def number_table(*, delimiter: str, places: list[int], in_double: bool) -> NumberTable: ...

class KernelRun: ...

def kernel_run(
    code: Codes,
    weight: Floats | None,
    total_weight: float,
    diagonal: Floats,
    positive: Codes,
    lam: Floats,
    scores: Floats,
    mass: Floats,
    mean_scores: Floats | None,
    mean_mass: Floats | None,
    tally: Floats,
    *,
    solver: str,
    loss: str,
    weighted_mean: bool,
    most_passes: int,
    enough: float,
) -> KernelRun: ...
def kernel_steps(
    run: KernelRun,
    values: npt.NDArray[Any],
    slots: Integers | None,
    draws: Integers,
    *,
    block: int,
    n_threads: int,
) -> int: ...
def kernel_decisions(
    run: KernelRun,
    block: Integers,
    gram: npt.NDArray[Any] | None,
    values: npt.NDArray[Any],
    slots: Integers | None,
    delta: Floats,
    mean_delta: Floats | None,
    n_steps: Integers,
    *,
    n_threads: int,
) -> None: ...
def next_movers(
    run: KernelRun, draws: Integers, *, slack: float, block: Integers
) -> tuple[int, int]: ...
def add_stored_rows(
    values: npt.NDArray[Any],
    slots: Integers | None,
    which: Integers,
    coef: Floats,
    scores: Floats,
    *,
    n_threads: int,
) -> None: ...
def make_data(rows: Rows, code: Codes, weight: Floats | None, total_weight: float) -> Data: ...
def permutation(generator: Any, rows: Integers) -> None: ...
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
    lams: Floats,
    batch_size: int,
    project: bool,
    mean: str | None,
    n_threads: int,
) -> None: ...
def sgd_start_steps(
    data: Data,
    positive: Codes,
    w: Floats,
    u: Floats | None,
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
    width: float = 0.125,
    n_threads: int,
    dual_rows: Floats,
    sums: Floats,
) -> None: ...
def newton_terms(
    data: Data,
    positive: Codes,
    w: Floats,
    mass: Floats | None,
    *,
    loss: str,
    width: float,
    curvature: bool,
    n_threads: int,
    terms: Floats,
) -> None: ...
def line_slopes(
    data: Data,
    positive: Codes,
    w: Floats,
    steps: Floats,
    *,
    loss: str,
    width: float,
    n_threads: int,
    slopes: Floats,
) -> None: ...
def solve_newton(matrix: Floats, *, ridge: float, right: Floats) -> bool: ...
def dual_rows(
    data: Data, positive: Codes, mass: Floats, *, n_threads: int, sums: Floats
) -> None: ...
def gain_sums(
    data: Data, positive: Codes, mass: Floats, *, loss: str, n_threads: int, sums: Floats
) -> None: ...
def scores(rows: Rows, weights: Floats, *, n_threads: int, scores: Floats) -> None: ...
