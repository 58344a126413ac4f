"""Figures of times: slopes, bars and ratios hold the numbers they were given."""

import numpy as np
import pytest

from pegasos.report import BarsDisplay, RatiosDisplay, ScalingDisplay

from .report_helpers import StandIn, grid_rows, new_axes, shown, timing_rows

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
matplotlib.use("agg")


def drawn(display):
    display.make_figure()
    return display


def test_slopes_are_the_powers_the_times_grow_by():
    sizes = np.array([100, 1000, 10000])
    display = drawn(ScalingDisplay({"flat": (sizes, [2, 2, 2]), "square": (sizes, sizes**2.0)}))
    assert display.slopes_ == pytest.approx({"flat": 0, "square": 2}, abs=1e-12)
    marked = [line for line in display.ax_.lines if line.get_marker() != "None"]
    points = [line.get_xydata().T for line in marked if len(line.get_xdata())]
    np.testing.assert_array_equal(points[1], [sizes, sizes**2])
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[1] == "square, slope 2.00"


def test_one_size_has_no_slope():
    display = drawn(ScalingDisplay({"a": ([10], [1.0])}))
    assert np.isnan(display.slopes_["a"])


def test_timings_of_a_study_are_drawn_against_what_varies(tmp_path):
    rows = timing_rows("loop", [10, 100], [1.0, 10.0]) + timing_rows("ours", [10, 100], [0.1, 0.1])
    display = ScalingDisplay.from_results(StandIn(rows, tmp_path), ax=new_axes())
    assert display.against == "n_rows"
    assert display.slopes_ == pytest.approx({"loop": 1, "ours": 0}, abs=1e-12)
    both = rows + timing_rows("loop", [5, 50], [1.0, 2.0], axis="n_features")
    with pytest.raises(ValueError, match="n_rows, n_features varies; name it with against"):
        ScalingDisplay.from_results(StandIn(both, tmp_path))


def test_times_of_a_grid_are_medians_over_its_cells(tmp_path):
    display = ScalingDisplay.from_results(
        StandIn(grid_rows("linear"), tmp_path), ["linear"], against="max_steps", ax=new_axes()
    )
    np.testing.assert_allclose(display.lines["linear"], [[100, 1000, 5000], [0.01, 0.1, 0.5]])


def test_bars_say_how_many_times_faster_than_the_first():
    display = drawn(BarsDisplay({"naive": [2.0, 30.0], "fast": [0.02, np.nan]}, groups=["a", "b"]))
    np.testing.assert_array_equal(display.ratios_["fast"], [100, np.nan])
    heights = [[bar.get_height() for bar in bars] for bars in display.ax_.containers]
    assert heights == [[2.0, 30.0], [0.02]]
    assert shown(display.ax_) == ["2.0 s", "30 s", "20 ms\n100×"]
    assert "fast is 100× to 100× as fast" in display.describe()


def test_bars_of_a_study_are_grouped_by_what_varies(tmp_path):
    rows = timing_rows("loop", [10, 1000], [1.0, 10.0]) + timing_rows("ours", [1000], [0.1])
    display = BarsDisplay.from_results(StandIn(rows, tmp_path), ["loop", "ours"], ax=new_axes())
    assert display.groups == ["10 rows", "1,000 rows"]
    np.testing.assert_allclose(display.ratios_["ours"], [np.nan, 100])


def test_ratios_are_the_seconds_of_the_peer_over_ours():
    seconds = {"ours": {"a": 1.0, "b": 2.0}, "SVC": {"a": 10.0, "b": 1.0}, "other": {"b": 4.0}}
    display = RatiosDisplay.from_seconds(seconds, "ours", ax=new_axes())
    np.testing.assert_array_equal(display.ratios["SVC"], [10, 0.5])
    np.testing.assert_array_equal(display.ratios["other"], [np.nan, 2])
    assert shown(display.ax_) == ["10×", "0.50×", "2.0×"]


def test_ratios_that_are_close_are_written_above_and_below_each_other():
    display = drawn(RatiosDisplay({"a": [2.0, 2.0], "b": [2.1, 50.0]}, tasks=["near", "far"]))
    offsets = {text.get_text(): text.xyann[1] for text in display.ax_.texts[:2]}
    assert offsets["2.0×"] > 0 > offsets["2.1×"]
    assert all(text.xyann[1] > 0 for text in display.ax_.texts[2:])
