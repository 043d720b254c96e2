"""Translates a definition into a Halide algorithm, if the definition fits the canonical problem of its operator family.

Requirements, in single precision: one output, one definition that applies to float, every read affine in the output's
indices (and in the reduction's). All other values are scalar inputs or decided once per call.
The reduce family takes one reduction over a box, with an epilogue around it.
The contract family takes one sum over a range, with elements beside it.
Any other definition raises `Unfit` with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from codegen.affine import non_affine
from codegen.builtins import BOOL, ELEMENT_REDUCTIONS, INDEX, PREDICATE, REAL
from codegen.cpp import Cpp, cpp_name
from codegen.kernel import Kernel
from codegen.notation import Expr, Statement
from codegen.units import Unit

FORMS = {"elementwise": 4, "reduce": 3, "contract": 4}  # operator family -> rank of its canonical problem
HOSTED = {"elementwise", "reduce"}  # families whose kernels are compiled for CPUs too
FLOAT_CLASSES = {"floats", "numbers"}  # the TYPE_CLASSES that contain float
TAKEN = set(  # names already used in the code that generators are compiled with
    "x y z w i r at lane lanes outer inner rows block partial plan result target generate schedule select constant "
    "prim Func Var Expr Input Output Buffer sum prod max min auto float".split()
)
JOINED = {"exp", "sigmoid", "tanh", "erf"}  # primitives that fused multiply-adds make faster (optimized/math/single.h)
# Operations of elementwise definitions, which `_fma` kernels must not reorder (optimized/math/single.h)
STRICT = {"+": "strict_sum", "-": "strict_difference", "*": "strict_product", "/": "strict_quotient"}
ABOUT = {"given", "wanted", "shape", "rank", "dim", "type", "value"}  # calls that read no element that differs by index


class Unfit(Exception):
    """Reason why a definition has no fast kernel; its text is printed by --unfit."""


@dataclass
class Operand:
    """Tensor that the algorithm reads, always with the same indices."""

    name: str
    base: str  # C++ of the view that is read
    spot: str  # C++ of the point that is read
    reduced: bool  # read inside the reduction
    whole: bool = True  # a whole input, not a view of one


@dataclass
class Value:
    """Number or flag that is decided once per call."""

    name: str
    type: str  # float or bool
    text: str  # C++


@dataclass
class Algorithm:
    unit: Unit
    statement: Statement
    lines: list[str] = field(default_factory=list)  # body of generate()
    operands: list[Operand] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    aliases: list[Statement] = field(default_factory=list)
    reduction: Expr | None = None
    joins: bool = False  # fused multiply-adds are allowed: they pay off here, and no element is compared

    @property
    def form(self) -> str:
        return self.unit.meaning.version.form

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def broadcasts(self) -> bool:
        """True if each operand is read at the output's point or by broadcasting along the trailing dimensions."""
        at = ", ".join(cpp_name(item.name) for item in self.statement.lhs)
        laid = not self.statement.view and self.form == "elementwise"
        return laid and all(o.whole and o.spot in (at, f"fit({at}, {o.base})") for o in self.operands)

    @property
    def text(self) -> str:
        """Text that identifies the kernel: units of an operator with equal text share one kernel."""
        names = [f"{o.name}:{o.reduced}" for o in self.operands] + [f"{v.name}:{v.type}" for v in self.values]
        return "\n".join([self.form, *names, *(text for text in self.lines if not text.startswith("#"))])


def algorithm_of(unit: Unit, primitives: set[str]) -> Algorithm:
    """Translates `unit`; `primitives` names the functions of optimized/math. Raises Unfit."""
    return Writer(unit, primitives).run()


class Writer:
    def __init__(self, unit: Unit, primitives: set[str]):
        self.u, self.m, self.primitives = unit, unit.meaning, primitives
        self.cpp = Cpp(self.m, at_call=False, main="float")
        self.inside = False  # inside the reduction's body
        self.binder = ""
        self.called: set[str] = set()  # primitives and comparisons applied to elements
        self.named: dict[str, str] = {}  # lets and reductions that have a line of their own

    # -- supported definitions -------------------------------------------------------------------------------------
    def run(self) -> Algorithm:
        v = self.m.version
        if v.form not in FORMS:
            raise Unfit(f"form {v.form} has no generator")
        if len(v.outputs) != 1:
            raise Unfit("more than one output")
        if self.u.cast:
            raise Unfit("the type of the output is known only at a call")
        if self.u.wholes:
            raise Unfit("an output is an input as it stands")
        kept = self.chosen(self.m.statements)
        defines = [s for s in kept if s.kind == "define"]
        if len(defines) != 1 or defines[0].name in self.m.buffers:
            raise Unfit("more than one definition")
        for name in self.u.templates:
            if "float" not in self.u.types[name]:
                raise Unfit(f"{name} is never float")
        s = defines[0]
        self.must_be_float(s.name)
        self.out = Algorithm(self.u, s, aliases=[a for a in kept if a.kind == "let" and a.value.sort.kind == "tensor"])
        if any(a.kind == "let" and a not in self.out.aliases for a in kept):
            raise Unfit("a let beside the definition")
        self.tracked = frozenset(item.name for item in s.lhs)
        found = reductions(s.value)
        if v.form in ("reduce", "contract"):
            self.reduce(found)
        elif found:
            raise Unfit("a reduction in an elementwise definition")
        value = self.element(s.value)
        self.line(s, f"result({self.at()}) = {bare(value)};")
        if not self.out.operands:
            raise Unfit("no tensor is read")
        self.out.joins = v.form == "elementwise" and bool(self.called & JOINED) and "compare" not in self.called
        return self.out

    def chosen(self, statements: list[Statement]) -> list[Statement]:
        """Returns the statements that apply to float."""
        kept: list[Statement] = []
        holds = False
        for s in statements:
            if s.kind == "when":
                holds = self.decided(s.value)
                kept += self.chosen(s.block) if holds else []
            elif s.kind == "otherwise":
                kept += [] if holds else self.chosen(s.block)
            elif s.kind in ("define", "let"):
                kept.append(s)
            else:
                raise Unfit(f"a statement of kind {s.kind}")
        return kept

    def decided(self, e: Expr) -> bool:
        """Evaluates a condition on types, for float."""
        if e.kind == "member":
            return e.value in FLOAT_CLASSES
        if e.kind == "not":
            return not self.decided(e.args[0])
        if e.kind == "logic":
            parts = [self.decided(a) for a in e.args]
            return all(parts) if e.value == "and" else any(parts)
        raise Unfit("which definition counts is decided at a call")

    def must_be_float(self, name: str) -> None:
        symbol = self.m.symbols[name]
        of = symbol.sort.of
        if symbol.sort.kind == "family":
            raise Unfit(f"{name} is variadic")
        if of.startswith("@"):
            raise Unfit(f"{name} is an attribute")
        if not self.is_float(of):
            raise Unfit(f"{name} is never float")

    def is_float(self, of: str) -> bool:
        """True if the constraint is float or allows it. A fast kernel runs only if the type is float."""
        return of == "float" or "float" in self.u.types.get(of, [])

    def reduce(self, found: list[Expr]) -> None:
        if len(found) != 1:
            raise Unfit(f"{len(found)} reductions")
        (e,) = found
        binders, op = e.value["binders"], e.value["op"]
        if op not in ELEMENT_REDUCTIONS or e.sort.kind != "element":
            raise Unfit(f"{op} of {e.sort.kind} is no reduction of elements")
        contracts = self.m.version.form == "contract"
        if len(binders) != 1 or binders[0]["kind"] != ("range" if contracts else "box"):
            raise Unfit(f"a reduction over something else than one {'range' if contracts else 'box'}")
        if contracts and (op != "sum" or binders[0]["low"].value != "0"):
            raise Unfit("a contraction that is no sum from 0 on")
        if e.value["where"] is not None:
            raise Unfit("a filtered reduction")
        if binders[0]["high" if contracts else "shape"].free:
            raise Unfit("the reduction's bounds depend on indices")
        self.out.reduction = e
        self.binder = binders[0]["name"]
        self.inside = True
        self.tracked |= {self.binder}
        body = self.element(e.args[0])
        self.inside = False
        if not self.out.operands:
            raise Unfit("no tensor is reduced")
        self.named[str(id(e))] = f"{op}_of"
        first = self.out.operands[0].name
        text = f"const Expr {op}_of = {op}([&](const IndexVector& at) {{ return {bare(body)}; }}, {first});"
        self.line(self.out.statement, text)

    # -- lines and names ---------------------------------------------------------------------------------------------
    def line(self, s: Statement, text: str) -> None:
        self.out.lines += [f'#line {s.line} "{self.m.version.path}"', text]

    def at(self) -> str:
        return {"elementwise": "at", "reduce": "x, outer", "contract": "x, y, z"}[self.m.version.form]

    def fresh(self, name: str, taken: list[str]) -> str:
        name = name + "_" if name in TAKEN or cpp_name(name) != name else name
        k = 0
        while (made := f"{name}_{k}" if k else name) in taken:
            k += 1
        return made

    def all_names(self) -> list[str]:
        return [o.name for o in self.out.operands] + [v.name for v in self.out.values]

    # -- expressions -----------------------------------------------------------------------------------------------
    def element(self, e: Expr) -> str:
        """Returns C++ of a number that differs by element, or of a bool computed from such numbers."""
        if str(id(e)) in self.named:
            return self.named[str(id(e))]
        if e.kind == "coerce" and e.args[0].kind in ("number", "real"):
            return f"constant({e.args[0].value})"
        if self.at_call(e):
            return self.value(e)
        made: Callable[[Expr], str] | None = getattr(self, "_" + e.kind, None)
        if made is None:
            raise Unfit(f"an expression of kind {e.kind}")
        return made(e)

    def at_call(self, e: Expr) -> bool:
        if e.kind == "coerce":
            return self.at_call(e.args[0])
        return e.sort in (INDEX, REAL, BOOL) and not e.free and not reads(e)

    def value(self, e: Expr) -> str:
        flag = e.sort == BOOL
        text = self.cpp(e) if flag or e.sort.kind == "element" else f"from_number({self.cpp(e)})"
        for v in self.out.values:
            if v.text == text:
                return v.name
        words = re.findall(r"[A-Za-z_]\w*", written(e))
        name = self.fresh("_".join(words) if 0 < len(words) <= 3 else "value", self.all_names())
        self.out.values.append(Value(name, "bool" if flag else "float", text))
        return name

    def _let(self, e: Expr) -> str:
        if reductions(e.args[0]) or self.inside:
            return self.element(e.args[0])
        name = self.fresh(e.value, [])
        if name not in self.named.values():
            made = self.element(e.args[0])
            self.out.lines += [f'#line {e.line} "{self.m.version.path}"', f"const Expr {name} = {bare(made)};"]
            self.named["let " + e.value] = name
        return name

    def _read(self, e: Expr) -> str:
        base, *args = e.args
        if base.sort.kind != "tensor" or base.kind != "name":
            raise Unfit("a read of something else than a tensor")
        if e.value:
            raise Unfit("a read that may be outside")
        symbol = self.m.symbols[base.value]
        if symbol.role not in ("input", "alias"):
            raise Unfit(f"a read of {symbol.role} {base.value}")
        self.must_be_float(base.value)
        if self.m.version.form == "reduce" and not self.inside:
            raise Unfit("an element is read beside the reduction")
        non_affine_in = frozenset().union(*(non_affine(a, self.tracked) for a in args))
        if non_affine_in:
            raise Unfit(f"a read that is not affine in {', '.join(sorted(non_affine_in))}")
        spot = self.cpp.spot(args)
        for o in self.out.operands:
            if o.base == cpp_name(base.value) and o.spot == spot:
                return f"{o.name}(at)"
        name = self.fresh(base.value, self.all_names())
        whole = symbol.role == "input"
        self.out.operands.append(Operand(name, cpp_name(base.value), spot, self.inside, whole))
        return f"{name}(at)"

    def _scalar(self, e: Expr) -> str:
        self.must_be_float(e.value)
        text = f"{cpp_name(e.value)}_value"
        for v in self.out.values:
            if v.text == text:
                return v.name
        self.out.values.append(Value(self.fresh(f"{e.value}_value", self.all_names()), "float", text))
        return self.out.values[-1].name

    def _coerce(self, e: Expr) -> str:
        raise Unfit("an index or a real that differs by element")

    def _negative(self, e: Expr) -> str:
        return f"negative({bare(self.element(e.args[0]))})"

    def _binary(self, e: Expr) -> str:
        if e.value not in STRICT:
            raise Unfit("a remainder of elements")
        a, b = (self.element(part) for part in e.args)
        strict = self.m.version.form == "elementwise"
        return f"{STRICT[e.value]}({bare(a)}, {bare(b)})" if strict else f"({a} {e.value} {b})"

    def _compare(self, e: Expr) -> str:
        self.called.add("compare")
        return f"({self.element(e.args[0])} {e.value} {self.element(e.args[1])})"

    def _logic(self, e: Expr) -> str:
        return f"({self.element(e.args[0])} {'&&' if e.value == 'and' else '||'} {self.element(e.args[1])})"

    def _not(self, e: Expr) -> str:
        return f"!{self.element(e.args[0])}"

    def _cond(self, e: Expr) -> str:
        test, a, b = e.args
        try:
            return self.element(a if self.decided(test) else b)
        except Unfit:
            if test.kind == "member":
                raise
        if e.sort == PREDICATE:
            raise Unfit("a choice between truths")
        return f"select({bare(self.element(test))}, {bare(self.element(a))}, {bare(self.element(b))})"

    def _call(self, e: Expr) -> str:
        if e.value in ("min", "max", "clamp"):
            self.called.add("compare")
            parts = [self.element(a if a.sort == e.sort else coerced(a, e)) for a in e.args]
            if e.value == "clamp":
                return f"prim::minimum(prim::maximum({parts[0]}, {parts[1]}), {parts[2]})"
            joined = parts[0]
            for part in parts[1:]:
                joined = f"prim::{e.value}imum({joined}, {part})"
            return joined
        if e.value in ("lowest", "highest"):
            return f"prim::{e.value}()"
        converts = e.value == "convert<>" and len(e.args) == 2
        if converts and all(map(self.is_float, (e.args[0].sort.of, e.args[1].value))):
            return self.element(e.args[0])
        if e.value not in self.primitives:
            raise Unfit(f"{e.value.rstrip('<>')}() has no fast form")
        self.called.add("compare" if e.sort == PREDICATE else e.value)
        return f"prim::{e.value}({', '.join(self.element(a) for a in e.args)})"


def bare(text: str) -> str:
    """Returns `text` without a pair of parentheses around the whole."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def parts_of(e: Expr) -> list[Expr]:
    return [*e.args, *(arm for _, arm in e.value)] if e.kind == "match" else e.args


def reductions(e: Expr) -> list[Expr]:
    """Returns the outermost reductions of elements in `e`."""
    if e.kind == "reduce" and e.sort.kind == "element":
        return [e]
    return [r for a in parts_of(e) for r in reductions(a)]


def reads(e: Expr) -> bool:
    """True if `e` reads elements of a tensor."""
    if e.kind == "scalar" or (e.kind == "read" and e.args[0].sort.kind in ("tensor", "family")):
        return True
    return not (e.kind == "call" and e.value in ABOUT) and any(reads(a) for a in parts_of(e))


def coerced(e: Expr, to: Expr) -> Expr:
    return Expr("coerce", [e], None, e.line, to.sort, e.free)


def written(e: Expr) -> str:
    """Returns the names in `e`, joined, from which a variable is named."""
    if e.kind in ("name", "number"):
        return e.value
    head = e.value if e.kind == "call" else ""
    return " ".join([head, *(written(a) for a in parts_of(e))])


def kernel_of(a: Algorithm) -> Kernel:
    """Returns the writer of the lines that bind scalars and decode indices, shared with the reference kernel."""
    return Kernel(a.unit.meaning, "float")
