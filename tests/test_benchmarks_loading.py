"""The benchmark of loading gives everybody the same rows; nothing here is timed."""

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from pegasos.io import read

from .benchmark_helpers import imported


@pytest.fixture(scope="module")
def loading():
    with imported() as modules:
        yield modules.loading


@pytest.mark.parametrize("digits", [7, 16])
def test_the_files_have_the_size_asked_for_and_the_same_rows(
    loading, tmp_path, monkeypatch, digits
):
    monkeypatch.setattr(loading, "_ROWS", 50)
    whole, part = loading.generate(tmp_path, digits, 500_000)
    assert 400_000 < whole.stat().st_size <= 500_000
    text = part.read_text()
    assert whole.read_text() == text * (whole.stat().st_size // part.stat().st_size)
    X, y, _ = read(part, dtype="float64")
    other, labels = load_svmlight_file(str(part))
    np.testing.assert_array_equal(X.data, other.data)
    np.testing.assert_array_equal(y, labels)
    for_vw = whole.with_suffix(".vw").read_text().splitlines()
    assert len(for_vw) == whole.read_text().count("\n")
    label, entries = for_vw[0].split(" | ")
    assert f"{int(label):+d} {entries}\n" == text.splitlines(keepends=True)[0]


def test_contestants_that_are_not_installed_are_left_out(loading, tmp_path, monkeypatch):
    def absent(path):
        raise ImportError

    monkeypatch.setattr(loading, "_ROWS", 50)
    some = {"ours": (loading.ours(1), False), "other": (absent, True)}
    monkeypatch.setattr(loading, "CONTESTANTS", some)
    rates = loading.measure(tmp_path, 100_000, 1)
    assert rates.keys() == {"7 digits", "16 digits"}
    assert all(rate.keys() == {"ours"} for rate in rates.values())
    assert loading.table(rates).splitlines()[-1] == "| other | – | – |"
