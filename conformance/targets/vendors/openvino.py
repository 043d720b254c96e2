"""Target openvino: unmodified OpenVINO on the CPU, in float32 and without bfloat16 unless an option asks for less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

from conformance.targets.target import UnsupportedError
from conformance.targets.vendors.models import bare_inputs, require_all, source, type_name
from conformance.targets.vendors.packed import BITS, pack, unpack
from conformance.targets.vendors.refusals import of_openvino

# The standard's element types that it has, by its own names.
TYPES = {
    TensorProto.FLOAT: "f32",
    TensorProto.DOUBLE: "f64",
    TensorProto.FLOAT16: "f16",
    TensorProto.BFLOAT16: "bf16",
    TensorProto.BOOL: "boolean",
    TensorProto.STRING: "string",
    TensorProto.FLOAT8E4M3FN: "f8e4m3",
    TensorProto.FLOAT8E5M2: "f8e5m2",
    TensorProto.FLOAT8E8M0: "f8e8m0",
    TensorProto.FLOAT4E2M1: "f4e2m1",
    TensorProto.INT2: "i2",
    TensorProto.UINT2: "u2",
    **{getattr(TensorProto, f"{prefix}INT{bits}"): f"{name}{bits}" for prefix, name in (("", "i"), ("U", "u"))
       for bits in (4, 8, 16, 32, 64)},
}  # fmt: skip
CODES = {name: code for code, name in TYPES.items()}


def tensor_of(value: Any, name: str) -> openvino.Tensor:
    """Returns the runtime's tensor of a value. It shares the memory of numpy's own types."""
    if not isinstance(value, np.ndarray):
        raise UnsupportedError(f"input '{name}' is a {type(value).__name__}: sequences, optionals and maps are not fed")
    if value.dtype.kind in "OUST":
        held = openvino.Tensor(openvino.Type.string, list(value.shape))
        held.str_data = value.astype(str)
        return held
    code = helper.np_dtype_to_tensor_dtype(value.dtype)
    if code not in TYPES or not hasattr(openvino.Type, TYPES[code]):
        raise UnsupportedError(f"input '{name}' is of type {type_name(code)}")
    array = np.ascontiguousarray(value).reshape(value.shape)
    if value.dtype.isbuiltin == 1:
        return openvino.Tensor(array, shared_memory=True)
    raw = pack(array, code) if code in BITS else array.view(f"u{array.itemsize}")
    return openvino.Tensor(raw, list(array.shape), getattr(openvino.Type, TYPES[code]))


def array_of(tensor: openvino.Tensor, name: str) -> np.ndarray:
    """Returns a copy of a tensor of the runtime."""
    shape, kind = list(tensor.shape), tensor.element_type.to_string()
    if kind not in CODES:
        raise UnsupportedError(f"output '{name}' is of type {kind}, which the standard has not")
    if kind == "string":
        return np.array(tensor.str_data, object).reshape(shape)
    code = CODES[kind]
    raw = np.ascontiguousarray(tensor.data).reshape(-1).view(np.uint8)
    if code in BITS:
        return unpack(raw, code, shape)
    return raw.view(helper.tensor_dtype_to_np_dtype(code)).reshape(shape).copy()


@dataclass
class Loaded:
    request: openvino.InferRequest
    inputs: dict[str, int]  # by name, without those that the compiled model does not read
    outputs: dict[str, int]
    needed: list[str]
    defaults: set[str]


def positions(ports: list[Any]) -> dict[str, int]:
    """Returns the position of each name; a port may have several names."""
    return {name: k for k, port in enumerate(ports) for name in port.get_names()}


def fits(port: Any, info: onnx.ValueInfoProto) -> bool:
    """True if an input of the compiled model can be this one of the graph, by type and shape."""
    kind = info.type.tensor_type
    dims = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in kind.shape.dim]
    shape = openvino.PartialShape(dims) if kind.HasField("shape") else openvino.PartialShape.dynamic()
    known = port.get_element_type().to_string() == TYPES.get(kind.elem_type)
    return known and port.get_partial_shape().compatible(shape)


def positions_of_inputs(inputs: list[onnx.ValueInfoProto], ports: list[Any]) -> dict[str, int]:
    """Returns the position of each input. Those that nothing reads are gone. One that a dropped node only passed on
    has the name of that node's output. It is matched by its place, or by what fits if others are gone."""
    names = {each.name for each in inputs}
    found = {name: k for name, k in positions(ports).items() if name in names}
    lost = [each for each in inputs if each.name not in found]
    unnamed = [k for k in range(len(ports)) if k not in found.values()]
    if len(unnamed) == len(lost):
        return found | {each.name: k for each, k in zip(lost, unnamed, strict=True)}
    for k in unnamed:
        fitting = [each.name for each in lost if fits(ports[k], each)]
        if len(fitting) != 1:
            raise UnsupportedError(f"input {k} of the compiled model has lost its name")
        found[fitting[0]] = k
    return found


def positions_of_outputs(outputs: Sequence[onnx.ValueInfoProto], ports: list[Any]) -> dict[str, int]:
    """Returns the position of each output that it has; one that lost its name is in its place if none is missing."""
    found = positions(ports)
    if len(ports) == len(outputs):
        return {each.name: found.get(each.name, k) for k, each in enumerate(outputs)}
    return {each.name: found[each.name] for each in outputs if each.name in found}


class OpenVino:
    version = openvino.__version__.partition("-")[0]

    def __init__(self) -> None:
        self.core = openvino.Core()

    def load(self, model: bytes, options: dict[str, str]) -> Loaded:
        """Compiles a model. Options: `threads`, 1 without it; `precision` of what is float32, f32 without it.

        `read=file` has the runtime open the model's file, which other code of its ONNX frontend does than reads bytes.
        """
        proto = onnx.ModelProto.FromString(model)
        settings = {
            "INFERENCE_PRECISION_HINT": options.get("precision", "f32"),
            "INFERENCE_NUM_THREADS": options.get("threads", "1"),
            "NUM_STREAMS": "1",
        }
        kept = Path(options["path"]) if options.get("read") == "file" else source(model, proto, options["path"])
        try:
            compiled = self.core.compile_model(self.core.read_model(kept), "CPU", settings)
            request = compiled.create_infer_request()
        except Exception as error:
            raise of_openvino(error, loading=True) from error
        bare = bare_inputs(proto.graph)
        inputs = positions_of_inputs(bare, compiled.inputs)
        outputs = positions_of_outputs(proto.graph.output, compiled.outputs)
        return Loaded(
            request, inputs, outputs, [each.name for each in bare], {each.name for each in proto.graph.initializer}
        )

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        require_all(loaded.needed, feeds)
        for name in loaded.defaults & feeds.keys():
            raise UnsupportedError(f"input '{name}' has a default, which is compiled in")
        tensors = {name: tensor_of(value, name) for name, value in feeds.items()}
        given = {loaded.inputs[name]: tensor for name, tensor in tensors.items() if name in loaded.inputs}
        try:
            loaded.request.start_async(given, share_inputs=True)  # on one thread infer() loses what a kernel throws
            loaded.request.wait()
        except Exception as error:
            raise of_openvino(error, loading=False) from error
        return {name: array_of(loaded.request.get_output_tensor(k), name) for name, k in loaded.outputs.items()}
