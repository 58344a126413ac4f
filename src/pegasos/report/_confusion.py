"""ConfusionDisplay: which class is taken for which."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.report._cells import between_cells, draw_cells
from pegasos.report._classes import class_names
from pegasos.report._display import Display
from pegasos.report._numbers import count_text
from pegasos.report._style import COUNTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ConfusionDisplay(Display):
    """Confusion matrix: counts, coloured by their part of the true class; no 0 is written.

    Parameters
    ----------
    confusion_matrix : array-like of shape (n_classes, n_classes)
        Rows of true class i that were taken for class j.
    classes : sequence of str
        What the classes are called.
    title : str, default=""
        Above the figure.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The cells.
    ax_, figure_
        Where it was drawn.
    """

    image_: Any

    def __init__(self, confusion_matrix: Any, *, classes: Any, title: str = "") -> None:
        self.confusion_matrix = np.asarray(confusion_matrix)
        self.classes = [str(name) for name in classes]
        self.title = title
        n = len(self.classes)
        if self.confusion_matrix.shape != (n, n) or n == 0:
            raise ValueError(
                f"a confusion matrix of {n} classes has shape ({n}, {n}); got shape "
                f"{self.confusion_matrix.shape}"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Mapping[Any, str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted classifier makes of rows whose labels are known.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            True labels.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            Already drawn.
        """
        check_is_fitted(estimator)
        return cls.from_predictions(y, estimator.predict(X), names=names, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, names: Mapping[Any, str] | None = None, ax: Any = None
    ) -> Self:
        """Draw how predicted labels differ from true ones.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            True and predicted labels.
        names : mapping or None, default=None
            What the classes are called, by label; None: as the labels are.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ConfusionDisplay
            Already drawn.
        """
        return cls._of(y_true, y_pred, names).plot(ax)

    @classmethod
    def _of(cls, y_true: Any, y_pred: Any, names: Mapping[Any, str] | None) -> Self:
        from sklearn.metrics import confusion_matrix

        classes = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
        matrix = confusion_matrix(y_true, y_pred, labels=classes)
        return cls(matrix, classes=class_names(classes, names))

    def _draw(self, ax: "Axes") -> None:
        matrix = self.confusion_matrix
        n = len(self.classes)
        of_class = matrix.sum(axis=1, keepdims=True)
        part = matrix / np.maximum(of_class, 1)
        # The root of the part: the few mistakes of a good model are to be seen.
        self.image_ = ax.imshow(np.sqrt(part), cmap=COUNTS, vmin=0, vmax=1)
        draw_cells(ax, self.image_, [[count_text(c) if c else "" for c in row] for row in matrix])
        turned = max(map(len, self.classes)) > 6
        ax.set_xticks(range(n), self.classes, rotation=90 if turned else 0)
        ax.set_yticks(range(n), self.classes)
        ax.set_xlabel("predicted")
        ax.set_ylabel("true")
        between_cells(ax, n, n)

    def _size(self) -> tuple[float, float]:
        side = 0.46 * max(4, len(self.classes))
        return 1.3 + side, 1.1 + side

    def describe(self) -> str:
        """Say in a sentence what is to be seen.

        Returns
        -------
        str
            How many are right, and the most frequent mistake.
        """
        matrix = self.confusion_matrix
        right, total = int(np.trace(matrix)), int(matrix.sum())
        text = f"Confusion matrix: {right:,} of {total:,} rows are right"
        wrong = matrix - np.diag(np.diag(matrix))
        if not wrong.any():
            return f"{text}."
        i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
        return (
            f"{text}; the most frequent mistake is {self.classes[int(i)]} taken for "
            f"{self.classes[int(j)]} ({wrong[i, j]:,})."
        )
