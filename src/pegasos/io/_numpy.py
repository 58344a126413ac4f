"""The arrays of .npy and .npz files. Nothing is unpickled: a file cannot run code."""

import contextlib
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._arrays import Arrays
from pegasos.io._errors import DataError
from pegasos.io._open import checked_path

__all__ = ["npy_array", "npz_arrays"]

_SPARSE = {"indices", "indptr", "format", "shape", "data"}  # what scipy.sparse.save_npz writes


def npy_array(path: str) -> npt.NDArray[Any]:
    """Return the array of a .npy file.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    ndarray
    """
    with _damage(path):
        with checked_path(path).open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            raise DataError(f"{path}: this is an .npz file", "read it with format='npz'")
        return loaded


@contextlib.contextmanager
def npz_arrays(path: str) -> Iterator[Arrays]:
    """Open a .npz file; a matrix of SciPy is the array "data" of the file, beside others.

    Parameters
    ----------
    path : str
        The file.

    Yields
    ------
    Arrays
        By name.
    """
    with _damage(path), checked_path(path).open("rb") as opened:
        file = np.load(opened, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise DataError(f"{path}: this is an .npy file", "read it with format='npy'")
        names = set(file.files)
        found: dict[str, Any] = {name: (lambda n=name: file[n]) for name in sorted(names)}
        if names >= _SPARSE:
            found = {name: found[name] for name in found if name not in _SPARSE}
            found["data"] = lambda: _sparse(path, file)
        yield found


def _sparse(path: str, file: Any) -> Any:
    import scipy.sparse as sp

    kind = file["format"].item()
    if (kind.decode() if isinstance(kind, bytes) else kind) != "csr":
        raise DataError(f"{path}: the matrix is not CSR", "save it with X.tocsr()")
    X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
    X.check_format(full_check=True)
    X.sum_duplicates()
    return X


@contextlib.contextmanager
def _damage(path: str) -> Iterator[None]:
    """Turn what NumPy, SciPy and zipfile raise for damaged files into a `DataError`."""
    try:
        yield
    except DataError:
        raise
    except (
        ValueError,
        TypeError,
        OSError,
        EOFError,
        KeyError,
        MemoryError,  # the header of a damaged file may ask for any amount
        NotImplementedError,
        SyntaxError,
        tokenize.TokenError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise DataError(
                f"{path}: this holds pickled objects, which could run any code when read",
                "save arrays of numbers or texts, not of objects",
            ) from None
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DataError(
            f"{path}: this is no file of NumPy arrays, or it is damaged ({reason})",
            "download or copy the file again",
        ) from None
