"""The one door for input: parameters, data, labels and weights are checked here.

The only file that imports private parts of scikit-learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from pegasos import _core
from pegasos._backend import threads_here
from pegasos._labels import two_numbers

__all__ = [
    "PARAMETERS",
    "Codes",
    "Floats",
    "StrOptions",
    "Target",
    "checked_chunk",
    "class_factors",
    "class_totals",
    "class_weights",
    "encode",
    "encode_known",
    "encode_labels",
    "fit_method",
    "float_dtypes",
    "grid_values",
    "is_sparse",
    "known_classes",
    "largest_value",
    "make_rows",
    "n_threads",
    "refuse_non_finite",
    "refuse_one_class",
    "refuse_overflow",
    "refuse_zero_weights",
    "row_weights",
    "weight_unit",
]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
_Method = TypeVar("_Method", bound=Callable[..., Any])

# From its inverse to this, sums and squares of weights are far from what a float cannot hold.
_LARGEST_ORDINARY_WEIGHT = 2.0**64

# One name, one meaning, one range, for every estimator.
PARAMETERS: dict[str, list[Any]] = {
    "lam": [Interval(Real, 0, None, closed="neither")],
    "loss": [StrOptions({"hinge", "log"})],
    "solver": [StrOptions({"pegasos", "sdca"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "max_steps": [Interval(Integral, 1, None, closed="left"), None],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "sampling": [StrOptions({"permutation", "uniform"})],
    "average": [StrOptions({"uniform", "weighted"}), None],
    "project": ["boolean"],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "kernel": [StrOptions({"rbf", "poly", "linear", "precomputed"}), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "memory": [Interval(Integral, 1, None, closed="left"), str],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "warm_start": ["boolean"],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
    "shards": [Interval(Integral, 1, None, closed="left"), None],
    "client": [object],  # what has no scheduler is refused where it is used
}

# Parameters of the grids: each of these is a list of values of one parameter above.
_GRIDS = {
    "lams": "lam",
    "steps": "max_steps",
    "losses": "loss",
    "gammas": "gamma",
    "degrees": "degree",
}


def fit_method(method: _Method) -> _Method:
    """Check the parameters before a fit, and let one that fails leave the estimator as it was."""
    checked = _fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(estimator).copy()
        if method.__name__ != "partial_fit":  # said of the rows of the fit before: see pegasos.io
            vars(estimator).pop("zero_based_", None)
        try:
            return checked(estimator, *args, **kwargs)
        except BaseException:  # Ctrl-C as well
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return cast(_Method, fit)


def grid_values(estimator: str, name: str, given: Any) -> tuple[Any, ...]:
    """Check the values of one axis of a grid, each as the parameter that it stands for."""
    values: tuple[Any, ...] = tuple(given)
    rule = [choice for choice in PARAMETERS[_GRIDS[name]] if choice is not None]
    for i, value in enumerate(values):
        entry = f"{name}[{i}]"
        validate_parameter_constraints({entry: rule}, {entry: value}, caller_name=estimator)
    if not values:
        raise ValueError(f"{name} must be one or more values; got none. Name at least one")
    if len(set(values)) < len(values):
        raise ValueError(
            f"{name} must be values that all differ; got {list(values)}. Leave out what is there "
            "twice"
        )
    return values


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for (scikit-learn's meaning; None is 1)."""
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None or 1 for one thread, -1 for all")
    return threads_here(n_jobs)


def float_dtypes(X: Any) -> list[type]:
    """Return the dtypes to take X in: as it is, else the smallest float that holds it exactly."""
    dtype = getattr(X, "dtype", None)
    small = isinstance(dtype, np.dtype) and dtype.itemsize <= 2
    return [np.float32, np.float64] if small else [np.float64, np.float32]


def is_sparse(X: Any) -> bool:
    """Tell whether X is one of SciPy's sparse matrices or arrays."""
    return bool(sp.issparse(X))


def make_rows(X: Any, bias: float, threads: int) -> _core.Rows:
    """Give the core a view of validated data: no copy, unless a CSR row lists a column twice."""
    if not is_sparse(X):
        return _core.dense_rows(X, bias)
    rows = _csr_view(X, bias)
    fault = _core.csr_fault(rows, threads)
    if fault == "row_pointers":
        raise ValueError(
            "X is not a CSR matrix: its indptr must start at 0, never decrease and end within the "
            "data; rebuild X, for example with scipy.sparse.csr_array(X.toarray())"
        )
    if fault == "column_range":
        raise ValueError(
            f"X has column indices outside 0..{X.shape[1] - 1}, its number of columns less one; "
            "pass the right shape when you build it"
        )
    if fault == "column_twice":
        X = X.copy()
        X.sum_duplicates()
        rows = _csr_view(X, bias)
    return rows


def _csr_view(X: Any, bias: float) -> _core.Rows:
    data, indices, indptr = (np.ascontiguousarray(a) for a in (X.data, X.indices, X.indptr))
    if indptr.dtype != indices.dtype:  # one of the two is wider than it has to be, or has to be
        wide = indptr.dtype.itemsize > 4 and int(indptr[-1]) >= 2**31
        indices = indices.astype(np.int64) if wide else indices
        indptr = indptr.astype(indices.dtype)
    return _core.csr_rows(data, indices, indptr, X.shape[1], bias)


def refuse_non_finite(X: Any, what: str) -> None:
    """Say why a result is not finite: bad values in X, or values too large."""
    refuse_overflow(largest_value(X), what)


def largest_value(X: Any) -> float:
    """Return the largest absolute value in X; refuse X if one is not finite."""
    assert_all_finite(X, input_name="X")
    values = X.data if is_sparse(X) else X
    return float(np.abs(values).max(initial=0.0))


def refuse_overflow(largest: float, what: str) -> NoReturn:
    """Say that a result overflows, though all values in X are finite."""
    raise ValueError(
        f"{what} overflows: the largest value in X is {largest:.3g}. Scale the "
        "features, for example with sklearn.preprocessing.StandardScaler or MaxAbsScaler, and see "
        "that lam, the sample weights and intercept_scaling are numbers of ordinary size"
    )


@dataclass(frozen=True)
class Target:
    """Labels as the core wants them: a code per row, and which code each problem calls +1."""

    classes: npt.NDArray[Any]
    code: Codes

    @property
    def positive(self) -> Codes:
        """Codes of the positive class of each binary problem: one for two classes, else all."""
        n = len(self.classes)
        return np.array([1] if n == 2 else range(n), dtype=np.int32)


def encode(y: Any, weight: Floats | None, name: str) -> Target:
    """Encode the labels; the classes are those of the rows that have weight."""
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    target = _encode_two(y) if weight is None else None
    if target is None:
        check_classification_targets(y)
        kept = y if weight is None else y[weight > 0]
        target = encode_known(y, np.unique(kept), strict=False)
    refuse_one_class(target.classes, name, weighted=weight is not None)
    return target


def refuse_one_class(classes: npt.NDArray[Any], name: str, *, weighted: bool) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        among = " among the rows of positive weight" if weighted else ""
        raise ValueError(
            f"{name} needs at least two classes to learn from; y holds only one class{among}: "
            f"{classes.tolist()}"
        )


def _encode_two(y: npt.NDArray[Any]) -> Target | None:
    """Encode two whole numbers without sorting them (a tenth of np.unique's time)."""
    two = two_numbers(y)
    return None if two is None else Target(two[0], two[1].astype(np.int32))


def encode_labels(y: npt.NDArray[Any]) -> Target:
    """Encode a column of labels, which may all be the same, or none."""
    target = _encode_two(y)
    if target is None:
        if len(y):
            check_classification_targets(y)
        classes, code = np.unique(y, return_inverse=True)
        target = Target(classes, code.ravel().astype(np.int32))
    return target


def encode_known(y: npt.NDArray[Any], classes: npt.NDArray[Any], strict: bool = True) -> Target:
    """Encode labels with given (sorted) classes; others are refused, or get code 0."""
    code = np.searchsorted(classes, y)
    code[code == len(classes)] = 0
    if strict and not np.array_equal(classes[code], y):
        unknown = np.setdiff1d(y, classes)
        raise ValueError(
            f"y holds labels {unknown[:5].tolist()} that are not among the classes "
            f"{classes.tolist()}; name all classes in the first call to partial_fit"
        )
    return Target(classes, code.astype(np.int32))


def known_classes(estimator: Any, classes: Any) -> npt.NDArray[Any]:
    """Return the classes of a ``partial_fit``: those of the first call, or given in it."""
    if hasattr(estimator, "classes_"):
        first: npt.NDArray[Any] = estimator.classes_
        if classes is not None and not np.array_equal(np.unique(classes), first):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} differs from the classes of the first "
                f"call, {first.tolist()}"
            )
        return first
    if classes is None:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: all labels to come"
        )
    known: npt.NDArray[Any] = np.unique(classes)
    if len(known) < 2:
        raise ValueError(f"partial_fit needs at least two classes; got {known.tolist()}")
    return known


def row_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Check the sample weights; None stands for all ones."""
    if sample_weight is None:
        return None
    weight: Floats = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        refuse_zero_weights()
    return weight


def refuse_zero_weights() -> None:
    """Say that no row has weight."""
    raise ValueError(
        "sample_weight is zero for every row: nothing is left to learn from; "
        "at least two classes need rows of positive weight"
    )


def weight_unit(weight: Floats | None) -> float:
    """Return what to measure weights in: 1, or a power of two if they are huge or tiny."""
    largest = 1.0 if weight is None else float(weight.max())
    if 1 / _LARGEST_ORDINARY_WEIGHT < largest < _LARGEST_ORDINARY_WEIGHT:
        return 1.0
    _, exponent = np.frexp(largest)
    return float(np.ldexp(1.0, exponent - 1))  # rounds nothing that is near the largest


def class_totals(target: Target, weight: Floats | None) -> Floats:
    """Return the weight of each class."""
    if weight is None and len(target.classes) == 2:  # a twentieth of bincount's time
        second = np.count_nonzero(target.code)
        return np.array([len(target.code) - second, second], dtype=np.float64)
    return np.bincount(target.code, weights=weight, minlength=len(target.classes)).astype(float)


def class_weights(class_weight: Any, target: Target, totals: Floats) -> Floats | None:
    """Return one factor per row, or None if all are 1.

    A row counts by the weight of its own class, in every one-vs-rest problem.
    """
    factors = class_factors(class_weight, target.classes, totals)
    return None if factors is None else factors[target.code]


def class_factors(class_weight: Any, classes: npt.NDArray[Any], totals: Floats) -> Floats | None:
    """Return one factor per class, or None if all are 1.

    ``"balanced"`` makes all classes weigh the same.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        seen = np.where(totals > 0, totals, 1)
        balanced: Floats = totals.sum() / (np.count_nonzero(totals) * seen)
        return balanced
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown}, which are not classes; the classes are {known}"
        )
    factors = np.array([float(class_weight.get(label, 1)) for label in known])
    if not np.all(np.isfinite(factors) & (factors > 0)):
        raise ValueError(f"class_weight must be positive and finite; got {class_weight}")
    return factors


def checked_chunk(X: Any, y: Any, n_rows: int, n_features: int, *, look_at_values: bool) -> Any:
    """Return the rows of a chunk as the core takes them; refuse what the stream did not announce.

    Values need not be looked at where an objective that is not finite will tell.
    """
    X = check_array(
        X,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype=float_dtypes(X),
        order="C",
        ensure_all_finite=look_at_values,
        ensure_min_samples=0,
        input_name="X",
    )
    if X.shape != (n_rows, n_features) or len(y) != n_rows:
        raise ValueError(
            f"a chunk holds X of shape {X.shape} and {len(y)} labels, but the stream announced "
            f"{n_rows} rows of {n_features} features; begin a new stream if the data has changed"
        )
    return X
