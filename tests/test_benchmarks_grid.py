"""The benchmark of the whole grid does what its tables say, on tiny data; nothing here is timed."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from pegasos import reference

from .benchmark_helpers import imported


@pytest.fixture(scope="module", autouse=True)
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture
def tiny(three_classes):
    X, y = three_classes
    return X[:90].astype(np.float32), np.unique(y[:90], return_inverse=True)[1]


def test_the_textbook_kernels_are_those_of_the_report(bench, tiny):
    X, _ = tiny
    gaussian = bench.grid_textbook.Kernel("Gaussian", 0.75).matrix(X, X[:7])
    assert_allclose(gaussian, rbf_kernel(X, X[:7], gamma=1 / 1.5), rtol=1e-4)  # float32
    cubic = bench.grid_textbook.Kernel("polynomial", 3).matrix(X, X[:7])
    assert_allclose(
        cubic, polynomial_kernel(X, X[:7], degree=3, gamma=1, coef0=1), rtol=1e-3, atol=1e-4
    )


def test_the_textbook_loop_is_the_published_algorithm(bench, tiny):
    X, y = tiny
    K = rbf_kernel(X.astype(np.float64))
    signs = bench.datasets.one_vs_rest(y)
    alpha = bench.grid_textbook._loop(K, signs, 0.01, 300, seed=5)
    draws = np.random.default_rng(5).integers(len(y), size=300)
    for sign, counted in zip(signs, alpha, strict=True):
        assert_allclose(counted, reference.kernel_pegasos(K, sign, 0.01, draws).alpha)


def made_up_results():
    def cell(family, n_steps, matrix, loop):
        times = {"matrix": matrix, "loop": loop, "predict": 1.0, "error": 0.25}
        return {"family": family, "value": 2, "n_steps": n_steps, **times}

    facts = {"widths": [1.0, 2.0], "degrees": [2], "lams": [0.1, 1.0], "steps": [10, 20]}
    facts |= {"n_folds": 3, "n_rows": 50, "n_features": 4, "n_classes": 3}
    errors = {
        "kernels": [["Gaussian", 1.0], ["Gaussian", 2.0], ["polynomial", 2]],
        "mean": [[[0.4, 0.3], [0.5, 0.2]], [[0.4, 0.1], [0.5, 0.2]], [[0.4, 0.3], [0.5, 0.6]]],
        "sample": {"Gaussian": [0.25, 0.26], "polynomial": [0.1, 0.2]},
    }
    measured = {
        "textbook": {
            "cells": [
                cell("Gaussian", 10, 9.0, 1.0),
                cell("Gaussian", 20, 9.0, 2.0),
                cell("polynomial", 10, 4.0, 1.0),
                cell("polynomial", 20, 4.0, 2.0),
            ]
        },
        "pegasos-all": {"seconds": [2.0, 1.0, 4.0], "errors": errors},
    }
    part = {"facts": facts, "measured": measured, "left_out": {}}
    conditions = {"machine": {"CPU": "abacus"}, "versions": {"pegasos": "0"}, "limit": 60}
    return {**conditions, "runs": [], "tasks": {"grid": part}}


def test_the_sum_counts_every_kernel_lam_and_fold(bench):
    part = made_up_results()["tasks"]["grid"]
    # 2 kernels x 2 lam x 3 folds x (11 + 12 s) and 1 x 2 x 3 x (6 + 7 s)
    assert bench.grid_report.textbook_total(part) == pytest.approx(12 * 23 + 6 * 13)
    # The matrix once per kernel and fold: 6 x (10 + 2 x 3 s) and 3 x (5 + 2 x 3 s)
    shared = bench.grid_report.textbook_total(part, shares_matrix=True)
    assert shared == pytest.approx(6 * 16 + 3 * 11)


def test_tables_show_both_ratios_the_same_cells_and_the_best_ones(bench):
    text = bench.grid_report.document(made_up_results())
    assert "**12 cells**" in text
    assert "| KernelPegasosCV, all cores | 2.00 s (1.00–4.00) | **177** | **64** |" in text
    assert "| Gaussian 2 | 20 | 9.00 s | 2.00 s | 1.00 s | 0.2500 | 0.2600 |" in text
    assert "| Gaussian 1 | 0.2000 | 1e+0 | 20 |" in text


def test_the_script_measures_both_on_the_same_draws(bench, tiny, monkeypatch, tmp_path, capsys):
    X, y = tiny
    for name in ("usps", "usps-test"):
        source = type(bench.datasets._SOURCES[name])((), lambda _: (X, y))
        monkeypatch.setitem(bench.datasets._SOURCES, name, source)
    code = bench.grid.main(
        [
            *("--quick", "--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "r.json")),
            *("--output", str(tmp_path / "B.md")),
        ]
    )
    assert code == 0
    part = json.loads((tmp_path / "r.json").read_text())["tasks"]["grid"]
    assert part["left_out"] == {}
    one, all_cores = (part["measured"][key]["errors"] for key in ("pegasos-1", "pegasos-all"))
    assert one == all_cores
    for cell in part["measured"]["textbook"]["cells"]:
        place = part["facts"]["steps"].index(cell["n_steps"])
        # A score of almost 0 may round to the other side in float32: one row of 90.
        assert cell["error"] == pytest.approx(one["sample"][cell["family"]][place], abs=1.1 / 90)
    assert "| KernelPegasosCV, all cores |" in capsys.readouterr().out
    assert "<!-- grid: begin -->" in (tmp_path / "B.md").read_text()
