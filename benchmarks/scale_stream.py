"""How fast chunks come from the binary cache, and how fast a model is trained on them."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import measure
import numpy as np

CHUNK_BYTES = "8MB"
_BUFFER = 8_000_000
# The fits whose difference is measured: what begins and ends a fit is in both.
_FEW, _MANY = 2, 6


class Counting:
    """A stream that counts the chunks it gives."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.n_given = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __len__(self) -> int:
        return len(self._stream)

    def chunk(self, k: int) -> Any:
        self.n_given += 1
        return self._stream.chunk(k)


def measured(
    path: Path, folder: Path, lam: float, repeats: int, limit: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is measured: the seconds of a pass over the data, the bytes read in it."""
    from pegasos.io import read, stream

    cached = stream(path, chunk_bytes=CHUNK_BYTES, cache=folder)
    n_rows = cached.n_rows  # makes the cache, or finds it
    file = next(folder.glob("chunks-*.bin"))
    plain = stream(path, chunk_bytes=CHUNK_BYTES)
    assert plain.n_rows == n_rows  # the files are looked through here
    passes: dict[str, tuple[Path, Callable[[], None]]] = {
        "one buffer": (file, partial(_read, file, fresh=False)),
        "fresh memory": (file, partial(_read, file, fresh=True)),
        "chunk": (file, partial(_each_chunk, cached)),
        "read ahead": (file, partial(_all_chunks, cached)),
        "file": (path, partial(_all_chunks, plain)),
    }
    for name, (source, work) in passes.items():
        work()  # brings the file into the page cache
        seconds, _ = measure.repeated(lambda _, work=work: work(), repeats, limit)
        yield name, {"seconds": seconds, "n_bytes": source.stat().st_size}
    X, y, _ = read(path)
    for solver in ("pegasos", "sdca"):
        n_passes = _n_passes(cached, lam, solver)
        fits = {
            "streamed": lambda n, solver=solver: _model(lam, solver, n).fit_stream(cached),
            "in memory": lambda n, solver=solver: _model(lam, solver, n).fit(X, y),
        }
        for where, fit in fits.items():
            seconds = _seconds_a_pass(fit, n_passes, repeats, limit)
            result = {"seconds": seconds, "n_bytes": file.stat().st_size, "n_passes": n_passes}
            yield f"{solver} {where}", result


def _read(path: Path, *, fresh: bool) -> None:
    buffer = np.empty(_BUFFER, dtype=np.uint8)
    file = os.open(path, os.O_RDONLY)
    try:
        while os.readv(file, [buffer]):
            if fresh:
                buffer = np.empty(_BUFFER, dtype=np.uint8)
    finally:
        os.close(file)


def _each_chunk(stream: Any) -> None:
    for k in range(len(stream)):
        stream.chunk(k)


def _all_chunks(stream: Any) -> None:
    for _ in stream:
        pass


def _model(lam: float, solver: str, n_epochs: int) -> Any:
    from pegasos import PegasosClassifier

    return PegasosClassifier(
        lam, solver=solver, max_iter=n_epochs, tol=None, fit_intercept=False, random_state=0
    )


def _n_passes(stream: Any, lam: float, solver: str) -> int:
    """Count the passes between few epochs and many: those of certificates are among them."""
    counts = []
    for n_epochs in (_FEW, _MANY):
        counting = Counting(stream)
        _model(lam, solver, n_epochs).fit_stream(counting)
        counts.append(counting.n_given)
    return round((counts[1] - counts[0]) / len(stream))


def _seconds_a_pass(
    fit: Callable[[int], Any], n_passes: int, repeats: int, limit: float
) -> list[float]:
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) * n_passes < limit:
        few, many = (measure.timed(partial(fit, n))[0] for n in (_FEW, _MANY))
        seconds.append((many - few) / n_passes)
    return seconds
