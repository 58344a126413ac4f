"""The work of `fit --stream`: files larger than memory are prepared and learnt from in chunks."""

import hashlib
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from pegasos._errors import MendableError
from pegasos.cli._complaints import complaints
from pegasos.cli._errors import Stopped
from pegasos.cli._fitting import Facts, Work, judged, scaler
from pegasos.cli._machines import Settings, size_of
from pegasos.cli._output import messages
from pegasos.cli._reading import Reading, filling, in_options

__all__ = ["Streaming", "fit_to_stream", "open_stream", "streaming_of"]

# Parts of the memory that a chunk of a file may have: the rows of four are mixed, the next four
# are read meanwhile, and while they are put together they are there twice; text takes more.
_CHUNKS_IN_MEMORY = 32
_MEMORY = "1GB"
_NOT_STREAMED = {
    "kernel": "leave it out: kernels need all rows, so read them at once",
    "cv": "leave it out, and judge by --test FILE",
    "test_size": "keep rows back in a file of their own, and name it with --test",
    "key": "leave it out: it is for HDF5 and npz, which are not read in chunks",
}
_BYTES_A_MASS = 9  # a double, and how long the row is left alone


@dataclass(frozen=True)
class Streaming:
    """How the data is gone through.

    Attributes
    ----------
    memory : int
        Most bytes for rows.
    cache, checkpoint : Path or None
        Where a binary copy of the data is kept, and what a stopped fit goes on from.
    shuffle : bool
        Whether rows come in random order.
    """

    memory: int
    cache: Path | None
    checkpoint: Path | None
    shuffle: bool


def streaming_of(given: dict[str, Any], settings: Settings) -> Streaming | None:
    """Return how to go through the data, or None without --stream; refuse what does not fit."""
    if not given["stream"]:
        _refuse_without_stream(given)
        return None
    for name, hint in _NOT_STREAMED.items():
        if given[name] is not None:
            raise MendableError(f"--{name.replace('_', '-')} does not go with --stream", hint)
    if settings.is_grid:
        raise MendableError(
            "several values of a parameter do not go with --stream", "give one value"
        )
    if given["batch_size"] not in (None, 1):
        raise MendableError(
            "--batch-size does not go with --stream: a batch would need rows of two chunks",
            "leave it out",
        )
    if given["sampling"] == "uniform":
        raise MendableError(
            "--sampling uniform does not go with --stream: any row might come next",
            "leave it out",
        )
    if given["impute"] == "median":
        raise MendableError(
            "--impute median does not go with --stream: it needs all rows at once",
            "write mean or a number",
        )
    if "-" in given["data"]:
        raise MendableError(
            "standard input does not go with --stream: it can be read only once", "name files"
        )
    return Streaming(
        memory=size_of("--memory", given["memory"] or _MEMORY),
        cache=given["cache"],
        checkpoint=given["checkpoint"],
        shuffle=not given["no_shuffle"],
    )


def _refuse_without_stream(given: dict[str, Any]) -> None:
    for name in ("cache", "checkpoint", "no_shuffle"):
        if given[name]:
            flag = f"--{name.replace('_', '-')}"
            raise MendableError(f"{flag} does nothing without --stream", f"say --stream {flag}")
    if len(given["data"]) > 1:
        raise MendableError(
            f"{len(given['data'])} files are given", "name one, or say --stream to read them all"
        )


def open_stream(files: list[str], reading: Reading, how: Streaming, **wishes: Any) -> Any:
    """Return the stream of the files, looked through or with its cache made."""
    from pegasos.io import DataError, stream

    place = reading.place_of_labels
    try:
        chunks = stream(
            files if len(files) > 1 else files[0],
            chunk_bytes=max(1, how.memory // _CHUNKS_IN_MEMORY),
            cache=how.cache,
            format=reading.format,
            target=-1 if place is None else place,
            dtype=reading.dtype,
            header=reading.header,
            zero_based=reading.zero_based,
            **wishes,
        )
        with _Survey() as survey:
            chunks._prepare(survey.show)
    except DataError as error:
        message = error.message.replace("chunk_bytes=", "a chunk, ")
        raise MendableError(message, _in_memory(in_options(error.hint))) from None
    return chunks


def _in_memory(hint: str) -> str:
    """Return a hint with the option in place of the size of chunks."""
    return re.sub(
        r"chunk_bytes=(\d+)", lambda size: f"--memory {int(size[1]) * _CHUNKS_IN_MEMORY}", hint
    )


def fit_to_stream(
    settings: Settings, work: Work, chunks: Any, test: Any, path: Path, how: Streaming
) -> tuple[Any, Facts]:
    """Return a fitted model and what there is to say about it, as ``fit_model`` does."""
    estimator = settings.estimator(
        chunks.labels,
        cv=None,
        random_state=work.seed,
        n_jobs=work.jobs,
        verbose=int(sys.stderr.isatty()),
    )
    _refuse_too_many_masses(estimator, chunks, how.memory)
    facts: Facts = {
        "model": str(path),
        "rows": chunks.n_rows,
        "features": chunks.n_features,
        "chunks": len(chunks),
        "classes": chunks.labels.tolist(),
        "cross_validation": None,
        "grid": None,
    }
    started = perf_counter()
    steps = _preparation(work, chunks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap that is left is said in other words
        with complaints(), _saying_how_to_go_on(how.checkpoint):
            estimator.fit_stream(
                _Prepared(chunks, steps) if steps else chunks,
                checkpoint=how.checkpoint,
                shuffle=how.shuffle,
            )
    facts["seconds"] = perf_counter() - started
    return _finished(estimator, steps, chunks, test, facts)


@contextmanager
def _saying_how_to_go_on(checkpoint: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None or not checkpoint.exists():
            raise
        outcome = f"; what was learnt is in {checkpoint}"
        raise Stopped(outcome, "the same command goes on from there") from None


def _finished(
    estimator: Any, steps: list[Any], chunks: Any, test: Any, facts: Facts
) -> tuple[Any, Facts]:
    import numpy as np

    estimator.set_params(verbose=0)  # how the fit was shown is no part of the model
    model = estimator
    if steps:
        from sklearn.pipeline import make_pipeline

        model = make_pipeline(*steps, estimator)
        estimator.__dict__.pop("feature_names_in_", None)
        if chunks.names is not None:
            steps[0].feature_names_in_ = np.array(chunks.names, dtype=object)
    if chunks.zero_based is not None:
        estimator.zero_based_ = chunks.zero_based
    facts["test"] = None if test is None else judged(model, test)
    return model, facts


def _refuse_too_many_masses(estimator: Any, chunks: Any, memory: int) -> None:
    """Refuse dual variables that would take more of the memory than the rows leave."""
    from pegasos._memory import size_text

    if getattr(estimator, "solver", None) != "sdca":
        return
    n_problems = 1 if len(chunks.labels) == 2 else len(chunks.labels)
    needed = chunks.n_rows * n_problems * _BYTES_A_MASS
    if needed > memory / 4:
        raise MendableError(
            f"--solver sdca keeps {_BYTES_A_MASS} bytes for each row and class, here "
            f"{size_text(needed)}; that is more than a quarter of --memory, {size_text(memory)}",
            f"leave --solver sdca out, or say --memory {size_text(4.1 * needed).replace(' ', '')}",
        )


def _preparation(work: Work, chunks: Any) -> list[Any]:
    """Return the steps before the machine, fitted to all chunks."""
    steps: list[Any] = []
    if work.impute is not None:
        steps.append(_imputer(filling(work.impute), chunks))
    if work.scale is not None:
        scaling = None
        for X, _, _ in chunks:
            scaling = scaling or scaler(work.scale, X)
            for step in steps:
                X = step.transform(X)
            scaling.partial_fit(X)
        steps.append(scaling)
    return steps


def _imputer(value: str | float, chunks: Any) -> Any:
    """Return scikit-learn's imputer, for a number or the mean of every column."""
    import numpy as np
    from sklearn.impute import SimpleImputer

    dtype = chunks.chunk(0).X.dtype
    if not isinstance(value, str):
        imputer = SimpleImputer(strategy="constant", fill_value=value, keep_empty_features=True)
        return imputer.fit(np.zeros((1, chunks.n_features), dtype=dtype))
    sums, counts = np.zeros(chunks.n_features), np.zeros(chunks.n_features)
    for X, _, _ in chunks:
        sums += np.nansum(X, axis=0, dtype=np.float64)
        counts += np.count_nonzero(~np.isnan(X), axis=0)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    # The mean of one row is that row.
    return SimpleImputer(strategy="mean").fit(means[np.newaxis].astype(dtype))


class _Prepared:
    """A stream whose rows have been through the steps before the machine."""

    def __init__(self, chunks: Any, steps: list[Any]) -> None:
        self._chunks = chunks
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunks, name)

    @property
    def fingerprint(self) -> str:
        """Changes with the data and with what is done to it."""
        text = f"{self._chunks.fingerprint} {self._steps}"
        return hashlib.sha256(text.encode()).hexdigest()

    def chunk(self, k: int) -> Any:
        """Read a chunk and prepare it."""
        X, y, names = self._chunks.chunk(k)
        for step in self._steps:
            X = step.transform(X)
        return X, y, names


class _Survey:
    """Shows on a terminal how far the files have been looked through."""

    def __init__(self) -> None:
        self._console = messages()
        self._status: Any = None

    def __enter__(self) -> "_Survey":
        if self._console.is_terminal:
            self._status = self._console.status("looking through the data")
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, what: str, done: int, total: int | None) -> None:
        """Say how many chunks are done."""
        if self._status is not None:
            self._status.update(
                f"{what}: {done:,}{'' if total is None else f' of {total:,}'} chunks"
            )
