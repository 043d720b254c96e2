"""Writes conditions and replacements of patterns as C++. Both use Python's grammar with a small set of functions.

A value of the pattern is referred to by its name; `y.axis` is an attribute of the node that makes y. Lists are those of
spec/ ([*a, 1] joins, + and - work item by item). In a replacement an operator is called by its name; calls that depend
on constants alone are folded.
"""

from __future__ import annotations

import ast
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from codegen.entry import MISSING, SpecError, Version
from codegen.passes.pattern import Pattern, Versions, takes
from codegen.value_types import ELEMENTS

# Functions of values of the pattern (transform/match.h) and their number of arguments.
OF_VALUES = {
    "given": 1, "once": 1, "is_output": 1, "is_constant": 1, "type": 1, "rank": 1, "size": 2, "shape": 1, "elements": 1,
    "same_shape": 2, "same_size": 4, "sizes_but_one": 1, "ints": 1, "real_of": 1, "all_are": 2, "is_per_channel": 3,
    "has_normal_products": 2, "has_finite_sums": 2, "is_made_by": 2, "is_float": 1, "opset": 0,
}  # fmt: skip
# Functions of numbers and lists (reference/lists.h), with the names of spec/, and a few more.
OF_LISTS = {
    "wrap", "floor_div", "ceil_div", "mod", "min", "max", "total", "pick", "head", "tail", "part", "placed", "without",
    "unsqueezed", "repeat", "contains", "position", "distinct", "is_permutation", "replaced", "item", "count",
    "type_called", "as_float", "all_zero", "least_integer", "greatest_integer",
}  # fmt: skip
OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.And: "&&", ast.Or: "||",
}  # fmt: skip
READERS = {"int": "integer", "float": "number", "string": "text", "ints": "integers"}


@dataclass
class Writer:
    """Writes the functions of one pattern."""

    pattern: Pattern
    versions: Versions
    lines: list[str] = field(default_factory=list)
    locals: dict[str, bool] = field(default_factory=dict)  # local value of the replacement -> True if it is constant
    line: int = 0
    of_values: ClassVar[dict[str, int]] = OF_VALUES
    readers: ClassVar[dict[str, str]] = READERS

    def fail(self, message: str) -> SpecError:
        return self.pattern.error(self.line, message)

    def slot(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and node.id in self.pattern.slots:
            return f"Slot{{{self.pattern.slots.index(node.id)}}}"
        raise self.fail(f"{ast.unparse(node)} is no value of the pattern")

    # -- expressions of numbers, bools, strings and lists ------------------------------------------------------------

    def expression(self, node: ast.expr) -> str:
        writer: Callable[..., str] | None = getattr(self, f"_{type(node).__name__}", None)
        if writer is None:
            raise self.fail(f"not part of the language: {ast.unparse(node)}")
        return writer(node)

    def _Constant(self, node: ast.Constant) -> str:
        value = node.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return f"Index{{{value}}}"
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, str):
            return json.dumps(value)
        raise self.fail(f"not part of the language: {ast.unparse(node)}")

    def _Name(self, node: ast.Name) -> str:
        if node.id in ELEMENTS:
            return f"type_by_name({json.dumps(node.id)})"
        raise self.fail(f"{node.id} stands for no number: it is a value, or no name at all")

    def _BinOp(self, node: ast.BinOp) -> str:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return f"floor_div({left}, {right})"
        if isinstance(node.op, ast.Mod):
            return f"mod({left}, {right})"
        return f"({left} {self.operator(node.op)} {right})"

    def operator(self, kind: ast.AST) -> str:
        if type(kind) not in OPERATORS:
            raise self.fail(f"{type(kind).__name__} is not part of the language")
        return OPERATORS[type(kind)]

    def _UnaryOp(self, node: ast.UnaryOp) -> str:
        sign = {ast.USub: "-", ast.Not: "!"}.get(type(node.op))
        if sign is None:
            raise self.fail(f"not part of the language: {ast.unparse(node)}")
        return f"{sign}({self.expression(node.operand)})"

    def _BoolOp(self, node: ast.BoolOp) -> str:
        return "(" + f" {self.operator(node.op)} ".join(self.expression(value) for value in node.values) + ")"

    def _Compare(self, node: ast.Compare) -> str:
        parts, left = [], node.left
        for kind, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(kind, ast.In | ast.NotIn):
                parts.append(self._in(left, kind, right))
            else:
                parts.append(f"{self.expression(left)} {self.operator(kind)} {self.expression(right)}")
            left = right
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"

    def _in(self, left: ast.expr, kind: ast.cmpop, right: ast.expr) -> str:
        if not isinstance(right, ast.Tuple):
            raise self.fail("`in` is followed by a tuple of choices")
        one = self.expression(left)
        any_of = "(" + " || ".join(f"{one} == {self.expression(choice)}" for choice in right.elts) + ")"
        return any_of if isinstance(kind, ast.In) else f"!{any_of}"

    def _IfExp(self, node: ast.IfExp) -> str:
        return f"({self.expression(node.test)} ? {self.expression(node.body)} : {self.expression(node.orelse)})"

    def _List(self, node: ast.List) -> str:
        items = [item.value if isinstance(item, ast.Starred) else item for item in node.elts]
        return f"join({', '.join(self.expression(item) for item in items)})"

    def _Attribute(self, node: ast.Attribute) -> str:
        return self.read(node, None)

    def read(self, node: ast.expr, otherwise: ast.expr | None) -> str:
        """Returns C++ that reads an attribute. `otherwise` is its value in versions without it, or if it is omitted
        without a default."""
        if not isinstance(node, ast.Attribute):
            raise self.fail(f"{ast.unparse(node)} is no attribute")
        slot = self.slot(node.value)
        number = int(slot[5:-1])
        found = self.pattern.attribute(number, node.attr, self.line, lacking=otherwise is not None)
        if found.kind not in self.readers:
            raise self.fail(f"attributes of the kind {found.kind} cannot be read")
        default = "" if found.default is MISSING else literal(found.default)
        if otherwise is not None:
            given = self.expression(otherwise)
            if default and given != default:
                lacks = f"f.lacks({slot}, {json.dumps(node.attr)})"
                return f"({lacks} ? {given} : f.{self.readers[found.kind]}({slot}, {json.dumps(node.attr)}, {default}))"
            default = given
        arguments = [slot, json.dumps(node.attr), *([default] if default else [])]
        return f"f.{self.readers[found.kind]}({', '.join(arguments)})"

    def _Call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.fail(f"not part of the language: {ast.unparse(node)}")
        name, arguments = node.func.id, node.args
        if name == "get" and len(arguments) == 2:
            return self.read(arguments[0], arguments[1])
        if name == "has" and len(arguments) == 1 and isinstance(arguments[0], ast.Attribute):
            self.pattern.attribute(int(self.slot(arguments[0].value)[5:-1]), arguments[0].attr, self.line, lacking=True)
            return f"f.has({self.slot(arguments[0].value)}, {json.dumps(arguments[0].attr)})"
        if name == "length" and len(arguments) == 1:
            return f"size({self.expression(arguments[0])})"
        if name == "range" and len(arguments) == 1:
            return f"collect(Index{{0}}, {self.expression(arguments[0])}, [](Index k) {{ return k; }})"
        if name in self.of_values:
            if len(arguments) != self.of_values[name]:
                raise self.fail(f"{name} takes {self.of_values[name]} arguments")
            texts = [
                self.slot(a) if isinstance(a, ast.Name) and a.id in self.pattern.slots else self.expression(a)
                for a in arguments
            ]
            return f"f.{name}({', '.join(texts)})"
        if name in OF_LISTS:
            return f"{name}({', '.join(self.expression(a) for a in arguments)})"
        raise self.fail(f"there is no function {name}")


def literal(value: object) -> str:
    """Returns a default of the spec as an expression of the language. Real numbers are float, as a model holds them."""
    if isinstance(value, bool | int):
        return f"Index{{{int(value)}}}"
    if isinstance(value, float):
        return repr(struct.unpack("<f", struct.pack("<f", value))[0])
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"join({', '.join(literal(item) for item in value)})"
    raise TypeError(value)


def in_force(versions: list[Version], opset: int) -> Version | None:
    return next((version for version in versions if version.since <= opset), None)


def conditions(pattern: Pattern, versions: Versions) -> list[str]:
    """Returns one C++ bool expression per line of `when`."""
    return predicates(Writer(pattern, versions))


def predicates(writer: Writer) -> list[str]:
    pattern = writer.pattern
    texts: list[str] = []
    if pattern.when is None:
        return []
    for line, written in enumerate(pattern.when.text.split("\n"), pattern.when.line):
        writer.line = line
        if written.strip():
            texts.append(writer.expression(parsed(writer, written.strip())))
    return texts


def parsed(writer: Writer, text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise writer.fail(f"not an expression: {text}") from error


__all__ = ["Writer", "conditions", "in_force", "literal", "takes"]
