"""Whatever becomes of a model file: it gives a sound model or a ModelError, and nothing else."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pegasos
from pegasos.io import ModelError
from pegasos.io._model_container import from_bytes
from pegasos.io._model_file import _restored

from .model_helpers import CASES, assert_same, closed, fitted, opened

# Small models whose files have every kind of entry.
FUZZED = ("pegasos log", "poly of csr_matrix", "kernel grid", "imputer, scaler, model")


class Files(dict):
    """Contents by name; hypothesis would print them whole."""

    def __repr__(self):
        return "Files()"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model"
    contents = Files()
    for name in FUZZED:
        pegasos.save(fitted(name)[0], path)
        contents[name] = path.read_bytes()
    return contents


def same_or_refused(content, model):
    try:
        loaded = _restored(*from_bytes(content))
    except ModelError:
        return
    assert_same(model, loaded)


FLIP = st.tuples(
    st.sampled_from(["length", "header", "anywhere"]), st.integers(0, 2**20), st.integers(1, 255)
)


@pytest.mark.parametrize("name", FUZZED)
@given(flips=st.lists(FLIP, min_size=1, max_size=3), cut=st.one_of(st.just(0), st.integers(1)))
@settings(max_examples=100)
def test_any_flipped_or_cut_bytes_give_the_same_model_or_an_error(files, name, flips, cut):
    content = bytearray(files[name])
    # Where a flip is not found by the checksums of the arrays alone.
    ends = {"length": 8, "header": 8 + int.from_bytes(content[:8], "little")}
    for where, at, by in flips:
        content[at % ends.get(where, len(content))] ^= by
    kept = content[: len(content) - cut % len(content)]
    same_or_refused(bytes(kept), _restored(*from_bytes(files[name])))


def places(value, path=()):
    """Return the paths to everything within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in inner:
        yield (*path, key)
        if isinstance(entry, dict | list):
            yield from places(entry, (*path, key))


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2, 5, 2**31, 2**63, 1e308, -1.5, "", "inf", "nan", "dense"]),
    st.sampled_from([[], [0], {}, {"tuple": []}, {"dict": []}, {"float": "nan"}]),
    st.text(max_size=3),
)


def works_or_refused(content, rows):
    try:
        model = _restored(*from_bytes(content))
    except ModelError:
        return
    with suppress(ValueError):  # it may be a sound model of other data, without missing values say
        assert len(model.predict(rows)) == rows.shape[0]


@pytest.mark.parametrize("name", FUZZED)
@given(which=st.integers(0, 2**16), odd=ODD, is_gone=st.booleans())
@settings(max_examples=100)
def test_any_edit_of_the_header_gives_a_model_that_works_or_an_error(
    files, name, which, odd, is_gone
):
    header, arrays = opened(files[name])
    ways = list(places(header))
    *way, last = ways[which % len(ways)]
    target = header
    for key in way:
        target = target[key]
    if is_gone:
        del target[last]
    else:
        target[last] = odd
    works_or_refused(closed(header, arrays), CASES[name][1])


@pytest.mark.parametrize("name", FUZZED)
@given(
    which=st.integers(0, 2**16),
    at=st.integers(0, 2**16),
    odd=st.sampled_from([0.0, 1.0, -1.0, 7.0, np.nan, np.inf, 1e-300]),
)
@settings(max_examples=100)
def test_any_edit_of_an_array_gives_a_model_that_works_or_an_error(files, name, which, at, odd):
    header, arrays = opened(files[name])
    array = arrays[sorted(arrays)[which % len(arrays)]]
    with np.errstate(invalid="ignore"):
        array.flat[at % array.size] = np.asarray(odd).astype(array.dtype)
    works_or_refused(closed(header, arrays), CASES[name][1])
