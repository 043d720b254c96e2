"""Converts literal values of cases (nested lists, or {type: int8, shape: [2, 0], data: [...]}) to ONNX protos.

A sequence is {type: seq(float), data: [value, ...]}, an optional {type: optional(float), data: value or null}, a map
{type: "map(int64,float)", data: {key: value, ...}}; all of them nest. An attribute of kind type is written as a type
(seq(float)), a graph in the standard's text form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

from codegen.value_types import ELEMENTS

KEYS = {"type", "shape", "data"}
# Types of a bare number where several types are allowed, in order of preference.
LIKELY = {float: ("float",), int: ("int64", "int32"), bool: ("bool",), str: ("string",)}


@dataclass
class Tensor:
    array: np.ndarray
    type: str
    shaped: bool = True  # False: only the type is known, as for an output of a refused node

    def type_proto(self) -> onnx.TypeProto:
        return helper.make_tensor_type_proto(code_of(self.type), self.array.shape if self.shaped else None)


@dataclass
class Sequence:
    items: list[Literal]
    type: str

    def type_proto(self) -> onnx.TypeProto:
        return type_proto_of(self.type)

    def proto(self) -> onnx.SequenceProto:
        proto = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR)
        if inside(self.type, "seq").startswith("map("):
            proto.elem_type = onnx.SequenceProto.MAP
            proto.map_values.extend(item.proto() for item in self.items)
            return proto
        if not self.type.startswith("seq(") or inside(self.type, "seq") not in ELEMENTS:
            raise ValueError(f"a case cannot hold a {self.type}")
        proto.tensor_values.extend(numpy_helper.from_array(item.array) for item in self.items)
        return proto


@dataclass
class Optional:
    item: Literal | None
    type: str

    def type_proto(self) -> onnx.TypeProto:
        return type_proto_of(self.type)

    def proto(self) -> onnx.OptionalProto:
        proto = onnx.OptionalProto()
        if isinstance(self.item, Tensor):
            proto.elem_type = onnx.OptionalProto.TENSOR
            proto.tensor_value.CopyFrom(numpy_helper.from_array(self.item.array))
        elif isinstance(self.item, Sequence):
            proto.elem_type = onnx.OptionalProto.SEQUENCE
            proto.sequence_value.CopyFrom(self.item.proto())
        return proto


@dataclass
class Map:
    items: dict[int | str, Tensor]
    type: str

    def type_proto(self) -> onnx.TypeProto:
        return type_proto_of(self.type)

    def proto(self) -> onnx.MapProto:
        key, element = map_types(self.type)
        proto = onnx.MapProto(key_type=code_of(key))
        if key == "string":
            proto.string_keys.extend(str(each).encode() for each in self.items)
        else:
            proto.keys.extend(self.items)
        proto.values.elem_type = onnx.SequenceProto.TENSOR
        proto.values.tensor_values.extend(numpy_helper.from_array(item.array) for item in self.items.values())
        return proto


Literal = Tensor | Sequence | Optional | Map


def is_tensor(value: Literal) -> bool:
    return isinstance(value, Tensor)


def code_of(element: str) -> int:
    if element not in ELEMENTS:
        raise ValueError(f"a literal cannot be of type {element}")
    return ELEMENTS.index(element) + 1


def literal(says: Any, bare: Callable[[Any], str]) -> Literal:
    """Returns the value of a case. `bare` gives the type for a literal without one, from its first number."""
    if not isinstance(says, dict):
        return tensor(bare(first_of(says)), says, None)
    if not says.keys() <= KEYS or "type" not in says:
        raise ValueError(f"a value is nested lists or {{type, shape, data}}, not {says}")
    type_, data = says["type"], says.get("data")
    if (element := inside(type_, "seq")) is not None:
        return Sequence([_item(element, one) for one in data or []], type_)
    if (element := inside(type_, "optional")) is not None:
        return Optional(None if data is None else _item(element, data), type_)
    if type_.startswith("map("):
        key, element = map_types(type_)
        keys = [each if key == "string" else int(each) for each in data or {}]  # YAML keys are strings
        return Map(
            {each: tensor(element, one, []) for each, one in zip(keys, (data or {}).values(), strict=True)}, type_
        )
    return tensor(type_, says.get("data", []), says.get("shape"))


def map_types(type_: str) -> tuple[str, str]:
    """Splits map(int64,float) into int64 and float."""
    key, _, element = type_.removeprefix("map(").removesuffix(")").partition(",")
    return key, element


def inside(type_: str, wrapper: str) -> str | None:
    """Returns T for `wrapper(T)`, as float for seq(float); None for any other type."""
    return type_[len(wrapper) + 1 : -1] if type_.startswith(f"{wrapper}(") and type_.endswith(")") else None


def type_proto_of(type_: str) -> onnx.TypeProto:
    """Returns the type without shapes."""
    if (element := inside(type_, "seq")) is not None:
        return helper.make_sequence_type_proto(type_proto_of(element))
    if (element := inside(type_, "optional")) is not None:
        return helper.make_optional_type_proto(type_proto_of(element))
    if type_.startswith("map("):
        key, element = map_types(type_)
        return helper.make_map_type_proto(code_of(key), helper.make_tensor_type_proto(code_of(element), []))
    return helper.make_tensor_type_proto(code_of(type_), None)


def no_value(type_: str) -> Literal:
    """Output of a refused node, of which only the type is known."""
    if inside(type_, "seq") is not None:
        return Sequence([], type_)
    if inside(type_, "optional") is not None:
        return Optional(None, type_)
    return Tensor(np.zeros(0, np.float32), type_, shaped=False)


def _item(type_: str, says: Any) -> Literal:
    if (inside(type_, "seq") is not None and not isinstance(says, dict)) or type_.startswith("map("):
        says = {"type": type_, "data": says}
    value = literal(says, lambda _: type_)
    if value.type != type_:
        raise ValueError(f"an item is {value.type}, not {type_}")
    return value


def tensor(element: str, data: Any, shape: list[int] | None) -> Tensor:
    dtype = helper.tensor_dtype_to_np_dtype(code_of(element))
    flat = _flat(data)
    if element == "string":
        array = np.array([_text(item) for item in flat], dtype=object)
    elif element == "bool":
        array = np.array([_bool(item) for item in flat], dtype=dtype)
    elif dtype.kind in "iu":
        array = np.array([_whole(item) for item in flat], dtype=dtype)  # numpy refuses a number that does not fit
    elif dtype.kind == "c":
        array = np.array([complex(*item) if isinstance(item, tuple) else complex(item) for item in flat], dtype=dtype)
    else:
        # Through double, so that the number of an entry is rounded once.
        array = np.array([_number(item) for item in flat], dtype=np.float64).astype(dtype)
        if element in ("int4", "uint4", "int2", "uint2") and not np.array_equal(array.astype(np.float64), flat):
            raise ValueError(f"{data} does not fit {element}")
    wanted = shape if shape is not None else _shape(data)
    if math.prod(wanted) != len(flat):
        raise ValueError(f"{len(flat)} elements do not fill the shape {wanted}")
    return Tensor(array.reshape(wanted), element)


def _shape(data: Any) -> list[int]:
    if not isinstance(data, list):
        return []
    shapes = [_shape(item) for item in data]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"{data} is ragged")
    return [len(data), *(shapes[0] if shapes else [])]


def _flat(data: Any) -> list[Any]:
    if not isinstance(data, list):
        return [data]
    return [item for part in data for item in _flat(part)]


def first_of(data: Any) -> Any:
    flat = _flat(data)
    if not flat:
        raise ValueError("an empty value says its type and shape")
    return flat[0]


def _number(item: Any) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise ValueError(f"{item!r} is no number")
    return float(item)


def _whole(item: Any) -> int:
    if isinstance(item, bool) or not isinstance(item, int):
        raise ValueError(f"{item!r} is no integer")
    return item


def _bool(item: Any) -> bool:
    if not isinstance(item, bool):
        raise ValueError(f"{item!r} is neither true nor false")
    return item


def _text(item: Any) -> str:
    if not isinstance(item, str):
        raise ValueError(f"{item!r} is no text: quote it")
    return item


def element_by_literal(first: Any, allowed: list[str], name: str) -> str:
    """Returns the type of a bare literal that nothing else binds."""
    if len(allowed) == 1:
        return allowed[0]
    for element in LIKELY.get(type(first), ()):
        if element in allowed:
            return element
    raise ValueError(f"{name}: {first!r} may be {', '.join(allowed)}: write {{type: .., shape: .., data: ..}}")


def attribute_value(kind: str, says: Any) -> Any:
    if kind == "tensor":
        value = literal(says, lambda first: element_by_literal(first, list(ELEMENTS), "a tensor"))
        if not isinstance(value, Tensor):
            raise ValueError("a tensor attribute holds a tensor")
        return numpy_helper.from_array(value.array)
    if kind == "type":
        return type_proto_of(_text(says))
    if kind == "graph":
        return onnx.parser.parse_graph(_text(says))
    checks: dict[str, Callable[[Any], Any]] = {"int": _whole, "float": _number, "string": _text}
    check = checks.get(kind.removesuffix("s"))
    if check is None:
        raise ValueError(f"a case cannot give an attribute of kind {kind}")
    if not kind.endswith("s"):
        return check(says)
    if not isinstance(says, list):
        raise ValueError(f"{says!r} is no list")
    return [check(item) for item in says]
