"""Writes a definition's index program: its lets, shapes and elements as bytes that reference/shapes/ evaluates.

An expression is an operation, its facts, then its operands (prefix order). A number is a varint; what may be negative
is zigzag. An index variable is a slot. What integers and symbols cannot follow is the operation `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from codegen import builtins as b
from codegen.entry import MISSING
from codegen.expressions import ATTRIBUTE_SORTS, TYPE_CLASSES
from codegen.notation import Expr, Statement
from codegen.sorts import Meaning
from codegen.value_types import ELEMENTS

OPERATIONS = (
    "absent", "unknown", "number", "real", "text", "boolean", "input", "attribute", "let", "constraint", "type",
    "slot", "buffer", "output", "scalar_input", "scalar_attribute", "coerce", "negative", "negation",
    "conjunction", "disjunction", "member", "add", "subtract", "multiply", "divide", "remainder", "less",
    "greater", "less_equal", "greater_equal", "equal", "unequal", "condition", "match", "splice", "replace",
    "list", "comprehension", "reduction", "item", "element", "element_or", "element_or_none", "call",
    "given_input", "given_attribute", "wanted", "convert",
)  # fmt: skip
SORTS = (
    "index",
    "real",
    "bool",
    "text",
    "type",
    "indices",
    "reals",
    "texts",
    "element",
    "predicate",
    "tensor",
    "family",
)
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "count")
BINDERS = ("range", "box", "family")
STATEMENTS = ("define", "whole", "when", "otherwise", "opaque")
LEFT_HAND_SIDES = ("index", "pack", "over")
ATTRIBUTES = tuple(ATTRIBUTE_SORTS)
CLASSES = tuple(sorted(TYPE_CLASSES))
# Functions of lists and indices, and primitives of numbers, in the evaluator (reference/shapes/index_functions.cc).
FUNCTIONS = (
    "shape", "rank", "dim", "value", "reals", "positions", "steps", "type", "view", "permuted", "size", "count",
    "total", "replaced", "pick", "head", "tail", "part", "placed", "without", "unsqueezed", "repeat", "contains",
    "position", "distinct", "is_permutation", "broadcast", "broadcastable", "fit", "fit_from", "subscripts", "ravel",
    "unravel", "ends", "locate", "wrap", "min", "max", "clamp", "mod", "reflect", "ceil_div", "floor_div", "real",
    "floor_index", "ceil_index", "index", "within", "up_to", "down_to", "lower", "abs", "floor", "ceil", "round_even",
    "sqrt", "reciprocal", "mod_floor", "maximum", "minimum",
)  # fmt: skip
BINARY = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder"}
COMPARISONS = {
    "<": "less", ">": "greater", "<=": "less_equal", ">=": "greater_equal", "==": "equal", "!=": "unequal",
}  # fmt: skip
# Families whose elements are followed: each is read off few others, or computed from them.
FOLLOWED = ("elementwise", "move", "reduce", "measure", "cast")


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def zigzag(number: int) -> bytes:
    return varint(2 * number if number >= 0 else -2 * number - 1)


@dataclass
class Texts:
    """Texts that programs share, each once."""

    places: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places))

    def place(self, text: str) -> bytes:
        return varint(self.number(text))


class IndexProgram:
    """Writer of the program of one definition. `codes`: element type -> its code in the standard."""

    def __init__(self, meaning: Meaning, texts: Texts, codes: dict[str, int]):
        self.m, self.v, self.texts, self.codes = meaning, meaning.version, texts, codes
        self.slots: dict[str, int] = {}
        self.count = 0
        self.inputs = [p.name for p in self.v.inputs]
        self.outputs = [p.name for p in self.v.outputs]
        self.attributes = [a.name for a in self.v.attributes]
        self.constraints = list(self.v.types)
        self.buffers = [name for name in meaning.buffers if name not in self.outputs]
        aliases = [s for s in self.walk(meaning.statements) if s.kind == "let" and s.value.sort.kind == "tensor"]
        self.lets = sorted([*meaning.lets, *aliases], key=lambda s: s.order)
        self.named = {
            "let": [s.name for s in self.lets],
            "attribute": self.attributes,
            "input": self.inputs,
            "output": self.outputs,
            "buffer": self.buffers,
            "constraint": self.constraints,
        }

    def walk(self, statements: list[Statement]) -> Iterator[Statement]:
        for s in statements:
            yield s
            if s.kind != "scan":
                yield from self.walk(s.block)

    def bytes(self) -> bytes:
        out = [varint(len(self.constraints))]
        for name in self.constraints:
            types = self.v.types[name]
            out.append(varint(self.codes.get(types[0], 0) if len(types) == 1 else 0))
            for parameters in (self.v.inputs, self.v.outputs):
                at = [k for k, p in enumerate(parameters) if p.type == name]
                out += [varint(len(at)), *map(varint, at)]
        out.append(varint(len(self.inputs)))
        for p in self.v.inputs:
            out.append(varint(p.variadic) + (self(self.m.defaults[p.name]) if p.name in self.m.defaults else b"\0"))
        out.append(varint(len(self.attributes)))
        out += [self.attribute(a) for a in self.v.attributes]
        out.append(varint(len(self.lets)))
        out += [self(s.value) for s in self.lets]
        out.append(varint(len(self.outputs)))
        out += [self.output(p) for p in self.v.outputs]
        out.append(varint(len(self.buffers)))
        body = self.block(self.m.statements)
        return b"".join([*out, varint(self.count), body])

    def attribute(self, a: Any) -> bytes:
        kind = ATTRIBUTES.index(a.kind) + 1 if a.kind in ATTRIBUTES else 0
        out = self.texts.place(a.name) + varint(kind)
        if a.default is MISSING or not kind:
            return out + varint(0)
        many = isinstance(a.default, list)
        values = a.default if many else [a.default]
        return out + varint(len(values) + 1) + b"".join(self.constant(v) for v in values)

    def constant(self, value: Any) -> bytes:
        return zigzag(value) if isinstance(value, int) else self.texts.place(str(value))

    def output(self, p: Any) -> bytes:
        if p.name not in self.m.shapes:
            return varint(0)
        family = [
            s.family for s in self.walk(self.m.statements) if s.kind == "define" and s.name == p.name and s.family
        ]
        with_slot = self.bound(family[:1])
        out = varint(1 + (self.slots[family[0]] + 1 if family else 0)) + self(self.m.shapes[p.name])
        self.slots = with_slot
        return out

    def bound(self, names: list[str]) -> dict[str, int]:
        """Gives each name a slot; returns those before."""
        before = dict(self.slots)
        for name in names:
            self.slots[name] = self.count
            self.count += 1
        return before

    # -- statements --------------------------------------------------------------------------------------------------
    def block(self, statements: list[Statement]) -> bytes:
        made = [text for s in statements if (text := self.statement(s))]
        return varint(len(made)) + b"".join(made)

    def target(self, name: str) -> bytes:
        """An output is even, a buffer odd."""
        return varint(2 * self.outputs.index(name) if name in self.outputs else 2 * self.buffers.index(name) + 1)

    def statement(self, s: Statement) -> bytes:
        if s.kind in ("let", "seen"):
            return b""
        kind = s.kind if s.kind in STATEMENTS else "opaque"
        out = varint(STATEMENTS.index(kind))
        if kind == "when":
            return out + self(s.value) + self.block(s.block)
        if kind == "otherwise":
            return out + self.block(s.block)
        if s.kind == "scan":
            names = sorted(
                {inner.name for inner in self.walk(s.block) if inner.kind in ("define", "through", "scatter")}
            )
            return b"".join(out + self.target(name) for name in names)
        if kind == "opaque" or (kind == "define" and self.v.form not in FOLLOWED):
            return varint(STATEMENTS.index("opaque")) + self.target(s.name)
        if kind == "whole":
            return out + self.target(s.name) + self(s.value)
        before = self.bound([item.name for item in s.lhs] + ([s.family] if s.family else []))
        out += self.target(s.name) + varint(self.slots[s.family] + 1 if s.family else 0) + varint(len(s.lhs))
        for item in s.lhs:
            out += varint(LEFT_HAND_SIDES.index(item.kind)) + varint(self.slots[item.name])
            out += b"\0" if item.size is None else self(item.size)
        out += (b"\0" if s.view is None else self(s.view)) + self(s.value)
        self.slots = before
        return out

    # -- expressions -------------------------------------------------------------------------------------------------
    def __call__(self, e: Expr) -> bytes:
        return getattr(self, "_" + e.kind)(e)

    def op(self, name: str) -> bytes:
        return bytes([OPERATIONS.index(name)])

    def many(self, parts: list[Expr]) -> bytes:
        return varint(len(parts)) + b"".join(map(self, parts))

    def sort(self, sort: b.Sort) -> bytes:
        return bytes([SORTS.index(sort.kind)]) + (self.type_of(sort.of) if sort.kind == "element" else b"")

    def type_of(self, of: str) -> bytes:
        """A constraint's place and 1, a type's code behind the constraints, or 0."""
        if of.startswith("@"):
            of = self.v.outputs[0].type
        if of in self.constraints:
            return varint(1 + self.constraints.index(of))
        return varint(1 + len(self.constraints) + self.codes[of] if of in self.codes else 0)

    def _number(self, e: Expr) -> bytes:
        return self.op("number") + zigzag(int(e.value))

    def _real(self, e: Expr) -> bytes:
        return self.op("real") + self.texts.place(e.value)

    def _string(self, e: Expr) -> bytes:
        return self.op("text") + self.texts.place(e.value)

    def _let(self, e: Expr) -> bytes:
        return self(e.args[0])

    def _name(self, e: Expr) -> bytes:
        name = e.value
        if name in self.slots:
            return self.op("slot") + varint(self.slots[name])
        for op, names in self.named.items():
            if name in names:
                return self.op(op) + varint(names.index(name))
        if name in ("true", "false"):
            return self.op("boolean") + varint(name == "true")
        if name in ELEMENTS and name in self.codes:
            return self.op("type") + varint(self.codes[name])
        return self.op("unknown")

    def _scalar(self, e: Expr) -> bytes:
        if e.value in self.inputs:
            return self.op("scalar_input") + varint(self.inputs.index(e.value))
        return self.op("scalar_attribute") + varint(self.attributes.index(e.value))

    def _coerce(self, e: Expr) -> bytes:
        return self.op("coerce") + self.sort(e.sort) + self(e.args[0])

    def _negative(self, e: Expr) -> bytes:
        return self.op("negative") + self.sort(e.sort) + self(e.args[0])

    def _not(self, e: Expr) -> bytes:
        return self.op("negation") + self(e.args[0])

    def _logic(self, e: Expr) -> bytes:
        return self.op("conjunction" if e.value == "and" else "disjunction") + self(e.args[0]) + self(e.args[1])

    def _member(self, e: Expr) -> bytes:
        return self.op("member") + varint(CLASSES.index(e.value)) + self(e.args[0])

    def _binary(self, e: Expr) -> bytes:
        return self.op(BINARY[e.value]) + self.sort(e.sort) + self(e.args[0]) + self(e.args[1])

    def _compare(self, e: Expr) -> bytes:
        return self.op(COMPARISONS[e.value]) + self(e.args[0]) + self(e.args[1])

    def _cond(self, e: Expr) -> bytes:
        return self.op("condition") + b"".join(map(self, e.args))

    def _match(self, e: Expr) -> bytes:
        out = self.op("match") + self(e.args[0]) + varint(len(e.value))
        for key, arm in e.value:  # 0: any other text
            out += (b"\0" if key is None else varint(1) + self.texts.place(key)) + self(arm)
        return out

    def _splice(self, e: Expr) -> bytes:
        return self.op("splice") + self(e.args[0])

    def _replace(self, e: Expr) -> bytes:
        return self.op("replace") + self.many(e.args)

    def _list(self, e: Expr) -> bytes:
        return self.op("list") + self.many(e.args)

    def _comprehension(self, e: Expr) -> bytes:
        body, low, high, *where = e.args
        out = self.op("comprehension") + self(low) + self(high)
        before = self.bound([e.value])
        out += varint(self.slots[e.value]) + self(body) + (self(where[0]) if where else b"\0")
        self.slots = before
        return out

    def _reduce(self, e: Expr) -> bytes:
        op, before = e.value["op"], dict(self.slots)
        if op not in REDUCTIONS:
            return self.op("unknown")
        out = self.op("reduction") + varint(REDUCTIONS.index(op)) + varint(len(e.value["binders"]))
        for binder in e.value["binders"]:
            out += varint(BINDERS.index(binder["kind"]))
            if binder["kind"] == "family":
                out += varint(self.inputs.index(binder["family"]))
            else:
                out += b"".join(self(binder[key]) for key in ("low", "high", "shape") if key in binder)
            self.bound([binder["name"]])
            out += varint(self.slots[binder["name"]])
        where = e.value["where"]
        out += (self(where) if where else b"\0") + self(e.args[0])
        self.slots = before
        return out

    def _read(self, e: Expr) -> bytes:
        base, *others = e.args
        if base.sort.kind in b.ITEM_OF or base.sort.kind == "family":
            return self.op("item") + self(base) + self(others[0])
        if not e.value:
            return self.op("element") + self(base) + self.many(others)
        if e.value["else"] is None:
            return self.op("element_or_none") + self(base) + self.many(others)
        return self.op("element_or") + self(base) + self.many(others) + self(e.value["else"])

    def _call(self, e: Expr) -> bytes:
        name = e.value
        if name == "given":
            of = e.args[0].value
            if of in self.inputs:
                return self.op("given_input") + varint(self.inputs.index(of))
            return self.op("given_attribute") + varint(self.attributes.index(of))
        if name == "wanted":
            return self.op("wanted") + varint(self.outputs.index(e.args[0].value))
        if name == "convert<>":
            return self.op("convert") + self(e.args[-1]) + self(e.args[0])
        if name not in FUNCTIONS:
            return self.op("unknown")
        return self.op("call") + varint(FUNCTIONS.index(name)) + self.sort(e.sort) + self.many(e.args)
