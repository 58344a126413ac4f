"""The page: complete, self-contained, true to the table, and readable by everybody."""

import re
from base64 import b64decode

import numpy as np
import pytest

from pegasos.report import write

from .report_helpers import (
    FIGURES,
    ROWS,
    RUN,
    StandIn,
    final_row,
    grid_rows,
    race_row,
    reported,
    timing_rows,
)
from .report_page_helpers import page_of

pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("jinja2", reason="the page needs jinja2")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A page with everything, and where it is."""
    folder = tmp_path_factory.mktemp("whole")
    rows = [*ROWS, race_row("ccat: optimum", 3.0), race_row("ccat: sdca", 0.5)]
    rows += [race_row("ccat: pegasos", float("nan"))]
    comparisons = [
        reported(),
        reported("a kernel", 0.09, "explained", 0.1, at={"lam": 1e-4}, note="a <i>note</i>"),
        reported("loop", 60, "not measured", None, quantity="seconds", rounding=0.5),
    ]
    results = StandIn(
        rows, folder, FIGURES, comparisons, title="Kernels & <script>alert(1)</script>"
    )
    return page_of(results), folder


def test_the_answer_comes_first_with_spread_seconds_and_certificate(whole):
    text = whole[0].text
    assert whole[0].all("h2")[0] == {"id": "answer-title"}
    # 0.10 + (-0.03, 0, 0.03): standard deviation 0.0245.
    for words in ("a kernel, best of 2 models", "0.1000 ± 0.0245", "over 3 folds", "0.1234"):
        assert words in text
    for words in ("250 ms", "4.0 %", "objective 0.5; the optimum is at least 0.48"):
        assert words in text
    assert "Best cell: rbf kernel, hinge loss, gamma = 0.5, lam = 10⁻⁴, T = 1,000." in text
    assert "Reported values: 1 met, 1 explained, 1 not measured." in text
    assert "loop: time grows with the power 1.00 of the number of rows." in text
    assert "ccat: sdca is there after 500 ms, pegasos is not within its time." in text


def test_reported_values_stand_beside_ours(whole):
    head, *rows = whole[0].tables[0]
    assert head[3:6] == ["reported", "measured here", "verdict"]
    assert rows[0] == ["linear", "its best", "test error", "0.13", "0.1200", "met", "", "p. 3"]
    assert rows[1][1:7] == [
        "lam = 10⁻⁴", "test error", "0.09", "0.1000", "explained", "a <i>note</i>"
    ]  # fmt: skip
    assert rows[2][2:6] == ["seconds", "1.0 min", "–", "not measured"]


def test_the_table_of_models_holds_best_cell_errors_gap(whole):
    head, linear, kernel = whole[0].tables[1]
    assert head[:4] == ["model", "best cell", "test error", "train error"]
    assert linear[:4] == [
        "linear", "hinge loss, lam = 10⁻⁴, T = 1,000", "0.1200 ± 0.0245", "0.0600"
    ]  # fmt: skip
    assert kernel[4:] == ["0.1234", "0.0600", "250 ms", "4.0 %"]


def test_timings_and_races_have_tables(whole):
    timings, races = whole[0].tables[2:]
    assert timings[1] == ["loop", "100", "10", "500", "200 ms"]
    assert len(timings) == 5
    assert [row[:2] for row in races[1:]] == [
        ["ccat: optimum", "3.0 s"],
        ["ccat: sdca", "500 ms"],
        ["ccat: pegasos", "not reached"],
    ]


def test_numbers_of_the_tables_are_there_in_full(whole):
    values = [float(data["value"]) for data in whole[0].all("data")]
    assert 0.1234 in values
    assert 0.04 in values
    assert any(abs(value - 0.12) < 1e-15 for value in values)


def test_text_of_the_study_is_escaped(whole):
    page, _ = whole
    # Data, the packed library and our own lines.
    assert [script.get("id") for script in page.all("script")] == [
        "explore-data",
        "plotly-packed",
        None,
    ]
    assert page.all("i") == []
    assert "Kernels & <script>alert(1)</script>" in page.text


def test_the_page_fetches_nothing(whole):
    page, folder = whole
    for tag, attributes in page.elements:
        for name in ("src", "href", "srcset", "data", "action"):
            link = attributes.get(name, "#")
            assert link.startswith(("data:", "#")), (tag, link)
    html = (folder / "report.html").read_text("utf-8")
    assert "@import" not in html
    assert "url(" not in html


def test_every_figure_has_an_alt_text_a_size_and_files_of_its_own(whole):
    page, folder = whole
    images = page.all("img")
    assert len(images) == len(FIGURES)
    assert all(len(image["alt"]) > 30 for image in images)
    assert all(int(image["width"]) > 100 and int(image["height"]) > 50 for image in images)
    assert "smallest 0.120 at lam = 10⁻⁴, T = 1,000" in images[0]["alt"]
    svg = (folder / "figures" / "01-heatmap-linear.svg").read_bytes()
    assert b64decode(images[0]["src"].partition(",")[2]) == svg
    files = sorted(path.name for path in (folder / "figures").iterdir())
    assert len(files) == 2 * len(FIGURES)
    assert files[:2] == ["01-heatmap-linear.png", "01-heatmap-linear.svg"]


def test_headings_ids_and_language_are_in_order(whole):
    page, _ = whole
    assert page.elements[0] == ("html", {"lang": "en"})
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert len(page.ids) == len(set(page.ids))
    labelled = {a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a}
    assert labelled <= set(page.ids)
    assert all(table[0] for table in page.tables)
    assert page.all("main")
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))


def test_colours_have_contrast_in_light_and_dark(whole):
    css = (whole[1] / "report.html").read_text("utf-8")
    schemes = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(schemes) == 3  # light, dark, print
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", scheme))
        for ground in ("page", "panel"):
            for ink in ("ink", "soft", "accent", "good", "fair", "bad"):
                # WCAG 2, level AA, text of any size.
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(first, second):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted(map(luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def test_the_study_file_versions_machine_and_commands_are_there(whole):
    text = whole[0].text
    assert 'title = "A small study"' in text
    assert "pegasos 0.1.0, numpy 2.1.0" in text
    assert "a processor, 2 cores, Linux" in text
    assert "7 tasks, 12 s" in text
    assert "pip install 'pegasos[io,report]==0.1.0'" in text
    assert "pegasos study run small.toml -o small" in text


def test_the_same_results_make_the_same_page(tmp_path):
    results = StandIn([*grid_rows("linear"), final_row("linear")], tmp_path, FIGURES[:1])
    first = write(results, tmp_path / "a").read_bytes()
    assert write(results, tmp_path / "b").read_bytes() == first
    assert not (tmp_path / "report.html").exists()
    assert write(results) == tmp_path / "report.html"


def test_a_model_is_fitted_once_for_all_its_figures(tmp_path):
    figures = [{"kind": kind, "model": "linear"} for kind in ("convergence", "confusion")]
    results = StandIn([final_row("linear")], tmp_path, figures)
    write(results)
    assert results.refits == [("linear", "")]


def test_an_incomplete_study_says_so_and_shows_what_there_is(tmp_path):
    figures = [{"kind": "heatmap", "model": "linear"}, {"kind": "heatmap", "model": "later"}]
    rows = [row for row in grid_rows("linear") if row["max_steps"] == 100]
    page = page_of(StandIn(rows, tmp_path, figures, is_complete=False))
    assert "This study is not complete." in page.text
    assert len(page.all("img")) == 1
    assert "Not drawn: no results of this kind for model 'later'" in page.text
    assert "0.2500 ± 0.0245" in page.text


def test_a_study_without_a_single_row_has_a_page(tmp_path):
    results = StandIn([], tmp_path, [{"kind": "slopes"}], is_complete=False)
    results.facts = {"runs": [], "warnings": []}
    page = page_of(results)
    assert "no part of the study is finished" in page.text
    assert page.tables == []


def test_a_study_that_asks_for_no_figures_gets_heatmaps_of_its_grids(tmp_path):
    page = page_of(StandIn([*grid_rows("linear"), *timing_rows("t", [1], [1.0])], tmp_path))
    assert [image["alt"][:8] for image in page.all("img")] == ["Heat-map"]


def test_of_subsets_the_mean_counts_and_the_worst_certificate(tmp_path):
    rows = []
    for subset, shift, gap in (("0 against 6", 0.0, 0.01), ("2 against 4", 0.04, 0.03)):
        rows += grid_rows("linear", shift, subset=subset)
        rows += [final_row("linear", subset=subset, test_error=0.1 + shift, gap=gap)]
    page = page_of(StandIn(rows, tmp_path))
    assert "Numbers are means over 2 subsets of the data." in page.text
    assert "0.1400 ± 0.0245" in page.text  # of 0.12 and 0.16
    assert "3.0 % at most; objective" in page.text
    assert page.tables[0][1][:5] == ["linear", "mean of 2", "", "0.1400", "0.0700"]
    assert [row[:2] for row in page.tables[0][2:]] == [
        ["linear", "0 against 6"], ["linear", "2 against 4"]
    ]  # fmt: skip


def test_of_repeats_the_mean_counts_and_the_worst_certificate(tmp_path):
    rows = [
        final_row("linear", repeat=repeat, test_error=error, gap=gap)
        for repeat, (error, gap) in enumerate([(0.1, 0.02), (0.2, 0.06), (0.3, 0.05)])
    ]
    text = page_of(StandIn(rows, tmp_path)).text
    assert "0.2000 on the test part" in text
    assert "6.0 % objective" in text


def test_a_single_split_has_no_spread_and_no_grid_no_choice(tmp_path):
    split = [row for row in grid_rows("linear") if row["fold"] == 1]
    page = page_of(StandIn(split, tmp_path))
    assert "0.1200 on the validation split" in page.text
    assert "±" not in page.text
    page = page_of(StandIn([final_row("linear")], tmp_path))
    assert "0.1234 on the test part" in page.text


def test_without_a_test_part_the_certificate_is_that_of_a_fold(tmp_path):
    results = StandIn(grid_rows("linear"), tmp_path)
    assert "Relative gap" not in page_of(results).text
    results.study.splits.test = None
    text = page_of(results).text
    model = results.refit("linear").estimator
    worst = np.argmax(model.duality_gap_ / model.objective_)
    assert f"without the first fold: objective {model.objective_[worst]:.4g}; " in text
    assert f"the optimum is at least {model.dual_objective_[worst]:.4g}" in text

    def gone(*_):
        raise ValueError("the data is gone")

    results.refit = gone
    assert "Relative gap" not in page_of(results).text


def test_warnings_and_other_machines_are_listed(tmp_path):
    results = StandIn([final_row("linear")], tmp_path)
    other = {**RUN, "machine": {**RUN["machine"], "cpu": "another one"}}
    results.facts = {"runs": [RUN, other, RUN], "warnings": ["linear: used up <its> steps"]}
    text = page_of(results).text
    assert "linear: used up <its> steps" in text
    assert "a processor, 2 cores" in text
    assert "another one, 2 cores" in text
    assert "21 tasks, 37 s, in 3 runs" in text
