"""Assigns a sort (index, real, element, predicate ...) to every node of an expression tree, or refuses the entry."""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen import builtins as b
from codegen.builtins import BOOL, INDEX, INDICES, PREDICATE, REAL, REALS, TEXT, TEXTS, TYPE, Sort
from codegen.entry import Parameter, SpecError, Version
from codegen.notation import Expr, Statement
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
    lets: list[Statement] = field(default_factory=list)  # decided once per call, in order
    statements: list[Statement] = field(default_factory=list)  # lets with free indices precede their users
    shapes: dict[str, Expr] = field(default_factory=dict)  # output -> shape
    elements: dict[str, Expr] = field(default_factory=dict)  # output -> element type, if no input binds it
    defaults: dict[str, Expr] = field(default_factory=dict)  # optional input -> its default element
    rules: list[tuple[str, Expr, str, int]] = field(default_factory=list)
    buffers: dict[str, Sort] = field(default_factory=dict)  # intermediate tensors
    seen: dict[str, Statement] = field(default_factory=dict)  # buffer -> how outputs show it (recurrences)
    scalars: set[str] = field(default_factory=set)  # inputs that are read as one number
    symbols: dict[str, Symbol] = field(default_factory=dict)


def tensor_of(parameter: Parameter) -> Sort:
    return Sort("family" if parameter.variadic else "tensor", parameter.type)


class Expressions:
    """Scope of an entry, and the sorts of its expressions."""

    def __init__(self, version: Version, primitives: dict[str, int]):
        self.v, self.primitives = version, primitives  # primitives: name -> number of arguments
        self.m = Meaning(version)
        self.scope: dict[str, Symbol] = self.m.symbols
        self.pending: dict[str, Statement] = {}  # lets with free indices
        self.line, self.path = version.line, version.path
        self.met = 0  # number of statements so far

    # -- errors and scope ----------------------------------------------------------------------------------------
    def fail(self, message: str, line: int = 0) -> SpecError:
        return SpecError(self.path, line or self.line, f"{self.v.name}: {message}")

    def declare(self, name: str, sort: Sort, role: str) -> None:
        self.scope[name] = Symbol(name, sort, role)

    # -- expressions ---------------------------------------------------------------------------------------------
    def number(self, e: Expr) -> Expr:
        """Sorts `e`. An input without an index, in place of a number, is its single element."""
        if e.sort is None and e.kind == "name":
            symbol = self.scope.get(e.value)
            if symbol and symbol.sort.kind == "tensor" and symbol.role in ("input", "attribute"):
                e.kind, e.sort, e.free = "scalar", Sort("element", symbol.sort.of), frozenset()
                self.m.scalars.add(e.value)
                return e
        return self.sort(e)

    def wanted(self, e: Expr, sort: Sort, store: bool = False) -> Expr:
        """Sorts `e` and coerces it to `sort`: integers become reals or elements, reals become elements."""
        made = self.number(e) if sort.kind in ("element", "predicate") else self.sort(e)
        return self.coerce(made, sort, store)

    def coerce(self, e: Expr, sort: Sort, store: bool = False) -> Expr:
        have = e.sort
        if have == sort or (have.kind == sort.kind and sort.kind in ("element", "predicate", "tensor")):
            return e
        if sort == PREDICATE and have == BOOL or (sort.kind == "element" and have in (PREDICATE, BOOL) and store):
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
            return PREDICATE
        if e.sort not in (BOOL, PREDICATE):
            raise self.fail(f"a condition is wanted, but this is {e.sort}")
        return e.sort

    def only_bool(self, of: str) -> bool:
        return of == "bool" or self.v.types.get(of) == ["bool"]

    def _logic(self, e: Expr) -> None:
        sorts = [self.logical(self.sort(a)) for a in e.args]
        e.sort = PREDICATE if PREDICATE in sorts else BOOL

    def _member(self, e: Expr) -> None:
        self.sort(e.args[0])
        if e.args[0].sort != TYPE or e.value not in TYPE_CLASSES:
            raise self.fail(f"'in' asks whether a type is one of {', '.join(sorted(TYPE_CLASSES))}")
        e.sort = BOOL

    def common(self, parts: list[Expr]) -> Sort:
        """Returns the widest sort of number among the parts; lists and texts must agree."""
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
            e.sort = PREDICATE
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
            if where.sort not in (BOOL, PREDICATE):
                raise self.fail("'where' needs a condition")
        body = self.sort(e.args[0])
        op = e.value["op"]
        if op in b.ELEMENT_REDUCTIONS and body.sort.kind in ("element", "index", "real"):
            e.sort = body.sort
        elif op in b.ARG_REDUCTIONS and body.sort.kind in ("element", "real") and len(binders) == 1:
            e.sort = INDICES if binders[0]["kind"] == "box" else INDEX
        elif op in ("any", "all") and body.sort in (BOOL, PREDICATE):
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
        if name in ("convert<>", "round_to<>", "bits<>"):
            return self.convert(e)
        elementwise = name in self.primitives or name in (
            "is_nan",
            "is_inf",
            "activate",
            "index",
            "real",
            "min",
            "max",
            "clamp",
        )
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
        if target.sort != TYPE or not parts or parts[0].sort.kind not in ("element", "real", "index", "predicate"):
            raise self.fail(f"{e.value} is written name<type>(element, ..)")
        of = target.value if target.kind == "name" else "?"
        e.args = [*parts, target]
        e.sort = Sort("element", parts[0].sort.of if e.value == "round_to<>" else of)
        if e.value == "round_to<>" and parts[0].sort.kind == "real":
            e.sort = REAL

    def holds_floats(self, of: str) -> bool:
        types = self.v.types.get(of, [of])
        return all(t.startswith(("float", "double", "bfloat")) for t in types)
