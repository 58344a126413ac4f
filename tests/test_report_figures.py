"""The other figures hold the numbers they were given too."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier, PerceptronClassifier
from pegasos.report import (
    BarsDisplay,
    BoundaryDisplay,
    ClassFrequenciesDisplay,
    ConfusionDisplay,
    ConvergenceDisplay,
    LossesDisplay,
    MisclassifiedDisplay,
    RatiosDisplay,
    SampleImagesDisplay,
    ScalingDisplay,
    TsneDisplay,
)

from .report_helpers import new_axes, shown

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
matplotlib.use("agg")


# --- Fits -----------------------------------------------------------------------------------------


def test_the_course_of_a_fit_is_its_history(blobs):
    model = PegasosClassifier(1e-2, solver="sdca", tol=1e-6, random_state=0).fit(*blobs)
    display = ConvergenceDisplay.from_estimator(model, against="seconds", ax=new_axes())
    assert display.times_.tolist() == [record["seconds"] for record in model.history_]
    for name, line in display.lines_.items():
        assert line.tolist() == [record[name] for record in model.history_]
    steps = ConvergenceDisplay.from_estimator(model, ax=new_axes())
    objective = steps.ax_.lines[0].get_xydata().T
    np.testing.assert_array_equal(objective[0], [record["step"] for record in model.history_])
    np.testing.assert_array_equal(objective[1], steps.lines_["objective"])


def test_the_course_of_a_pipeline_is_that_of_its_last_step(blobs):
    model = make_pipeline(StandardScaler(), PegasosClassifier(1e-2, solver="sdca")).fit(*blobs)
    display = ConvergenceDisplay.from_estimator(model, ax=new_axes())
    assert display.history is model[-1].history_
    assert display.ax_.get_title() == "PegasosClassifier"
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(*blobs)
    with pytest.raises(TypeError, match="this LogisticRegression has no history_"):
        ConvergenceDisplay.from_estimator(other)


def test_of_several_classes_the_mean_is_drawn(three_classes):
    model = PegasosClassifier(1e-2, max_iter=3, tol=None, random_state=0).fit(*three_classes)
    display = ConvergenceDisplay.from_estimator(model, ax=new_axes())
    last = model.history_[-1]
    assert display.n_classes_ == 3
    assert display.lines_["gap"][-1] == pytest.approx(np.mean(last["gap"]))
    assert "mean of 3 classes" in display.ax_.get_title()


def test_perceptrons_show_their_mistakes(blobs):
    with pytest.warns(match="mistakes"):
        model = PerceptronClassifier(max_iter=4, random_state=0).fit(*blobs)
    display = ConvergenceDisplay.from_estimator(model, ax=new_axes())
    assert list(display.lines_) == ["violations"]
    assert display.lines_["violations"].tolist() == [r["violations"] for r in model.history_]


def test_a_model_without_a_history_says_how_to_get_one(blobs):
    model = PegasosClassifier().partial_fit(*blobs, classes=[0, 1])
    with pytest.raises(TypeError, match="after fit, but not after partial_fit"):
        ConvergenceDisplay.from_estimator(model)


def test_the_boundary_of_a_linear_machine_is_where_its_score_is_zero():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    model = PegasosClassifier(1e-3, solver="sdca", tol=1e-9, random_state=0).fit(X, [0, 0, 1, 1])
    display = BoundaryDisplay.from_estimator(model, X, [0, 0, 1, 1], ax=new_axes())
    # The best line between the two pairs is x = 1, with margins through the pairs. Lines are
    # interpolated in a mesh of 300 points over a width of 2.3, so they are off by less than 0.01.
    lines = [path.vertices for path in paths(display.ax_)]
    for line, place in zip(lines, (0, 1, 2), strict=True):
        np.testing.assert_allclose(line[:, 0], place, atol=0.01)
    np.testing.assert_array_equal(display.regions_[0, [0, -1]], [0, 1])


def test_support_vectors_of_a_kernel_machine_have_rings(blobs):
    X, y = blobs[0][:, :2], blobs[1]
    model = KernelPegasosClassifier(1e-2, max_steps=300, tol=None, random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, names={1: "one"}, ax=new_axes())
    labels = {c.get_label(): c.get_offsets() for c in display.ax_.collections}
    np.testing.assert_array_equal(labels["support vector"], X[model.support_])
    np.testing.assert_array_equal(labels["class 0"], X[y == 0])
    np.testing.assert_array_equal(labels["class one"], X[y == 1])


def test_linear_support_vectors_are_the_rows_not_beyond_their_margin(blobs):
    X, y = sp.csr_array(blobs[0][:, :2]), blobs[1]
    model = PegasosClassifier(1e-2, max_iter=5, tol=None, random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, ax=new_axes())
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    np.testing.assert_array_equal(display.support, np.flatnonzero(margins <= 1))
    log = PegasosClassifier(1e-2, loss="log", max_iter=5, tol=None, random_state=0).fit(X, y)
    assert BoundaryDisplay.from_estimator(log, X, y, ax=new_axes()).support is None


def test_regions_of_three_classes_are_the_predictions(three_classes):
    X, y = three_classes
    model = PegasosClassifier(1e-2, max_iter=5, tol=None, random_state=0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, ax=new_axes())
    left, right, bottom, top = display.extent
    step = (right - left) / 300
    corner = [[left + step / 2, bottom + (top - bottom) / 600]]
    assert display.classes[display.regions_[0, 0]] == model.predict(corner)[0]
    assert len(np.unique(display.regions_)) == 3


def test_a_boundary_needs_two_features_and_the_rows_learned_from(blobs):
    X, y = blobs
    model = PegasosClassifier(1e-2, max_iter=1, tol=None, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="over two features; the rows have 5"):
        BoundaryDisplay.from_estimator(model, X, y)
    kernel = KernelPegasosClassifier(1e-2, max_steps=300, tol=None, random_state=0)
    kernel.fit(X[:, :2], y)
    with pytest.raises(ValueError, match="give the rows that the classifier has learned from"):
        BoundaryDisplay.from_estimator(kernel, X[:9, :2], y[:9])


# --- Labels and images ----------------------------------------------------------------------------


def test_a_confusion_matrix_counts_true_classes_in_rows():
    y_true, y_pred = ["a", "a", "a", "b", "b"], ["a", "b", "b", "b", "b"]
    display = ConfusionDisplay.from_predictions(y_true, y_pred, names={"b": "B"}, ax=new_axes())
    assert display.confusion_matrix.tolist() == [[1, 2], [0, 2]]
    assert shown(display.ax_) == ["1", "2", "2"]  # no 0 is written
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "B"]
    assert "3 of 5 rows are right; the most frequent mistake is a taken for B (2)" in (
        display.describe()
    )


def test_no_mistakes_leave_the_other_cells_empty():
    display = ConfusionDisplay.from_predictions([0, 1], [0, 1], ax=new_axes())
    assert [text.get_position() for text in display.ax_.texts] == [(0, 0), (1, 1)]
    assert display.describe() == "Confusion matrix: 2 of 2 rows are right."


def test_frequencies_are_the_heights_of_the_bars():
    display = ClassFrequenciesDisplay.from_labels([2, 2, 2, 7], names={7: "seven"}, ax=new_axes())
    assert [bar.get_height() for bar in display.ax_.patches] == [3, 1]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["2", "seven"]


IMAGES = np.arange(24.0).reshape(4, 6)  # four images of 2 x 3


@pytest.mark.parametrize("rows", [IMAGES, sp.csr_array(IMAGES)], ids=["dense", "sparse"])
def test_sample_images_are_rows_of_the_class_they_stand_for(rows):
    y = np.array([1, 0, 1, 0])
    display = SampleImagesDisplay.from_data(rows, y, (2, 3), per_class=5, ax=new_axes())
    captions = shown(display.ax_)
    assert captions == ["0", "0", "1", "1"]
    for image, label in zip(display.ax_.images, captions, strict=True):
        originals = IMAGES[y == int(label)].reshape(-1, 2, 3)
        assert any(np.array_equal(image.get_array(), original) for original in originals)


def test_misclassified_images_are_the_wrong_rows_with_both_labels():
    display = MisclassifiedDisplay.from_predictions(
        IMAGES, [0, 1, 1, 0], [0, 0, 1, 1], (2, 3), names={0: "zero"}, ax=new_axes()
    )
    assert shown(display.ax_) == ["is 1\nsaid zero", "is zero\nsaid 1"]
    first, second = (image.get_array() for image in display.ax_.images)
    np.testing.assert_array_equal(first, IMAGES[1].reshape(2, 3))
    np.testing.assert_array_equal(second, IMAGES[3].reshape(2, 3))
    assert display.ax_.get_title() == "2 of 4 misclassified"


def test_no_misclassified_image_is_worth_a_figure_too():
    display = MisclassifiedDisplay.from_predictions(IMAGES, [0] * 4, [0] * 4, (2, 3), ax=new_axes())
    assert not display.ax_.images
    assert "0 of 4 misclassified" in display.describe()


@pytest.mark.parametrize(
    ("shape", "words"), [((3, 3), r"need rows of 9 numbers; got X of shape"), (None, "no images")]
)
def test_rows_that_are_no_such_images_are_refused(shape, words):
    with pytest.raises(ValueError, match=words):
        SampleImagesDisplay.from_data(IMAGES, [0, 0, 1, 1], shape)


def test_a_map_has_a_point_per_row_in_the_look_of_its_class():
    rng = np.random.default_rng(0)
    y = np.repeat([2, 10], 10)
    X = rng.standard_normal((20, 4)) + 8.0 * (y == 10)[:, np.newaxis]
    display = TsneDisplay.from_data(X, y, names={2: "two"}, ax=new_axes())
    clouds = {c.get_label(): c.get_offsets() for c in display.ax_.collections}
    assert {name: len(points) for name, points in clouds.items()} == {"two": 10, "10": 10}
    np.testing.assert_array_equal(clouds["10"], display.points[y == 10])
    again = TsneDisplay.from_data(X, y, max_rows=8, ax=new_axes())
    assert again.points.shape == (8, 2)


def test_losses_are_those_of_the_reference():
    display = LossesDisplay.from_range(-1, 1, ax=new_axes())
    hinge, log, zero_one = (line.get_ydata() for line in display.ax_.lines)
    assert (hinge[0], log[0], zero_one[0]) == (2, pytest.approx(np.log(1 + np.e)), 1)
    assert (hinge[-1], log[-1], zero_one[-1]) == (0, pytest.approx(np.log(1 + np.exp(-1))), 0)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ScalingDisplay({}), "nothing to draw"),
        (lambda: ScalingDisplay({"a": ([1, 2], [1])}), "as many seconds as sizes"),
        (lambda: ScalingDisplay({"a": ([1, 2], [1, 0])}), "not above 0"),
        (lambda: ScalingDisplay({"a": ([1], [1])}, against="rows"), "against must be one of"),
        (lambda: BarsDisplay({}, groups=[]), "nothing to draw"),
        (lambda: BarsDisplay({"a": [1, 2]}, groups=["x"]), "each of 1 groups"),
        (lambda: BarsDisplay({"a": [-1]}, groups=["x"]), "must be above 0"),
        (lambda: RatiosDisplay({}, tasks=["x"]), "nothing to draw"),
        (lambda: RatiosDisplay({"a": [0]}, tasks=["x"]), "must be above 0"),
        (lambda: RatiosDisplay({"a": [1, 2]}, tasks=["x"]), "each of 1 tasks"),
        (lambda: RatiosDisplay.from_seconds({"a": {"x": 1}}, "b"), "no seconds of 'b'"),
        (lambda: ConvergenceDisplay([]), "no records"),
        (lambda: ConvergenceDisplay([{"step": 1}], against="x"), "against must be one of"),
        (lambda: ConfusionDisplay([[1]], classes=["a", "b"]), r"shape \(2, 2\); got"),
        (lambda: ClassFrequenciesDisplay([], classes=[]), "at least one"),
        (lambda: SampleImagesDisplay([], classes=[]), "at least one image"),
        (
            lambda: MisclassifiedDisplay(IMAGES, true=[], predicted=[], n_rows=1, n_wrong=1),
            "each image needs",
        ),
        (lambda: TsneDisplay([[1, 2, 3]], labels=["a"]), "two columns"),
        (lambda: TsneDisplay.from_data(IMAGES, [0, 0, 1, 1]), "at least 5 rows"),
        (lambda: TsneDisplay.from_data(IMAGES, [0, 1]), "a label for each of its rows"),
        (lambda: LossesDisplay([1.0]), "at least two numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def paths(ax):
    """Return the contour lines, from left to right."""
    found = [
        path
        for collection in ax.collections
        if type(collection).__name__ == "QuadContourSet"
        for path in collection.get_paths()
    ]
    return sorted(found, key=lambda path: path.vertices[:, 0].mean())
