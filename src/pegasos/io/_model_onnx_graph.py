"""Builds an ONNX graph node by node."""

from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.io._model_errors import ModelError

__all__ = ["Graph"]

# Of December 2020: what is older lacks reductions over given axes, what is newer brings nothing
# that is needed here.
_OPSET = 13
_IR_VERSION = 7


class Graph:
    """A graph under way; values are known by their names.

    Parameters
    ----------
    dtype : numpy dtype
        float32 or float64, of X and of all that is computed.
    n_problems : int
        Scores per row.
    """

    def __init__(self, dtype: npt.DTypeLike, n_problems: int) -> None:
        try:
            import onnx
        except ImportError:
            raise ModelError(
                "ONNX needs the package onnx, which is not installed",
                "pip install 'pegasos[onnx]'",
            ) from None
        self._onnx: Any = onnx  # its hints differ from one version to the next
        self.dtype = np.dtype(dtype)
        self.n_problems = n_problems
        self.INT64 = onnx.TensorProto.INT64
        self.FLOATS = self.type_of(self.dtype)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, n_features: int) -> str:
        """Add the rows that the graph is given."""
        value = self._onnx.helper.make_tensor_value_info(name, self.FLOATS, ["n", n_features])
        self._inputs.append(value)
        return name

    def output(self, name: str, value: str, kind: int, shape: list[Any]) -> None:
        """Let the graph return a value, under this name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        info = self._onnx.helper.make_tensor_value_info(name, kind, shape)
        self._outputs.append(info)

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return the name of what it computes."""
        name = f"{operator.lower()}_{len(self._nodes)}"
        node = self._onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self._nodes.append(node)
        return name

    def floats(self, values: Any, dtype: Any = None) -> str:
        """Add constants of the graph's own type, or of another."""
        return self._constant(np.asarray(values, dtype=dtype or self.dtype))

    def number(self, value: float) -> str:
        """Add one number."""
        return self.floats(value)

    def whole_numbers(self, values: Any) -> str:
        """Add whole numbers."""
        return self._constant(np.asarray(values, dtype=np.int64))

    def labels(self, classes: npt.NDArray[Any]) -> str:
        """Add the classes."""
        kind = self.type_of_labels(classes)
        if kind != self._onnx.TensorProto.STRING:
            return self._constant(classes.astype(self._onnx.helper.tensor_dtype_to_np_dtype(kind)))
        name = f"constant_{len(self._constants)}"
        texts = [str(label).encode("utf-8") for label in classes]
        tensor = self._onnx.helper.make_tensor(name, kind, [len(texts)], texts)
        self._constants.append(tensor)
        return name

    def type_of_labels(self, classes: npt.NDArray[Any]) -> int:
        """Return the type of labels: whole numbers of 64 bits, floats become double."""
        types = self._onnx.TensorProto
        kind = classes.dtype.kind
        if kind == "O":
            kind = np.array(classes.tolist()).dtype.kind
        kinds = {"b": types.BOOL, "i": types.INT64, "u": types.UINT64, "f": types.DOUBLE}
        found: int = kinds.get(kind, types.STRING)
        return found

    def finish(self) -> bytes:
        """Return the checked graph as the content of a file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "pegasos", self._inputs, self._outputs, self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
            producer_name="pegasos",
            producer_version=version("pegasos"),
        )
        try:
            self._onnx.checker.check_model(model, full_check=True)
            content: bytes = model.SerializeToString()
        except ValueError as error:  # beyond what protobuf can hold
            raise ModelError(f"the graph is too large: {error}", "use pegasos.save") from None
        return content

    def _constant(self, values: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
        self._constants.append(tensor)
        return name

    def type_of(self, dtype: np.dtype[Any]) -> int:
        """Return the number that ONNX has for a type."""
        kind: int = self._onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return kind
