"""What the charts of the page are given: the numbers of the table, texts as figures have them."""

import json

import numpy as np
import pytest

from pegasos.report import HeatmapDisplay
from pegasos.report._explore import explorable

from .report_helpers import (
    ERRORS,
    LAMS,
    ROWS,
    STEPS,
    StandIn,
    final_row,
    grid_rows,
    new_axes,
    timing_rows,
)
from .report_page_helpers import page_of

pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("plotly", reason="the charts need plotly")


def test_every_grid_is_there_with_means_spread_seconds_and_its_best_cell(tmp_path):
    data = explorable(StandIn(ROWS, tmp_path))
    linear, kernel = data["grids"]
    assert [linear["name"], kernel["name"]] == [
        "linear, hinge loss",
        "a kernel, rbf kernel, hinge loss, gamma = 0.5",
    ]
    assert data["first"] == 1  # its errors are smaller by 0.02
    assert linear["lams"] == ["10⁻⁴", "10⁻²"]
    assert linear["steps"] == list(STEPS)
    assert linear["step_texts"] == ["100", "1,000", "5,000"]
    np.testing.assert_allclose(linear["test_error"]["errors"], ERRORS, rtol=1e-12)
    np.testing.assert_allclose(kernel["train_error"]["errors"], (ERRORS - 0.02) / 2, rtol=1e-12)
    # Folds are off by -0.03, 0 and 0.03: standard deviation 0.0245.
    np.testing.assert_allclose(linear["test_error"]["spread"], np.sqrt(0.0006), rtol=1e-9)
    assert linear["test_error"]["texts"][0][1] == "0.1200 ± 0.0245"
    assert linear["train_error"]["texts"][0][1] == "0.0600 ± 0.0000"  # all folds have the same
    assert linear["test_error"]["best"] == (0, 1)
    assert linear["seconds"] == [["10 ms", "100 ms", "500 ms"]] * 2


def test_cells_ticks_and_inks_are_those_of_the_figure(tmp_path):
    given = explorable(StandIn(grid_rows("linear"), tmp_path))["grids"][0]["test_error"]
    figure = HeatmapDisplay(ERRORS, lams=LAMS, steps=STEPS).plot(new_axes())
    texts = {text.get_position(): text for text in figure.ax_.texts}
    for i in range(len(LAMS)):
        for j in range(len(STEPS)):
            assert given["cells"][i][j] == texts[j, i].get_text()
            assert given["inks"][i][j] == texts[j, i].get_color()
    bar = figure.image_.colorbar
    np.testing.assert_allclose([tick for tick, _ in given["ticks"]], bar.get_ticks(), rtol=1e-9)


def test_what_is_not_known_yet_is_null_and_empty(tmp_path):
    rows = [row for row in grid_rows("linear") if (row["lam"], row["max_steps"]) != (1e-2, 5000)]
    data = explorable(StandIn(rows, tmp_path))
    given = data["grids"][0]
    assert given["test_error"]["errors"][1][2] is None
    assert given["test_error"]["texts"][1][2] == given["seconds"][1][2] == ""
    json.dumps(data, allow_nan=False)


def test_a_single_split_has_no_spread(tmp_path):
    split = [row for row in grid_rows("linear") if row["fold"] == 1]
    given = explorable(StandIn(split, tmp_path))["grids"][0]["test_error"]
    assert given["texts"][0][1] == "0.1200"
    assert given["spread"] == [[None] * 3] * 2


def test_subsets_are_grids_of_their_own(tmp_path):
    rows = [*grid_rows("linear", subset="0 against 6"), *grid_rows("linear", subset="2 against 4")]
    names = [grid["name"] for grid in explorable(StandIn(rows, tmp_path))["grids"]]
    assert names == ["linear, 0 against 6, hinge loss", "linear, 2 against 4, hinge loss"]


def test_a_study_without_a_grid_has_no_charts_and_no_library(tmp_path):
    one_cell = [row for row in grid_rows("one") if (row["lam"], row["max_steps"]) == (1e-2, 100)]
    rows = [final_row("linear"), *one_cell, *timing_rows("t", [1, 2], [1.0, 2.0])]
    results = StandIn(rows, tmp_path)
    assert explorable(results) == {}
    page = page_of(results)
    assert page.all("script") == []
    assert "explore" not in page.ids
    assert (tmp_path / "report.html").stat().st_size < 200_000
