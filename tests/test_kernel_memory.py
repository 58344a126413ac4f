"""The kernel machines keep to the memory given, measured in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peaks of memory are read from Linux's /proc"
)

# The kernel matrix of 6,000 rows takes 288 MB in float64.
SCRIPT = """
import re
import warnings
from pathlib import Path

import numpy as np
from pegasos import KernelPegasosClassifier, KernelPerceptronClassifier


def megabytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1e3


warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 8))
y = rng.integers(3, size=6000)  # noise: most rows become support vectors
model = {model}
small = model.__class__(**{{**model.get_params(), "memory": "1GB"}})
small.fit(X[:50], y[:50]).predict(X[:50])  # all libraries are loaded now
before = megabytes("VmRSS")
model.fit(X, {labels})
fit_peak = megabytes("VmHWM")
print(len(model.support_), fit_peak - before)
between = megabytes("VmRSS")
scores = model.decision_function(X)
print(megabytes("VmHWM") - max(between, fit_peak))
"""


def peaks(model, labels):
    """Support vectors, growth of the fit and growth of decision_function beyond it, in MB."""
    script = SCRIPT.format(model=model, labels=labels)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    n_support, fit, scores = (float(word) for word in done.stdout.split())
    return n_support, fit, scores


@pytest.mark.parametrize(
    ("model", "labels", "most"),
    [
        ("KernelPegasosClassifier(1e-4, max_iter=1, tol=None, memory='50MB')", "y > 0", 50),
        (
            "KernelPegasosClassifier(1e-3, max_iter=2, tol=None, solver='sdca', memory='60MB')",
            "y",
            60,
        ),
        ("KernelPerceptronClassifier(max_iter=1, memory=50_000_000)", "y > 0", 50),
    ],
    ids=["pegasos", "sdca", "perceptron"],
)
def test_the_peak_of_fit_and_scores_stays_below_the_limit(model, labels, most):
    n_support, fit, scores = peaks(model, labels)
    assert n_support > 1500  # whose rows alone would take more than 72 MB
    assert fit < most + 60
    assert scores < 60


def test_scores_of_a_callable_stay_below_the_limit():
    # Its own temporaries included: tile and kernel, each at most a part of the limit.
    kernel = "lambda A, B: A @ B.T"
    model = f"KernelPegasosClassifier(1e-2, kernel={kernel}, max_iter=1, tol=None, memory='50MB')"
    n_support, fit, scores = peaks(model, "y > 0")
    assert n_support > 1500
    assert fit < 50 + 60
    assert scores < 60
