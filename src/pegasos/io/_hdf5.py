"""The arrays of an HDF5 file."""

import contextlib
from collections.abc import Iterator
from typing import Any

from pegasos.io._arrays import Arrays
from pegasos.io._errors import DataError, needs
from pegasos.io._open import checked_path

__all__ = ["hdf5_arrays"]


@contextlib.contextmanager
def hdf5_arrays(path: str) -> Iterator[Arrays]:
    """Open a file; its arrays are there until it is closed.

    Parameters
    ----------
    path : str
        The file.

    Yields
    ------
    Arrays
        By their paths in the file, without the first slash.
    """
    try:
        import h5py
    except ImportError:
        raise needs(path, "h5py") from None
    try:
        with h5py.File(checked_path(path), "r") as file:
            found: dict[str, Any] = {}

            def note(name: str, item: Any) -> None:
                if isinstance(item, h5py.Dataset):
                    found[name] = lambda: item[()]

            file.visititems(note)
            yield found
    except DataError:
        raise
    except (  # what h5py raises for damaged files
        OSError,
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        reason = str(error).partition("\n")[0].strip("'\"")
        raise DataError(
            f"{path}: this is no HDF5 file, or it is damaged ({reason})",
            "download or copy the file again",
        ) from None
