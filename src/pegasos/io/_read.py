"""The one door: `read`."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
import numpy.typing as npt

from pegasos.io._data import Data, RankedData
from pegasos.io._errors import DataError
from pegasos.io._formats import format_of
from pegasos.io._open import STDIN, as_file, checked_path, reading
from pegasos.io._threads import threads_of

if TYPE_CHECKING:
    from pegasos.io._table_layout import Wishes

__all__ = ["read"]

_TABLES = ("csv", "tsv", "parquet", "arrow")


@overload
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = ...,
    target: str | int | None = ...,
    dtype: npt.DTypeLike = ...,
    key: str | None = ...,
    header: bool = ...,
    one_hot: bool | Sequence[str] = ...,
    missing: str | float = ...,
    names: Sequence[str] | None = ...,
    n_features: int | None = ...,
    zero_based: bool | None = ...,
    query_id: Literal[False] = ...,
    n_jobs: int | None = ...,
) -> Data: ...
@overload
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = ...,
    target: str | int | None = ...,
    dtype: npt.DTypeLike = ...,
    key: str | None = ...,
    header: bool = ...,
    one_hot: bool | Sequence[str] = ...,
    missing: str | float = ...,
    names: Sequence[str] | None = ...,
    n_features: int | None = ...,
    zero_based: bool | None = ...,
    query_id: Literal[True],
    n_jobs: int | None = ...,
) -> RankedData: ...
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    target: str | int | None = -1,
    dtype: npt.DTypeLike = np.float32,
    key: str | None = None,
    header: bool = True,
    one_hot: bool | Sequence[str] = False,
    missing: str | float = "error",
    names: Sequence[str] | None = None,
    n_features: int | None = None,
    zero_based: bool | None = None,
    query_id: bool = False,
    n_jobs: int | None = -1,
) -> Data | RankedData:
    """Read features and labels from a file.

    Parameters
    ----------
    path : str or path
        A file, or "-" for standard input. What is compressed with gzip, bzip2 or zstd is
        decompressed on the way (svmlight, csv, tsv, idx), whatever its name.
    format : str or None, default=None
        "svmlight" (libsvm's format is the same), "csv", "tsv", "parquet", "arrow" (feather as
        well), "hdf5", "idx", "npy" or "npz". None: the ending of the name decides.
    target : str, int or None, default=-1
        The labels. In tables and arrays: the column, by name or position (-1: the last). In HDF5
        and npz files: the name of the array of labels. For idx: the path of the file of labels.
        None: there are none, all columns are features and ``y`` is None.
    dtype : dtype, default=float32
        float32 or float64, for the features.
    key : str or None, default=None
        HDF5: the group that holds features and labels, or the array of features. npz: the array of
        features. None: if only one choice is sensible, it is made ("train" goes before "test").
    header : bool, default=True
        csv, tsv: whether the first line holds the names of the columns.
    one_hot : bool or list of str, default=False
        Tables: whether columns of texts become one column of 0 and 1 for each text; a list names
        the columns, which may also hold numbers. Then X is sparse.
    missing : str or float, default="error"
        Tables: what stands for a value that is missing: "mean" or "median" of the column, or a
        number (NaN to keep it missing). In columns that become 0 and 1, nothing is 1.
    names : list of str or None, default=None
        Tables: the features that are wanted, in this order, as an earlier read named them. So the
        columns of a test file are those of the training file, whatever its order and texts; a
        name such as "town=Pisa" makes 0 and 1 of the column without ``one_hot``.
    n_features : int or None, default=None
        svmlight: the number of columns; None: as many as the largest index says.
    zero_based : bool or None, default=None
        svmlight: whether indices begin with 0. None: they do if there is an index 0.
    query_id : bool, default=False
        svmlight: whether to return the numbers after ``qid:``, which are skipped otherwise.
    n_jobs : int or None, default=-1
        svmlight, csv, tsv: threads; -1 is one for each core. The result is the same for any number.

    Returns
    -------
    Data
        A named tuple ``(X, y, names)``. X is a CSR matrix if the file is sparse, else an array.
        y is int64 if all labels are whole numbers, float64 if all are numbers, else str.
        names are those of the columns of X, or None if the file has none. With ``query_id``,
        ``(X, y, names, query_id)``. Its attribute ``zero_based`` tells how svmlight was read.

    Raises
    ------
    DataError
        If the file is not there, or not as it should be; says where, and what to do.
    """
    path = os.fspath(path)
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise DataError(f"dtype={dtype} is not supported", "use float32 or float64")
    if path != STDIN:
        checked_path(path)  # goes before the ending: it may be a directory
    kind = format_of(path, format)
    if query_id and kind != "svmlight":
        raise DataError(f"{path}: {kind} files have no query_id", "leave query_id out")
    if kind == "svmlight":
        from pegasos.io._svmlight import read_svmlight

        return read_svmlight(
            path,
            dtype=dtype,
            n_features=n_features,
            zero_based=zero_based,
            query_id=query_id,
            n_threads=threads_of(n_jobs),
            has_labels=target is not None,
        )
    if kind == "idx":
        from pegasos.io._idx import read_idx

        return read_idx(path, target, dtype)
    with as_file(path) as file:
        if kind not in _TABLES:
            from pegasos.io._arrays import read_arrays

            return read_arrays(file, kind, key, target, dtype)
        from pegasos.io._table_layout import Wishes

        wishes = Wishes(target, dtype, one_hot, missing, names)
        return _read_table(file, kind, header, wishes, n_jobs)


def _read_table(path: str, kind: str, header: bool, wishes: "Wishes", n_jobs: int | None) -> Data:
    from pegasos.io._table_files import DELIMITERS, TableText, open_table

    wishes.check()
    if kind in DELIMITERS:
        from pegasos.io._table_numbers import read_numbers
        from pegasos.io._table_text import check_table_text

        check_table_text(path, DELIMITERS[kind])
        with reading(path):
            text = TableText(path, DELIMITERS[kind], header)
            data = read_numbers(text, wishes, threads_of(n_jobs))
        if data is not None:
            return data
    from pegasos.io._table import data_of_table

    table, lines = open_table(path, kind, header)
    has_names = kind not in DELIMITERS or header
    return data_of_table(path, table, lines, wishes, has_names=has_names)
