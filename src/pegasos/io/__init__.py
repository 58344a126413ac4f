r"""Data in, models out: files of many formats become rows, labels and names; models are kept.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from pegasos.io import read
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "two.svm"
...     _ = path.write_text("+1 1:0.5 4:2 # a comment\n-1 2:1.25\n")
...     X, y, names = read(path)
>>> X.toarray()
array([[0.5 , 0.  , 0.  , 2.  ],
       [0.  , 1.25, 0.  , 0.  ]], dtype=float32)
>>> y
array([ 1, -1])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegasos.io._data import Data, RankedData
    from pegasos.io._errors import DataError
    from pegasos.io._model_errors import ModelError
    from pegasos.io._model_file import load, save
    from pegasos.io._model_liblinear import from_liblinear, to_liblinear
    from pegasos.io._model_libsvm import from_libsvm, to_libsvm
    from pegasos.io._model_onnx import to_onnx
    from pegasos.io._read import read
    from pegasos.io._stream import Stream, stream
    from pegasos.io._write import write

__all__ = [
    "Data",
    "DataError",
    "ModelError",
    "RankedData",
    "Stream",
    "from_liblinear",
    "from_libsvm",
    "load",
    "read",
    "save",
    "stream",
    "to_liblinear",
    "to_libsvm",
    "to_onnx",
    "write",
]

# Where the names are; each is imported when it is first asked for, as in pegasos itself.
_HOMES = {
    "Data": "pegasos.io._data",
    "DataError": "pegasos.io._errors",
    "ModelError": "pegasos.io._model_errors",
    "RankedData": "pegasos.io._data",
    "Stream": "pegasos.io._stream",
    "from_liblinear": "pegasos.io._model_liblinear",
    "from_libsvm": "pegasos.io._model_libsvm",
    "load": "pegasos.io._model_file",
    "read": "pegasos.io._read",
    "save": "pegasos.io._model_file",
    "stream": "pegasos.io._stream",
    "to_liblinear": "pegasos.io._model_liblinear",
    "to_libsvm": "pegasos.io._model_libsvm",
    "to_onnx": "pegasos.io._model_onnx",
    "write": "pegasos.io._write",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pegasos.io' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # from now on it is found without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
