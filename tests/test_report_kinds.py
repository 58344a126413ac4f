"""What a study file may ask for is checked without matplotlib."""

import subprocess
import sys

import pytest

from pegasos.report import FigureError, check_figure, draw, figure_kinds
from pegasos.report._draw import _KINDS as DRAWN
from pegasos.report._pictures import _CAPTIONS


def test_every_kind_can_be_drawn_and_has_a_caption():
    assert set(figure_kinds()) == set(DRAWN) == set(_CAPTIONS)


def test_importing_the_report_imports_neither_matplotlib_nor_jinja2():
    code = (
        "import sys, pegasos.report as r; r.check_figure({'kind': 'losses'}); r.figure_kinds();"
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'jinja2')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_a_missing_package_is_named_with_the_remedy(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from pegasos import report\n"
        "try:\n"
        "    report.write(0) if sys.argv[1] == 'jinja2' else report.LossesDisplay.from_range()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, missing], capture_output=True, text=True, check=True
    )
    assert missing in done.stdout
    assert "pip install 'pegasos[report]'" in done.stdout


@pytest.mark.parametrize(
    ("figure", "key", "words"),
    [
        ({}, "kind", "None"),
        ({"kind": "heatmat", "model": "a"}, "kind", "did you mean 'heatmap'"),
        ({"kind": 3}, "kind", "there are"),
        ({"kind": ["heatmap"]}, "kind", "did you mean 'heatmap'"),
        ({"kind": "heatmap"}, "kind", "needs a model"),
        ({"kind": "heatmap", "model": "a", "valeu": "x"}, "valeu", "did you mean 'value'"),
        ({"kind": "heatmap", "model": "a", "value": "x"}, "value", "test_error, train_error"),
        ({"kind": "heatmap", "model": 3}, "model", "is a text; got 3"),
        ({"kind": "heatmap", "model": "a", "gamma": "scale"}, "gamma", "is a number"),
        ({"kind": "heatmap", "model": "a", "degree": True}, "degree", "is a number"),
        ({"kind": "slopes", "models": []}, "models", "list of names"),
        ({"kind": "slopes", "models": "a"}, "models", "list of names"),
        ({"kind": "slopes", "against": "step"}, "against", "max_steps, n_rows, n_features"),
        ({"kind": "convergence", "model": "a", "against": "n_rows"}, "against", "step, seconds"),
        ({"kind": "tsne", "rows": 0}, "rows", "at least 1; got 0"),
        ({"kind": "samples", "per_class": 2.5}, "per_class", "whole number"),
        ({"kind": "losses", "model": "a"}, "model", "has no key 'model'"),
    ],
)
def test_a_figure_that_is_not_understood_is_refused_by_the_key_at_fault(figure, key, words):
    with pytest.raises(FigureError) as error:
        check_figure(figure)
    assert error.value.key == key
    assert words in str(error.value)
    with pytest.raises(FigureError):
        draw(figure, None)
