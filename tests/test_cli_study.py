"""The commands that run, list and show studies, and write reports: the real program."""

import json
import subprocess
from statistics import fmean

import pytest

from pegasos import studies
from pegasos.cli._app import run

from .cli_helpers import PROGRAM, TINY, complaint, environment, pegasos

pytest.importorskip("pyarrow", reason="studies need the extra io")
pytest.importorskip("matplotlib", reason="reports need the extra report")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a tiny study that was run into out/, and what the program said."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "tiny.toml").write_text(TINY)
    done = pegasos("study", "run", "tiny.toml", "-o", "out", "--jobs", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_run_ends_with_best_models_verdicts_and_where_the_report_is(finished):
    folder, done = finished
    lines = done.stdout.splitlines()
    best, verdicts = lines.index("Best of each model"), lines.index("Reported / measured")
    models = [line.split()[0] for line in lines[best + 2 : verdicts - 1]]
    assert models == ["Gaussian", "line"]
    assert [line.split()[0] for line in lines[verdicts + 2 : -3]] == ["Gaussian", "line"]
    assert lines[verdicts + 2].endswith("met")
    assert lines[verdicts + 3].endswith("explained")
    assert lines[-2:] == ["Results: out/results.parquet", "Report:  out/report.html"]
    for file in ("study.toml", "results.parquet", "report.html"):
        assert (folder / "out" / file).is_file()


def test_progress_goes_to_stderr_and_ends_with_all_of_it(finished):
    _, done = finished
    assert "100% done" in done.stderr
    assert "done" not in done.stdout


def test_the_best_cell_is_the_one_that_the_results_name(finished):
    folder, done = finished
    best = studies.open_results(folder / "out").best("Gaussian")
    cell = f"rbf, gamma {best['gamma']:g}, lam {best['lam']:g}, T {best['max_steps']}"
    assert cell in done.stdout
    assert f"{best['test_error']:.4f} ± {best['test_error_std']:.4f}" in done.stdout


def test_a_second_run_finds_everything_done_and_its_json_holds_what_the_tables_hold(finished):
    folder, _ = finished
    done = pegasos("study", "run", "tiny.toml", "-o", "out", "--json", "--no-report", cwd=folder)
    assert "all of it was done before" in done.stderr
    summary = json.loads(done.stdout)
    assert summary["study"] == "tiny"
    assert summary["folder"] == "out"
    assert summary["report"] is None
    assert summary["complete"] is True
    assert summary["seconds"] > 0
    gaussian, line = summary["models"]
    best = studies.open_results(folder / "out").best("Gaussian")
    assert gaussian["cell"] == {
        name: best[name] for name in ("loss", "kernel", "gamma", "lam", "max_steps")
    }
    assert gaussian["cross_validation"]["test_error"] == best["test_error"]
    assert 0 <= gaussian["final"]["test_error"] <= 1
    assert 0 < line["final"]["gap"] < 1
    assert [item["verdict"] for item in summary["comparisons"]] == ["met", "explained"]
    assert summary["comparisons"][0]["reported"] == 0.5


PAIRS = """
title = "Six pairs of digits"

[data]
name = "digits"
pairs = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [1, 7]]

[evaluate]
folds = 2

[[models]]
name = "line"
estimator = "PegasosClassifier"
lam = 0.01
max_steps = 100
"""


def test_many_subsets_are_summed_up_in_one_row_of_means(tmp_path, capsys):
    (tmp_path / "pairs.toml").write_text(PAIRS)
    code = run(["study", "run", f"{tmp_path}/pairs.toml", "-o", f"{tmp_path}/out", "--no-report"])
    assert code == 0
    results = studies.open_results(tmp_path / "out")
    bests = [results.best("line", part.subset) for part in results.study.data.subsets()]
    mean, spread = (
        fmean(best[name] for best in bests) for name in ("test_error", "test_error_std")
    )
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("line")]
    assert row.split()[:7] == ["line", "mean", "of", "6", f"{mean:.4f}", "±", f"{spread:.4f}"]


def test_a_changed_study_is_not_mixed_in_and_fresh_begins_anew(finished, tmp_path):
    folder, _ = finished
    (tmp_path / "tiny.toml").write_text(TINY.replace("seed = 0", "seed = 1"))
    copy = tmp_path / "out"
    copy.mkdir()
    for name in ("study.toml", "results.parquet"):
        (copy / name).write_bytes((folder / "out" / name).read_bytes())
    command = ("study", "run", "tiny.toml", "-o", "out", "--no-report")
    error, hint = complaint(pegasos(*command, cwd=tmp_path))
    assert "changed" in error
    assert "--fresh" in hint
    assert (copy / "results.parquet").read_bytes() == (folder / "out/results.parquet").read_bytes()
    assert pegasos(*command, "--fresh", cwd=tmp_path).returncode == 0
    assert studies.open_results(copy).study.seed == 1


def test_show_prints_the_file_letter_for_letter():
    assert pegasos("study", "show", "digits").stdout == studies.text_of("digits")


def test_list_names_every_built_in_study_and_the_data_it_lacks(tmp_path):
    done = pegasos("study", "list", env={"PEGASOS_DATA": str(tmp_path)})
    assert done.returncode == 0
    rows = {line.split()[0]: line for line in done.stdout.splitlines()[1:]}
    assert sorted(rows) == studies.names()
    assert "no files needed" in rows["digits"]
    assert "usps not found" in rows["usps-grid"]
    assert studies.load("usps-grid").title in rows["usps-grid"]
    assert done.stderr.startswith("hint: ")


def test_list_in_json_names_the_files_and_finds_those_that_are_there(tmp_path):
    (tmp_path / "usps.h5").touch()
    done = pegasos("study", "list", "--json", env={"PEGASOS_DATA": str(tmp_path)})
    assert done.stderr == ""
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert list(rows) == studies.names()
    assert rows["usps-gaussian"]["data"] == [{"name": "usps", "files": ["usps.h5"], "found": True}]
    [fashion] = rows["fashion-pairs"]["data"]
    assert fashion["found"] is False
    assert len(fashion["files"]) == 4


def test_a_reader_who_leaves_early_ends_the_program_quietly():
    with subprocess.Popen(
        [PROGRAM, "study", "show", "digits"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        program.stdout.close()
        said = program.stderr.read()
        program.wait(60)
    assert said == b""
    assert program.returncode == 141
