"""The estimators do what scikit-learn and its users expect."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from pegasos import PegasosClassifier, PerceptronClassifier

# Sample weights equal repetition to the last digits only where the order of the rows leaves no
# trace: at the optimum (sdca, run until the gap is rounding) and with the whole data as one batch.
ORDER_FREE = [
    PegasosClassifier(solver="sdca", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(solver="sdca", loss="log", lam=0.1, tol=1e-13, max_iter=5000, average=None),
    PegasosClassifier(batch_size=10_000, max_iter=100),
    PegasosClassifier(loss="log", batch_size=10_000, max_iter=100),
    PerceptronClassifier(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ORDER_FREE)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def checks_of_the_defaults():
    for estimator in (PegasosClassifier(), PegasosClassifier(solver="sdca")):
        for instance, check in estimator_checks_generator(estimator):
            # Weighted and repeated rows make other random draws; their objectives agree, and
            # test_weights.py holds the fits to that.
            if "check_sample_weight_equivalence" not in str(check):
                yield pytest.param(instance, check, id=f"{estimator.solver}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks_of_the_defaults()))
def test_the_defaults_pass_all_checks_but_the_one_of_weights(estimator, check):
    check(estimator)
