"""The textbook benchmark's parts do what its tables say, on tiny data; nothing here is timed."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import reference

from .benchmark_helpers import imported

GAMMA = 0.5


@pytest.fixture(scope="module", autouse=True)
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture
def tiny(three_classes):
    X, y = three_classes
    return X[:60], np.unique(y[:60], return_inverse=True)[1].astype(np.int8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_textbook_loop_is_the_published_algorithm(bench, tiny, n_classes):
    X, y = tiny
    y = y if n_classes == 3 else (y == 1).astype(np.int8)
    K = rbf_kernel(X, gamma=GAMMA)
    settings = bench.textbook_loop.Settings(lam=0.01, n_steps=300, seed=5)
    fitted = bench.textbook_loop.textbook(K, y, settings)
    draws = np.random.default_rng(5).integers(len(y), size=300)
    signs = bench.datasets.one_vs_rest(y)
    assert len(signs) == len(fitted.coef) == (1 if n_classes == 2 else 3)
    for sign, coef, violations in zip(signs, fitted.coef, fitted.violations, strict=True):
        run = reference.kernel_pegasos(K, sign, 0.01, draws)
        assert violations == run.alpha.sum()
        assert_allclose(coef, run.coef, rtol=1e-14)  # one division and one product of whole numbers


@pytest.mark.parametrize("key", ["pegasos-1", "pegasos-all"])
def test_ours_makes_the_same_decisions_as_the_textbook(bench, tiny, key):
    X, y = tiny
    K = rbf_kernel(X, gamma=GAMMA)
    settings = bench.textbook_loop.Settings(lam=0.01, n_steps=300, seed=5)
    textbook = bench.textbook_loop.textbook(K, y, settings)
    ours = bench.textbook_loop.BY_KEY[key].fit(K, y, settings)
    assert_array_equal(ours.violations, textbook.violations)
    assert_allclose(ours.coef, textbook.coef, rtol=1e-6)  # may be kept in float32
    assert ours.loop_seconds > 0


# --- Growth ---------------------------------------------------------------------------------------


def test_the_exponent_of_a_power_law_is_found(bench):
    slope = bench.textbook_growth.slope
    assert slope([1, 2, 4], [3, 12, 48]) == pytest.approx(2)
    assert slope([10, 100], [5, 5]) == pytest.approx(0)
    assert slope([1, 2], [0.1, -0.1]) is None  # a difference lost in noise
    assert slope([1], [1]) is None
    assert slope([], []) is None


def test_one_thing_grows_at_a_time_and_subsets_are_nested(bench, tiny):
    X, y = tiny
    growth = bench.textbook_growth
    settings = bench.textbook_loop.Settings(lam=0.01, n_steps=300)
    base = growth.Base(X, y, settings, GAMMA, repeats=1, limit=1)

    some, more = (growth._grown("rows", n, base) for n in (10, 20))
    assert_array_equal(some.X, more.X[:10])
    assert len(more.y) == 20
    narrow = growth._grown("features", 1, base)
    assert narrow.X.shape == (60, 1)
    assert growth._grown("steps", 7, base).settings.n_steps == 7
    changed = growth._grown("violations", 0.5, base)
    assert (changed.settings.lam, changed.settings.n_steps) == (0.5, 300)


def test_what_grows_ends_with_the_data(bench, tiny, monkeypatch):
    X, y = tiny
    growth = bench.textbook_growth
    monkeypatch.setattr(growth, "_point", lambda what, value, grown: (value, grown.X.shape))
    monkeypatch.setitem(growth._GROWN, "rows", (20, 40, 80, 160))
    base = growth.Base(X, y, bench.textbook_loop.Settings(0.01, 300), GAMMA, 1, 1)
    assert list(growth.points("rows", base)) == [(20, (20, 2)), (40, (40, 2)), (60, (60, 2))]


# --- Report ---------------------------------------------------------------------------------------


def made_up_results():
    facts = {
        "title": "Gaussian",
        "lam": 1e-4,
        "n_steps": 50_000,
        "n_rows": 800,
        "n_test_rows": 200,
        "n_features": 256,
        "n_classes": 2,
    }

    def found(fit, loop):
        times = {"fit_seconds": [fit], "loop_seconds": [loop]}
        return {**times, "violations": [70, 80], "error": 0.03}

    race = {
        "facts": facts,
        "measured": {"textbook": found(6.0, 6.0), "pegasos-1": found(0.02, 0.01)},
        "left_out": {},
    }
    point = {"value": 10, "violations": 5, "loop": 1.0, "fit": 2.0, "kernel_fit": 6.0, "matrix": 3}
    twice = {**point, "value": 20, "loop": 4.0, "fit": 4.0, "kernel_fit": 8.0}
    growth = {"facts": {**facts, "title": "rows"}, "points": [twice, point], "left_out": {}}
    return {
        "machine": {"CPU": "abacus"},
        "versions": {"pegasos": "0"},
        "limit": 60,
        "runs": [],
        "tasks": {"gaussian": race, "rows": growth},
    }


def test_tables_show_ratios_of_loop_and_fit_and_the_exponents(bench):
    text = bench.textbook_report.tables(made_up_results())
    ours = "| KernelPegasosClassifier, 1 thread |"
    assert f"{ours} 0.0100 s | **600.0** | 0.0200 s | **300.0** | 150 | 3.00% |" in text
    assert "| textbook loop | 6.00 s | – | 6.00 s | – | 150 | 3.00% |" in text
    assert "| 10 | 5 | 1.00 s | 2.00 s | 6.00 s | 4.00 s | 3.00 s |\n| 20 | 5 |" in text
    assert "| **e** |  | 2.00 | 1.00 | 0.42 | 0.00 | 0.00 |" in text  # log2(8/6) = 0.415


def test_the_section_begins_with_the_answer(bench):
    text = bench.textbook_report.document(made_up_results())
    head = text.partition("###")[0]
    assert "(goal: 500 times):" in head
    assert "- Gaussian: 600 times with one thread (the whole fit: 300)." in head


def test_violations_are_compared_class_by_class(bench):
    content = made_up_results()
    said = "Violations of each class, KernelPegasosClassifier, 1 thread and textbook:"
    assert f"{said} identical." in bench.textbook_report.tables(content)
    content["tasks"]["gaussian"]["measured"]["pegasos-1"]["violations"] = [80, 70]
    assert f"{said} **different**." in bench.textbook_report.tables(content)


# --- The script -----------------------------------------------------------------------------------


def test_the_script_measures_the_textbook_and_keeps_it(bench, tiny, monkeypatch, tmp_path, capsys):
    X, y = tiny
    for name in ("usps", "usps-test"):
        source = type(bench.datasets._SOURCES[name])((), lambda _: (X, y))
        monkeypatch.setitem(bench.datasets._SOURCES, name, source)
    code = bench.textbook.main(
        [
            *("--quick", "--packages", "textbook", "--parts", "gaussian", "polynomial"),
            *("--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "r.json")),
            *("--output", str(tmp_path / "B.md")),
        ]
    )
    assert code == 0
    tasks = json.loads((tmp_path / "r.json").read_text())["tasks"]
    assert set(tasks) == {"gaussian", "polynomial"}
    assert (tasks["gaussian"]["facts"]["n_rows"], tasks["gaussian"]["facts"]["n_test_rows"]) == (
        96,
        24,
    )
    found = tasks["gaussian"]["measured"]["textbook"]
    assert found["loop_seconds"] == found["fit_seconds"]
    assert len(found["violations"]) == 3
    assert found["error"] < 0.3
    assert "| textbook loop |" in capsys.readouterr().out
    assert "<!-- textbook: begin -->" in (tmp_path / "B.md").read_text()
