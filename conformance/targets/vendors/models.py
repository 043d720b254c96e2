"""Questions to a model before a released runtime loads it: its data, its inputs, their shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto
from onnx.external_data_helper import load_external_data_for_model, uses_external_data

from conformance.targets.target import InvalidInputError, UnsupportedError


def tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    """Yields all tensors that a graph and its subgraphs store."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for attribute in (each for node in graph.node for each in node.attribute):
        yield from (attribute.t, *attribute.tensors)
        for body in (attribute.g, *attribute.graphs):
            yield from tensors(body)


def source(model: bytes, proto: onnx.ModelProto, path: str) -> bytes | Path:
    """Returns the bytes if they are the whole model, else its path. A model that is not its file gets its data."""
    if not any(map(uses_external_data, tensors(proto.graph))):
        return model
    file = Path(path)
    if file.read_bytes() == model:
        return file
    whole = onnx.ModelProto.FromString(model)
    load_external_data_for_model(whole, str(file.parent))
    return whole.SerializeToString()


def type_name(code: int) -> str:
    return TensorProto.DataType.Name(code).lower()


def bare_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Returns the inputs that have no default."""
    defaults = {each.name for each in graph.initializer}
    return [port for port in graph.input if port.name not in defaults]


def require_tensors(ports: Collection[onnx.ValueInfoProto], known: Collection[int]) -> None:
    """Raises UnsupportedError for an input or output that is no tensor, or one whose element type is not known."""
    for port in ports:
        kind = port.type.WhichOneof("value") or "nothing"
        if kind != "tensor_type":
            raise UnsupportedError(f"'{port.name}' is no tensor but of kind {kind.removesuffix('_type')}")
        if port.type.tensor_type.elem_type not in known:
            raise UnsupportedError(f"'{port.name}' is of type {type_name(port.type.tensor_type.elem_type)}")


def require_all(names: Collection[str], feeds: dict[str, Any]) -> None:
    """Raises InvalidInputError for an input that nothing feeds."""
    for name in names:
        if name not in feeds:
            raise InvalidInputError(f"nothing feeds the input '{name}'")


def is_open(port: onnx.ValueInfoProto) -> bool:
    """True if a dimension of an input, or their number, is left to what is fed."""
    kind = port.type.tensor_type
    return not kind.HasField("shape") or not all(dim.HasField("dim_value") for dim in kind.shape.dim)
