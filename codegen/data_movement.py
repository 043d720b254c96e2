"""Classifies the data flow of a kernel: pure data movement, or computation.

If elements are only copied, one kernel serves all types of a size, and results are judged bit for bit.
"""

from __future__ import annotations

from codegen.builtins import BOOL, INDEX, PREDICATE
from codegen.notation import Expr, Statement
from codegen.sorts import Meaning


class DataMovement:
    def __init__(self, meaning: Meaning):
        self.m = meaning
        self.read: set[str] = set()  # inputs and tensor attributes whose elements a kernel reads
        self.by_index: set[str] = set()
        self.by_real: set[str] = set()
        self.otherwise: set[str] = set()
        self.computed: set[str] = set()  # constraints whose elements enter a computation
        self.converted: set[str] = set()  # constraints whose elements enter one, as they are, in a convert<>
        self.calculated: set[str] = set()  # constraints whose elements enter one otherwise
        self.followed: set[str] = set()
        self.inexact = False
        self.defined: set[str] = set()
        for statement in self._all(meaning.statements):
            for e in (
                statement.low,
                statement.high,
                statement.view,
                *statement.at,
                *(item.size for item in statement.lhs),
            ):
                if e is not None:
                    self._reads(e)
            if statement.kind in ("when", "through"):
                self._reads(statement.value)
            if statement.kind == "let" and statement.value.sort.kind != "tensor":
                self._reads(statement.value)
            if statement.kind in ("define", "seen", "scatter"):
                self._statement(statement)
        for s in meaning.seen.values():
            self.followed.add(s.value.args[0].value)
        for name in meaning.scalars:
            self.read.add(name)
        constraints = meaning.version.types
        self.moved = {n for n, types in constraints.items() if n not in self.computed and len(types) > 1}
        self.moved_in_extended = {n for n in constraints if self._only_bool(n) or constraints[n] == ["string"]}
        self.index_only = self.by_index - self.otherwise - self.by_real
        self.real_only = self._real_only()

    @property
    def exact(self) -> bool:
        """True if no output is rounded: any difference in bits is wrong."""
        return not self.inexact

    def _real_only(self) -> set[str]:
        """Returns inputs that are only read as reals. They are bound as reals, so that the kernel is not instantiated
        for each of their types."""
        v = self.m.version
        main = next((p.type for p in v.outputs if p.type in v.types), None)
        others = {p.name for p in v.inputs if p.type != main and not p.variadic}
        return (self.by_real - self.otherwise - self.by_index) & others if main else set()

    def is_template(self, constraint: str) -> bool:
        """True if the constraint is a template parameter of the kernel."""
        v = self.m.version
        for p in v.inputs:
            if p.type == constraint and p.name in self.read - self.index_only - self.real_only:
                return True
        return any(p.type == constraint and p.name in self.defined for p in v.outputs)

    def _only_bool(self, of: str) -> bool:
        return of == "bool" or self.m.version.types.get(of) == ["bool"]

    def _all(self, statements: list[Statement]):
        for s in statements:
            yield s
            yield from self._all(s.block)

    def _statement(self, s: Statement) -> None:
        symbol = self.m.symbols.get(s.name)
        self._reads(s.value)
        if symbol and symbol.role == "output" and s.kind == "define":
            self.defined.add(s.name)
        if s.kind == "seen":
            return
        if s.update or not self._moved(s.value):
            self._mark(s.value)
            self._calculates(s.value)
            if s.value.sort not in (PREDICATE, BOOL) and not self._counts(s.value):
                self.inexact = True
            if symbol and symbol.sort.kind == "tensor" and s.value.sort not in (PREDICATE, BOOL):
                self.computed.add(symbol.sort.of)

    def _moved(self, e: Expr) -> bool:
        """True if the value is an unchanged element of some tensor, or a constant zero."""
        if e.kind == "read":
            return not e.value or e.value["else"] is None or self._moved(e.value["else"])
        if e.kind == "scalar":
            return True
        if e.kind in ("let",):
            return self._moved(e.args[0])
        if e.kind == "coerce":
            return e.args[0].kind == "number" and e.args[0].value == "0"
        if e.kind == "cond" and (e.args[0].sort == BOOL or self._asks_bools(e.args[0])):
            return all(self._moved(a) for a in e.args[1:])
        if e.kind == "match":
            return all(self._moved(a) for _, a in e.value)
        return False

    def _asks_bools(self, e: Expr) -> bool:
        """True if a condition consists of elements of bool tensors only."""
        if e.kind in ("logic", "not", "let"):
            return all(self._asks_bools(a) for a in e.args)
        return e.kind == "read" and e.sort.kind == "element" and self._only_bool(e.sort.of)

    def _counts(self, e: Expr) -> bool:
        """True if the value is an index, or computed from indices only."""
        if e.kind == "coerce":
            return e.args[0].sort == INDEX
        if e.kind == "cond":
            return all(self._counts(a) for a in e.args[1:])
        if e.kind == "let":
            return self._counts(e.args[0])
        return e.sort == INDEX

    def _mark(self, e: Expr) -> None:
        """Marks the constraints of all elements of a computed expression."""
        if e.sort is not None and e.sort.kind == "element":
            self.computed.add(e.sort.of)
        if e.kind == "read":
            if e.value and e.value["else"]:
                self._mark(e.value["else"])
            return
        for a in e.args:
            self._mark(a)
        if e.kind == "match":
            for _, a in e.value:
                self._mark(a)

    def _calculates(self, e: Expr, into: set[str] | None = None) -> None:
        """Sorts the constraints of a computed expression's elements into `converted` and `calculated`."""
        into = self.calculated if into is None else into
        if e.sort is not None and e.sort.kind == "element":
            into.add(e.sort.of)
        if e.kind == "call" and e.value == "convert<>" and len(e.args) == 2 and self._unchanged(e.args[0]):
            self._calculates(e.args[0], self.converted)
            return
        if e.kind == "read":
            if e.value and e.value["else"]:
                self._calculates(e.value["else"], into)
            return
        for a in e.args:
            self._calculates(a, into)
        if e.kind == "match":
            for _, a in e.value:
                self._calculates(a, into)

    def _unchanged(self, e: Expr) -> bool:
        """True if the value is that of an element, perhaps as a real."""
        if e.kind == "call" and e.value == "real":
            return self._unchanged(e.args[0])
        return self._moved(e)

    def _reads(self, e: Expr, bridge: str = "") -> None:
        """Records the tensors that `e` reads. `bridge`: the function, index or real, that receives the value."""
        if e.kind == "name" and e.sort is not None and e.sort.kind == "family":
            self.read.add(e.value)
            self.otherwise.add(e.value)
        if e.kind == "read" and e.args[0].sort.kind in ("tensor", "family"):
            self._source(e.args[0], bridge if not e.value else "")
        if e.kind == "scalar":
            self._used(e.value, bridge)
        if e.kind == "call" and e.value in (
            "shape",
            "rank",
            "dim",
            "given",
            "wanted",
            "type",
            "fit",
            "fit_from",
            "size",
        ):
            for a in e.args:
                if a.kind == "name" and a.sort is not None and a.sort.kind in ("tensor", "family"):
                    self._shape_of(a)
        for k, a in enumerate(e.args):
            self._reads(a, e.value if e.kind == "call" and e.value in ("index", "real") and k == 0 else "")
        if e.kind == "match":
            for _, a in e.value:
                self._reads(a)
        if e.kind == "reduce":
            for binder in e.value["binders"]:
                if binder["kind"] == "family":
                    self.read.add(binder["family"])
                    self.otherwise.add(binder["family"])
                for key in ("low", "high", "shape"):
                    if key in binder:
                        self._reads(binder[key])
            if e.value["where"]:
                self._reads(e.value["where"])
        if e.kind == "read" and e.value and e.value["else"]:
            self._reads(e.value["else"])

    def _shape_of(self, a: Expr) -> None:
        symbol = self.m.symbols.get(a.value)
        if symbol and symbol.role == "input":
            self.read.add(a.value)

    def _used(self, name: str, bridge: str) -> None:
        {"index": self.by_index, "real": self.by_real}.get(bridge, self.otherwise).add(name)

    def _source(self, e: Expr, bridge: str) -> None:
        while e.kind == "read":
            e = e.args[0]
        if e.kind != "name":
            return
        symbol = self.m.symbols.get(e.value)
        if symbol is None:
            return
        if symbol.role in ("input", "attribute"):
            self.read.add(e.value)
            self._used(e.value, bridge)
        if symbol.role == "alias":
            for let in self._all(self.m.statements):
                if let.kind == "let" and let.name == e.value:
                    self._source(let.value.args[0], bridge)
