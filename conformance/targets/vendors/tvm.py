"""Target tvm: unmodified Apache TVM on the CPU: its ONNX frontend of Relax, its default pipeline, code by LLVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper
from onnx.external_data_helper import load_external_data_for_model
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from conformance.targets.target import UnsupportedError
from conformance.targets.vendors.models import bare_inputs, is_open, require_all, require_tensors, type_name
from conformance.targets.vendors.refusals import of_tvm

# Types whose arrays its binding does not copy: texts, complex numbers, integers of less than a byte.
LACKS = {
    TensorProto.STRING,
    TensorProto.COMPLEX64,
    TensorProto.COMPLEX128,
    TensorProto.INT4,
    TensorProto.UINT4,
    TensorProto.INT2,
    TensorProto.UINT2,
}
TYPES = set(TensorProto.DataType.values()) - LACKS - {TensorProto.UNDEFINED}


def fed(value: Any, name: str) -> Any:
    """Returns the runtime's tensor of an array, a copy."""
    if not isinstance(value, np.ndarray):
        raise UnsupportedError(f"input '{name}' is a {type(value).__name__}: sequences, optionals and maps are not fed")
    code = TensorProto.STRING if value.dtype.kind in "OUST" else helper.np_dtype_to_tensor_dtype(value.dtype)
    if code not in TYPES:
        raise UnsupportedError(f"input '{name}' is of type {type_name(code)}")
    return tvm.runtime.tensor(value)


def given(value: Any, name: str) -> Any:
    """Returns an output as the judge reads it. A sequence is an array of the runtime's own tensors."""
    if isinstance(value, tvm.runtime.Tensor):
        return value.numpy()
    if isinstance(value, tvm.runtime.ShapeTuple):
        return np.array(list(value), np.int64)
    if isinstance(value, tvm.ir.Array):
        return [given(each, name) for each in value]
    raise UnsupportedError(f"output '{name}' is a {type(value).__name__}")


class Loaded:
    """A model, compiled as it is, or for the shapes that are fed where it leaves them open."""

    def __init__(self, proto: onnx.ModelProto, target: str):
        self.proto, self.target = proto, target
        self.ports = bare_inputs(proto.graph)
        require_tensors(self.ports, TYPES)
        self.machines: dict[tuple, Any] = {}  # by shapes
        if not any(map(is_open, self.ports)):
            self.machine({})

    def machine(self, shapes: dict[str, list[int]]) -> Any:
        key = tuple((name, *shape) for name, shape in shapes.items())
        if key not in self.machines:
            try:
                module = from_onnx(self.proto, shape_dict=shapes)
                self.machines[key] = relax.VirtualMachine(tvm.compile(module, self.target), tvm.cpu())
            except Exception as error:
                raise of_tvm(error, loading=True) from error
        return self.machines[key]


class Tvm:
    version = tvm.__version__

    def load(self, model: bytes, options: dict[str, str]) -> Loaded:
        """Compiles a model. Options: `threads`, 1 without it; `target`, llvm without it."""
        proto = onnx.ModelProto.FromString(model)
        load_external_data_for_model(proto, str(Path(options["path"]).parent))
        tvm.get_global_func("runtime.config_threadpool")(1, int(options.get("threads", "1")))
        return Loaded(proto, options.get("target", "llvm"))

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        names = [port.name for port in loaded.ports]
        require_all(names, feeds)
        defaults = [name for name in feeds if name not in names]
        if defaults:
            raise UnsupportedError(f"input '{defaults[0]}' has a default, which is compiled in")
        tensors = [fed(feeds[name], name) for name in names]
        shapes = {port.name: list(feeds[port.name].shape) for port in loaded.ports if is_open(port)}
        machine = loaded.machine(shapes)
        try:
            outputs = machine["main"](*tensors)
        except Exception as error:
            raise of_tvm(error, loading=False) from error
        wanted = [each.name for each in loaded.proto.graph.output]
        every = [outputs] if len(wanted) == 1 else list(outputs)
        return {name: given(value, name) for name, value in zip(wanted, every, strict=False)}
