"""Target tract: the Python binding of unmodified tract, on the CPU."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["RUST_BACKTRACE"] = os.environ["RUST_LIB_BACKTRACE"] = "0"  # errors are messages, not stacks

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tract  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

from conformance.targets.target import UnsupportedError  # noqa: E402
from conformance.targets.vendors.models import (  # noqa: E402
    bare_inputs,
    is_open,
    require_all,
    require_tensors,
    source,
    type_name,
)
from conformance.targets.vendors.refusals import of_tract  # noqa: E402

# The standard's element types that its binding takes and gives, by its own names.
TYPES = {
    TensorProto.BOOL: "bool",
    TensorProto.FLOAT16: "f16",
    TensorProto.FLOAT: "f32",
    TensorProto.DOUBLE: "f64",
    **{getattr(TensorProto, f"{prefix}INT{bits}"): f"{name}{bits}" for prefix, name in (("", "i"), ("U", "u"))
       for bits in (8, 16, 32, 64)},
}  # fmt: skip


class Loaded:
    """A model, compiled as it is, or for the shapes that are fed where it leaves them open."""

    def __init__(self, proto: onnx.ModelProto, kept: bytes | Path):
        self.proto, self.kept = proto, kept
        self.ports = bare_inputs(proto.graph)
        require_tensors(self.ports, TYPES)
        self.plans: dict[tuple, tuple[list[str], tract.Runnable]] = {}  # by shapes
        if not any(map(is_open, self.ports)):
            self.plan({})

    def read(self) -> tract.InferenceModel:
        """Loads the model. Its binding takes only paths, so bytes are a file in memory."""
        if isinstance(self.kept, Path):
            return tract.onnx().load(self.kept)
        with os.fdopen(os.memfd_create("model"), "wb") as file:
            file.write(self.kept)
            file.flush()
            return tract.onnx().load(f"/proc/self/fd/{file.fileno()}")

    def plan(self, facts: dict[str, str]) -> tuple[list[str], tract.Runnable]:
        """Returns the names of the inputs in its own order, and the compiled model."""
        key = tuple(facts.items())
        if key not in self.plans:
            try:
                model = self.read()
                names = [model.input_name(k) for k in range(model.input_count())]
                for k, name in enumerate(names):
                    if name in facts:
                        model.set_input_fact(k, facts[name])
                self.plans[key] = names, model.into_model().into_runnable()
            except Exception as error:
                raise of_tract(error, loading=True) from error
        return self.plans[key]


def array_of(tensor: tract.Tensor, name: str) -> np.ndarray:
    """Returns an output. Its own integers of dimensions are the standard's int64."""
    try:
        kind = tensor.datum_type()
    except tract.TractError as error:
        if "TDim" not in str(error):
            raise UnsupportedError(f"output '{name}': {error}") from error
        return tensor.convert_to(tract.DatumType.I64).to_numpy()
    if kind.name.startswith("COMPLEX"):
        raise UnsupportedError(f"output '{name}' is of type {kind.name}")
    return tensor.to_numpy()


class Tract:
    version = tract.version()

    def load(self, model: bytes, options: dict[str, str]) -> Loaded:
        proto = onnx.ModelProto.FromString(model)
        return Loaded(proto, source(model, proto, options["path"]))

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        require_all([port.name for port in loaded.ports], feeds)
        facts = {}
        for name, value in feeds.items():
            if not isinstance(value, np.ndarray):
                raise UnsupportedError(f"input '{name}' is a {type(value).__name__}")
            code = TensorProto.STRING if value.dtype.kind in "OUST" else helper.np_dtype_to_tensor_dtype(value.dtype)
            if code not in TYPES:
                raise UnsupportedError(f"input '{name}' is of type {type_name(code)}")
            facts[name] = ",".join([*map(str, value.shape), TYPES[code]])
        left = {port.name: facts[port.name] for port in loaded.ports if is_open(port) and port.name in facts}
        names, plan = loaded.plan(left)
        unknown = [name for name in feeds if name not in names]
        if unknown:
            raise UnsupportedError(f"input '{unknown[0]}' has a default, which is compiled in")
        try:
            outputs = plan.run([feeds[name] for name in names])
        except Exception as error:
            raise of_tract(error, loading=False) from error
        wanted = [each.name for each in loaded.proto.graph.output]
        return {name: array_of(value, name) for name, value in zip(wanted, outputs, strict=False)}
