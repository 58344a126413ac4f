"""Figures as study files ask for them, and as files."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from pegasos import PegasosClassifier
from pegasos.report import LossesDisplay, draw, save
from pegasos.report._files import alt_text, replace_file

from .report_helpers import FIGURES, ROWS, StandIn, final_row

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
matplotlib.use("agg")


@pytest.fixture
def results(tmp_path):
    return StandIn(ROWS, tmp_path, FIGURES)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["kind"])
def test_every_figure_is_drawn_with_its_title_and_described(results, figure):
    drawn = draw(figure, results)
    assert figure.get("title", "") in drawn.axes[0].get_title()
    assert alt_text(drawn).endswith(".")
    assert len(alt_text(drawn)) > 30


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_results_make_the_same_bytes(results, tmp_path, suffix):
    for figure in (FIGURES[0], FIGURES[8], FIGURES[11]):  # cells, a fit, images
        first, second = (
            save(draw(figure, results), tmp_path / f"{run}{suffix}").read_bytes() for run in "ab"
        )
        assert first == second, figure


def test_the_users_settings_of_matplotlib_neither_show_nor_change(results, tmp_path):
    plain = save(draw(FIGURES[0], results), tmp_path / "plain.svg").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        before = dict(matplotlib.rcParams)
        same = save(draw(FIGURES[0], results), tmp_path / "same.svg").read_bytes()
        assert dict(matplotlib.rcParams) == before
    assert same == plain


def test_drawing_for_files_leaves_pyplot_alone(results, tmp_path):
    import matplotlib.pyplot as plt

    plt.close("all")
    for figure in FIGURES[:4]:
        save(draw(figure, results), tmp_path / "figure.png")
    assert plt.get_fignums() == []
    display = LossesDisplay.from_range()  # for a notebook, which shows what pyplot has
    assert plt.get_fignums() == [display.figure_.number]
    plt.close("all")


def test_drawing_for_files_does_not_import_pyplot(tmp_path):
    code = (
        "import sys; from pegasos import report\n"
        "report.save(report.draw({'kind': 'losses'}, None), sys.argv[1])\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "losses.svg"], check=False)
    assert done.returncode == 0


def test_two_displays_share_a_figure_of_the_user():
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    first, second = LossesDisplay.from_range(ax=left), LossesDisplay.from_range(ax=right)
    assert first.ax_ is left
    assert second.figure_ is first.figure_ is left.figure
    assert alt_text(left.figure).count("Losses against the margin") == 2


def test_the_alt_text_is_the_title_of_the_file(results, tmp_path):
    drawn = draw({"kind": "losses"}, results)
    assert "Losses against the margin" in save(drawn, tmp_path / "a.svg").read_text()
    assert "my own words" in save(drawn, tmp_path / "a.svg", alt="my own words").read_text()


def test_folders_are_made_and_other_endings_refused(results, tmp_path):
    drawn = draw({"kind": "losses"}, results)
    assert save(drawn, tmp_path / "new" / "folder" / "a.PNG").exists()
    with pytest.raises(ValueError, match=r"written as .svg, .png, .pdf; got 'a.jpg'"):
        save(drawn, tmp_path / "a.jpg")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = replace_file(tmp_path / "a.txt", b"old")

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_boundary_is_drawn_over_raw_features(blobs, tmp_path):
    X, y = blobs[0][:, :2], blobs[1]
    prepare = PolynomialFeatures(2).fit(X)
    estimator = PegasosClassifier(1e-2, max_iter=3, tol=None, random_state=0)
    estimator.fit(prepare.transform(X), y)
    results = StandIn([final_row("linear")], tmp_path)
    results.refit = lambda *_: SimpleNamespace(
        estimator=estimator, prepare=prepare, X_raw=X, y=y, data=SimpleNamespace(names={})
    )
    drawn = draw({"kind": "boundary", "model": "linear"}, results)
    pipeline = make_pipeline(prepare, estimator)
    wrong = np.where(y == 1, 1, -1) * pipeline.decision_function(X) <= 1
    assert f"{wrong.sum()} support vectors" in alt_text(drawn)


def test_a_short_course_has_records_of_shorter_fits_which_are_its_beginnings(results):
    drawn = draw({"kind": "convergence", "model": "linear"}, results)
    steps, objectives = drawn.axes[0].lines[0].get_xydata().T
    assert steps.tolist() == [1, 3, 7, 15, 30, 60]
    fitted = results.refit("linear")
    whole = fitted.estimator.set_params(max_steps=15).fit(fitted.X, fitted.y)
    assert objectives[3] == np.mean(whole.objective_)


def test_figures_of_a_model_are_of_its_first_subset_unless_one_is_named(tmp_path):
    rows = [final_row("linear", subset="0 against 6"), final_row("linear", subset="2 against 4")]
    results = StandIn(rows, tmp_path)
    first = draw({"kind": "confusion", "model": "linear"}, results)
    draw({"kind": "confusion", "model": "linear", "subset": "2 against 4"}, results)
    assert results.refits == [("linear", "0 against 6"), ("linear", "2 against 4")]
    assert first.axes[0].get_title() == "linear (0 against 6), test part"
    results.study.splits.test = None
    held_out = draw({"kind": "confusion", "model": "linear"}, results)
    assert held_out.axes[0].get_title() == "linear (0 against 6), first fold held out"


def test_the_course_of_a_short_fit_never_goes_back_in_time(results):
    drawn = draw({"kind": "convergence", "model": "a kernel", "against": "seconds"}, results)
    for line in drawn.axes[0].lines:
        assert (np.diff(line.get_xdata()) >= 0).all()


def test_a_display_is_saved_as_its_figure(tmp_path):
    display = LossesDisplay([-1.0, 2.0])
    undrawn = save(display, tmp_path / "undrawn.svg").read_bytes()
    assert save(display, tmp_path / "drawn.svg").read_bytes() == undrawn
    assert save(display.figure_, tmp_path / "figure.svg").read_bytes() == undrawn
