"""Converts a recorded node to a model, and its values to arrays and protobuf messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Record = dict[str, Any]


def array_of(value: Record) -> np.ndarray:
    dtype = (
        object
        if value["type"] == "string"
        else helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(value["type"].upper()))
    )
    return np.array(value["data"], dtype=dtype).reshape(value["shape"])


def feed(value: Record) -> Any:
    """The value for runtimes in Python: an array, or a dict for a map."""
    return value["data"] if value["type"].startswith("map(") else array_of(value)


def type_of(value: Record) -> onnx.TypeProto:
    if value["type"].startswith("map("):
        key, _, element = value["type"][4:-1].partition(",")
        codes = [onnx.TensorProto.DataType.Value(name.upper()) for name in (key, element)]
        return helper.make_map_type_proto(codes[0], helper.make_tensor_type_proto(codes[1], []))
    return helper.make_tensor_type_proto(onnx.TensorProto.DataType.Value(value["type"].upper()), None)


def proto_of(value: Record) -> Any:
    """The value as a protobuf message. The only kind of map here has string keys and float values."""
    if not value["type"].startswith("map("):
        return numpy_helper.from_array(array_of(value))
    proto = onnx.MapProto(key_type=onnx.TensorProto.STRING)
    proto.string_keys.extend(key.encode() for key in value["data"])
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.extend(
        numpy_helper.from_array(np.float32(held).reshape(())) for held in value["data"].values()
    )
    return proto


def model_of(record: Record) -> onnx.ModelProto:
    """A model of one ai.onnx.ml node, with the opset that introduced its version."""
    inputs = [helper.make_value_info(f"in_{k}", type_of(each)) for k, each in enumerate(record["inputs"])]
    outputs = [helper.make_value_info(f"out_{k}", type_of(each)) for k, each in enumerate(record["scikit-learn"])]
    node = helper.make_node(
        record["op"], [each.name for each in inputs], [each.name for each in outputs], domain="ai.onnx.ml"
    )
    for name, said in record["attributes"].items():
        node.attribute.append(helper.make_attribute(name, proto_of(said) if isinstance(said, dict) else said))
    graph = helper.make_graph([node], record["name"], inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", record["since"])], ir_version=8)
