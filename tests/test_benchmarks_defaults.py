"""The benchmark of the defaults counts what its tables say, on tiny data; nothing here is timed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pegasos import PegasosClassifier, _sdca_run, reference

from .benchmark_helpers import imported


@pytest.fixture(scope="module")
def bench():
    with imported() as modules:
        yield modules


@pytest.fixture
def rows(make_blobs):
    return make_blobs(n_rows=60)


def test_textbook_ascent_is_that_of_the_reference(bench, rows):
    X, y = rows
    trials, signs = bench.default_trials, np.where(y == 1, 1.0, -1.0)
    with trials.ascent_with(**trials.TEXTBOOK):
        model = PegasosClassifier(
            0.1, solver="sdca", average=None, max_iter=3, tol=None, random_state=0
        )
        model.fit(X, y)
    rng = np.random.default_rng(0)
    draws = np.concatenate([rng.permutation(60) for _ in range(3)])
    plain = reference.sdca(np.column_stack([X, np.ones(60)]), signs, 0.1, draws)
    assert_allclose(np.append(model.coef_[0], model.intercept_), plain.w, rtol=1e-9)


def test_the_constants_of_the_solver_are_put_back(bench):
    trials = bench.default_trials
    before = {name: getattr(_sdca_run, name) for name in trials.TEXTBOOK}

    def interrupted():
        with trials.ascent_with(**trials.TEXTBOOK):
            assert _sdca_run._RELAXATION == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {name: getattr(_sdca_run, name) for name in trials.TEXTBOOK} == before


def test_epochs_are_counted_until_it_is_enough(bench, rows):
    seen = []

    def third_time(model):
        seen.append(model.n_iter_)
        return len(seen) == 3

    assert bench.default_trials.epochs_until(third_time, rows, 0.1) == "3"
    assert seen == [1, 2, 3]
    assert bench.default_trials.epochs_until(lambda _: False, rows, 0.1) == "more than 40"


def test_the_standard_error_is_that_of_the_mean_loss(bench, rows):
    model = PegasosClassifier(random_state=0).fit(*rows)
    losses = np.maximum(0, 1 - np.where(rows[1] == 1, 1, -1) * model.decision_function(rows[0]))
    expected = np.sqrt(losses.var() / 60) / model.objective_
    assert bench.default_trials.standard_error(rows) == pytest.approx(expected)


def test_the_script_prints_a_line_for_every_set_and_writes_its_section(
    bench, rows, tmp_path, monkeypatch, capsys
):
    defaults = bench.defaults
    sets = dict.fromkeys([*defaults.TOYS, *defaults.REAL], rows)
    monkeypatch.setattr(defaults, "read", lambda cache, quick: sets)
    fit = bench.default_trials.fit
    briefly = {"max_iter": 2}
    monkeypatch.setattr(
        bench.default_trials, "fit", lambda data, **p: fit(data, **{**p, **briefly})
    )
    output = tmp_path / "BENCHMARKS.md"
    assert defaults.main(["--output", str(output)]) == 0
    text = output.read_text()
    assert "<!-- defaults: begin -->" in text
    assert text.count("\n| Adult |") == 3
    assert capsys.readouterr().out.strip() in text


def test_without_data_nothing_is_measured(bench, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    output = tmp_path / "BENCHMARKS.md"
    assert bench.defaults.main(["--output", str(output), "--cache", str(tmp_path / "cache")]) == 0
    assert "nothing is measured" in capsys.readouterr().err
    assert not output.exists()
