"""The guide on writing a study: its examples run, and no key is left out."""

import re
from pathlib import Path

import numpy as np
import pytest

from pegasos import studies
from pegasos.report import figure_kinds
from pegasos.studies import _prepare, _reported
from pegasos.studies._file import parse
from pegasos.studies._models import AXES, ESTIMATORS
from pegasos.studies._sources import SOURCES
from pegasos.studies._tasks import COLUMNS
from pegasos.studies._textbook import LOOPS

from .study_helpers import study_of

pytest.importorskip("pyarrow", reason="results are stored with pyarrow")

GUIDE = (Path(__file__).parents[1] / "docs/writing_a_study.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
COMPLETE = [block for block in BLOCKS if block.startswith("title")]
PARTS = [block for block in BLOCKS if not block.startswith("title")]


def write_pets(folder):
    rng = np.random.default_rng(0)
    lines = ["weight,size,kind"]
    for kind, weight, size in (("cat", 4, 30), ("dog", 20, 60), ("bird", 0.1, 10)):
        for _ in range(30):
            one, two = rng.normal((weight, size), 2)
            lines.append(f"{one:.2f},{'' if rng.random() < 0.1 else f'{two:.1f}'},{kind}")
    (folder / "pets.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("number", range(2))
def test_the_complete_examples_run(tmp_path, number):
    assert len(COMPLETE) == 2
    write_pets(tmp_path)
    path = tmp_path / "example.toml"
    path.write_text(COMPLETE[number])
    results = studies.run(path, tmp_path / "out")
    assert results.is_complete
    study = results.study
    for model in study.models:
        for part in study.data.subsets():
            assert results.best(model.name, part.subset)["test_error"] < 0.3
    assert [item.verdict for item in results.comparisons()] == ["met"] * len(study.reported)


@pytest.mark.parametrize("part", PARTS)
def test_the_parts_of_studies_are_right(part):
    study = study_of('title = "part"\n' + part)
    assert study.timings or study.races


def test_the_error_that_is_shown_is_the_real_one():
    shown = re.search(r"^error: (moons\.toml, line .*)$", GUIDE, re.MULTILINE)[1]
    wrong = COMPLETE[0].replace("\nlam = ", "\nlamb = ", 1)
    with pytest.raises(studies.StudyError) as caught:
        parse(wrong, name="moons", folder=Path(), file="moons.toml")
    assert caught.value.message == shown


@pytest.mark.parametrize(
    "known",
    [
        AXES,
        COLUMNS,
        ESTIMATORS,
        LOOPS,
        SOURCES,
        figure_kinds(),
        {key for keys in figure_kinds().values() for key in keys},
        {key for source in SOURCES.values() for key in source.options},
        _reported.QUANTITIES,
        _prepare.Preparation.__dataclass_fields__,
    ],
)
def test_nothing_is_left_out(known):
    words = set(re.findall(r"[`\"]([\w-]+)[`\"]", GUIDE))
    assert not set(known) - words
