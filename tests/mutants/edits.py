"""Edits of a definition: each changes one node of one expression tree of an entry, as a typo or a compiler fault would.

An edit is identified by its number: the same entry always has the same edits in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.notation import Expr, Statement
from tests.mutants.constants import (
    NO_CONSTANTS,
    Constants,
    changes_nothing,
    constants_of,
    is_empty,
    never_taken,
)

COMPARISONS = {"<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
BINARIES = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "+"}
REDUCTIONS = {
    "sum": ("max", "prod"), "prod": ("sum",), "max": ("min", "sum"), "min": ("max",), "any": ("all",), "all": ("any",),
    "argmax": ("argmin",), "argmin": ("argmax",),
}  # fmt: skip
FUNCTIONS = [  # each function may be replaced by another of its group
    ("floor", "ceil", "round_even"), ("sin", "cos", "tan"), ("asin", "acos", "atan"), ("sinh", "cosh"),
    ("asinh", "atanh"), ("tanh", "sigmoid", "erf"), ("exp", "abs"), ("log", "sqrt"), ("min", "max"),
    ("minimum", "maximum"), ("floor_index", "ceil_index"), ("floor_div", "ceil_div"), ("head", "tail"),
    ("bit_and", "bit_or", "bit_xor"),
    ("shift_left", "shift_right"), ("softplus", "exp"), ("reciprocal", "sqrt"), ("fmod", "mod_floor"),
    ("sign", "abs"), ("is_nan", "is_inf"),
]  # fmt: skip
IN_ORDER = ("pow", "fmod", "mod_floor", "head", "tail", "floor_div", "ceil_div", "shift_left", "shift_right", "mod")
SMALL_STEP = 1.001  # factor for constants: about the error of a truncated coefficient


@dataclass
class Edit:
    line: int
    change: str  # "+ -> -"
    text: str  # of the statement, or of the expression itself outside statements
    make: Callable[[], None]  # applies the edit to the tree that it was found in

    @property
    def definition(self) -> str:
        """The left side of the statement: "let raised", "Y[i]"; the whole text if there is none."""
        depth = 0
        for k, letter in enumerate(self.text):
            depth += (letter in "([{") - (letter in ")]}")
            if depth == 0 and self.text.startswith(" = ", k):
                return self.text[:k].strip()
        return self.text.strip().removesuffix(":")

    @property
    def says(self) -> str:
        return f"{self.change} in: {self.text}" if self.text else self.change


@dataclass
class Slot:
    """A position in a tree that holds an expression."""

    get: Callable[[], Expr]
    put: Callable[[Expr], None]


def edits_of(statements: list[Statement]) -> Iterator[Edit]:
    """The edits of the statements, in the order of the text."""
    known = constants_of(walk(statements))
    for s in walk(statements):
        for slot in slots_of(s):
            yield from edits_below(slot, s.line, s.text, known)


def edits_of_expression(e: Expr, put: Callable[[Expr], None], line: int, text: str) -> Iterator[Edit]:
    yield from edits_below(Slot(lambda: e, put), line, text)


def walk(statements: list[Statement]) -> Iterator[Statement]:
    for s in statements:
        yield s
        yield from walk(s.block)


def slots_of(s: Statement) -> Iterator[Slot]:
    for name in ("low", "high", "view", "value"):
        if getattr(s, name) is not None:
            yield attribute_slot(s, name)
    yield from (item_slot(s.at, k) for k in range(len(s.at)))
    yield from (attribute_slot(item, "size") for item in s.lhs if item.size is not None)


def attribute_slot(owner: object, name: str) -> Slot:
    return Slot(lambda: getattr(owner, name), lambda e: setattr(owner, name, e))


def item_slot(owner: list | dict, k: int | str) -> Slot:
    return Slot(lambda: owner[k], lambda e: owner.__setitem__(k, e))


def arm_slot(owner: list, k: int) -> Slot:
    return Slot(lambda: owner[k][1], lambda e: owner.__setitem__(k, (owner[k][0], e)))


def below(e: Expr) -> Iterator[Slot]:
    """The slots for subexpressions of an expression."""
    yield from (item_slot(e.args, k) for k in range(len(e.args)))
    if e.kind == "match":
        yield from (arm_slot(e.value, k) for k in range(len(e.value)))
    if e.kind == "reduce":
        for binder in e.value["binders"]:
            yield from (item_slot(binder, key) for key in ("low", "high", "shape") if key in binder)
        if e.value["where"]:
            yield item_slot(e.value, "where")
    if e.kind == "read" and e.value and e.value["else"] is not None:
        yield item_slot(e.value, "else")


def edits_below(slot: Slot, line: int, text: str, known: Constants = NO_CONSTANTS) -> Iterator[Edit]:
    e = slot.get()
    if e.kind == "call" and e.value == "repeat" and e.args[1].kind == "number" and e.args[1].value == "0":
        return  # an empty list, whatever its item
    empty = e.kind == "reduce" and is_empty(e, known)
    for change, make in edits_at(e, slot):
        if empty and " -> " not in change or e.kind == "binary" and changes_nothing(change, e, known):
            continue
        yield Edit(e.line or line, change, text, make)
    idle = never_taken(e, known)
    for inner in below(e) if not empty else ():
        if idle is None or inner.get() is not idle:
            yield from edits_below(inner, line, text, known)


def with_value(e: Expr, value: object) -> Callable[[], None]:
    return lambda: setattr(e, "value", value)


def shifted(e: Expr, by: str) -> Expr:
    return Expr("binary", [e, Expr("number", [], "1", e.line)], by, e.line)


def swapped(e: Expr, j: int, k: int) -> Callable[[], None]:
    def make() -> None:
        e.args[j], e.args[k] = e.args[k], e.args[j]

    return make


def edits_at(e: Expr, slot: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    """The edits of the node itself, without its subexpressions."""
    found = EDITORS.get(e.kind)
    if found:
        yield from found(e, slot)


def of_binary(e: Expr, slot: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    yield f"{e.value} -> {BINARIES[e.value]}", with_value(e, BINARIES[e.value])
    yield f"the left of {e.value} alone", lambda: slot.put(e.args[0])
    yield f"the right of {e.value} alone", lambda: slot.put(e.args[1])
    if e.value in "-/%":
        yield f"the sides of {e.value} changed about", swapped(e, 0, 1)


def of_compare(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    yield from ((f"{e.value} -> {other}", with_value(e, other)) for other in COMPARISONS[e.value])


def of_logic(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    other = "or" if e.value == "and" else "and"
    yield f"{e.value} -> {other}", with_value(e, other)


def of_prefix(e: Expr, slot: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    yield f"without the {'not' if e.kind == 'not' else 'minus'}", lambda: slot.put(e.args[0])


def of_number(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    yield f"{e.value} -> {int(e.value) + 1}", with_value(e, str(int(e.value) + 1))
    if e.value != "0":
        yield f"{e.value} -> {int(e.value) - 1}", with_value(e, str(int(e.value) - 1))


def of_real(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    value = float(e.value) * SMALL_STEP
    if value == float(e.value):
        value = 0.001
    yield f"{e.value} -> {value!r}", with_value(e, repr(value))


def of_cond(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "then and else changed about", swapped(e, 1, 2)


def of_match(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    def make() -> None:
        (a, first), (b, second), *rest = e.value
        e.value = [(a, second), (b, first), *rest]

    if len(e.value) > 1:
        yield "two arms of the match changed about", make


def of_call(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    for group in FUNCTIONS:
        if e.value in group:
            yield from ((f"{e.value}() -> {other}()", with_value(e, other)) for other in group if other != e.value)
    if e.value in IN_ORDER and len(e.args) == 2:
        yield f"arguments of {e.value}() changed about", swapped(e, 0, 1)


def of_reduce(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    op = e.value["op"]
    yield from ((f"{op} -> {other}", lambda other=other: e.value.update(op=other)) for other in REDUCTIONS.get(op, ()))
    for binder in e.value["binders"]:
        if binder["kind"] == "range":
            low, high, name = binder["low"], binder["high"], binder["name"]
            yield f"{op} starts one later in {name}", lambda b=binder, x=low: b.update(low=shifted(x, "+"))
            yield f"{op} ends one earlier in {name}", lambda b=binder, x=high: b.update(high=shifted(x, "-"))
    if e.value["where"]:
        yield f"{op} without its where", lambda: e.value.update(where=None)


def of_read(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    for k in range(1, len(e.args) - 1):
        yield f"indices {k} and {k + 1} changed about", swapped(e, k, k + 1)


def of_comprehension(e: Expr, _: Slot) -> Iterator[tuple[str, Callable[[], None]]]:
    if len(e.args) > 3:
        yield "a list without its where", lambda: e.args.pop()


EDITORS = {
    "binary": of_binary, "compare": of_compare, "logic": of_logic, "not": of_prefix, "negative": of_prefix,
    "number": of_number, "real": of_real, "cond": of_cond, "match": of_match, "call": of_call, "reduce": of_reduce,
    "read": of_read, "comprehension": of_comprehension,
}  # fmt: skip
