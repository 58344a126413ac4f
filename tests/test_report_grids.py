"""Heat-maps and curves hold the numbers they were given."""

import numpy as np
import pytest

from pegasos import KernelPegasosCV, PegasosCV, studies
from pegasos.report import BarsDisplay, CurvesDisplay, HeatmapDisplay, ScalingDisplay

from .report_helpers import ERRORS, LAMS, SPREAD, STEPS, StandIn, grid_rows, new_axes
from .study_helpers import QUICK, study_of

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
matplotlib.use("agg")

GRID = {"lams": LAMS, "steps": STEPS}


def texts(display):
    return [[text.get_text() for text in display.ax_.texts if text.get_position()[1] == i]
            for i in range(len(display.lams))]  # fmt: skip


def lines(display):
    """Return the drawn curves: label -> (x, y)."""
    ax = display.ax_
    return {c.get_label(): c.lines[0].get_xydata().T.tolist() for c in ax.containers}


def test_a_heatmap_holds_every_error_as_colour_and_as_text():
    display = HeatmapDisplay(ERRORS, **GRID)
    display.make_figure()
    np.testing.assert_array_equal(display.image_.get_array(), ERRORS)
    assert texts(display) == [[f"{e:.3f}" for e in row] for row in ERRORS]
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["100", "1,000", "5,000"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["10⁻⁴", "10⁻²"]


def test_the_best_cell_has_a_frame_and_bold_text_and_is_described():
    display = HeatmapDisplay(ERRORS, **GRID)
    display.make_figure()
    assert display.best_ == (0, 1)
    frames = [patch for patch in display.ax_.patches if patch.get_gid() == "best"]
    assert {frame.get_xy() for frame in frames} == {(0.5, -0.5)}
    bold = [text.get_text() for text in display.ax_.texts if text.get_fontweight() == "bold"]
    assert bold == ["0.120"]
    assert "smallest 0.120 at lam = 10⁻⁴, T = 1,000" in display.describe()


def test_text_in_cells_is_readable_on_their_colour():
    display = HeatmapDisplay([[0.001, 0.03, 0.9]], lams=[1], steps=[1, 2, 3])
    display.make_figure()
    colours = [text.get_color() for text in display.ax_.texts]
    assert colours[0] == "white"  # cividis is dark at its low end
    assert colours[2] == "black"


def test_errors_of_different_size_get_a_logarithmic_scale_of_colour():
    log, linear = ([[0.01, 0.5]], [[0.3, 0.5]])
    kinds = []
    for errors in (log, linear):
        display = HeatmapDisplay(errors, lams=[1], steps=[1, 2])
        display.make_figure()
        kinds.append(type(display.image_.norm).__name__)
    assert kinds == ["LogNorm", "Normalize"]


@pytest.mark.parametrize("errors", [[[0.2, 0.2]], [[0.0, 0.0]], [[0.0, 0.3]], [[0.1, np.nan]]])
def test_flat_zero_and_missing_errors_can_be_drawn(errors):
    for kind in (HeatmapDisplay, CurvesDisplay):
        assert kind(errors, lams=[1], steps=[1, 2]).make_figure() is not None


def test_curves_hold_a_line_per_lam_with_the_spread_as_bars():
    spread = 0.1 * ERRORS
    display = CurvesDisplay(ERRORS, **GRID, spread=spread)
    display.make_figure()
    drawn = lines(display)
    assert list(drawn) == ["10⁻⁴", "10⁻²"]
    for i, (steps, errors) in enumerate(drawn.values()):
        assert steps == list(STEPS)
        np.testing.assert_array_equal(errors, ERRORS[i])
    bars = display.ax_.containers[0].lines[2][0].get_segments()
    # Ends of a bar: error - spread, error + spread.
    np.testing.assert_allclose(bars[1][:, 1], [0.9 * 0.12, 1.1 * 0.12], rtol=1e-12)


def test_cells_without_an_error_have_no_point_on_the_curve():
    errors = ERRORS.copy()
    errors[0, 1] = np.nan
    display = CurvesDisplay(errors, **GRID)
    display.make_figure()
    assert lines(display)["10⁻⁴"][0] == [100, 5000]


def test_a_grid_of_a_study_is_drawn_as_means_over_folds(tmp_path):
    results = StandIn(grid_rows("linear"), tmp_path)
    display = HeatmapDisplay.from_results(results, "linear", ax=new_axes())
    # Sums of three numbers of this size are off by a few units of the last digit.
    np.testing.assert_allclose(display.errors, ERRORS, rtol=1e-14)
    np.testing.assert_allclose(display.spread, np.full((2, 3), SPREAD.std()), rtol=1e-12)
    train = HeatmapDisplay.from_results(results, "linear", value="train_error", ax=new_axes())
    np.testing.assert_allclose(train.errors, ERRORS / 2, rtol=1e-14)
    assert "train error" in train.describe()


def test_of_several_kernels_the_best_is_drawn_or_the_one_named(tmp_path):
    rows = grid_rows("rbf", shift=0.05, kernel="rbf", gamma=0.5)
    rows += grid_rows("rbf", kernel="rbf", gamma=2.0)
    results = StandIn(rows, tmp_path)
    best = HeatmapDisplay.from_results(results, "rbf", ax=new_axes())
    assert best.title == "rbf (gamma = 2)"
    np.testing.assert_allclose(best.errors, ERRORS, rtol=1e-14)
    named = HeatmapDisplay.from_results(results, "rbf", gamma=0.5, ax=new_axes())
    np.testing.assert_allclose(named.errors, ERRORS + 0.05, rtol=1e-14)
    with pytest.raises(ValueError, match=r"no cells with gamma=3.0; for gamma there is 0.5, 2.0"):
        HeatmapDisplay.from_results(results, "rbf", gamma=3.0)


def test_of_equal_cells_the_first_is_the_best_whatever_the_order_of_sums(tmp_path):
    display = HeatmapDisplay([[0.3, 0.1 + 0.2]], lams=[1], steps=[10, 20])
    assert display.best_ == (0, 0)
    rows = grid_rows("rbf", kernel="rbf", gamma=0.5) + grid_rows("rbf", kernel="rbf", gamma=2.0)
    for row in rows[len(rows) // 2 :]:
        row["test_error"] -= 1e-16
    assert HeatmapDisplay.from_results(StandIn(rows, tmp_path), "rbf", ax=new_axes()).title == (
        "rbf (gamma = 0.5)"
    )


def test_the_train_error_is_shown_of_the_kernel_with_the_best_test_error(tmp_path):
    rows = grid_rows("rbf", kernel="rbf", gamma=0.5)
    rows += [{**row, "train_error": 0.0, "test_error": 0.5, "gamma": 9.0} for row in rows]
    results = StandIn(rows, tmp_path)
    display = HeatmapDisplay.from_results(results, "rbf", value="train_error", ax=new_axes())
    assert display.title == "rbf (gamma = 0.5)"


def test_a_fitted_grid_is_drawn_with_its_own_errors(blobs):
    X, y = blobs
    model = PegasosCV(lams=LAMS, steps=STEPS, cv=3, random_state=0).fit(X, y)
    display = HeatmapDisplay.from_estimator(model, ax=new_axes())
    np.testing.assert_allclose(display.errors, model.test_error_.mean(axis=-1).reshape(2, 3))
    kernel = KernelPegasosCV(lams=LAMS, steps=STEPS, gammas=(0.1, 1.0), cv=3, random_state=0)
    kernel.fit(X[:60], y[:60])
    display = CurvesDisplay.from_estimator(kernel, gamma=0.1, ax=new_axes())
    expected = kernel.test_error_.mean(axis=-1).reshape(-1, 2, 3)[0]
    np.testing.assert_allclose(display.errors, expected)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"errors": ERRORS.T}, r"errors must have a row per lam .* got shape \(3, 2\)"),
        ({"spread": [1.0]}, "spread must have a row per lam"),
        ({"errors": np.full((2, 3), np.nan)}, "no cell of the grid has an error yet"),
        ({"value": "error"}, "value must be one of test_error, train_error; got 'error'"),
    ],
)
def test_a_grid_that_cannot_be_drawn_says_why(wrong, words):
    with pytest.raises(ValueError, match=words):
        HeatmapDisplay(**{"errors": ERRORS, **GRID, **wrong})


def test_models_without_a_grid_are_refused(tmp_path, blobs):
    rows = [{**row, "max_steps": -1, "max_iter": 3} for row in grid_rows("perceptron")]
    with pytest.raises(ValueError, match="no grid over lam and max_steps"):
        HeatmapDisplay.from_results(StandIn(rows, tmp_path), "perceptron")
    with pytest.raises(ValueError, match="for model 'other'; these models have: 'perceptron'"):
        HeatmapDisplay.from_results(StandIn(rows, tmp_path), "other")
    with pytest.raises(ValueError, match="none has any yet"):
        HeatmapDisplay.from_results(StandIn([], tmp_path), "perceptron")
    model = PegasosCV(lams=LAMS, steps=STEPS).fit(*blobs).best_estimator_
    with pytest.raises(TypeError, match="give a fitted PegasosCV"):
        HeatmapDisplay.from_estimator(model)


def test_results_may_be_given_by_their_folder(tmp_path):
    results = studies.run(study_of(QUICK), tmp_path)
    for display in (HeatmapDisplay, CurvesDisplay):
        expected = display.from_results(results, "Gaussian", ax=new_axes()).errors
        for folder in (tmp_path, str(tmp_path)):
            found = display.from_results(folder, "Gaussian", ax=new_axes()).errors
            np.testing.assert_array_equal(found, expected)
    models = ["Gaussian"]
    bars = BarsDisplay.from_results(str(tmp_path), models, ax=new_axes())
    scaling = ScalingDisplay.from_results(tmp_path, models, against="max_steps", ax=new_axes())
    assert list(bars.seconds) == list(scaling.lines) == models
    with pytest.raises(studies.StudyError, match="there are no results in"):
        HeatmapDisplay.from_results(tmp_path / "elsewhere", "Gaussian")
