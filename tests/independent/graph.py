"""Evaluates a model: the nodes of a graph in order, subgraphs of control flow, and model-local functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from tests.independent.node import run_node
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import Map, Optional, Sequence, Tensor, from_array, stored, to_array

STANDARD = ("", "ai.onnx")


def spelled(proto: onnx.TypeProto) -> str:
    """A declared type in the notation of entries."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return onnx.TensorProto.DataType.Name(proto.tensor_type.elem_type).lower()
    if kind == "sequence_type":
        return f"seq({spelled(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({spelled(proto.optional_type.elem_type)})"
    if kind == "map_type":
        key = onnx.TensorProto.DataType.Name(proto.map_type.key_type).lower()
        return f"map({key},{spelled(proto.map_type.value_type)})"
    raise LeftOut(f"type: {kind}")


def fed(value: Any, proto: onnx.TypeProto) -> Any:
    """Converts a feed in the form of Python runtimes to a value of its declared type."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return from_array(value)
    if kind == "sequence_type":
        inner = proto.sequence_type.elem_type
        return Sequence(spelled(inner), [fed(one, inner) for one in value])
    if kind == "optional_type":
        inner = proto.optional_type.elem_type
        return Optional(spelled(inner), None if value is None else fed(value, inner))
    of = onnx.TensorProto.DataType.Name(proto.map_type.value_type.tensor_type.elem_type).lower()
    key = onnx.TensorProto.DataType.Name(proto.map_type.key_type).lower()
    dtype = (
        object
        if of == "string"
        else onnx.helper.tensor_dtype_to_np_dtype(proto.map_type.value_type.tensor_type.elem_type)
    )
    return Map(key, of, {k: from_array(np.asarray(v, dtype=dtype)) for k, v in value.items()})


def bound(value: Any, proto: onnx.TypeProto) -> Any:
    """A value as an input of a body: where an optional is declared, an element alone becomes one that holds it."""
    if proto.WhichOneof("value") != "optional_type" or value is None or isinstance(value, Optional):
        return value
    return Optional(spelled(proto.optional_type.elem_type), value)


def shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return to_array(value)
    if isinstance(value, Sequence):
        return [shown(one) for one in value]
    if isinstance(value, Optional):
        return None if value.value is None else shown(value.value)
    return {key: shown(one)[()] for key, one in value.items()}


class Graph:
    """A graph under evaluation: its values by name, and the enclosing graph."""

    def __init__(self, opsets: dict[str, int], functions: dict[tuple[str, str], Any], around: Graph | None = None):
        self.opsets, self.functions, self.around = opsets, functions, around
        self.values: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if self.around is None:
            raise Refusal(f"there is no value '{name}'", "model/value")
        return self.around.value(name)

    def run(self, proto: onnx.GraphProto, given: dict[str, Any]) -> list[Any]:
        for tensor in proto.initializer:
            self.values[tensor.name] = from_array(onnx.numpy_helper.to_array(tensor))
        if proto.sparse_initializer:
            raise LeftOut("type: sparse tensors")
        self.values |= given
        self.nodes(list(proto.node))
        return [self.value(output.name) for output in proto.output]

    def nodes(self, nodes: list[onnx.NodeProto]) -> None:
        for node in nodes:
            values = [self.value(name) if name else None for name in node.input]
            domain = "" if node.domain in STANDARD else node.domain
            function = self.functions.get((node.domain, node.op_type))
            made = (
                self.function(function, node, values) if function else run_node(node, self.opsets[domain], values, self)
            )
            for name, value in zip(node.output, made, strict=True):
                if name:
                    self.values[name] = stored(value)

    def body(self, proto: onnx.GraphProto, values: list[Any]) -> list[Any]:
        inner = Graph(self.opsets, self.functions, self)
        return inner.run(
            proto, {port.name: bound(value, port.type) for port, value in zip(proto.input, values, strict=True)}
        )

    def function(self, function: onnx.FunctionProto, node: onnx.NodeProto, values: list[Any]) -> list[Any]:
        opsets = self.opsets | {"" if o.domain in STANDARD else o.domain: o.version for o in function.opset_import}
        inner = Graph(opsets, self.functions)
        inner.values = dict(zip(function.input, values, strict=False))
        for name in function.input[len(values) :]:
            inner.values[name] = None
        said = {a.name: a for a in [*function.attribute_proto, *node.attribute]}
        inner.nodes([with_attributes(each, said) for each in function.node])
        return [inner.value(name) for name in function.output][: len(node.output)]


def with_attributes(node: onnx.NodeProto, said: dict[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """A function's node, with attribute references replaced by the call's attributes."""
    made = onnx.NodeProto()
    made.CopyFrom(node)
    del made.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in said:
                copy = made.attribute.add()
                copy.CopyFrom(said[attribute.ref_attr_name])
                copy.name = attribute.name
            continue
        copy = made.attribute.add()
        copy.CopyFrom(attribute)
        if copy.type == onnx.AttributeProto.GRAPH:
            nodes = [with_attributes(each, said) for each in copy.g.node]
            del copy.g.node[:]
            copy.g.node.extend(nodes)
    return made


def check_feeds(model: onnx.ModelProto, feeds: dict[str, Any]) -> None:
    symbols: dict[str, int] = {}
    for port in model.graph.input:
        value = feeds.get(port.name)
        if not isinstance(value, Tensor) or not port.type.tensor_type.HasField("shape"):
            continue
        dims = port.type.tensor_type.shape.dim
        wrong = len(dims) != len(value.shape)
        for dim, size in zip(dims, value.shape, strict=False):
            wrong |= dim.HasField("dim_value") and dim.dim_value != size
            wrong |= bool(dim.dim_param) and symbols.setdefault(dim.dim_param, size) != size
        if wrong:
            raise Refusal(f"'{port.name}' has shape {list(value.shape)}, which is not the declared one", "feed/shape")


def run_model(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
    opsets = {"" if o.domain in STANDARD else o.domain: o.version for o in model.opset_import}
    functions = {(f.domain, f.name): f for f in model.functions}
    given = {port.name: fed(feeds[port.name], port.type) for port in model.graph.input if port.name in feeds}
    check_feeds(model, given)
    outputs = Graph(opsets, functions).run(model.graph, given)
    return {port.name: shown(value) for port, value in zip(model.graph.output, outputs, strict=True)}
