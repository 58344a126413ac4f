"""The bounds are passes over every row that change nothing; nothing here is timed."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from .benchmark_helpers import imported


@pytest.fixture(scope="module")
def bench():
    with imported() as modules:
        yield modules


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sp.csr_matrix], ids=["dense", "csr"])
def test_a_bare_pass_takes_the_inner_product_of_every_row_and_changes_nothing(bench, make, threads):
    X = np.random.default_rng(3).normal(size=(60, 5)).astype(np.float32)
    X[7] = 0  # on no side
    w = np.random.default_rng(0).normal(size=(1, 6))[0, :5]  # the weights of the passes
    in_order, in_random_order = bench.bounds.bare_passes(make(X), threads)
    before = in_order().copy()
    assert_allclose(before[:, 0], X.astype(float) @ w, rtol=1e-12, atol=1e-12)
    assert_array_equal(in_random_order(), [0])  # no mistake, so no update
    assert_array_equal(in_order(), before)


def made_up(bench, seconds, goals):
    facts = {"title": "made up", "lam": 0.5, "n_rows": 4}
    names = [f"{kind}-{n}" for kind in ("in order", "in random order", "one step") for n in (1, 2)]
    return {"facts": facts, "seconds": dict(zip(names, seconds, strict=True)), "goals": goals}


def goals_of(level, epoch):
    return {
        "levels": {"1e-2": {"goal": level, "ours": 0.5, "epochs": 2.0}},
        "epoch": {"goal": epoch, "ours": 0.25},
    }


def test_passes_within_a_goal_are_those_of_the_better_number_of_threads(bench):
    task = made_up(bench, [1, 1, 0.25, 0.125, 0.5, 0.625], goals_of(1.0, 0.5))
    # One thread: (1 - 0.5)/0.25 = 2. Two: (1 - 0.625)/0.125 = 3.
    assert bench.bounds_report.passes_within(task, 1.0) == 3
    text = bench.bounds_report.tables({"tasks": {"made-up": task}})
    assert "| made up, lam 5e-1 | 1e-2 | 1.00 s | 3.0 | 0.500 s | 2 |" in text
    assert "| made up, lam 5e-1 | 0.500 s | 0.125 s | 4.0 | 0.250 s |" in text
    assert "Every goal leaves time" in text


def test_a_goal_below_one_pass_is_said_to_be_out_of_reach(bench):
    task = made_up(bench, [1, 1, 0.25, 0.25, 0.5, 0.5], goals_of(0.7, 0.2))
    text = bench.bounds_report.tables({"tasks": {"made-up": task}})
    assert "to 1e-2: the goal, 0.700 s, is less than a fit of one step and one bare pass" in text
    assert "per epoch: the goal, 0.200 s, is less than one bare pass takes, 0.250 s" in text
    assert "Every goal" not in text


def test_goals_are_a_fifth_of_the_fastest_peer(bench):
    points = {
        "liblinear": [{"budget": 0.1, "seconds": [2.0], "objectives": [1.005], "conversions": [0]}],
        "sdca-2": [{"budget": 3, "seconds": [0.5], "objectives": [1.0005], "conversions": [0]}],
    }
    task = {
        "reference": {"objective": 1.0},
        "points": points,
        "epoch_seconds": {"sgd": 1.0, "pegasos-1": 0.25, "pegasos-2": 0.125},
    }
    found = bench.bounds_report.goals(task)
    assert found["levels"]["1e-2"] == {"goal": 0.4, "ours": 0.5, "epochs": 3}
    assert found["levels"]["1e-3"] == {"goal": None, "ours": 0.5, "epochs": 3}
    assert found["epoch"] == {"goal": 0.2, "ours": 0.125}
    assert bench.bounds_report.goals(None) is None


def test_the_script_reads_the_results_of_the_linear_benchmark(bench, tmp_path, monkeypatch, capsys):
    source = bench.datasets._SOURCES["sparse"]
    tiny = type(source)((), lambda _: bench.rcv1_like.generate(300, n_words=500, words_per_row=20))
    monkeypatch.setitem(bench.datasets._SOURCES, "sparse", tiny)
    linear = {"schema": 1, "tasks": {"sparse": {"reference": {"objective": 1.0}, "points": {}}}}
    linear["tasks"]["sparse"]["epoch_seconds"] = {"sgd": 1e9}
    (tmp_path / "linear.json").write_text(json.dumps(linear))
    arguments = ["--sets", "sparse", "--repeats", "1", "--cache", str(tmp_path / "cache")]
    output = tmp_path / "BENCHMARKS.md"
    where = ["--json", str(tmp_path / "bounds.json"), "--output", str(output)]
    assert bench.bounds.main([*arguments, *where]) == 0
    content = json.loads((tmp_path / "bounds.json").read_text())
    seconds = content["tasks"]["sparse"]["seconds"]
    assert len(seconds) == 6
    assert all(value > 0 for value in seconds.values())
    assert content["tasks"]["sparse"]["goals"]["epoch"]["goal"] == 2e8
    text = output.read_text()
    assert "<!-- bounds: begin -->\n## What bounds linear machines" in text
    assert "Every goal leaves time for at least one bare pass." in text
    assert "generated text, lam 1e-4" in capsys.readouterr().out


def test_without_results_of_the_linear_benchmark_there_are_passes_but_no_goals(
    bench, tmp_path, monkeypatch, capsys
):
    source = bench.datasets._SOURCES["sparse"]
    tiny = type(source)((), lambda _: bench.rcv1_like.generate(300, n_words=500, words_per_row=20))
    monkeypatch.setitem(bench.datasets._SOURCES, "sparse", tiny)
    arguments = ["--quick", "--sets", "sparse", "--repeats", "1", "--cache", str(tmp_path)]
    assert bench.bounds.main([*arguments, "--json", str(tmp_path / "bounds-quick.json")]) == 0
    shown = capsys.readouterr()
    assert "no goals to compare with: linear-quick.json is not there" in shown.err
    assert "generated text, lam 1e-4" in shown.out
