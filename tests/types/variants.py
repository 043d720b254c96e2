"""Variants of literal cases: one node of a version with one of its type variables at each type that the standard
allows.

A hand-written case has inputs and attributes that fit together. Only the types of its values change, and the numbers as
far as they must. Outputs are not compared, since literal cases, suites and tests/codes do that: the test only checks
that the reference supports the type.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from codegen.case_values import (
    Literal,
    Map,
    Optional,
    Sequence,
    Tensor,
    code_of,
    element_by_literal,
    inside,
    literal,
)
from codegen.emit_cases import Maker
from codegen.entry import Parameter, Version
from codegen.value_types import ELEMENTS

WORD = re.compile(rf"\b({'|'.join(ELEMENTS)})\b")


@dataclass(frozen=True)
class Wanted:
    """A version, one of its type variables, and a type for it."""

    version: Version
    variable: str
    type: str

    @property
    def name(self) -> str:
        return f"{self.version.domain}/{self.version.name}/{self.variable}={self.type}"


def elements_of(type_: str) -> str:
    """The container around the elements: seq(?) for seq(float)."""
    return WORD.sub("?", type_)


def retyped(value: Literal, type_: str) -> Literal:
    """The same value with elements of another type. Raises ValueError if the container differs."""
    if elements_of(value.type) != elements_of(type_):
        raise ValueError(f"a {value.type} is no {type_}")
    if isinstance(value, Tensor):
        return Tensor(converted(value.array, type_), type_, value.shaped)
    if isinstance(value, Map):
        key, element = WORD.findall(type_)
        items = {
            (str(each) if key == "string" else number(each)): retyped(one, element) for each, one in value.items.items()
        }
        return Map(items, type_)
    inner = inside(type_, "seq" if isinstance(value, Sequence) else "optional") or ""
    if isinstance(value, Sequence):
        return Sequence([retyped(each, inner) for each in value.items], type_)
    return Optional(None if value.item is None else retyped(value.item, inner), type_)


def number(word: Any) -> int:
    return int(word) if re.fullmatch(r"-?\d+", str(word)) else len(str(word))


def converted(array: np.ndarray, type_: str) -> np.ndarray:
    """Converts to the nearest value of the type: strings to their lengths, numbers to their digits."""
    dtype = helper.tensor_dtype_to_np_dtype(code_of(type_))
    if array.dtype == object:
        array = np.array([number(word) for word in array.ravel()], np.float64).reshape(array.shape)
    if type_ == "string":
        return np.array([f"{each:g}" for each in array.astype(np.float64).ravel()], dtype=object).reshape(array.shape)
    if array.dtype.kind == "c":
        return array.astype(dtype) if dtype.kind == "c" else array.real.astype(dtype)
    wide = array.astype(np.float64)
    if type_ == "bool":
        return wide != 0
    if (limits := whole_limits(type_)) is not None:
        wide = np.clip(np.nan_to_num(np.rint(wide)), *limits)
    with np.errstate(over="ignore"):
        return wide.astype(dtype)


def whole_limits(type_: str) -> tuple[float, float] | None:
    match = re.fullmatch(r"(u?)int(\d+)", type_)
    if not match:
        return None
    bits = int(match[2])
    if match[1]:
        return 0.0, float(2 ** min(bits, 52) - 1)
    return -float(2 ** (min(bits, 53) - 1)), float(2 ** (min(bits, 53) - 1) - 1)


class Watching(Maker):
    """Makes a case and records the element types of each variable; several inputs of one variable may differ."""

    def __init__(self, version: Version, says: dict[str, Any]):
        super().__init__(version, says)
        self.elements: dict[str, list[str]] = defaultdict(list)

    def value(self, parameter: Parameter, says: Any) -> Literal:
        made = super().value(parameter, says)
        for variable in self.version.types:
            if named(parameter.type, variable):
                self.elements[variable].append(WORD.findall(made.type)[-1])
        return made


class Retyping(Maker):
    """Makes a case with other element types for some variables: those with the type `elements` get the type `to`."""

    def __init__(self, version: Version, says: dict[str, Any], elements: dict[str, str], to: dict[str, str]):
        super().__init__(version, says)
        self.elements, self.to = elements, to
        self.became: dict[str, set[str]] = defaultdict(set)  # the resulting types of each variable

    def value(self, parameter: Parameter, says: Any) -> Literal:
        made = super().value(parameter, says)
        variable = next((each for each in self.version.types if named(parameter.type, each)), "")
        if variable in self.to and WORD.findall(made.type)[-1] == self.elements.get(variable):
            made = retyped(made, replaced(made.type, self.to[variable]))
        if variable:
            self.became[variable].add(made.type if parameter.type == variable else WORD.findall(made.type)[-1])
        return made


def named(type_: str, variable: str) -> bool:
    return re.search(rf"\b{variable}\b", type_) is not None


def replaced(type_: str, element: str) -> str:
    """Replaces the element type of a type: map(string,float) with double gives map(string,double)."""
    *before, last = WORD.finditer(type_)
    return type_[: last.start()] + element + type_[last.end() :]


def settings(wanted: Wanted, says: dict[str, Any], element: str) -> Iterator[dict[str, Any]]:
    """The case with changed attributes: graphs and tensors of the type, and attributes that name an output's type."""
    version = wanted.version
    to = WORD.findall(wanted.type)[-1]
    graphs = {
        a.name: re.sub(rf"\b{element}\b", to, says[a.name])
        for a in version.attributes
        if a.kind == "graph" and a.name in says
    }
    tensors = {}
    for a in version.attributes:
        if a.kind == "tensor" and a.name in says:
            held = literal(says[a.name], lambda first: element_by_literal(first, list(ELEMENTS), "a tensor"))
            array = converted(held.array, to)
            tensors[a.name] = {"type": to, "shape": list(array.shape), "data": array.ravel().tolist()}
    for size in range(len(tensors), -1, -1):
        for chosen in itertools.combinations(tensors, size):
            base = says | graphs | {name: tensors[name] for name in chosen}
            yield base
            for a in version.attributes:
                if a.name == "to" or "type" in a.name:
                    yield base | {a.name: code_of(to) if a.kind == "int" else to.upper()}


@dataclass(frozen=True)
class Base:
    """A literal case, and the element type of each variable in it."""

    says: dict[str, Any]
    elements: dict[str, str]


def bases(version: Version, opset: int, ir: int) -> list[Base]:
    out = []
    for says in version.cases.values():
        watched = Watching(version, says)
        if says.get("raises"):
            continue
        with contextlib.suppress(ValueError):  # an older version's case may be invalid for this one
            watched.make("case", opset, ir)
            first = {name: found[0] for name, found in watched.elements.items()}
            out.append(Base(says, first))
            for name, found in watched.elements.items():
                out += [Base(says, first | {name: each}) for each in sorted(set(found) - {found[0]})]
    return out


def variants(wanted: Wanted, known: list[Base], opset: int, ir: int) -> Iterator[tuple[onnx.ModelProto, list[bytes]]]:
    """Models that use the type, likely ones first, each with its inputs."""
    version, to = wanted.version, WORD.findall(wanted.type)[-1]
    for base in sorted(known, key=lambda each: each.elements.get(wanted.variable) != to):
        element = base.elements.get(wanted.variable, "float")
        alike = [name for name in version.types if base.elements.get(name) == element]
        for variables in ([wanted.variable], alike, list(version.types)):
            for says in settings(wanted, base.says, element):
                try:
                    making = Retyping(version, says, base.elements, dict.fromkeys(variables, to))
                    case = making.make("variant", opset, ir)
                except (ValueError, TypeError, OverflowError, onnx.parser.ParseError):
                    continue
                if wanted.type in making.became[wanted.variable]:
                    yield case.model, case.inputs


def declared(model: onnx.ModelProto) -> list[str]:
    """The types of a model's outputs, in the notation of entries."""
    return [spelled(each.type) for each in model.graph.output]


def spelled(proto: onnx.TypeProto) -> str:
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return ELEMENTS[proto.tensor_type.elem_type - 1]
    if kind == "map_type":
        return f"map({ELEMENTS[proto.map_type.key_type - 1]},{spelled(proto.map_type.value_type)})"
    inner = spelled(getattr(proto, str(kind)).elem_type)
    return f"{str(kind).removesuffix('_type').replace('sequence', 'seq')}({inner})"
