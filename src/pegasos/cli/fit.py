"""``pegasos fit``: from a file of data to a certified model."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pegasos._errors import MendableError
from pegasos.cli import _fit_options as options
from pegasos.cli import _reading as source
from pegasos.cli._help import Jobs, examples
from pegasos.cli._imports import importing, spare_blas_threads
from pegasos.cli._machines import Settings, settings_of
from pegasos.cli._numbers import number_of, whole_of
from pegasos.cli._output import say, write, write_json
from pegasos.cli._portrait import certificate_text, portrait
from pegasos.cli._streaming import Streaming, fit_to_stream, open_stream, streaming_of

__all__ = ["EXAMPLES", "fit"]

EXAMPLES = examples(
    "pegasos fit train.svm -o model.safetensors --lam 1e-4 --solver sdca",
    "pegasos fit people.csv -o model.safetensors --target income --one-hot --scale standard",
    "pegasos fit usps.h5 -o model.safetensors --kernel rbf --gamma 0.01 --test-size 0.2",
    "pegasos fit train.svm -o model.safetensors --lam 1e-5,1e-4,1e-3 --cv 5 --json",
    "pegasos fit parts/ -o model.safetensors --stream --memory 500MB --cache parts.cache",
)
# What takes long to import, by machine.
_HOMES = {
    "PegasosClassifier": ("pegasos._linear", "pegasos.io._model_linear"),
    "KernelPegasosClassifier": ("pegasos._kernel", "pegasos.io._model_kernel"),
    "PerceptronClassifier": ("pegasos._perceptron", "pegasos.io._model_linear"),
    "KernelPerceptronClassifier": ("pegasos._kernel_perceptron", "pegasos.io._model_kernel"),
}
# When a fit begins, and at its end.
_OF_ALL = ("sklearn.callback._callback_support", "pegasos.io._model_file")


def fit(
    context: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="A file, or - for standard input with --format. With --stream, also several "
            "files or a folder.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="The file for the model.")
    ],
    kernel: options.Kernel = None,
    perceptron: options.Perceptron = False,
    lam: options.Lam = None,
    loss: options.Loss = None,
    solver: options.Solver = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    max_steps: options.MaxSteps = None,
    class_weight: options.ClassWeight = None,
    no_intercept: options.NoIntercept = False,
    intercept_scaling: options.InterceptScaling = None,
    gamma: options.Gamma = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    memory: options.Memory = None,
    batch_size: options.BatchSize = None,
    sampling: options.Sampling = None,
    average: options.Average = None,
    project: options.Project = False,
    scale: Annotated[
        Literal["standard", "minmax"] | None,
        typer.Option(
            "--scale",
            help="Bring features to variance 1 (and mean 0) or to 0..1; zeros of sparse rows stay.",
        ),
    ] = None,
    impute: Annotated[
        str | None,
        typer.Option(
            "--impute",
            metavar="mean|median|NUMBER",
            help="What stands for values that are missing. Part of the model.",
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            metavar="N",
            parser=whole_of("--cv", low=2, example=5),
            show_default="none; 5 for a grid",
            help="Judge by so many folds, then fit to all rows.",
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(
            "--test-size",
            metavar="PART",
            parser=number_of("--test-size", example="0.25"),
            help="Keep this part of the rows to test by.",
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="Rows to test by.")
    ] = None,
    format: source.Format = None,  # noqa: A002 - what everybody calls it
    target: source.Target = None,
    no_header: source.Header = False,
    one_hot: source.OneHot = False,
    categorical: source.Categorical = None,
    key: source.Key = None,
    zero_based: source.ZeroBased = None,
    dtype: source.Dtype = "float32",
    stream: options.Stream = False,
    cache: options.Cache = None,
    checkpoint: options.Checkpoint = None,
    no_shuffle: options.NoShuffle = False,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            parser=whole_of("--seed", low=0, high=2**32 - 1, example=7),
            help="Decides all draws.",
        ),
    ] = 0,
    jobs: Jobs = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary for other programs to read.")
    ] = False,
) -> None:
    """Train a model on a file of data, certify it, and save it.

    A linear SVM, unless --kernel or --perceptron asks for another machine. The labels are the last
    column of a table, unless --target names another. Several values of --lam, --max-steps, --gamma
    or --degree are a grid: the best by cross-validation is fitted to all rows. The model is
    written when all is done, and nothing is if the program is stopped.

    With --stream the rows are read in chunks, again in every epoch. They take the memory that
    --memory names at most, beside what the program itself takes.
    """
    settings = settings_of(context)
    if impute is not None:
        source.filling(impute)  # what is wrong with it is said before the work
    _refuse_what_does_not_go_together(context.params, settings)
    how = streaming_of(context.params, settings)
    _refuse_bad_output(output, *data, test)
    reading = source.Reading.of(context.params)
    hot = source.one_hot(one_hot, categorical)
    fillable = (*source.TABLES, *source.ARRAYS)
    for path in (path for path in data if not Path(path).is_dir()):
        reading.refuse_idle(path, one_hot=hot, impute=impute, imputable=fillable)
    if kernel is None and not settings.is_grid:  # else matrices are multiplied
        spare_blas_threads()
    with importing(*_HOMES[settings.machine.estimator], *_OF_ALL):
        wishes = {
            "one_hot": hot,
            # The model fills what is missing.
            "missing": "error" if impute is None else float("nan"),
            "n_jobs": jobs or -1,
        }
        rows, classes = (
            _labelled(data[0], reading, **wishes)
            if how is None
            else _labelled_chunks(data, reading, how, **wishes)
        )
        tested = None if test is None else _test_rows(test, rows, reading, impute, jobs or -1)
    from pegasos import save
    from pegasos.cli._fitting import Work, fit_model

    work = Work(scale, impute, cv, test_size, seed, jobs or -1)
    if how is None:
        model, facts = fit_model(settings, work, rows, classes, tested, output)
    else:
        model, facts = fit_to_stream(settings, work, rows, tested, output, how)
    save(model, output)
    facts = portrait(model) | facts
    if as_json:
        write_json(facts)
    else:
        write(_text(facts))
    _say_what_is_left(facts)


def _refuse_what_does_not_go_together(given: dict[str, Any], settings: Settings) -> None:
    size = given["test_size"]
    if size is not None and given["test"] is not None:
        raise MendableError("--test-size and --test do not go together", "choose one of them")
    if size is not None and not 0 < size < 1:
        raise MendableError(f"--test-size {size:g}: this is no part", "write a number such as 0.25")
    if settings.given.get("kernel") == "precomputed":
        for name in ("scale", "impute", "test_size", "cv"):
            if given[name] is not None:
                raise MendableError(
                    f"--{name.replace('_', '-')} does not go with --kernel precomputed",
                    "leave it out: the data is a matrix of kernel values, not of features",
                )


def _refuse_bad_output(path: Path, *sources: str | None) -> None:
    """Find out before the work what would spoil its end, or what it began with."""
    if str(path) == "-":
        raise MendableError("a model is not written to standard output", "name a file with -o")
    source.refuse_to_overwrite(path, *sources)
    if path.is_dir() or not path.resolve().parent.is_dir():
        what = "is a folder" if path.is_dir() else "cannot be written: its folder is not there"
        raise MendableError(f"{path} {what}", "name a file in a folder that exists")


def _labelled(path: str, reading: source.Reading, **wishes: Any) -> tuple[Any, Any]:
    """Return the rows of a file, and their classes."""
    from pegasos._labels import different_labels

    place = reading.place_of_labels
    rows = reading.read(path, target=-1 if place is None else place, **wishes)
    classes = None if rows.y is None else different_labels(rows.y)
    _refuse_labels(path, classes, rows.X.shape[0])
    return rows, classes


def _labelled_chunks(
    files: list[str], reading: source.Reading, how: Streaming, **wishes: Any
) -> tuple[Any, Any]:
    chunks = open_stream(files, reading, how, **wishes)
    _refuse_labels(files[0], chunks.labels, chunks.n_rows)
    return chunks, chunks.labels


def _refuse_labels(path: str, classes: Any, n_rows: int) -> None:
    """Refuse labels that are not classes to tell apart."""
    if classes is None:
        raise MendableError(f"{path}: there are no labels", "name them with --target")
    if len(classes) < 2:
        raise MendableError(
            f"{path}: all labels are {classes[0]}; two classes are needed to tell apart",
            "check the column of the labels with --target",
        )
    if classes.dtype.kind == "f" and len(classes) > max(20, n_rows // 2):
        raise MendableError(
            f"{path}: there are {len(classes)} different labels, such as {classes[0]}",
            "these look like measurements: name the column of the classes with --target",
        )


def _test_rows(
    path: str, rows: Any, reading: source.Reading, impute: str | None, n_jobs: int
) -> Any:
    from dataclasses import replace

    from pegasos.cli._matching import Features, same_labels
    from pegasos.io import DataError
    from pegasos.io._formats import format_of

    try:  # --format is that of DATA: this file may have another
        own = format_of(path, None)
    except DataError:
        own = reading.format or ""
    place = reading.place_of_labels
    is_stream = hasattr(rows, "labels")
    n_features = rows.n_features if is_stream else rows.X.shape[1]
    tested = Features(rows.names, n_features, impute is not None, rows.zero_based).read(
        path,
        replace(reading, format=own or None),
        target=-1 if place is None else place,
        n_jobs=n_jobs,
        if_zero="say --zero-based if both files count from 0; if only this one does, rewrite it",
    )
    same_labels(path, tested.y, rows.labels if is_stream else rows.y)
    return tested


def _text(facts: dict[str, Any]) -> str:
    shown = {
        "model": " + ".join([*facts["preparation"], facts["estimator"]]),
        "data": f"{facts['rows']} rows, {facts['features']} features, "
        f"{len(facts['classes'])} classes"
        + (f", chunks: {facts['chunks']}" if "chunks" in facts else ""),
        "training": f"{facts['epochs']} epochs, {facts['steps']} steps, {facts['seconds']:.3g} s",
        "certificate": certificate_text(facts["certificate"]),
    }
    if "support_vectors" in facts:
        shown["support"] = f"{facts['support_vectors']} of {facts['rows']} rows"
    folds, grid, test = facts["cross_validation"], facts["grid"], facts["test"]
    if grid is not None:
        best = grid["best"]
        at = ", ".join(f"{name} {value}" for name, value in best["parameters"].items())
        shown["best"] = f"of {len(grid['cells'])}: {at}"
        shown["folds"] = _accuracy(best, grid["folds"])
    if folds is not None:
        shown["folds"] = _accuracy(folds, folds["folds"])
    if test is not None:
        shown["test"] = f"accuracy {test['accuracy']:.4f} ({test['rows']} rows)"
    shown["saved"] = facts["model"]
    return "\n".join(f"{name:12} {value}" for name, value in shown.items())


def _accuracy(judged: dict[str, Any], folds: int) -> str:
    return f"accuracy {judged['accuracy']:.4f} ± {judged['spread']:.4f} ({folds} folds)"


def _say_what_is_left(facts: dict[str, Any]) -> None:
    """Say when a fit has ended before it was as close to the optimum as it should be."""
    parameters, certificate = facts["parameters"], facts["certificate"]
    tol = parameters.get("tol")
    if certificate is None or tol is None or (certificate["relative_gap"] or 0) <= tol:
        return
    say("note", f"all steps were made, and the gap is above --tol {tol:g}")
    better = "" if parameters["solver"] == "sdca" else "--solver sdca, "
    scaled = "" if facts["preparation"] else "--scale standard, "
    say("hint", f"try {better}{scaled}a larger --lam or --max-iter, or accept the gap")
