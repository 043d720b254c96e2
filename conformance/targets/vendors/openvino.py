"""Target openvino: unmodified OpenVINO on the CPU. It computes in float32, without bfloat16 and AMX, unless asked for less."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

from conformance.targets.target import (
    InvalidInputError,
    InvalidModelError,
    OutOfMemoryError,
    TargetError,
    UnsupportedError,
)
from conformance.targets.vendors.packed import BITS, pack, unpack
from conformance.targets.vendors.models import bare_inputs, source

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
# Every refusal is a RuntimeError: only messages distinguish them.
INVALID = ("node not found in graph cache", "Please check if the model format is supported and model is correct")
NO_MEMORY = re.compile(r"bad_alloc|bad allocation|[Nn]ot enough memory|Failed to allocate")
LACKS = re.compile(r"[Nn]ot ?[Ii]mplemented|[Uu]nsupported|(is|are) not supported|doesn't support|does not support")
BAD_FEED = re.compile(r"set_(input_)?tensor|tensor (size|shape|type) .* (mismatch|not compatible)", re.IGNORECASE)


def classified(error: Exception, loading: bool) -> TargetError:
    """Classifies an error by its text. A failure while loading means that it cannot run the model: a refusal."""
    text = str(error).strip()
    if isinstance(error, MemoryError) or NO_MEMORY.search(text):
        return OutOfMemoryError(text)
    if loading:
        return InvalidModelError(text) if any(word in text for word in INVALID) else UnsupportedError(text)
    if BAD_FEED.search(text):
        return InvalidInputError(text)
    return UnsupportedError(text) if LACKS.search(text) else TargetError(text)


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
        raise UnsupportedError(f"input '{name}' is of type {TensorProto.DataType.Name(code).lower()}")
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
    return unpack(raw, code, shape) if code in BITS else raw.view(helper.tensor_dtype_to_np_dtype(code)).reshape(shape).copy()


@dataclass
class Loaded:
    request: openvino.InferRequest
    inputs: dict[str, int]  # by name, without those that the compiled model does not read
    outputs: dict[str, int]
    defaults: set[str]


def positions(ports: list[Any]) -> dict[str, int]:
    """Returns the position of each name; a port may have several names."""
    return {name: k for k, port in enumerate(ports) for name in port.get_names()}


def positions_of_inputs(names: list[str], ports: list[Any]) -> dict[str, int]:
    """Returns the position of each input. Inputs that are not read are gone, and one that a dropped node only passed on has
    the name of that node's output: such names are matched in order."""
    found = {name: k for name, k in positions(ports).items() if name in names}
    unnamed = [k for k in range(len(ports)) if k not in found.values()]
    lost = [name for name in names if name not in found]
    if unnamed and len(unnamed) != len(lost):
        raise UnsupportedError(f"which of the inputs {', '.join(lost)} it dropped cannot be seen")
    return found | dict(zip(lost, unnamed, strict=False))


class OpenVino:
    version = openvino.__version__

    def __init__(self) -> None:
        self.core = openvino.Core()

    def load(self, model: bytes, options: dict[str, str]) -> Loaded:
        """Compiles a model. Options: `threads`, 1 without it; `precision` of what is float32, f32 without it."""
        proto = onnx.ModelProto.FromString(model)
        settings = {
            "INFERENCE_PRECISION_HINT": options.get("precision", "f32"),
            "INFERENCE_NUM_THREADS": options.get("threads", "1"),
            "NUM_STREAMS": "1",
        }
        try:
            compiled = self.core.compile_model(self.core.read_model(source(model, proto, options["path"])), "CPU", settings)
            request = compiled.create_infer_request()
        except Exception as error:
            raise classified(error, loading=True) from error
        inputs = positions_of_inputs([port.name for port in bare_inputs(proto.graph)], compiled.inputs)
        by_name = positions(compiled.outputs)
        outputs = {each.name: by_name.get(each.name, k) for k, each in enumerate(proto.graph.output)}
        return Loaded(request, inputs, outputs, {each.name for each in proto.graph.initializer})

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        for name in loaded.defaults & feeds.keys():
            raise UnsupportedError(f"input '{name}' has a default, which is compiled in")
        tensors = {name: tensor_of(value, name) for name, value in feeds.items()}
        given = {loaded.inputs[name]: tensor for name, tensor in tensors.items() if name in loaded.inputs}
        try:
            loaded.request.infer(given, share_inputs=True)
        except Exception as error:
            raise classified(error, loading=False) from error
        return {name: array_of(loaded.request.get_output_tensor(k), name) for name, k in loaded.outputs.items()}
