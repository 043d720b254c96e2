"""Writes expressions: the computation of each element of a row, as a C++ expression over plain arrays and numbers.

A part that is not float arithmetic (a gather, a choice by indices) becomes an array of its own, computed element by
element before. Single precision only; conditions on types are decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.algorithm import FLOAT_CLASSES, bare, reads
from codegen.builtins import BOOL, INDEX, PREDICATE, Sort
from codegen.cpp import checked, cpp_name
from codegen.kernel import Kernel
from codegen.notation import Expr, Statement
from codegen.units import Unit


@dataclass
class Leaf:
    """Array that an expression reads: an operand span, lines of C++ that compute it before, or an array that exists."""

    read: str = ""  # the name of an operand span
    other: str = ""  # value outside the tensor, if the span may leave it
    scalar: list[str] = field(default_factory=list)  # lines that compute one element; the last is the element itself
    held: str = ""  # name of an array that exists already


@dataclass
class ScalarExpression:
    text: str  # C++ over arrays a0, a1 .. and numbers v0, v1 ..
    leaves: list[Leaf]  # the arrays
    numbers: list[str]
    atoms: set[str] = field(default_factory=set)  # texts of single arrays and numbers

    def computes(self) -> bool:
        return self.text not in self.atoms


@dataclass
class Expressions:
    """Expressions of all row kernels, in order, without duplicates: (use, text), where use is map, sum, sum fold ..."""

    rows: dict[tuple[str, str], int] = field(default_factory=dict)
    operands: list[tuple[int, int]] = field(default_factory=list)  # number of arrays and of numbers

    def of(self, use: str, expression: ScalarExpression) -> int:
        k = self.rows.setdefault((use, expression.text), len(self.rows))
        if k == len(self.operands):
            self.operands.append((len(expression.leaves), len(expression.numbers)))
        return k


class Lanes(Kernel):
    def __init__(self, unit: Unit, expressions: Expressions, primitives: set[str]):
        super().__init__(unit.meaning, unit.main, unit.movement.real_only)
        self.u, self.expressions, self.primitives = unit, expressions, primitives
        self.scratch = self.max_scratch = 0
        self.fast = 0  # number of expressions and of reductions
        self.slow: set[str] = set()  # names of values whose reductions run element by element
        self.asked: list[str] = []  # preconditions of a call, in C++
        self.floats = {n for n in unit.types if "float" in unit.types[n]}

    def is_float(self, sort: Sort) -> bool:
        if sort.kind == "real":
            return True
        if sort.kind != "element":
            return False
        of = self.m.version.outputs[0].type if sort.of.startswith("@") else sort.of
        return of == "float" or of in self.floats

    def decided(self, e: Expr) -> bool | None:
        """Evaluates a condition on types, for float; None for any other condition."""
        if e.kind == "member":
            of = e.args[0].value
            if of not in self.m.version.types or of not in self.floats:
                return None
            return e.value in FLOAT_CLASSES
        if e.kind == "not":
            inner = self.decided(e.args[0])
            return None if inner is None else not inner
        if e.kind == "logic":
            parts = [self.decided(a) for a in e.args]
            if e.value == "and":
                return False if False in parts else None if None in parts else True
            return True if True in parts else None if None in parts else False
        return None

    def settled(self, e: Expr) -> Expr:
        """Returns `e` with lets expanded and conditions on types decided."""
        if e.kind == "let" and e.sort.kind in ("element", "real", "predicate"):
            return self.settled(e.args[0])
        if e.kind == "cond":
            answer = self.decided(e.args[0])
            if answer is not None:
                return self.settled(e.args[1 if answer else 2])
        if e.kind in ("reduce", "comprehension", "match"):
            parts = e.args if e.kind == "comprehension" else [self.settled(a) for a in e.args]
        elif e.kind == "read":
            parts = e.args
        else:
            parts = [self.settled(a) for a in e.args]
        return Expr(e.kind, parts, e.value, e.line, e.sort, e.free)

    def lane_able(self, e: Expr) -> bool:
        return self.is_float(e.sort) or e.sort in (PREDICATE, BOOL)

    def scalar_expression(
        self, s: Statement, e: Expr, inner: str | None, low: str = "", predicate: bool = False
    ) -> ScalarExpression:
        self.expression_inner, self.expression_low, self.expression_statement = inner, low, s
        self.bare_names = self.outside | ({inner} if inner else set())
        made = ScalarExpression("", [], [])
        self.now = made
        made.text = bare(self.lanes(e))
        if predicate:
            made.text = f"({made.text}) ? 1.0F : 0.0F"
        if made.computes():
            self.fast += 1
        return made

    def leaf(self, leaf: Leaf) -> str:
        if leaf not in self.now.leaves:
            self.now.leaves.append(leaf)
        return self.atom(f"a{self.now.leaves.index(leaf)}[x]")

    def atom(self, text: str) -> str:
        self.now.atoms.add(text)
        return text

    def number_leaf(self, text: str) -> str:
        if text not in self.now.numbers:
            self.now.numbers.append(text)
        return self.atom(f"v{self.now.numbers.index(text)}")

    def constant_in_loop(self, e: Expr) -> bool:
        return not (e.free & self.bare_names) and not reads(e) and not inner_reductions(e)

    def scalar_leaf(self, e: Expr) -> str:
        before, depth = self.lines, self.depth
        self.lines, self.depth = [], 0
        text = self.expression(self.expression_statement, e, self.expression_inner)
        if e.sort in (PREDICATE, BOOL):
            text = f"surely({text}) ? 1.0F : 0.0F"
        lines, self.lines, self.depth = self.lines, before, depth
        if inner_reductions(e):
            self.slow.add(self.expression_statement.name)
        name = self.inner_named(e, self.expression_inner, self.expression_low)
        made = self.leaf(Leaf(scalar=[*name, *lines, text]))
        return f"({made} != 0)" if e.sort in (PREDICATE, BOOL) else made

    def lanes(self, e: Expr) -> str:
        """Returns C++ of `e` over arrays a0, a1 .. and numbers v0, v1 .."""
        if id(e) in self.held:
            return self.leaf(Leaf(held=self.held[id(e)]))
        if e.kind in ("number", "real") or (e.kind == "coerce" and e.args[0].kind in ("number", "real")):
            text = (e if e.kind in ("number", "real") else e.args[0]).value
            return self.atom(f"{float(text)!r}F") if abs(float(text)) < 3e38 else self.number_leaf(f"float({text})")
        if self.constant_in_loop(e):
            if e.sort in (PREDICATE, BOOL):
                return f"({self.number_leaf(f'{self.cpp(e)} ? 1.0F : 0.0F')} != 0)"
            return self.number_leaf(f"float({self.cpp(e)})")
        made = getattr(self, "lanes_" + e.kind, None)
        text = made(e) if made else None
        return text if text is not None else self.scalar_leaf(e)

    def lanes_let(self, e: Expr) -> str:
        return self.lanes(e.args[0])

    def lanes_scalar(self, e: Expr) -> str | None:
        return self.number_leaf(f"float({cpp_name(e.value)}_value)") if self.is_float(e.sort) else None

    def lanes_coerce(self, e: Expr) -> str | None:
        inner = e.args[0]
        return self.lanes(inner) if self.is_float(e.sort) and self.is_float(inner.sort) else None

    def lanes_read(self, e: Expr) -> str | None:
        if id(e) not in self.readers or not self.is_float(e.sort):
            return None
        name, other = self.reader_of[id(e)], e.value["else"] if e.value else None
        if other is None:
            return self.leaf(Leaf(read=name))
        return self.leaf(Leaf(read=name, other=f"float({self.cpp(other)})")) if self.constant_in_loop(other) else None

    def lanes_negative(self, e: Expr) -> str:
        return f"(-{self.lanes(e.args[0])})"

    def lanes_binary(self, e: Expr) -> str | None:
        if e.value == "%" or not self.is_float(e.sort):
            return None
        return f"({self.lanes(e.args[0])} {e.value} {self.lanes(e.args[1])})"

    def lanes_compare(self, e: Expr) -> str | None:
        if not all(self.is_float(a.sort) for a in e.args):
            return None
        return f"({self.lanes(e.args[0])} {e.value} {self.lanes(e.args[1])})"

    def lanes_logic(self, e: Expr) -> str | None:
        return f"({self.lanes(e.args[0])} {'&' if e.value == 'and' else '|'} {self.lanes(e.args[1])})"

    def lanes_not(self, e: Expr) -> str:
        return f"!{self.lanes(e.args[0])}"

    def lanes_cond(self, e: Expr) -> str | None:
        if not self.lane_able(e) or e.args[0].sort == BOOL:
            return None
        test, a, c = (self.lanes(x) for x in e.args)
        return f"({test} ? {a} : {c})"

    def lanes_call(self, e: Expr) -> str | None:
        if e.value in ("min", "max", "clamp") and self.is_float(e.sort):
            parts = [
                self.lanes(a)
                if self.is_float(a.sort)
                else self.lanes(Expr("coerce", [a], None, e.line, e.sort, a.free))
                for a in e.args
            ]
            if e.value == "clamp":
                return f"minimum(maximum({parts[0]}, {parts[1]}), {parts[2]})"
            joined = parts[0]
            for part in parts[1:]:
                joined = f"{e.value}imum({joined}, {part})"
            return joined
        if e.value == "round_to<>" and self.is_float(e.args[0].sort) and self.is_float(e.sort):
            self.ask(e.args[1])
            return self.lanes(e.args[0])
        if e.value == "convert<>" and self.is_float(e.sort) and self.is_float(e.args[0].sort):
            return self.lanes(e.args[0])
        if e.value == "real" and self.is_float(e.args[0].sort):
            return self.lanes(e.args[0])
        if e.value in ("is_nan", "is_inf") and self.is_float(e.args[0].sort):
            return f"{e.value}({self.lanes(e.args[0])})"
        if e.value in self.primitives and self.lane_able(e) and all(self.is_float(a.sort) for a in e.args):
            return f"{e.value}({', '.join(self.lanes(a) for a in e.args)})"
        return None

    def ask(self, type_: Expr) -> None:
        text = f"{self.cpp(type_)} == Type::float32"
        if (
            type_.kind == "call"
            and type_.value == "type"
            and type_.args[0].sort.kind == "tensor"
            and self.is_float(Sort("element", type_.args[0].sort.of))
        ):
            return
        if type_.kind == "name" and type_.value in self.floats:
            return
        if text not in self.asked and self.cpp(type_) != "Type::float32":
            self.asked.append(text)

    def scratch_buffer(self) -> int:
        self.scratch += 1
        self.max_scratch = max(self.scratch, self.max_scratch)
        return self.scratch - 1

    def inner_named(self, e: Expr, inner: str | None, low: str) -> list[str]:
        """Returns a line that declares the inner index of a reduction, if `e` uses it."""
        if not inner or inner not in self.index_names(e):
            return []
        name = cpp_name(inner)
        if self.inner_box:
            return [f"[[maybe_unused]] const IndexVector {name} = {name}_box.point({name}_outer, inner);"]
        return [f"[[maybe_unused]] const Index {name} = {checked('+', low, 'inner')};"]


def inner_reductions(e: Expr) -> bool:
    """True if `e` holds a reduction that runs separately for each element."""
    if e.kind == "reduce" and e.sort not in (INDEX, BOOL):
        return True
    parts = [*e.args, *(arm for _, arm in e.value)] if e.kind == "match" else e.args
    return any(inner_reductions(a) for a in parts if isinstance(a, Expr))
