"""Converts values between the standard's protobuf messages and Python: arrays, lists, None, dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, TypeProto, helper, numpy_helper

Value = Any  # an array, a list of values (sequence), None (empty optional), a dict (map)


class NoValueError(Exception):
    """Output of a target that is no value of the standard; `type` describes it."""

    def __init__(self, type: str):
        super().__init__(type)
        self.type = type


def own(value: Value) -> Value:
    """Returns a writable copy. Arrays backed by a message are read-only, which would hide a target that writes to its
    inputs."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, list):
        return [own(each) for each in value]
    return {key: own(each) for key, each in value.items()} if isinstance(value, dict) else value


def read(data: bytes, declared: TypeProto) -> Value:
    """Reads a file of test data. It carries no tag: the graph's type determines the message."""
    return own(_parsed(data, declared))


def _parsed(data: bytes, declared: TypeProto) -> Value:
    kind = declared.WhichOneof("value")
    if kind == "tensor_type":
        return numpy_helper.to_array(onnx.TensorProto.FromString(data))
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        proto = onnx.OptionalProto.FromString(data)  # an empty one may name its element type
        holds = any(field.name.endswith("_value") for field, _ in proto.ListFields())
        return numpy_helper.to_optional(proto) if holds else None
    if kind == "map_type":
        proto = onnx.MapProto.FromString(data)
        keys = [key.decode() for key in proto.string_keys] or list(proto.keys)
        held = [numpy_helper.to_array(each) for each in proto.values.tensor_values]
        return {key: each.item() if each.ndim == 0 else each for key, each in zip(keys, held, strict=True)}
    raise NotImplementedError(f"inputs of kind {kind} are not read here")


def element(array: np.ndarray) -> int:
    """Returns the standard's code of an array's element type."""
    if array.dtype.kind in "OUST":
        if all(isinstance(each, str | bytes) for each in array.flat):
            return TensorProto.STRING
        raise NoValueError(f"an array of {array.dtype}")
    try:
        return helper.np_dtype_to_tensor_dtype(array.dtype)
    except (KeyError, ValueError) as error:
        raise NoValueError(f"an array of {array.dtype}") from error


def type_of(value: Value, declared: TypeProto | None) -> TypeProto:
    """Returns the type of a value. The declared type decides the ambiguous parts: optional or not, and the element type
    if empty."""
    kind = declared.WhichOneof("value") if declared else None
    if kind == "optional_type":
        inner = declared.optional_type.elem_type
        return declared if value is None else helper.make_optional_type_proto(type_of(value, inner))
    if isinstance(value, np.ndarray):
        return helper.make_tensor_type_proto(element(value), None)
    if isinstance(value, list | tuple):
        inner = declared.sequence_type.elem_type if kind == "sequence_type" else None
        if value:
            return helper.make_sequence_type_proto(type_of(value[0], inner))
        return declared if inner is not None else helper.make_sequence_type_proto(
            helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        )  # fmt: skip
    if isinstance(value, dict) and kind == "map_type":
        return declared
    if isinstance(value, dict) and value:
        return map_of(*next(iter(value.items())))
    raise NoValueError("python " + type(value).__name__)


PLAIN = {str: TensorProto.STRING, int: TensorProto.INT64, float: TensorProto.FLOAT}


def map_of(key: Any, value: Any) -> TypeProto:
    """Returns the type of a map with this entry. A plain Python number has the type that ZipMap uses."""
    kind = TypeProto()
    code = element(np.asarray(value)) if isinstance(value, np.generic) else PLAIN.get(type(value))
    if type(key) not in (str, int) or code is None:
        raise NoValueError(f"python dict of {type(key).__name__} and {type(value).__name__}")
    kind.map_type.key_type = PLAIN[type(key)]
    kind.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(code, []))
    return kind


def text(kind: TypeProto) -> str:
    """Returns the standard's spelling of a type, such as "tensor(float)" or "seq(tensor(int64))"."""
    name = kind.WhichOneof("value")
    if name == "tensor_type":
        return f"tensor({TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()})"
    if name == "sequence_type":
        return f"seq({text(kind.sequence_type.elem_type)})"
    if name == "optional_type":
        return f"optional({text(kind.optional_type.elem_type)})"
    key = TensorProto.DataType.Name(kind.map_type.key_type).lower()
    return f"map({key},{text(kind.map_type.value_type)})"


def _message(value: Value, kind: TypeProto) -> Any:
    name = kind.WhichOneof("value")
    if name == "tensor_type":
        if not isinstance(value, np.ndarray):
            raise NoValueError("python " + type(value).__name__)
        array = value.astype(object) if value.dtype.kind in "UST" else value
        return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
    if name == "sequence_type":
        out = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR)
        inner = kind.sequence_type.elem_type
        for item in value:
            message = _message(item, inner)
            if isinstance(message, onnx.TensorProto):
                out.tensor_values.append(message)
            elif isinstance(message, onnx.MapProto):
                out.elem_type = onnx.SequenceProto.MAP
                out.map_values.append(message)
            else:
                out.elem_type = onnx.SequenceProto.SEQUENCE
                out.sequence_values.append(message)
        return out
    if name == "optional_type":
        out = onnx.OptionalProto()
        if value is not None:
            message = _message(value, kind.optional_type.elem_type)
            if isinstance(message, onnx.TensorProto):
                out.elem_type = onnx.OptionalProto.TENSOR
                out.tensor_value.CopyFrom(message)
            else:
                out.elem_type = onnx.OptionalProto.SEQUENCE
                out.sequence_value.CopyFrom(message)
        return out
    return _map(value, kind.map_type)


def _map(value: dict[Any, Any], kind: TypeProto.Map) -> onnx.MapProto:
    """Serializes a map. Runtimes return plain numbers and strings, which get the types of the declared map."""
    proto = onnx.MapProto(key_type=kind.key_type)
    if kind.key_type == TensorProto.STRING:
        proto.string_keys.extend(str(key).encode() for key in value)
    else:
        proto.keys.extend(int(key) for key in value)
    element = kind.value_type.tensor_type.elem_type
    dtype = object if element == TensorProto.STRING else helper.tensor_dtype_to_np_dtype(element)
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.extend(numpy_helper.from_array(np.asarray(each, dtype=dtype)) for each in value.values())
    return proto


def write(value: Value, declared: TypeProto | None) -> tuple[str, bytes]:
    """Serializes an output: its own type as text, and its bytes."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    kind = type_of(value, declared)
    return text(kind), _message(value, kind).SerializeToString(deterministic=True)


def same(left: Value, right: Value) -> bool:
    """Compares bit for bit: type, shape, every element."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if left.dtype.kind == "O":
            return bool(np.array_equal(left, right))
        return left.tobytes() == right.tobytes()
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return False
    return bool(left == right or (left != left and right != right))  # NaN equals NaN
