"""The standard backend interface, onnx.backend.base: prepare, run_model, run_node, supports_device.

It passes the official runner, onnx.backend.test.BackendTest(touchstone.backend.TouchstoneBackend, __name__).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper
from onnx.backend.base import Backend
from onnx.backend.base import BackendRep as StandardRep

from touchstone import types
from touchstone.errors import Error
from touchstone.session import InferenceSession


class BackendRep(StandardRep):
    """A session that also accepts its inputs by position."""

    def __init__(self, session: InferenceSession):
        self.session = session

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs on inputs by name, by position in graph order, or on a single input. Inputs with a default may be
        omitted.
        """
        if not isinstance(inputs, Mapping):
            given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
            inputs = dict(zip(self._names(len(given)), given, strict=True))
        return tuple(self.session.run(None, inputs))

    def _names(self, count: int) -> list[str]:
        every = self.session.input_names
        bare = [each.name for each in self.session.get_inputs()]
        if count > len(every):
            raise Error("usage", f"{count} inputs are given, but the model has {len(every)}")
        return (bare if count <= len(bare) else every)[:count]


class TouchstoneBackend(Backend):
    """The standard's backend class. Keyword arguments that onnx.backend leaves open are fields of
    touchstone.SessionOptions.
    """

    settings: dict[str, Any] = {}

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        if not cls.supports_device(device):
            raise Error("unsupported", f"there is no device '{device}'; there is 'CPU'")
        return BackendRep(InferenceSession(model.SerializeToString(), **(cls.settings | kwargs)))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node. `inputs` are the values of its named inputs in order; `opset_version` selects the operator's
        version (default: the newest).
        """
        opset = kwargs.pop("opset_version", None) or _newest(node.domain)
        return cls.prepare(_model_of(node, list(inputs), opset), device, **kwargs).run(inputs)


def _newest(domain: str) -> int:
    known = [each.since_version for each in defs.get_all_schemas() if each.domain == domain]
    if not known:
        raise Error("unsupported", f"the domain '{domain}' is unknown", help="say opset_version=")
    return max([*known, defs.onnx_opset_version()] if domain == "" else known)


def _model_of(node: onnx.NodeProto, inputs: list[Any], opset: int) -> onnx.ModelProto:
    names = [name for name in node.input if name]
    ports = [helper.make_value_info(name, _type_of(each)) for name, each in zip(names, inputs, strict=True)]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "node", ports, outputs)
    imports = [helper.make_opsetid(node.domain, opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=onnx.IR_VERSION)


def _type_of(value: Any) -> onnx.TypeProto:
    if isinstance(value, list | tuple):
        if not value:
            raise Error("unsupported", "of what an empty list is a sequence cannot be seen", help="use run_model")
        return helper.make_sequence_type_proto(_type_of(value[0]))
    array = np.asarray(value)
    code = types.code_of(array.dtype)
    if code is None:
        raise Error("usage", f"an array of {array.dtype} is no value of the standard")
    return helper.make_tensor_type_proto(code, array.shape)


is_compatible = TouchstoneBackend.is_compatible
prepare = TouchstoneBackend.prepare
run_model = TouchstoneBackend.run_model
run_node = TouchstoneBackend.run_node
supports_device = TouchstoneBackend.supports_device
