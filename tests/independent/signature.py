"""Signature checks of every node: counts and types of inputs and outputs, attributes."""

from __future__ import annotations

import re
import struct
from typing import Any

import onnx

from codegen.entry import MISSING, Parameter, Version
from codegen.value_types import ELEMENTS
from tests.independent.formats import decode
from tests.independent.refusal import Refusal
from tests.independent.tensors import from_array, type_text

KINDS = {number: name.lower() for name, number in onnx.AttributeProto.AttributeType.items()}
WRAPPED = re.compile(r"(seq|optional|sparse)\((.*)\)\Z")


def number32(x: float) -> Any:
    """The exact value of a float attribute, which has 32 bits."""
    return decode("float", struct.unpack("<I", struct.pack("<f", x))[0])


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def attribute_value(proto: onnx.AttributeProto) -> Any:
    kind = KINDS[proto.type]
    if kind == "int":
        return proto.i
    if kind == "float":
        return number32(proto.f)
    if kind == "string":
        return text(proto.s)
    if kind == "ints":
        return tuple(proto.ints)
    if kind == "floats":
        return tuple(map(number32, proto.floats))
    if kind == "strings":
        return tuple(map(text, proto.strings))
    if kind == "tensor":
        return from_array(onnx.numpy_helper.to_array(proto.t))
    field = {"graph": "g", "type_proto": "tp", "sparse_tensor": "sparse_tensor"}.get(kind, kind)
    return getattr(proto, field)


def default_value(kind: str, default: Any) -> Any:
    if kind == "float":
        return number32(default)
    if kind == "floats":
        return tuple(map(number32, default))
    return tuple(default) if isinstance(default, list) else default


def check_attributes(version: Version, protos: list[onnx.AttributeProto]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for proto in protos:
        known = version.attribute(proto.name)
        if known is None:
            raise Refusal(f"{version.name} has no attribute '{proto.name}'", "model/attribute-unknown")
        kind = {"type_proto": "type", "type_protos": "types"}.get(KINDS[proto.type], KINDS[proto.type])
        if kind != known.kind:
            raise Refusal(f"{version.name}: '{proto.name}' is {kind}, not {known.kind}", "model/attribute-kind")
        given[proto.name] = attribute_value(proto)
    for known in version.attributes:
        if known.required and known.name not in given:
            raise Refusal(f"{version.name} needs the attribute '{known.name}'", "model/attribute-missing")
    return given


def with_defaults(version: Version, given: dict[str, Any]) -> dict[str, Any]:
    made = {a.name: default_value(a.kind, a.default) for a in version.attributes if a.default is not MISSING}
    return made | given


def check_count(version: Version, ports: list[Parameter], names: list[str], what: str) -> None:
    least = 0
    for k, p in enumerate(ports):
        if p.variadic:
            least = max(least, k + p.least)
        elif not p.optional:
            least = k + 1
    variadic = bool(ports) and ports[-1].variadic
    if (len(names) > len(ports) and not variadic) or (len(names) < least):
        raise Refusal(f"{version.name} does not take {len(names)} {what}s", f"model/{what}-count")
    for k, name in enumerate(names):
        p = ports[min(k, len(ports) - 1)]
        if not name and not p.optional and not (p.variadic and k >= len(ports) - 1 + p.least):
            raise Refusal(f"{version.name}: {what} {p.name} is left out", f"model/{what}-missing")


def matches(pattern: str, type_: str, version: Version, bound: dict[str, str]) -> bool:
    """True if a type matches a parameter's type; binds a constraint at its first use."""
    if pattern in version.types:
        if pattern in bound:
            return bound[pattern] == type_
        bound[pattern] = type_
        return type_ in version.types[pattern]
    if pattern in ELEMENTS:
        return pattern == type_
    outer, inner = WRAPPED.match(pattern), WRAPPED.match(type_)
    if outer:
        return inner is not None and inner[1] == outer[1] and matches(outer[2], inner[2], version, bound)
    return pattern == type_


def bind_types(version: Version, values: list[Any]) -> dict[str, str]:
    """The type of each constraint that an input binds, or that allows only one type."""
    bound: dict[str, str] = {}
    for k, value in enumerate(values):
        if value is None:
            continue
        p = version.inputs[min(k, len(version.inputs) - 1)]
        type_ = type_text(value)
        before = dict(bound)
        if p.variadic and not p.homogeneous:
            bound.pop(p.type, None)
        fits = matches(p.type, type_, version, bound)
        if p.variadic and not p.homogeneous:
            bound = before | ({p.type: type_} if p.type not in before else {})
        if not fits:
            raise Refusal(f"{version.name}: input {p.name} is {type_}, but {p.type} is wanted", "model/type")
    for name, allowed in version.types.items():
        if name not in bound and len(allowed) == 1:
            bound[name] = allowed[0]
    return bound


def checked_inputs(version: Version, values: list[Any]) -> dict[str, Any]:
    """Input values by parameter name; a list for a variadic parameter."""
    made: dict[str, Any] = {}
    for k, p in enumerate(version.inputs):
        if p.variadic:
            made[p.name] = list(values[k:])
        else:
            made[p.name] = values[k] if k < len(values) else None
    return made
