"""Checks a version's semantics and sorts every expression: index, real, element, list, predicate ...

The result, a Meaning, is the input of all emitters. An entry that mixes sorts, uses an unknown name or leaves an output
undefined is refused.
"""

from __future__ import annotations

import copy
from dataclasses import replace

from codegen.builtins import BOOL, INDEX, INDICES, PREDICATE, TYPE, Sort
from codegen.entry import Text, Version
from codegen.expressions import ATTRIBUTE_SORTS, Expressions, Meaning, Symbol, tensor_of
from codegen.notation import Expr, Lhs, Statement, parse_expression, parse_statements
from codegen.value_types import ELEMENTS

TYPE_CLASSES = {"integers", "floats", "unsigned", "signed", "strings", "booleans", "complexes", "numbers"}


class Checker(Expressions):
    # -- entry point -------------------------------------------------------------------------------------------------
    def run(self) -> Meaning:
        v = self.v
        for p in v.inputs:
            self.declare(p.name, tensor_of(p), "input")
        for p in v.outputs:
            self.declare(p.name, tensor_of(p), "output")
        for a in v.attributes:
            sort = ATTRIBUTE_SORTS.get(a.kind) or Sort("tensor" if a.kind == "tensor" else a.kind, f"@{a.name}")
            self.declare(a.name, sort, "attribute")
        for statement in self.statements_of(v):
            self.statement(statement, self.m.statements)
        self.path = v.path
        for p in v.outputs:
            if p.shape:
                self.m.shapes[p.name] = self.at_call(p.shape, INDICES, self.family_index(p.name))
            if p.element:
                self.m.elements[p.name] = self.at_call(p.element, TYPE)
        for rule in v.rules:
            self.m.rules.append((rule.id, self.at_call(rule.that, BOOL), rule.message, rule.line))
        for p in v.inputs:
            if p.default:
                self.m.defaults[p.name] = self.wanted(self.parsed(p.default), Sort("element", p.type))
        defined = {s.name for s in self._walk(self.m.statements) if s.kind in ("define", "whole")}
        for p in v.outputs:
            if p.name not in defined:
                raise self.fail(f"output {p.name} is never defined", p.line)
            wholes = [s for s in self._walk(self.m.statements) if s.kind == "whole" and s.name == p.name]
            if not p.shape and not wholes:
                raise self.fail(f"output {p.name} has no shape", p.line)
        for name, let in self.pending.items():
            if not let.lhs:
                raise self.fail(f"let {name} is never used, or names something that is not there", let.line)
        return self.m

    def _walk(self, statements: list[Statement]):
        for s in statements:
            yield s
            yield from self._walk(s.block)

    def statements_of(self, v: Version) -> list[Statement]:
        """Returns the statements of the semantics. For a variant, its own statements replace those that define the same
        names."""
        first = self.with_parts(parse_statements(v.semantics)) if v.semantics else []
        if not v.variant:
            return first
        own = self.with_parts(parse_statements(v.variant.text))
        for within in ("otherwise", "when"):  # most definitions for floats are in the else block
            blocks = [part.block for part in first if part.kind == within]
            defined = {s.name for part in (first, *blocks) for s in part}
            if takes := {s.name: s for s in own if s.name in defined}:
                break
        else:
            raise self.fail(f"the form {v.variant.name} defines nothing anew", v.variant.text.line)
        fresh = [s for s in own if s.name not in takes]
        made = [self.taken(s, takes, within) for s in first]
        at = next(k for k, s in enumerate(made) if s is not first[k])
        while made[at].kind == "otherwise":  # a when and its else must stay adjacent
            at -= 1
        return [*made[:at], *fresh, *made[at:]]

    def taken(self, s: Statement, takes: dict[str, Statement], within: str) -> Statement:
        """Returns the replacement of `s`, or `s` with replacements in its block if it is of the kind `within`."""
        if s.kind == within and any(inner.name in takes for inner in s.block if inner.name):
            return replace(s, block=[self.taken(inner, takes, within) for inner in s.block])
        return takes.get(s.name, s) if s.name else s

    def with_parts(self, statements: list[Statement]) -> list[Statement]:
        """Returns the statements with each `use NAME` replaced by those of the part."""
        made: list[Statement] = []
        for s in statements:
            self.line = s.line
            s.block = self.with_parts(s.block)
            if s.kind != "use":
                made.append(s)
            elif s.name not in self.v.parts:
                raise self.fail(f"spec/parts.yaml has no part {s.name}")
            else:
                made += self.with_parts(parse_statements(self.v.parts[s.name]))
        return made

    def family_index(self, output: str) -> str:
        """Returns the index name that the definition of a variadic output uses for its tensors."""
        found = [s.family for s in self._walk(self.m.statements) if s.kind == "define" and s.name == output]
        return found[0] if found else ""

    def parsed(self, text: Text) -> Expr:
        return parse_expression(text)

    def at_call(self, text: Text, sort: Sort, index: str = "") -> Expr:
        """Sorts an expression that is decided once per call; `index` may occur in it too."""
        self.line = text.line
        shadow = dict(self.scope)
        if index:
            self.declare(index, INDEX, "free")
        expr = self.wanted(self.parsed(text), sort)
        self.scope.clear()
        self.scope.update(shadow)
        if expr.free - {index}:
            raise self.fail(f"depends on {', '.join(sorted(expr.free))}, which is not decided once a call")
        return expr

    # -- statements ----------------------------------------------------------------------------------------------
    def statement(self, s: Statement, into: list[Statement]) -> None:
        self.line, self.path = s.line, s.path or self.v.path
        self.met += 1
        s.order = self.met
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
        elif s.kind == "scatter":
            self.scatter(s)
        elif s.kind == "through":
            self.through(s)
        else:
            self.define(s)
        into.append(s)

    def shared_buffers(self, block: list[Statement], scan: Statement) -> None:
        """Declares the buffers of a scan first: they may be read (at an earlier step) before they are defined."""
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
        if s.value.free:  # inside a scan: decided per step
            self.declare(s.name, s.value.sort, "free")
            into.append(s)
            return
        if s.value.sort.kind in ("element", "predicate"):
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

    def through(self, s: Statement) -> None:
        """Checks a buffer that a graph attribute makes from another buffer."""
        graph, source = self.scope.get(s.family), self.scope.get(s.source)
        if not graph or graph.sort.kind != "graph":
            raise self.fail(f"{s.family} is no attribute that holds a graph")
        if not source or source.role != "buffer" or source.sort.of.startswith("#"):
            raise self.fail(f"{s.source} is no buffer of elements, so no graph can see it")
        if s.name in self.scope:
            raise self.fail(f"{s.name} is there already; what a graph makes has a name of its own")
        s.value = self.wanted(s.value, TYPE)
        if s.value.free:
            raise self.fail("the type in which a graph sees elements is decided once a call")
        self.m.buffers[s.name] = self.m.buffers[s.source]
        self.declare(s.name, source.sort, "buffer")

    def scatter(self, s: Statement) -> None:
        known = self.scope.get(s.name)
        if not known or known.role != "output" or known.sort.kind != "tensor":
            raise self.fail(f"{s.name} is no output that is one tensor, so nothing is scattered over it")
        if not any(d.kind == "define" and d.name == s.name for d in self._walk(self.m.statements)):
            raise self.fail(f"{s.name} is defined first: what stands where no update falls?")
        s.low = self.wanted(self.expand(s.low, s), INDICES)
        shadow = dict(self.scope)
        self.declare(s.binder, INDICES, "free")
        if s.high is not None:
            s.high = self.wanted(self.expand(s.high, s), BOOL)
        s.at = [self.sort(self.expand(a, s)) for a in s.at]
        for a in s.at:
            if a.sort not in (INDEX, INDICES):
                raise self.fail(f"a tensor is updated at indices, but this is {a.sort}")
        s.value = self.wanted(self.expand(s.value, s), Sort("element", known.sort.of), store=True)
        self.scope.clear()
        self.scope.update(shadow)

    def define(self, s: Statement) -> None:
        known = self.scope.get(s.name)
        if known and known.role not in ("output", "buffer"):
            raise self.fail(f"{s.name} is {known.role}: it cannot be defined")
        if bool(s.family) != bool(known and known.sort.kind == "family"):
            raise self.fail(f"{s.name}[k][..] defines the tensors of a variadic output, and those alone")
        shadow = dict(self.scope)
        if s.family:
            self.declare(s.family, INDEX, "free")
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
            s.value = self.wanted(
                s.value, PREDICATE if self.is_bool_output(known.sort.of, s.value) else element, store=True
            )
        else:
            s.value = self.sort(s.value)
        if s.kind == "seen":
            self.m.seen[s.name] = s
        sort = s.value.sort
        self.scope.clear()
        self.scope.update(shadow)
        if not known:
            if sort.kind not in ("element", "index", "real", "predicate"):
                raise self.fail(f"an element of {s.name} cannot be {sort}")
            if not all(item.kind == "over" or self.is_step(item) for item in s.lhs):
                raise self.fail(f"{s.name} is new here: each index needs its extent, as in {s.name}[i in shape(X)]")
            self.m.buffers[s.name] = sort
            self.declare(s.name, Sort("tensor", sort.of if sort.kind == "element" else f"#{sort.kind}"), "buffer")

    def is_step(self, item: Lhs) -> bool:
        symbol = self.scope.get(item.name)
        return symbol is not None and symbol.role == "free" and symbol.sort == INDEX and item.size is None

    def is_bool_output(self, of: str, value: Expr) -> bool:
        return of == "bool" or self.v.types.get(of) == ["bool"]

    def expand(self, e: Expr, statement: Statement) -> Expr:
        """Expands the lets with free indices. Each is a definition, not a variable, so a reduction may hold it too."""
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
