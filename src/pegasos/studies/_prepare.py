"""Prepares rows for a model; what is fitted sees the rows to learn from, and no others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from pegasos._validation import is_sparse
from pegasos.studies._errors import StudyError
from pegasos.studies._fields import Fields

__all__ = ["Preparation", "read_preparation", "refuse_bad_values"]

_SCALERS = {"minmax": MinMaxScaler, "standard": StandardScaler}
_REFUSE = "refuse"
_COLUMNS_NAMED = 5


@dataclass(frozen=True)
class Preparation:
    """What happens to the features, in this order.

    Attributes
    ----------
    missing : {"refuse", "mean", "median"}
        What becomes of missing values: an error, or a statistic of their column.
    scale : {"none", "minmax", "standard"}
        Columns are left alone, brought to 0..1, or to mean 0 and variance 1.
    bias : bool
        A constant feature of 1 is added.
    features : {1, 2}
        2: all products of two features, squares included, are added.
    """

    missing: str = _REFUSE
    scale: str = "none"
    bias: bool = False
    features: int = 1

    @property
    def is_fitted(self) -> bool:
        """Whether anything is learned from the rows: then every fold is prepared by itself."""
        return self.missing != _REFUSE or self.scale != "none"

    def of(self, X: Any, train: Any = None) -> Any:
        """Return all rows of X prepared; statistics are those of the rows ``train``."""
        pipeline = self.fitted(X if train is None else X[train])
        return X if pipeline is None else pipeline.transform(X)

    def fitted(self, X: Any) -> Pipeline | None:
        """Return what prepares further rows like these; None if nothing is to be done."""
        steps: list[Any] = []
        if self.missing != _REFUSE:
            steps.append(SimpleImputer(strategy=self.missing, keep_empty_features=True))
        if self.scale != "none":
            steps.append(_SCALERS[self.scale]())
        if self.bias or self.features > 1:
            # Products with the constant feature are the features themselves.
            steps.append(PolynomialFeatures(self.features, include_bias=self.bias))
        return make_pipeline(*steps).fit(X) if steps else None

    def refuse(self, X: Any, model: str) -> None:
        """Refuse data that this preparation does not suit."""
        if is_sparse(X) and self.scale != "none":
            raise StudyError(
                f"{model}: scale = {self.scale!r} would move the zeros of sparse data, and so fill "
                f"a table of {X.shape[0]} x {X.shape[1]}",
                'set scale = "none" under [prepare] or [models.prepare]',
            )
        if self.missing == _REFUSE:
            _refuse_missing(X, model)


def read_preparation(fields: Fields | None, base: Preparation) -> Preparation:
    """Check the keys that change features; what is absent is as in ``base``."""
    if fields is None:
        return base
    return Preparation(
        fields.text("missing", base.missing, choices=(_REFUSE, "mean", "median")),
        fields.text("scale", base.scale, choices=("none", *_SCALERS)),
        fields.flag("bias", base.bias),
        _degree(fields, base.features),
    )


def refuse_bad_values(X: Any, y: Any) -> None:
    """Refuse what no preparation mends: rows without labels, infinite values, labels missing."""
    if X.ndim != 2 or y.ndim != 1:
        raise StudyError(
            f"the data has rows of shape {X.shape} and labels of shape {y.shape}",
            "store a table of features and an array of labels",
        )
    if X.shape[0] != len(y):
        raise StudyError(
            f"the data has {X.shape[0]} rows but {len(y)} labels", "give each row one label"
        )
    if y.dtype.kind == "f" and np.any(np.isnan(y)):
        raise StudyError(
            f"{np.count_nonzero(np.isnan(y))} labels are missing", "leave those rows out"
        )
    if len(np.unique(y)) < 2:
        raise StudyError(
            f"the data has {len(y)} rows of {len(np.unique(y))} classes",
            "there must be at least two classes to tell apart",
        )
    if np.any(np.isinf(_values(X))):
        raise StudyError("the data holds infinite values", "replace them in the data file")


def _degree(fields: Fields, default: int) -> int:
    degree = fields.whole("features", default, at_least=1)
    if degree > 2:
        raise fields.error(
            "features",
            f"must be 1 or 2; got {degree}. For higher degrees use a polynomial kernel",
        )
    return degree


def _refuse_missing(X: Any, model: str) -> None:
    missing = np.isnan(_values(X))
    if not missing.any():
        return
    columns = np.unique(X.tocsr().indices[missing] if is_sparse(X) else np.nonzero(missing)[1])
    named = ", ".join(str(column + 1) for column in columns[:_COLUMNS_NAMED])
    more = f" and {len(columns) - _COLUMNS_NAMED} more" if len(columns) > _COLUMNS_NAMED else ""
    raise StudyError(
        f"{model}: {np.count_nonzero(missing)} values are missing, in columns {named}{more} (the "
        "first is column 1)",
        'fill them in with missing = "mean" or "median" under [prepare], or mend the data',
    )


def _values(X: Any) -> Any:
    values = X.data if is_sparse(X) else np.asarray(X)
    return values if values.dtype.kind == "f" else np.zeros(1)
