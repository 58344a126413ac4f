"""Several studies: a report of each, and one page that leads to all of them."""

import shutil
from pathlib import Path

import pytest

from pegasos import report, studies
from pegasos.cli._app import run

from .report_helpers import StandIn, final_row, grid_rows
from .report_page_helpers import Page
from .study_helpers import QUICK, study_of

pytest.importorskip("pyarrow", reason="studies need the extra io")
pytest.importorskip("matplotlib", reason="reports need the extra report")
pytest.importorskip("plotly", reason="reports need the extra report")


def index_of(folder):
    return Page((folder / "index.html").read_text("utf-8"))


def links_of(page):
    return [a["href"] for a in page.all("a") if not a["href"].startswith("#")]


def test_the_index_has_the_answer_of_each_study_and_a_link_to_its_report(tmp_path):
    rows = [*grid_rows("linear"), final_row("linear")]
    several = [
        StandIn(rows, tmp_path / "one & two", title="One & <b>two"),
        StandIn(grid_rows("later"), tmp_path / "deep" / "er", is_complete=False),
    ]
    assert report.write_all(several, tmp_path) == tmp_path / "index.html"
    page = index_of(tmp_path)
    assert links_of(page) == ["one%20%26%20two/report.html", "deep/er/report.html"]
    for results in several:
        assert (results.folder / "report.html").is_file()
    assert "One & <b>two" in page.text
    assert page.all("b") == []
    assert "0.1200 ± 0.0245" in page.text
    assert page.text.count("This study is not complete.") == 1
    assert page.headings == [1, 2, 2]
    assert len(page.ids) == len(set(page.ids))


def test_an_index_of_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no study to write of"):
        report.write_all([], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a and b, which hold the same study, and c, which holds none."""
    folder = tmp_path_factory.mktemp("results")
    studies.run(study_of(QUICK, folder), folder / "a")
    shutil.copytree(folder / "a", folder / "b")
    (folder / "c").mkdir()
    return folder


def test_a_folder_of_studies_gets_an_index_of_all_of_them(finished, capsys):
    assert run(["report", str(finished)]) == 0
    assert capsys.readouterr().out == f"{finished / 'index.html'}\n"
    assert links_of(index_of(finished)) == ["a/report.html", "b/report.html"]


def test_folders_that_are_named_get_an_index_where_all_of_them_are(finished, capsys, monkeypatch):
    (finished / "index.html").unlink(missing_ok=True)
    monkeypatch.chdir(finished)
    assert run(["report", "b", "a", "b"]) == 0
    assert capsys.readouterr().out == "index.html\n"
    assert links_of(index_of(finished)) == ["b/report.html", "a/report.html"]


def test_an_index_is_replaced_only_if_it_is_ours(finished, capsys):
    index = finished / "index.html"
    for page in ("a", "b"):
        (finished / page / "report.html").unlink(missing_ok=True)
    index.write_text("<h1>My own</h1>")
    assert run(["report", str(finished)]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error == f"error: {index}: this page is not of pegasos, and is not replaced"
    assert hint == "hint: move it away, or have the studies in another folder"
    assert index.read_text() == "<h1>My own</h1>"
    assert not (finished / "a" / "report.html").exists()  # nothing is done by halves
    index.unlink()
    for _ in range(2):
        assert run(["report", str(finished)]) == 0


def test_folders_that_have_only_the_root_in_common_get_no_index(finished, monkeypatch, capsys):
    monkeypatch.chdir(finished)
    inside = Path("/proc/self/cwd/b")  # another way to b
    if not inside.exists():
        pytest.skip("needs /proc, for a folder that is elsewhere")
    assert run(["report", str(finished / "a"), str(inside)]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert "have only / in common, which is no place for index.html" in error
    assert "in one folder" in hint


def test_one_study_has_no_index(finished, capsys):
    (finished / "index.html").unlink(missing_ok=True)
    assert run(["report", str(finished / "a")]) == 0
    assert capsys.readouterr().out == f"{finished / 'a' / 'report.html'}\n"
    assert not (finished / "index.html").exists()


def test_a_folder_without_any_study_is_named(finished, capsys):
    assert run(["report", str(finished / "a"), str(finished / "c")]) == 2
    said = capsys.readouterr()
    assert f"there are no results in {finished / 'c'}" in said.err
    assert said.out == ""
