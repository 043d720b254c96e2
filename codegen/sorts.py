"""Checks a version's semantics and sorts every expression: index, real, element, list, truth ... The result, a Meaning, is
what all emitters read. An entry that mixes sorts, names what is not there or leaves an output undefined is refused."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from codegen import builtins as b
from codegen.builtins import BOOL, INDEX, INDICES, REAL, REALS, TEXT, TEXTS, TRUTH, TYPE, Sort
from codegen.entry import MISSING, Parameter, SpecError, Text, Version
from codegen.notation import Expr, Lhs, Statement, parse_expression, parse_statements
from codegen.value_types import ELEMENTS

ATTRIBUTE_SORTS = {"int": INDEX, "float": REAL, "string": TEXT, "ints": INDICES, "floats": REALS, "strings": TEXTS}
TYPE_CLASSES = {"integers", "floats", "unsigned", "signed", "strings", "booleans", "complexes", "numbers"}


@dataclass
class Symbol:
    name: str
    sort: Sort
    role: str  # input output attribute let free binder buffer alias


@dataclass
class Meaning:
    version: Version
    lets: list[Statement] = field(default_factory=list)  # decided once a call, in order
    statements: list[Statement] = field(default_factory=list)  # lets with free indices stand in front of what uses them
    shapes: dict[str, Expr] = field(default_factory=dict)  # output -> shape
    elements: dict[str, Expr] = field(default_factory=dict)  # output -> element type, where no input binds it
    defaults: dict[str, Expr] = field(default_factory=dict)  # optional input -> element that stands for it
    rules: list[tuple[str, Expr, str, int]] = field(default_factory=list)
    buffers: dict[str, Sort] = field(default_factory=dict)  # intermediate tensors
    seen: dict[str, Statement] = field(default_factory=dict)  # buffer -> how outputs show it (recurrences)
    scalars: set[str] = field(default_factory=set)  # inputs that are read as one number
    symbols: dict[str, Symbol] = field(default_factory=dict)


def tensor_of(parameter: Parameter) -> Sort:
    return Sort("family" if parameter.variadic else "tensor", parameter.type)


class Checker:
    def __init__(self, version: Version, primitives: dict[str, int]):
        self.v, self.primitives = version, primitives  # name -> number of arguments
        self.m = Meaning(version)
        self.scope: dict[str, Symbol] = self.m.symbols
        self.pending: dict[str, Statement] = {}  # lets with free indices
        self.line = version.line

    # -- errors and scope ----------------------------------------------------------------------------------------
    def fail(self, message: str, line: int = 0) -> SpecError:
        return SpecError(self.v.path, line or self.line, f"{self.v.name}: {message}")

    def declare(self, name: str, sort: Sort, role: str) -> None:
        self.scope[name] = Symbol(name, sort, role)

    # -- the whole -----------------------------------------------------------------------------------------------
    def run(self) -> Meaning:
        v = self.v
        for p in v.inputs:
            self.declare(p.name, tensor_of(p), "input")
        for p in v.outputs:
            self.declare(p.name, tensor_of(p), "output")
        for a in v.attributes:
            sort = ATTRIBUTE_SORTS.get(a.kind) or Sort("tensor" if a.kind == "tensor" else a.kind, f"@{a.name}")
            self.declare(a.name, sort, "attribute")
        for statement in parse_statements(v.semantics) if v.semantics else []:
            self.statement(statement, self.m.statements)
        for p in v.outputs:
            if p.shape:
                self.m.shapes[p.name] = self.at_call(p.shape, INDICES)
            if p.element:
                self.m.elements[p.name] = self.at_call(p.element, TYPE)
        for rule in v.rules:
            self.m.rules.append((rule.id, self.at_call(rule.that, BOOL), rule.message, rule.line))
        for p in v.inputs:
            if p.default:
                self.m.defaults[p.name] = self.wanted(parse_expression(p.default), Sort("element", p.type))
        defined = {s.name for s in self._walk(self.m.statements) if s.kind in ("define", "whole")}
        for p in v.outputs:
            if p.name not in defined:
                raise self.fail(f"output {p.name} is never defined")
            wholes = [s for s in self._walk(self.m.statements) if s.kind == "whole" and s.name == p.name]
            if not p.shape and not wholes:
                raise self.fail(f"output {p.name} has no shape")
        for name, let in self.pending.items():
            if not let.lhs:
                raise self.fail(f"let {name} is never used, or names something that is not there", let.line)
        return self.m

    def _walk(self, statements: list[Statement]):
        for s in statements:
            yield s
            yield from self._walk(s.block)

    def at_call(self, text: Text, sort: Sort) -> Expr:
        self.line = text.line
        expr = self.wanted(parse_expression(text), sort)
        if expr.free:
            raise self.fail(f"depends on {', '.join(sorted(expr.free))}, which is not decided once a call")
        return expr

    # -- statements ----------------------------------------------------------------------------------------------
    def statement(self, s: Statement, into: list[Statement]) -> None:
        self.line = s.line
        if s.kind == "let":
            return self.let(s, into)
        if s.kind in ("when", "otherwise"):
            if s.kind == "when":
                s.value = self.wanted(s.value, BOOL)
            elif not into or into[-1].kind != "when":
                raise self.fail("else: follows a when")
            block, s.block = s.block, []
            for inner in block:
                self.statement(inner, s.block)
        elif s.kind == "scan":
            s.low, s.high = self.wanted(s.low, INDEX), self.wanted(s.high, INDEX)
            self.declare(s.name, INDEX, "free")
            block, s.block = s.block, []
            self.shared_buffers(block, s)
            for inner in block:
                self.statement(inner, s.block)
        elif s.kind == "whole":
            if s.name not in self.scope or self.scope[s.name].role != "output":
                raise self.fail(f"{s.name} is no output; name part of a tensor by let")
            s.value = self.sort(s.value)
            if s.value.sort.kind not in ("tensor", "family"):
                raise self.fail(f"a whole value is wanted, but this is {s.value.sort}")
        else:
            self.define(s)
        into.append(s)

    def shared_buffers(self, block: list[Statement], scan: Statement) -> None:
        """Buffers of a scan may be read before they are defined (at an earlier step), so they are declared first."""
        for s in block:
            if s.kind == "define" and s.name not in self.scope:
                self.declare(s.name, Sort("tensor", self.v.outputs[0].type), "buffer")
                self.m.buffers[s.name] = Sort("element", self.v.outputs[0].type)

    def let(self, s: Statement, into: list[Statement]) -> None:
        missing = self.unknown_names(s.value)
        if missing:
            self.pending[s.name] = s
            return
        s.value = self.sort(s.value)
        if s.value.sort.kind in ("tensor",):
            self.declare(s.name, s.value.sort, "alias")
            into.append(s)
            return
        if s.value.free:  # inside a scan: per step
            self.declare(s.name, s.value.sort, "free")
            into.append(s)
            return
        if s.value.sort.kind in ("element", "truth"):
            raise self.fail(f"let {s.name} is an element without an index; give it the form of a tensor", s.line)
        self.declare(s.name, s.value.sort, "let")
        self.m.lets.append(s)

    def unknown_names(self, e: Expr, bound: frozenset[str] = frozenset()) -> set[str]:
        known = self.scope.keys() | self.v.types.keys() | bound | set(ELEMENTS)
        if e.kind == "name":
            return set() if e.value in known else {e.value}
        found: set[str] = set()
        inner = bound
        if e.kind == "reduce":
            for binder in e.value["binders"]:
                for key in ("low", "high", "shape"):
                    if key in binder:
                        found |= self.unknown_names(binder[key], inner)
                inner |= {binder["name"]}
            if e.value["where"]:
                found |= self.unknown_names(e.value["where"], inner)
        if e.kind == "comprehension":
            inner |= {e.value}
        if e.kind == "match":
            for _, arm in e.value:
                found |= self.unknown_names(arm, inner)
        if e.kind == "read" and e.value and e.value["else"]:
            found |= self.unknown_names(e.value["else"], inner)
        if e.kind == "call" and e.value in ("given", "wanted"):
            return found
        for arg in e.args:
            found |= self.unknown_names(arg, inner)
        return found

    def define(self, s: Statement) -> None:
        known = self.scope.get(s.name)
        if known and known.role not in ("output", "buffer"):
            raise self.fail(f"{s.name} is {known.role}: it cannot be defined")
        shadow = dict(self.scope)
        names = []
        for k, item in enumerate(s.lhs):
            names.append(item.name)
            if item.size is not None:
                item.size = self.sort(item.size)
            if item.kind == "over":
                pack = item.size.sort == INDICES
            else:
                pack = item.kind == "pack" or (len(s.lhs) == 1 and not self.is_step(item))
            if item.kind == "index" and pack:
                s.lhs[k] = item = Lhs("pack", item.name)
            if not self.is_step(item):
                self.scope[item.name] = Symbol(item.name, INDICES if pack else INDEX, "free")
        if s.view is not None:
            s.view = self.wanted(s.view, INDICES)
        s.value = self.expand(s.value, s)
        if known:
            element = Sort("element", known.sort.of)
            s.value = self.wanted(s.value, TRUTH if self.is_truth_output(known.sort.of, s.value) else element, store=True)
        else:
            s.value = self.sort(s.value)
        if s.kind == "seen":
            self.m.seen[s.name] = s
        sort = s.value.sort
        self.scope.clear()
        self.scope.update(shadow)
        if not known:
            if sort.kind not in ("element", "index", "real", "truth"):
                raise self.fail(f"an element of {s.name} cannot be {sort}")
            if not all(item.kind == "over" or self.is_step(item) for item in s.lhs):
                raise self.fail(f"{s.name} is new here: each index needs its extent, as in {s.name}[i in shape(X)]")
            self.m.buffers[s.name] = sort
            self.declare(s.name, Sort("tensor", sort.of if sort.kind == "element" else f"#{sort.kind}"), "buffer")

    def is_step(self, item: Lhs) -> bool:
        symbol = self.scope.get(item.name)
        return symbol is not None and symbol.role == "free" and symbol.sort == INDEX and item.size is None

    def is_truth_output(self, of: str, value: Expr) -> bool:
        return of == "bool" or self.v.types.get(of) == ["bool"]

    def expand(self, e: Expr, statement: Statement) -> Expr:
        """Puts in the lets with free indices. Each is a definition, not a variable, so it may stand in a reduction too."""
        if e.kind == "name" and e.value in self.pending and e.value not in self.scope:
            let = self.pending[e.value]
            let.lhs = let.lhs or [Lhs("index", e.value)]  # marks it as used
            inner = self.expand(copy.deepcopy(let.value), statement)
            return Expr("let", [inner], e.value, let.line)
        e.args = [self.expand(a, statement) for a in e.args]
        if e.kind == "match":
            e.value = [(k, self.expand(a, statement)) for k, a in e.value]
        if e.kind == "reduce":
            for binder in e.value["binders"]:
                for key in ("low", "high", "shape"):
                    if key in binder:
                        binder[key] = self.expand(binder[key], statement)
            if e.value["where"]:
                e.value["where"] = self.expand(e.value["where"], statement)
        if e.kind == "read" and e.value and e.value["else"]:
            e.value["else"] = self.expand(e.value["else"], statement)
        return e

    # -- expressions ---------------------------------------------------------------------------------------------
    def number(self, e: Expr) -> Expr:
        """Sorts `e`; an input named without an index, where a number belongs, is its one element."""
        if e.sort is None and e.kind == "name":
            symbol = self.scope.get(e.value)
            if symbol and symbol.sort.kind == "tensor" and symbol.role in ("input", "attribute"):
                e.kind, e.sort, e.free = "scalar", Sort("element", symbol.sort.of), frozenset()
                self.m.scalars.add(e.value)
                return e
        return self.sort(e)

    def wanted(self, e: Expr, sort: Sort, store: bool = False) -> Expr:
        """Sorts `e` and makes it a `sort`: integers become reals or elements, reals elements."""
        made = self.number(e) if sort.kind in ("element", "truth") else self.sort(e)
        return self.coerce(made, sort, store)

    def coerce(self, e: Expr, sort: Sort, store: bool = False) -> Expr:
        have = e.sort
        if have == sort or (have.kind == sort.kind and sort.kind in ("element", "truth", "tensor")):
            return e
        if sort == TRUTH and have == BOOL or (sort.kind == "element" and have in (TRUTH, BOOL) and store):
            return e
        ranks = {"index": 0, "real": 1, "element": 2}
        if have.kind in ranks and sort.kind in ranks and ranks[have.kind] < ranks[sort.kind]:
            return Expr("coerce", [e], None, e.line, sort, e.free)
        if have == INDICES and sort == REALS and not e.args:
            e.sort = REALS
            return e
        raise self.fail(f"{sort} is wanted, but this is {have}")

    def sort(self, e: Expr) -> Expr:
        if e.sort is None:
            getattr(self, "_" + e.kind)(e)
            if e.free is None:
                e.free = self.free_of(e)
        return e

    def free_of(self, e: Expr) -> frozenset[str]:
        free: set[str] = set()
        for arg in e.args:
            free |= arg.free
        if e.kind == "name":
            symbol = self.scope.get(e.value)
            if symbol and symbol.role in ("free", "binder"):
                free.add(e.value)
        return frozenset(free)

    def _number(self, e: Expr) -> None:
        e.sort = INDEX

    def _real(self, e: Expr) -> None:
        e.sort = REAL

    def _string(self, e: Expr) -> None:
        e.sort = TEXT

    def _let(self, e: Expr) -> None:
        self.sort(e.args[0])
        e.sort = e.args[0].sort

    def _coerce(self, e: Expr) -> None:
        raise self.fail("coerced twice")

    def _name(self, e: Expr) -> None:
        if e.value in self.scope:
            e.sort = self.scope[e.value].sort
        elif e.value in self.v.types or e.value in ELEMENTS:
            e.sort = TYPE
        elif e.value in ("true", "false"):
            e.sort = BOOL
        else:
            raise self.fail(f"nothing here is called {e.value}")

    def _negative(self, e: Expr) -> None:
        self.number(e.args[0])
        e.sort = e.args[0].sort

    def _not(self, e: Expr) -> None:
        self.sort(e.args[0])
        e.sort = self.logical(e.args[0])



    def logical(self, e: Expr) -> Sort:
        if e.sort.kind == "element" and self.only_bool(e.sort.of):
            return TRUTH
        if e.sort not in (BOOL, TRUTH):
            raise self.fail(f"a condition is wanted, but this is {e.sort}")
        return e.sort

    def only_bool(self, of: str) -> bool:
        return of == "bool" or self.v.types.get(of) == ["bool"]

    def _logic(self, e: Expr) -> None:
        sorts = [self.logical(self.sort(a)) for a in e.args]
        e.sort = TRUTH if TRUTH in sorts else BOOL

    def _member(self, e: Expr) -> None:
        self.sort(e.args[0])
        if e.args[0].sort != TYPE or e.value not in TYPE_CLASSES:
            raise self.fail(f"'in' asks whether a type is one of {', '.join(sorted(TYPE_CLASSES))}")
        e.sort = BOOL

    def common(self, parts: list[Expr]) -> Sort:
        """The widest sort of number among the parts; lists and texts must agree."""
        for kind in ("element", "real", "index"):
            found = [p.sort for p in parts if p.sort.kind == kind]
            if found:
                return found[0]
        return parts[0].sort

    def _binary(self, e: Expr) -> None:
        parts = [self.number(a) for a in e.args]
        if any(p.sort in (INDICES, REALS) for p in parts):
            for p in parts:
                if p.sort not in (INDICES, INDEX, REALS, REAL):
                    raise self.fail(f"a list and {p.sort} do not add or multiply")
            e.sort = REALS if any(p.sort in (REALS, REAL) for p in parts) else INDICES
            return
        e.sort = self.common(parts)
        if e.sort.kind not in ("index", "real", "element"):
            raise self.fail(f"'{e.value}' needs numbers, but this is {e.sort}")
        e.args = [self.coerce(p, e.sort) for p in parts]

    def _compare(self, e: Expr) -> None:
        parts = [self.number(a) for a in e.args]
        want = self.common(parts)
        e.args = [self.coerce(p, want) for p in parts]
        if want.kind == "element" or (want.kind == "real" and any(p.free for p in parts)):
            e.sort = TRUTH
        elif want.kind in ("index", "real", "text", "type", "bool", "indices"):
            e.sort = BOOL
        else:
            raise self.fail(f"{want} cannot be compared")

    def _cond(self, e: Expr) -> None:
        test = self.sort(e.args[0])
        self.logical(test)
        parts = [self.number(a) for a in e.args[1:]]
        e.sort = self.common(parts)
        e.args = [test, *(self.coerce(p, e.sort) for p in parts)]

    def _match(self, e: Expr) -> None:
        self.wanted(e.args[0], TEXT)
        arms = [self.sort(a) for _, a in e.value]
        e.sort = self.common(arms)
        e.value = [(k, self.coerce(a, e.sort)) for (k, _), a in zip(e.value, arms, strict=True)]
        e.free = e.args[0].free.union(*(a.free for _, a in e.value))

    def _splice(self, e: Expr) -> None:
        self.sort(e.args[0])
        if e.args[0].sort not in (INDICES, REALS):
            raise self.fail(f"'..' lays out a list, but this is {e.args[0].sort}")
        e.sort = e.args[0].sort

    def _replace(self, e: Expr) -> None:
        parts = [self.sort(a) for a in e.args]
        b.BUILTINS["replaced"].give([p.sort for p in parts])
        e.sort = INDICES

    def _list(self, e: Expr) -> None:
        parts = [self.sort(a) for a in e.args]
        kinds = {(b.ITEM_OF[p.sort.kind] if p.kind == "splice" else p.sort) for p in parts}
        e.sort = REALS if REAL in kinds else TEXTS if TEXT in kinds else INDICES

    def _comprehension(self, e: Expr) -> None:
        body, low, high, *where = e.args
        self.wanted(low, INDEX), self.wanted(high, INDEX)
        with_name = self.bind([(e.value, INDEX)])
        self.sort(body)
        for condition in where:
            if self.sort(condition).sort != BOOL:
                raise self.fail("'where' in a list asks about indices")
        self.unbind(with_name)
        if body.sort.kind not in b.LIST_OF:
            raise self.fail(f"a list of {body.sort} cannot be made")
        e.sort = b.LIST_OF[body.sort.kind]
        e.free = frozenset().union(*(a.free for a in e.args)) - {e.value}

    def bind(self, names: list[tuple[str, Sort]]) -> dict[str, Symbol | None]:
        before = {n: self.scope.get(n) for n, _ in names}
        for name, sort in names:
            self.scope[name] = Symbol(name, sort, "binder")
        return before

    def unbind(self, before: dict[str, Symbol | None]) -> None:
        for name, symbol in before.items():
            if symbol is None:
                del self.scope[name]
            else:
                self.scope[name] = symbol

    def _reduce(self, e: Expr) -> None:
        before: dict[str, Symbol | None] = {}
        names: set[str] = set()
        outside: frozenset[str] = frozenset()
        binders = e.value["binders"]
        for binder in binders:
            if binder["kind"] == "range":
                binder["low"], binder["high"] = self.wanted(binder["low"], INDEX), self.wanted(binder["high"], INDEX)
                outside |= (binder["low"].free | binder["high"].free) - names
                bound = self.bind([(binder["name"], INDEX)])
            elif binder["kind"] == "box":
                binder["shape"] = self.wanted(binder["shape"], INDICES)
                outside |= binder["shape"].free - names
                bound = self.bind([(binder["name"], INDICES)])
            else:
                family = self.scope.get(binder["family"])
                if not family or family.sort.kind != "family":
                    raise self.fail(f"{binder['family']} is no variadic input")
                bound = self.bind([(binder["name"], Sort("tensor", family.sort.of))])
            before = {**bound, **before}
            names.add(binder["name"])
        where = e.value["where"]
        if where:
            e.value["where"] = self.sort(where)
            if where.sort not in (BOOL, TRUTH):
                raise self.fail("'where' needs a condition")
        body = self.sort(e.args[0])
        op = e.value["op"]
        if op in b.ELEMENT_REDUCTIONS and body.sort.kind in ("element", "index", "real"):
            e.sort = body.sort
        elif op in b.ARG_REDUCTIONS and body.sort.kind in ("element", "real") and len(binders) == 1:
            e.sort = INDICES if binders[0]["kind"] == "box" else INDEX
        elif op in ("any", "all") and body.sort in (BOOL, TRUTH):
            e.sort = body.sort
        elif op == "count" and body.sort in (BOOL,):
            e.sort = INDEX
        else:
            raise self.fail(f"{op} cannot reduce {body.sort}")
        e.free = frozenset((body.free | (where.free if where else frozenset())) - names) | outside
        self.unbind(before)

    def _read(self, e: Expr) -> None:
        base = self.sort(e.args[0])
        for arg in e.args[1:]:
            self.sort(arg)
        others = e.args[1:]
        if base.sort.kind in b.ITEM_OF:
            if len(others) != 1 or others[0].sort != INDEX:
                raise self.fail("a list is read by one index")
            e.sort = b.ITEM_OF[base.sort.kind]
        elif base.sort.kind == "family":
            if len(others) != 1 or others[0].sort != INDEX:
                raise self.fail("a family is read by one index, which names a tensor of it")
            e.sort = Sort("tensor", base.sort.of)
        elif base.sort.kind == "tensor":
            for arg in others:
                if arg.sort not in (INDEX, INDICES):
                    raise self.fail(f"a tensor is read by indices, but this is {arg.sort}")
            inner = base.sort.of
            e.sort = Sort(inner[1:]) if inner.startswith("#") else Sort("element", inner)
        else:
            raise self.fail(f"{base.sort} cannot be read by an index")
        free = frozenset().union(*(a.free for a in e.args))
        if e.value:
            if e.value["else"] is not None:
                e.value["else"] = self.wanted(e.value["else"], e.sort)
                free |= e.value["else"].free
        e.free = free

    def _call(self, e: Expr) -> None:
        name = e.value
        if name in ("given", "wanted"):
            if len(e.args) != 1 or e.args[0].kind != "name" or e.args[0].value not in self.scope:
                raise self.fail(f"{name}() takes the name of an input, an attribute or an output")
            e.args[0].sort, e.args[0].free = self.scope[e.args[0].value].sort, frozenset()
            e.sort = BOOL
            return
        if name in ("lowest", "highest"):
            if len(e.args) != 1 or e.args[0].kind != "name" or e.args[0].value not in self.v.types:
                raise self.fail(f"{name}() takes a type constraint")
            e.args[0].free, e.args[0].sort, e.sort = frozenset(), TYPE, Sort("element", e.args[0].value)
            return
        if name in ("convert<>", "round_to<>"):
            return self.convert(e)
        elementwise = name in self.primitives or name in ("is_nan", "activate", "index", "real", "min", "max", "clamp")
        parts = [self.number(a) if elementwise else self.sort(a) for a in e.args]
        if name == "value" and len(parts) == 1 and parts[0].sort.kind == "tensor":
            e.sort = REALS if self.holds_floats(parts[0].sort.of) else INDICES
            return
        if name == "real" and parts and parts[0].sort == REAL:
            e.sort = REAL
            return
        if name in b.BUILTINS:
            try:
                e.sort = b.BUILTINS[name].give([p.sort for p in parts])
            except b.Mismatch as error:
                raise self.fail(f"{name}() {error}") from None
            if e.sort == Sort("element"):
                e.sort = next(p.sort for p in parts if p.sort.kind == "element")
            return
        if name in self.primitives:
            if len(parts) != self.primitives[name]:
                raise self.fail(f"{name}() takes {self.primitives[name]} numbers")
            e.sort = self.common(parts)
            if e.sort.kind not in ("element", "real", "index"):
                raise self.fail(f"{name}() takes numbers, but this is {e.sort}")
            if e.sort == INDEX:
                e.sort = REAL
            e.args = [self.coerce(p, e.sort) for p in parts]
            return
        raise self.fail(f"no function is called {name}")

    def convert(self, e: Expr) -> None:
        *parts, target = e.args
        parts = [self.number(p) for p in parts]
        self.sort(target)
        if target.sort != TYPE or not parts or parts[0].sort.kind not in ("element", "real", "index", "truth"):
            raise self.fail(f"{e.value} is written name<type>(element, ..)")
        of = target.value if target.kind == "name" else "?"
        e.args = [*parts, target]
        e.sort = Sort("element", of if e.value == "convert<>" else parts[0].sort.of)
        if e.value == "round_to<>" and parts[0].sort.kind == "real":
            e.sort = REAL

    def holds_floats(self, of: str) -> bool:
        types = self.v.types.get(of, [of])
        return all(t.startswith(("float", "double", "bfloat")) for t in types)


def check(version: Version, primitives: dict[str, int]) -> Meaning:
    return Checker(version, primitives).run()
