"""What fitting to a stream of chunks takes, beside the steps: checks, names, a checkpoint."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from pegasos._checkpoint import Checkpoint
from pegasos._chunk_draws import ChunkDraws
from pegasos._chunked_problem import ChunkedProblem
from pegasos._draws import as_generator
from pegasos._validation import n_threads

# Neither alters the model.
_NOT_OF_THE_MODEL = ("n_jobs", "verbose")


def refuse_what_needs_all_rows(estimator: Any) -> None:
    """Refuse parameters that have no meaning for rows that come in chunks."""
    remedies = {
        "batch_size": (1, "a batch would need rows of two chunks"),
        "sampling": ("permutation", "any row might come next, from any chunk"),
        "warm_start": (False, "to go on with a fit that was stopped, give a checkpoint"),
    }
    for name, (value, why) in remedies.items():
        got = getattr(estimator, name, value)
        if got != value:
            raise ValueError(f"fit_stream needs {name}={value!r}; got {got!r}: {why}")


def chunked_problem(estimator: Any, stream: Any, **options: Any) -> ChunkedProblem:
    """Pose the problem over a stream, and take note of its features."""
    classes = stream.labels
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes to learn from; the stream "
            f"holds only one class: {classes.tolist()}"
        )
    problem = ChunkedProblem(
        stream, bias=estimator._bias, threads=n_threads(estimator.n_jobs), **options
    )
    estimator.n_features_in_ = problem.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if stream.names is not None:
        estimator.feature_names_in_ = np.array(stream.names, dtype=object)
    return problem


def chunk_draws(estimator: Any, problem: ChunkedProblem, *, shuffle: bool) -> ChunkDraws:
    """Return the draws of a fit."""
    return ChunkDraws(problem, as_generator(estimator.random_state), shuffle=shuffle)


def checkpoint_of(
    estimator: Any, stream: Any, path: str | Path | None, *, shuffle: bool
) -> Checkpoint | None:
    """Return the file that the fit is kept in, if one is wanted."""
    if path is None:
        return None
    parameters = {
        name: json.loads(json.dumps(value, default=repr))
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NOT_OF_THE_MODEL
    }
    if isinstance(estimator.random_state, np.random.Generator | np.random.RandomState):
        parameters["random_state"] = "a generator"  # whose state is kept
    return Checkpoint(
        path,
        {
            "estimator": type(estimator).__name__,
            "parameters": {**parameters, "shuffle": shuffle},
            "data": stream.fingerprint,
        },
    )
