"""Which format a file has, by the ending of its name."""

import re

from pegasos.io._errors import DataError
from pegasos.io._open import STDIN

__all__ = ["FORMATS", "format_of"]

_ENDINGS = {
    "svmlight": ("svm", "svmlight", "libsvm", "trn", "tst", "txt", "dat", "t", "scale"),
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc", "arrows"),
    "hdf5": ("h5", "hdf5", "hdf"),
    "idx": ("idx",),
    "npy": ("npy",),
    "npz": ("npz",),
}
FORMATS = tuple(_ENDINGS)
_FORMAT_OF = {ending: name for name, endings in _ENDINGS.items() for ending in endings}
_COMPRESSED = re.compile(r"\.(gz|bz2|zst)$")
_IDX = re.compile(r"idx\d-ubyte$|idx\d-(byte|short|int|float|double)$")  # as MNIST's files


def format_of(path: str, given: str | None) -> str:
    """Return the name of the format: as given, or as the ending says.

    Parameters
    ----------
    path : str
        A file or "-".
    given : str or None
        One of `FORMATS`, if the caller knows it.

    Returns
    -------
    str
    """
    known = f"one of {', '.join(FORMATS)}"
    if given is not None:
        if given not in FORMATS:
            raise DataError(f"format={given!r} is not known", f"use {known}")
        return given
    if path == STDIN:
        raise DataError(
            "standard input has no ending that tells its format", f"name it with format=, {known}"
        )
    name = _COMPRESSED.sub("", path.lower())
    if _IDX.search(name):
        return "idx"
    ending = name.rpartition(".")[2]
    if ending not in _FORMAT_OF:
        raise DataError(
            f"{path}: the ending of the name tells no format", f"name it with format=, {known}"
        )
    return _FORMAT_OF[ending]
