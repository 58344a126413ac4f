"""The examples of the gallery run as they stand, without a warning, and draw something."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

matplotlib = pytest.importorskip("matplotlib", reason="examples draw with matplotlib")
matplotlib.use("agg")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, monkeypatch, tmp_path):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    plt.close("all")
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
    assert list(tmp_path.iterdir()) == []


def test_the_reference_of_the_site_has_every_estimator():
    import pegasos

    page = ROOT / "docs" / "api" / "estimators.rst"
    if not page.is_file():
        pytest.skip("the source distribution has no docs")
    text = page.read_text(encoding="utf-8")
    estimators = [name for name in pegasos.__all__ if isinstance(getattr(pegasos, name), type)]
    assert sorted(estimators) == sorted(
        line.split()[-1] for line in text.splitlines() if line.startswith(".. autoclass::")
    )
