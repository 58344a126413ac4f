"""The options of `fit` that become parameters of an estimator. What is not given is its default."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pegasos.cli._numbers import number_of, whole_of

__all__ = [
    "Average",
    "BatchSize",
    "Cache",
    "Checkpoint",
    "ClassWeight",
    "Coef0",
    "Degree",
    "Gamma",
    "InterceptScaling",
    "Kernel",
    "Lam",
    "Loss",
    "MaxIter",
    "MaxSteps",
    "Memory",
    "NoIntercept",
    "NoShuffle",
    "Perceptron",
    "Project",
    "Sampling",
    "Solver",
    "Stream",
    "Tol",
]


Kernel = Annotated[
    Literal["rbf", "poly", "linear", "precomputed"] | None,
    typer.Option("--kernel", help="Train a kernel machine, with this kernel."),
]
Perceptron = Annotated[
    bool, typer.Option("--perceptron", help="Train a perceptron instead: no objective, no bound.")
]
Lam = Annotated[
    str | None,
    typer.Option(
        "--lam",
        metavar="NUMBER,...",
        show_default="0.001",
        help="Strength of the regularisation. Several: the best by cross-validation.",
    ),
]
Loss = Annotated[
    Literal["hinge", "log"] | None,
    typer.Option(
        "--loss",
        show_default="hinge",
        help="hinge: an SVM. log: logistic regression, with probabilities.",
    ),
]
Solver = Annotated[
    Literal["pegasos", "sdca"] | None,
    typer.Option(
        "--solver",
        show_default="pegasos",
        help="pegasos: the published steps. sdca: dual ascent, quicker to a small gap.",
    ),
]
Tol = Annotated[
    str | None,
    typer.Option(
        "--tol",
        metavar="NUMBER|none",
        show_default="0.01",
        help="Stop when certified to be this close to the optimum. none: make all steps.",
    ),
]
MaxIter = Annotated[
    int | None,
    typer.Option(
        "--max-iter",
        metavar="N",
        parser=whole_of("--max-iter", example=1000),
        show_default="5000; kernels 1000; perceptrons 100",
        help="Epochs at most.",
    ),
]
MaxSteps = Annotated[
    str | None,
    typer.Option(
        "--max-steps",
        metavar="N,...",
        show_default="by --max-iter",
        help="Steps at most, the paper's T. Several: a grid, as for --lam.",
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        metavar="N",
        parser=whole_of("--batch-size"),
        show_default="1",
        help="Rows per step.",
    ),
]
Sampling = Annotated[
    Literal["permutation", "uniform"] | None,
    typer.Option(
        "--sampling",
        show_default="permutation",
        help="A new order each epoch, or draws with replacement.",
    ),
]
Average = Annotated[
    Literal["none", "uniform", "weighted"] | None,
    typer.Option(
        "--average",
        show_default="weighted; perceptrons none",
        help="The model: the last weights, or a mean of all.",
    ),
]
Project = Annotated[
    bool, typer.Option("--project", help="Project onto the ball of radius 1/sqrt(lam).")
]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Fit no constant feature.")]
InterceptScaling = Annotated[
    float | None,
    typer.Option(
        "--intercept-scaling",
        metavar="NUMBER",
        parser=number_of("--intercept-scaling", above=0),
        show_default="1",
        help="Value of the constant feature.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced|LABEL=NUMBER,...",
        help="What rows of a class weigh.",
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        metavar="NUMBER,...|scale|auto",
        show_default="scale",
        help="Of rbf and poly, as in scikit-learn. Several: a grid.",
    ),
]
Degree = Annotated[
    str | None,
    typer.Option("--degree", metavar="N,...", show_default="3", help="Of poly. Several: a grid."),
]
Coef0 = Annotated[
    float | None,
    typer.Option(
        "--coef0",
        metavar="NUMBER",
        parser=number_of("--coef0"),
        show_default="0",
        help="Constant in the kernel; with rbf and linear it acts as a bias.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        show_default="2GB; --stream 1GB",
        help="Most memory for kernel rows, or for the rows of --stream.",
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream", help="Read in chunks: the data may be larger than memory. Linear machines only."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="With --stream: keep a binary copy of the data, which is read faster.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="With --stream: a fit that was stopped, or killed, goes on from this file.",
    ),
]
NoShuffle = Annotated[
    bool, typer.Option("--no-shuffle", help="With --stream: take rows in the order of the files.")
]
