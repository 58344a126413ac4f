"""A stand-in for the results of a study: the attributes that the report knows of, small numbers."""

from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_digits

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.studies._tasks import COLUMNS, new_row

LAMS, STEPS, FOLDS = (1e-4, 1e-2), (100, 1000, 5000), 3
# Mean test errors of model "linear", a row per lam and a column per T.
ERRORS = np.array([[0.31, 0.12, 0.14], [0.25, 0.2, 0.19]])
SPREAD = np.array([-0.03, 0.0, 0.03])  # of the folds around them
RUN = {
    "started": "2026-01-02T03:04:05+00:00",
    "seconds": 12.3,
    "tasks": 7,
    "versions": {"pegasos": "0.1.0", "numpy": "2.1.0"},
    "machine": {"cpu": "a processor", "cores": 2, "system": "Linux"},
}


def new_axes():
    """Return axes that pyplot knows nothing of."""
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def shown(ax):
    """Return the texts written on axes."""
    return [text.get_text() for text in ax.texts]


def grid_rows(model, shift=0.0, **others):
    return [
        new_row(
            model=model,
            part="grid",
            fold=fold,
            loss="hinge",
            lam=lam,
            max_steps=steps,
            train_error=(ERRORS[i, j] + shift) / 2,
            test_error=ERRORS[i, j] + shift + SPREAD[fold],
            seconds=1e-4 * steps,
            **others,
        )
        for i, lam in enumerate(LAMS)
        for j, steps in enumerate(STEPS)
        for fold in range(FOLDS)
    ]


def final_row(model, **others):
    certificate = {"objective": 0.5, "dual_objective": 0.48, "gap": 0.04}
    cell = {"loss": "hinge", "lam": 1e-4, "max_steps": 1000, "seconds": 0.25}
    errors = {"train_error": 0.06, "test_error": 0.1234}
    return new_row(model=model, part="final", **{**cell, **errors, **certificate, **others})


def timing_rows(name, sizes, seconds, axis="n_rows"):
    fixed = {"n_rows": 1000, "n_features": 10, "max_steps": 500}
    return [
        new_row(model=name, part="timing", seconds=taken, **{**fixed, axis: size})
        for size, taken in zip(sizes, seconds, strict=True)
    ]


def race_row(name, seconds, **others):
    return new_row(
        model=name, part="race", seconds=seconds, objective=0.5, dual_objective=0.499, gap=0.002,
        max_steps=4000, **others,
    )  # fmt: skip


def reported(model="linear", value=0.13, verdict="met", measured=0.12, **others):
    known = {"at": {}, "quantity": "test_error", "rounding": 0.005, "source": "p. 3", "note": ""}
    about = SimpleNamespace(model=model, value=value, **{**known, **others})
    return SimpleNamespace(reported=about, measured=measured, verdict=verdict)


class StandIn:
    """Results of a study on the digits 0, 1 and 2."""

    def __init__(self, rows, folder, figures=(), comparisons=(), *, is_complete=True, **study):
        names = [row["model"] for row in rows if row["part"] in ("grid", "final")]
        self.study = SimpleNamespace(
            **{
                "name": "small",
                "title": "A small study",
                "about": "",
                "source": "",
                "text": 'title = "A small study"\n',
                "models": [SimpleNamespace(name=name) for name in dict.fromkeys(names)],
                "splits": SimpleNamespace(test=0.25),
                "figures": tuple(figures),
                **study,
            }
        )
        types = {str: pa.string(), float: pa.float64(), int: pa.int64()}
        schema = pa.schema([(name, types[column.type]) for name, column in COLUMNS.items()])
        self.table = pa.Table.from_pylist(rows, schema)
        self.folder = folder
        self.is_complete = is_complete
        self.facts = {"runs": [RUN], "warnings": []}
        self.refits = []
        self._comparisons = list(comparisons)

    def comparisons(self):
        return self._comparisons

    def best(self, model, subset=""):
        rows = [
            row
            for row in self.table.to_pylist()
            if (row["model"], row["part"], row["subset"]) == (model, "grid", subset)
        ]
        cells = {}
        for row in rows:
            cells.setdefault((row["lam"], row["max_steps"]), []).append(row)
        its = min(cells.values(), key=lambda rows: np.mean([row["test_error"] for row in rows]))
        errors = [row["test_error"] for row in its]
        known = {"test_error": np.mean(errors), "test_error_std": np.std(errors)}
        return {**its[0], **known}

    @cached_property
    def _digits(self):
        X, y = load_digits(return_X_y=True)
        some = np.flatnonzero(y < 3)[:240]
        names = {0: "zero", 1: "one", 2: "two"}
        X, y = X[some] / 16, y[some]
        return SimpleNamespace(X=X, y=y, X_test=None, y_test=None, names=names, image_shape=(8, 8))

    def dataset(self, subset=""):
        return self._digits

    def refit(self, model, subset=""):
        self.refits.append((model, subset))
        data = self.dataset(subset)
        kind = KernelPegasosClassifier if "kernel" in model else PegasosClassifier
        # Few steps: some mistakes are wanted.
        estimator = kind(1e-3, max_steps=60, tol=None, random_state=0).fit(
            data.X[:120], data.y[:120]
        )
        return SimpleNamespace(
            estimator=estimator,
            prepare=None,
            X=data.X[:120],
            X_raw=data.X[:120],
            y=data.y[:120],
            X_test=data.X[120:],
            X_raw_test=data.X[120:],
            y_test=data.y[120:],
            data=data,
        )


ROWS = [
    *grid_rows("linear"),
    final_row("linear"),
    *grid_rows("a kernel", shift=-0.02, kernel="rbf", gamma=0.5),
    final_row("a kernel", kernel="rbf", gamma=0.5),
    *timing_rows("loop", [100, 1000], [0.2, 2.0]),
    *timing_rows("ours", [100, 1000], [0.001, 0.001]),
]
FIGURES = [
    {"kind": "heatmap", "model": "linear"},
    {"kind": "heatmap", "model": "a kernel", "value": "train_error", "gamma": 0.5},
    {"kind": "curves", "model": "linear", "title": "Curves of <b>"},
    {"kind": "slopes", "models": ["loop", "ours"], "against": "n_rows"},
    {"kind": "slopes"},
    {"kind": "bars", "models": ["loop", "ours"]},
    {"kind": "convergence", "model": "linear"},
    {"kind": "convergence", "model": "a kernel", "against": "seconds"},
    {"kind": "confusion", "model": "linear"},
    {"kind": "misclassified", "model": "linear", "images": 5},
    {"kind": "frequencies"},
    {"kind": "samples", "per_class": 2},
    {"kind": "tsne", "rows": 30},
    {"kind": "losses", "title": "Three losses"},
]
