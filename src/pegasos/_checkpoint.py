"""A file from which a fit that was stopped, or killed, goes on to the same model."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos._errors import MendableError
from pegasos._problem import TALLY

__all__ = ["Checkpoint", "CheckpointError"]

_FORMAT = "pegasos-checkpoint-1"
# Writing may take this part of the time, so that neither much time nor much work is ever lost.
_SHARE_OF_TIME = 0.05

Array = npt.NDArray[Any]
Tree = dict[str, Any]


class CheckpointError(MendableError):
    """A file that the fit cannot go on from."""


class Checkpoint:
    """Keeps what a fit needs to go on in a file, now and then.

    Parameters
    ----------
    path : path
        The file.
    identity : dict
        What data and parameters the fit has, for JSON: those of the file must be the same.
    """

    def __init__(self, path: str | Path, identity: Tree) -> None:
        self.path = Path(path)
        # As it will be read back: tuples are lists there.
        self.identity: Tree = json.loads(json.dumps(identity))
        self._last = perf_counter()
        self._cost = 0.0

    def load(self) -> Tree | None:
        """Return what was kept, or None if there is no file."""
        if not self.path.exists():
            return None
        record, arrays = self._read()
        if record.get("identity") != self.identity:
            raise CheckpointError(
                f"{self.path}: this fit was begun {_difference(record, self.identity)}",
                "give the same as then, name another file, or remove this one to begin anew",
            )
        tree: Tree = _unpacked(record["tree"], arrays)
        return tree

    def keep_now_and_then(self, tree: Callable[[], Tree]) -> None:
        """Write the file, if it is time again."""
        now = perf_counter()
        if now - self._last < self._cost / _SHARE_OF_TIME:
            return
        self.keep(tree())
        self._last = perf_counter()
        self._cost = self._last - now

    def keep(self, tree: Tree) -> None:
        """Write the file: whoever looks finds the old one or the new one."""
        import safetensors.numpy

        from pegasos.io._model_write import new_file

        arrays: dict[str, Array] = {}
        record = {"identity": self.identity, "tree": _packed(tree, arrays)}
        text = json.dumps(record)
        metadata = {"format": _FORMAT, "record": text, "sha256": _checksum(text, arrays)}
        content = safetensors.numpy.save(arrays, metadata)
        with new_file(self.path, CheckpointError) as file:
            file.write(content)

    def remove(self) -> None:
        """Remove the file: the fit is done."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> tuple[Tree, dict[str, Array]]:
        import safetensors

        arrays = {}
        try:
            with safetensors.safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
                for name in file.keys():  # noqa: SIM118 - it is no dict
                    arrays[name] = file.get_tensor(name)
            text = metadata["record"]
            if metadata["format"] != _FORMAT or metadata["sha256"] != _checksum(text, arrays):
                raise self._damaged()
            record: Tree = json.loads(text)
        except OSError as error:
            raise CheckpointError(
                f"cannot read {self.path}: {error.strerror or error}", "check its permissions"
            ) from None
        except (safetensors.SafetensorError, KeyError, ValueError):
            raise self._damaged() from None
        return record, arrays

    def _damaged(self) -> CheckpointError:
        return CheckpointError(
            f"{self.path}: this is no checkpoint of a fit, or it is damaged",
            "name another file, or remove this one to begin anew",
        )


def _difference(record: Tree, identity: Tree) -> str:
    """Say in what the two differ."""
    then = record.get("identity")
    if not isinstance(then, dict) or then.get("estimator") != identity["estimator"]:
        return "with another estimator"
    for name, value in identity["parameters"].items():
        earlier = then.get("parameters", {}).get(name)
        if earlier != value:
            return f"with {name}={earlier!r}, and now it is {value!r}"
    return "on other data, or on other chunks of it"


def _checksum(text: str, arrays: dict[str, Array]) -> str:
    total = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        total.update(np.ascontiguousarray(arrays[name]).data)
    return total.hexdigest()


def _packed(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value for JSON; arrays go into ``arrays`` and leave a note."""
    if isinstance(value, np.ndarray):
        name = f"{len(arrays)}"
        is_tally = value.dtype == TALLY
        arrays[name] = value.view(np.float64) if is_tally else np.ascontiguousarray(value)
        return {"tally" if is_tally else "array": name}
    if isinstance(value, dict):
        return {"dict": {key: _packed(entry, arrays) for key, entry in value.items()}}
    if isinstance(value, list):
        return [_packed(entry, arrays) for entry in value]
    return value


def _unpacked(value: Any, arrays: dict[str, Array]) -> Any:
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        if kind == "dict":
            return {key: _unpacked(entry, arrays) for key, entry in content.items()}
        array = arrays[content].copy()
        return array.view(TALLY) if kind == "tally" else array
    if isinstance(value, list):
        return [_unpacked(entry, arrays) for entry in value]
    return value
