"""The report page in a real browser: its charts, switches, tables, colours and widths."""

import struct

import numpy as np
import pytest

from pegasos import report, studies

from .browser_helpers import PHONE, WIDE, open_browser
from .cli_helpers import TINY
from .report_helpers import ERRORS, StandIn, grid_rows
from .study_helpers import study_of

pytest.importorskip("pyarrow", reason="studies need the extra io")
pytest.importorskip("matplotlib", reason="reports need the extra report")
pytest.importorskip("plotly", reason="reports need the extra report")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(browser, tmp_path_factory):
    """A folder with two small studies, their reports and the index."""
    folder = tmp_path_factory.mktemp("studies")
    named = TINY.replace('title = "Two moons, quickly"', 'title = "Moons & <b>more</b>"')
    several = [
        studies.run(study_of(text, folder), folder / name)
        for name, text in (("moons", TINY), ("more moons", named))
    ]
    report.write_all(several, folder)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    """The results as they are in the file."""
    import pandas as pd

    return pd.read_parquet(folder / "moons" / "results.parquet")


@pytest.fixture
def page(browser, folder):
    """The report of the first study, drawn."""
    browser.open(folder / "moons" / "report.html")
    wait_until_drawn(browser)
    return browser


def wait_until_drawn(browser, grid=None, value="test_error"):
    """Wait for the charts of a grid; None: of any."""

    def drawn():
        which = browser.run("return document.documentElement.dataset.drawn") or ""
        return which.endswith(value) and (grid is None or which.startswith(f"{grid} "))

    browser.wait_for(drawn)


def choose(browser, grid, value):
    browser.find(f"#explore-grid option[value='{grid}']").click()
    browser.find(f"input[value={value}]").click()
    wait_until_drawn(browser, grid, value)


def cell_of(rows, gamma, lam, steps):
    its = rows[(rows.part == "grid") & (rows.model == "Gaussian")]
    return its[(its.gamma == gamma) & (its.lam == lam) & (its.max_steps == steps)]


LAMS, STEPS, GAMMAS = (1e-3, 1e-2), (50, 200), (1.0, 2.0)
LAM_TEXTS = {1e-3: "10⁻³", 1e-2: "10⁻²"}


def test_the_page_draws_without_a_word_on_the_console_and_fetches_nothing(page, folder):
    assert page.logs("browser") == []
    fetched = {url for url in page.requests() if not url.startswith("data:")}
    assert fetched == {(folder / "moons" / "report.html").as_uri()}
    assert (folder / "moons" / "report.html").stat().st_size < 6e6
    assert page.find("#explore-charts").is_displayed()
    assert not page.find("#explore-missing").is_displayed()


def test_switches_show_other_kernels_and_errors_with_the_numbers_of_the_file(page, rows):
    options = [option.text for option in page.find_all("#explore-grid option")]
    assert options == [f"Gaussian, rbf kernel, hinge loss, gamma = {gamma:g}" for gamma in GAMMAS]
    page.run("document.querySelector('details').open = true")
    for grid, gamma in enumerate(GAMMAS):
        for value in ("test_error", "train_error"):
            choose(page, grid, value)
            lines = [f"#explore-table tr:nth-of-type({i + 1}) > *" for i in range(len(LAMS) + 1)]
            cells = [[cell.text for cell in page.find_all(line)] for line in lines]
            assert cells[0] == ["lam", *(f"T = {steps}" for steps in STEPS)]
            for lam, (title, *texts) in zip(LAMS, cells[1:], strict=True):
                assert title == LAM_TEXTS[lam]
                for steps, text in zip(STEPS, texts, strict=True):
                    errors = cell_of(rows, gamma, lam, steps)[value]
                    assert text == f"{errors.mean():.4f} ± {errors.std(ddof=0):.4f}"
            name = value.replace("_", " ")
            assert f"gamma = {gamma:g}: smallest {name}" in page.find("#explore-summary").text
            colorbar = page.find("#explore-heatmap .infolayer").text
            assert name in colorbar


def test_the_first_grid_shown_is_the_one_with_the_best_cell(page, rows):
    grid = rows[rows.part == "grid"]
    means = grid.groupby(["gamma", "lam", "max_steps"]).test_error.mean().round(12)
    best = means[means == means.min()].index[0]
    summary = page.find("#explore-summary").text
    assert f"gamma = {best[0]:g}: smallest test error {means.min():.4f}" in summary


@pytest.mark.parametrize("chart", ["heatmap", "curves"])
def test_pointing_at_a_cell_shows_lam_steps_kernel_error_and_seconds(page, rows, chart):
    choose(page, 1, "test_error")
    page.run(f"document.getElementById('explore-{chart}').scrollIntoView({{block: 'center'}})")
    # The cells divide the plane of the heat-map evenly, and lam grows upwards: the upper right one.
    # Of the curves the last marker of the last line.
    what, right, down = {
        "heatmap": ("#explore-heatmap .nsewdrag", 0.75, 0.25),
        "curves": ("#explore-curves .points path", 0.5, 0.5),
    }[chart]
    box = page.run("return arguments[0].getBoundingClientRect()", page.find_all(what)[-1])
    x, y = box["left"] + right * box["width"], box["top"] + down * box["height"]
    page.point_at(x - 3, y)
    page.point_at(x, y)
    label = page.wait_for(lambda: page.find_all(f"#explore-{chart} .hoverlayer .hovertext"))[0]
    text = page.run("return arguments[0].textContent", label)
    errors = cell_of(rows, 2.0, 1e-2, 200)
    spread = errors.test_error.std(ddof=0)
    assert f"test error {errors.test_error.mean():.4f} ± {spread:.4f}" in text
    assert "lam = 10⁻²" in text
    assert "T = 200" in text
    assert "rbf kernel, hinge loss, gamma = 2" in text
    assert text.endswith("s")  # seconds, or a part of one


def test_two_lams_that_look_the_same_keep_their_own_rows_of_the_heatmap(browser, tmp_path):
    rows = grid_rows("linear")
    alike = [{**row, "lam": {1e-4: 1e-4, 1e-2: 1.00001e-4}[row["lam"]]} for row in rows]
    browser.open(report.write(StandIn(alike, tmp_path)))
    wait_until_drawn(browser)
    ticks = browser.find_all("#explore-heatmap g.ytick text")
    assert [tick.text for tick in ticks] == ["10⁻⁴", "10⁻⁴"]
    numbers = browser.find_all("#explore-heatmap .textpoint")
    assert [number.text for number in numbers] == [f"{error:.3f}" for error in ERRORS.flat]
    assert len({number.rect["y"] for number in numbers}) == 2


def test_the_tables_hold_the_numbers_of_the_file(page, rows):
    cells = page.find_all("#models tbody tr:first-of-type data")
    shown = [float(cell.get_attribute("value")) for cell in cells]
    best = rows[(rows.part == "grid") & (rows.model == "Gaussian")]
    best = best.groupby(["gamma", "lam", "max_steps"])[["test_error", "train_error"]].mean()
    final = rows[(rows.part == "final") & (rows.model == "Gaussian")].iloc[0]
    best = best.loc[(final.gamma, final.lam, final.max_steps)]
    expected = [*best, final.test_error, final.train_error, final.seconds, final.gap]
    assert shown == pytest.approx([*expected, final.n_support], rel=1e-12)
    measured = page.find("#reported tbody tr:first-of-type td:nth-of-type(4) data")
    assert float(measured.get_attribute("value")) == pytest.approx(1 - final.test_error, rel=1e-12)


def test_the_switches_work_from_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    choose(page, 0, "test_error")
    page.find("#explore-grid").send_keys(Keys.ARROW_DOWN)
    wait_until_drawn(page, 1)
    focused = page.driver.switch_to.active_element
    focused.send_keys(Keys.TAB)
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    wait_until_drawn(page, 1, "train_error")


def test_whatever_can_be_seen_or_used_has_a_name_for_screen_readers(page):
    nodes = page.tell("Accessibility.getFullAXTree")["nodes"]
    named = {"combobox", "radio", "image", "region", "link", "navigation", "heading"}
    found = {}
    for node in nodes:
        if not node["ignored"] and node["role"]["value"] in named:
            found.setdefault(node["role"]["value"], []).append(node["name"]["value"].strip())
    assert {"combobox", "radio", "image", "region", "heading"} <= set(found)
    for role, names in found.items():
        assert all(names), role
    assert found["combobox"] == ["Model and kernel"]
    assert found["radio"] == ["test", "train"]


@pytest.mark.parametrize(
    ("name", "size", "dark"),
    [("light", WIDE, False), ("dark", WIDE, True), ("phone", PHONE, False)],
)
def test_light_dark_and_phone_have_their_colours_and_widths(
    browser, folder, tmp_path, name, size, dark
):
    browser.open(folder / "moons" / "report.html", size=size, dark=dark)
    wait_until_drawn(browser)
    # A page wider than its window would be zoomed out on a phone, and scroll elsewhere.
    assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [size[0]] * 2
    ink, ground = browser.run(
        "const at = (s) => getComputedStyle(document.querySelector(s));"
        "return [at('#explore-curves .xtitle').fill, at('body').backgroundColor]"
    )
    assert (brightness(ground) < 50 < 200 < brightness(ink)) == dark
    assert (brightness(ink) < 50 < 200 < brightness(ground)) == (not dark)
    browser.screenshot(tmp_path / f"{name}.png")
    content = (tmp_path / f"{name}.png").read_bytes()
    assert struct.unpack(">I", content[16:20]) == (size[0],)  # the width in the head of a PNG
    assert browser.logs("browser") == []


def brightness(colour):
    """Return the mean of the three numbers of "rgb(r, g, b)"."""
    return np.mean([float(part) for part in colour.strip("rgba()").split(",")[:3]])


def test_without_javascript_there_are_the_figures_and_a_word_about_it(browser, folder):
    browser.open(folder / "moons" / "report.html", script=False)
    assert not browser.find("#explore-charts").is_displayed()
    assert "need JavaScript" in browser.find("#explore noscript").text
    images = browser.find_all("#figures img")
    assert images
    assert all(image.is_displayed() for image in images)


def test_a_browser_that_cannot_unpack_says_so(browser, folder):
    source = "delete window.DecompressionStream"
    added = browser.tell("Page.addScriptToEvaluateOnNewDocument", source=source)
    try:
        browser.open(folder / "moons" / "report.html")
        browser.wait_for(lambda: browser.find("#explore-missing").is_displayed())
        assert "cannot draw the charts" in browser.find("#explore-missing").text
        assert not browser.find("#explore-charts").is_displayed()
    finally:
        browser.tell("Page.removeScriptToEvaluateOnNewDocument", **added)


def test_print_has_the_figures_and_no_switches(page):
    page.tell("Emulation.setEmulatedMedia", media="print")
    try:
        assert not page.find("#explore").is_displayed()
        assert all(image.is_displayed() for image in page.find_all("#figures img"))
        ground = page.run("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
    finally:
        page.tell("Emulation.setEmulatedMedia", media="")


def test_the_index_leads_to_every_report(browser, folder):
    browser.open(folder / "index.html")
    assert [title.text for title in browser.find_all("h2")] == [
        "Two moons, quickly", "Moons & <b>more</b>"
    ]  # fmt: skip
    assert "best of 2 models" in browser.find("#study-1 .headline").text
    browser.find("#study-2 h2 a").click()
    wait_until_drawn(browser)
    assert browser.find("h1").text == "Moons & <b>more</b>"
    assert browser.logs("browser") == []
