"""Sample and class weights of KernelPegasosClassifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from .kernel_helpers import (
    EVERY_SOLVER,
    SAME,
    assert_same_machine,
    machine,
    noisy_rows,
)


@EVERY_SOLVER
def test_a_row_of_weight_zero_is_a_row_left_out(options):
    X, y, s = noisy_rows(23, n_rows=90, n_classes=3)
    kept = np.arange(90) % 3 > 0
    weighted = machine(**options).fit(X, y, sample_weight=s * kept)
    left_out = machine(**options).fit(X[kept], y[kept], sample_weight=s[kept])
    assert_array_equal(weighted.support_, np.flatnonzero(kept)[left_out.support_])
    assert_allclose(weighted.dual_coef_, left_out.dual_coef_, rtol=SAME, atol=SAME)
    assert_allclose(weighted.objective_, left_out.objective_, rtol=SAME)
    assert_allclose(weighted.dual_objective_, left_out.dual_objective_, rtol=1e-7)
    assert_array_equal(weighted.n_violations_, left_out.n_violations_)


@EVERY_SOLVER
def test_only_the_ratios_of_the_weights_matter(options):
    X, y, s = noisy_rows(24)
    once = machine(**options).fit(X, y, sample_weight=s)
    # A power of two scales without rounding, so no decision can differ.
    scaled = machine(**options).fit(X, y, sample_weight=8 * s)
    assert_same_machine(scaled, once)
    assert scaled.duality_gap_ == pytest.approx(once.duality_gap_, rel=1e-6, abs=1e-12)


@EVERY_SOLVER
def test_weights_mean_repetition(options):
    X, y, _ = noisy_rows(25, n_rows=60)
    weight = np.random.default_rng(0).integers(1, 5, len(X))
    options = {**options, "tol": 1e-2, "max_iter": 5000}
    weighted = machine(**options).fit(X, y, sample_weight=weight)
    repeated = machine(**options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    # One problem, two certificates: each bound holds for the other's objective.
    assert weighted.dual_objective_ <= repeated.objective_ + SAME
    assert repeated.dual_objective_ <= weighted.objective_ + SAME
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-2)


def test_balanced_classes_weigh_the_same():
    rng = np.random.default_rng(0)
    y = (np.arange(400) < 20).astype(int)
    X = rng.standard_normal((400, 2)) + y[:, np.newaxis]
    plain = machine(0.01, solver="sdca").fit(X, y)
    balanced = machine(0.01, solver="sdca", class_weight="balanced").fit(X, y)
    by_hand = machine(0.01, solver="sdca").fit(X, y, np.where(y, 400 / 40, 400 / 760))
    assert_same_machine(balanced, by_hand)
    assert plain.predict(X).mean() < 0.02 < 0.15 < balanced.predict(X).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_multiply_sample_weights(n_classes):
    X, y, s = noisy_rows(26, n_classes=n_classes)
    both = machine(class_weight={1: 3.0}).fit(X, y, sample_weight=s)
    by_hand = machine().fit(X, y, sample_weight=s * np.where(y == 1, 3, 1))
    assert_same_machine(both, by_hand)
    assert not np.array_equal(both.dual_coef_, machine().fit(X, y, s).dual_coef_)
