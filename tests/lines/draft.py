"""A structured case, before it becomes a line: the form that variations modify."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from codegen.value_types import ELEMENTS, to_text

Item = float | int | str | bool
INTEGERS = tuple(e for e in ELEMENTS if "int" in e)
FLOATS = tuple(e for e in ELEMENTS if "float" in e or e == "double")
COMPLEX = ("complex64", "complex128")


@dataclass(frozen=True)
class Tensor:
    element: str
    dims: tuple[int, ...]
    data: tuple[Item, ...] | str  # elements that repeat cyclically, or a regime
    symbols: tuple[str, ...] = ()  # names of the leading symbolic dimensions

    @property
    def size(self) -> int:
        return math.prod(self.dims)

    def __str__(self) -> str:
        named = [*(f"{s}=" for s in self.symbols), *[""] * len(self.dims)]
        dims = ",".join(f"{name}{n}" for name, n in zip(named, self.dims, strict=False))
        data = f"~{self.data}" if isinstance(self.data, str) else "{" + ",".join(map(written, self.data)) + "}"
        return f"{self.element}[{dims}]{data}"


@dataclass(frozen=True)
class Box:
    """A sequence, or an optional with at most one item; `type` in the notation of entries."""

    type: str
    items: tuple[Tensor | Box, ...]

    def __str__(self) -> str:
        return f"{to_text(self.type)}{{{', '.join(map(str, self.items))}}}"


@dataclass(frozen=True)
class Raw:
    """A value that is written verbatim: a map."""

    type: str
    text: str

    def __str__(self) -> str:
        return self.text


Value = Tensor | Box | Raw


def written(item: Item) -> str:
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False)
    if isinstance(item, bool):
        return str(int(item))
    if isinstance(item, int) or not math.isfinite(item):
        return str(item)
    whole = item == int(item) and abs(item) < 1e15 and not (item == 0 and math.copysign(1, item) < 0)
    return str(int(item)) if whole else repr(item)


def shortest(items: Iterable[Item]) -> tuple[Item, ...]:
    """Shortens elements that are all equal to one, since elements repeat."""
    said = tuple(items)
    same = said and all(repr(x) == repr(said[0]) for x in said)
    return said[:1] if same else said


@dataclass(frozen=True)
class Port:
    value: Value | None  # None: omitted
    held: bool = False

    def __str__(self) -> str:
        return "_" if self.value is None else ("*" if self.held else "") + str(self.value)


@dataclass(frozen=True)
class Draft:
    name: str  # Clip-13, ai.onnx.ml.Scaler-1
    ports: tuple[Port, ...]
    attributes: tuple[tuple[str, str], ...] = ()  # as written, sorted by name
    outputs: str = ""

    def __str__(self) -> str:
        line = f"{self.name}({', '.join(map(str, self.ports))})"
        line += "".join(f" {name}={value}" for name, value in sorted(self.attributes))
        return line + (f" -> {self.outputs}" if self.outputs else "")

    def with_value(self, k: int, value: Value | None) -> Draft:
        return self.with_port(k, replace(self.ports[k], value=value, held=self.ports[k].held and value is not None))

    def with_port(self, k: int, port: Port) -> Draft:
        ports = [*self.ports[:k], port, *self.ports[k + 1 :]]
        while ports and ports[-1].value is None:
            ports.pop()
        return replace(self, ports=tuple(ports))

    def with_attribute(self, name: str, value: str | None) -> Draft:
        others = tuple(pair for pair in self.attributes if pair[0] != name)
        return replace(self, attributes=others if value is None else tuple(sorted((*others, (name, value)))))

    def attribute(self, name: str) -> str | None:
        return dict(self.attributes).get(name)


def element_of(value: Value | None) -> str:
    """The element type of the innermost tensor, or ""."""
    if isinstance(value, Tensor):
        return value.element
    if isinstance(value, Box):
        return element_of(value.items[0]) if value.items else value.type.rsplit("(", 1)[-1].rstrip(")")
    return ""


def type_of(value: Value) -> str:
    return value.element if isinstance(value, Tensor) else value.type


def retyped(value: Value, type_: str) -> Value:
    """The value in another type, with each element converted as closely as possible."""
    if isinstance(value, Tensor) and type_ in ELEMENTS:
        return replace(value, element=type_, data=converted(value.data, value.element, type_))
    if isinstance(value, Box) and type_ in ELEMENTS and value.items:
        return retyped(value.items[0], type_)
    if type_.startswith(("seq(", "optional(")) and not isinstance(value, Raw):
        container, inner = type_.split("(", 1)[0], type_[type_.index("(") + 1 : -1]
        same = isinstance(value, Box) and value.type.startswith(f"{container}(")
        items = tuple(retyped(item, inner) for item in (value.items if same else (value,)))
        return Box(type_, items) if all(type_of(item) == inner for item in items) else value
    return value


def converted(data: tuple[Item, ...] | str, before: str, after: str) -> tuple[Item, ...] | str:
    if isinstance(data, str) or before == after:
        return data
    if after == "string":
        return tuple(str(x) for x in data)
    if before == "string" or before in COMPLEX or after in COMPLEX:
        return "real"
    if after == "bool":
        return tuple(int(bool(x)) for x in data)
    if after in INTEGERS:
        whole = [int(x) if math.isfinite(x) else 0 for x in data]
        return tuple(abs(x) for x in whole) if after.startswith("u") else tuple(whole)
    return tuple(data)
