"""``pegasos export``: a model for other programs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pegasos._errors import MendableError
from pegasos.cli._errors import need
from pegasos.cli._help import examples
from pegasos.cli._matching import ModelFile, load_model
from pegasos.cli._output import say, write
from pegasos.cli._portrait import parts_of
from pegasos.cli._reading import refuse_to_overwrite

__all__ = ["EXAMPLES", "export"]

EXAMPLES = examples(
    "pegasos export model.safetensors --onnx model.onnx",
    "pegasos export model.safetensors --onnx model.onnx --dtype float64",
    "pegasos export model.safetensors --liblinear model.txt",
)


def export(
    model: ModelFile,
    onnx: Annotated[
        Path | None,
        typer.Option("--onnx", metavar="FILE", help="A graph for onnxruntime and its like."),
    ] = None,
    liblinear: Annotated[
        Path | None,
        typer.Option("--liblinear", metavar="FILE", help="For liblinear's predict: linear models."),
    ] = None,
    libsvm: Annotated[
        Path | None,
        typer.Option(
            "--libsvm", metavar="FILE", help="For svm-predict: kernel machines of two classes."
        ),
    ] = None,
    dtype: Annotated[
        Literal["float32", "float64"] | None,
        typer.Option("--dtype", show_default="float32", help="What ONNX computes in."),
    ] = None,
) -> None:
    """Write a model in the format of another program, and say where.

    With labels that are whole numbers, liblinear and libsvm predict the same from these files.
    """
    files = [file for file in (onnx, liblinear, libsvm) if file is not None]
    if len(files) != 1:
        what = "several files were named" if files else "no file was named"
        raise MendableError(what, "say one of --onnx FILE, --liblinear FILE and --libsvm FILE")
    refuse_to_overwrite(files[0], model)
    if onnx is None and dtype is not None:
        raise MendableError(
            "--dtype does nothing beside text, which has all digits", "leave it out"
        )
    if onnx is not None:
        need("ONNX", "onnx")
    from pegasos import io

    fitted = load_model(model)
    first = parts_of(fitted)[0]
    if onnx is None and first is not fitted:
        raise MendableError(
            f"{model}: this model prepares its rows ({type(first).__name__}), and text formats "
            "cannot say how",
            "say --onnx FILE, or fit a model without --scale and --impute",
        )
    if onnx is not None:
        io.to_onnx(fitted, onnx, dtype=dtype or "float32")
    elif liblinear is not None:
        io.to_liblinear(fitted, liblinear)
    elif libsvm is not None:
        io.to_libsvm(fitted, libsvm)
    if onnx is None and getattr(fitted, "zero_based_", False):
        say("note", "the indices of the training data begin with 0, those of this format with 1")
        say("hint", "add 1 to the indices of the rows that the other program is given")
    write(str(files[0]))
