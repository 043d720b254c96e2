"""Compiles a version's definition to one Python function: each statement becomes a loop over the points that it
defines.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from codegen.builtins import INDICES, Sort
from codegen.notation import Expr, Lhs, Statement
from codegen.sorts import Meaning
from tests.independent import runtime
from tests.independent.elements import REALS
from tests.independent.tensors import ABSENT, Tensor
from tests.independent.translate import Translator, Unknown


class Program:
    """A compiled definition. It checks `rules` first, each after the lets that it names; `evaluate` returns outputs by
    name.
    """

    def __init__(self, meaning: Meaning):
        self.m, self.v = meaning, meaning.version
        self.to = Translator(meaning)
        self.lines: list[str] = []
        self.depth = 1
        self.steps: list[str] = []
        self.source = self.write()
        space = {
            "R": runtime,
            "REALS": REALS,
            "Tensor": Tensor,
            "ABSENT": ABSENT,
            "K": [Fraction(c) for c in self.to.constants],
        }
        exec(compile(self.source, f"<{self.v.name}>", "exec"), space)  # noqa: S102
        self.evaluate: Callable[..., Any] = space["evaluate"]

    # -- text ----------------------------------------------------------------------------------------------------
    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def write(self) -> str:
        for p in self.v.inputs:
            self.put(f"t_{p.name} = call.tensor({p.name!r})")
        for attribute in self.v.attributes:
            self.put(f"a_{attribute.name} = call.attribute({attribute.name!r})")
        self.put("types, O = call.types, call.elements")
        aliases = [s for s in self.m.statements if s.kind == "let" and s.value.sort.kind == "tensor"]
        for let in sorted([*self.m.lets, *aliases], key=lambda s: s.order):
            prefix = "t" if let in aliases else "c"
            self.put(f"{prefix}_{let.name} = R.once(lambda: {self.to(let.value)})")
        for identity, that, _, _ in self.rules():
            self.put(f"call.require({identity!r}, lambda: {self.to(that)})")
        for p in self.v.outputs:
            self.allocate(p)
        self.block(self.m.statements)
        self.put("return {" + ", ".join(f"{p.name!r}: t_{p.name}" for p in self.v.outputs) + "}")
        return "def evaluate(call):\n" + "\n".join(self.lines) + "\n"

    def rules(self) -> list[Any]:
        """The rules, each after the last let that it names."""
        order = {s.name: s.order for s in [*self.m.lets, *self.m.statements] if s.kind == "let"}
        return sorted(self.m.rules, key=lambda rule: max([order.get(n, 0) for n in names_in(rule[1])], default=0))

    def allocate(self, p: Any) -> None:
        name = p.name
        if p.name in self.m.elements:
            self.put(f"call.bind({p.type!r}, {self.to(self.m.elements[name])})")
        if name not in self.m.shapes:
            self.put(f"t_{name} = None")
            return
        shape = self.to(self.m.shapes[name])
        if p.variadic:
            family = next(s.family for s in each(self.m.statements) if s.name == name and s.family)
            made = f"[Tensor(call.type_of({p.type!r}), {shape}) for x_{family} in range(call.count({name!r}))]"
        else:
            made = f"Tensor(call.type_of({p.type!r}), {shape})"
        self.put(f"t_{name} = {made}")

    def block(self, statements: list[Statement]) -> None:
        if not statements:
            self.put("pass")
        for s in statements:
            getattr(self, f"write_{s.kind}")(s)

    def inner(self, header: str, statements: list[Statement]) -> None:
        self.put(header)
        self.depth += 1
        self.put("pass")
        self.block(statements)
        self.depth -= 1

    # -- statements ------------------------------------------------------------------------------------------------
    def write_let(self, s: Statement) -> None:
        if s.value.sort.kind != "tensor":
            self.put(f"x_{s.name} = {self.to(s.value)}")

    def write_seen(self, s: Statement) -> None:
        """Writes nothing: only the judge reads such statements."""

    def write_when(self, s: Statement) -> None:
        self.inner(f"if {self.to(s.value)}:", s.block)

    def write_otherwise(self, s: Statement) -> None:
        self.inner("else:", s.block)

    def write_scan(self, s: Statement) -> None:
        for one in s.block:
            if one.kind == "define" and one.name in self.m.buffers:
                self.buffer(one, s)
        self.steps.append(s.name)
        self.inner(f"for x_{s.name} in range({self.to(s.low)}, {self.to(s.high)}):", s.block)
        self.steps.pop()

    def write_whole(self, s: Statement) -> None:
        e = s.value
        if e.kind == "call" and e.value == "view":
            self.put(f"t_{s.name} = R.view({self.to(e.args[0])}, {self.to(e.args[1])})")
        elif e.kind == "name":
            self.put(f"t_{s.name} = {self.to(e)}")
        else:
            raise Unknown(f"whole value {e.kind}")

    def write_through(self, s: Statement) -> None:
        self.put(f"t_{s.name} = call.through({s.family!r}, t_{s.source}, {self.to(s.value)})")

    def write_scatter(self, s: Statement) -> None:
        target, of = f"t_{s.name}", self.to.elements(Sort("element", self.m.symbols[s.name].sort.of))
        self.put(f"for x_{s.binder} in R.box({self.to(s.low)}):")
        self.depth += 1
        if s.high is not None:
            self.put(f"if not {self.to(s.high)}: continue")
        self.put(f"at, new = {self.to.spot(s.at)}, {of}.keep({self.to(s.value)})")
        self.put(f"old = {target}.read(at)")
        step = {"": "new", "sum": f"{of}.add(old, new)", "prod": f"{of}.mul(old, new)",
                "max": f"{of}.maximum(old, new)", "min": f"{of}.minimum(old, new)"}[s.update]  # fmt: skip
        self.put(f"{target}.at[at] = {step}")
        self.depth -= 1

    def buffer(self, s: Statement, scan: Statement | None = None) -> None:
        extents = [scan.high if scan and item.name == scan.name else item.size for item in s.lhs]
        parts = [f"*{self.to(e)}" if e.sort == INDICES else self.to(e) for e in extents]
        sort = self.m.buffers[s.name]
        kind = self.to.type_of(sort.of) if sort.kind == "element" else "'double'"
        self.put(f"t_{s.name} = Tensor({kind}, ({''.join(f'{part}, ' for part in parts)}))")

    def write_define(self, s: Statement) -> None:
        target = f"t_{s.name}"
        if s.name in self.m.buffers:
            if not self.steps:
                self.buffer(s)
        elif not self.is_read(s.name) and self.v.output(s.name) and self.v.output(s.name).optional:
            self.put(f"if call.wanted({s.name!r}):")
            self.depth += 1
            self.points(s, target)
            self.depth -= 1
            return
        if s.family:
            self.put(f"for x_{s.family} in range(len({target})):")
            self.depth += 1
            self.put(f"one = {target}[x_{s.family}]")
            self.points(s, "one")
            self.depth -= 1
        else:
            self.points(s, target)

    def is_read(self, name: str) -> bool:
        return any(name in names_in(s.value) for s in each(self.m.statements) if s.value is not None)

    def points(self, s: Statement, target: str) -> None:
        """Writes a loop over the points: binds the names of the left side, then computes the element."""
        if s.view is not None:
            self.put(f"whole_{s.name} = {target}; seen = Tensor({target}.type, {self.to(s.view)})")
            target = "seen"
        stepped = bool(s.lhs) and s.lhs[0].name in self.steps
        start = f"(x_{s.lhs[0].name},)" if stepped else "()"
        lhs = s.lhs[1:] if stepped else s.lhs
        self.put(f"at, extents = {target}.at, {target}.shape{'[1:]' if stepped else ''}")
        self.put("call.work(R.count(extents))")
        names = self.names(lhs)
        self.put("for p in R.box(extents):")
        self.depth += 1
        for line in names:
            self.put(line)
        value, sort = self.to(s.value), self.m.buffers.get(s.name) or Sort("element", self.m.symbols[s.name].sort.of)
        if sort.kind == "element":
            value = f"{self.to.elements(sort)}.{'of' if s.name in self.m.buffers else 'keep'}({value})"
        self.put(f"at[{start + ' + ' if stepped else ''}p] = {value}")
        self.depth -= 1
        if s.view is not None:
            self.put(f"whole_{s.name}._at = dict(zip(R.box(whole_{s.name}.shape), seen.flat(), strict=True))")

    def names(self, lhs: list[Lhs]) -> list[str]:
        """Assignments of the names on the left side from the point p; writes the lengths of packs before the loop."""
        if len(lhs) == 1 and self.is_pack(lhs[0]):
            return [f"x_{lhs[0].name} = p"]
        made, at = [], "0"
        rest = [item for item in lhs if item.kind == "pack" and item.size is None]
        for item in lhs:
            if not self.is_pack(item):
                made.append(f"x_{item.name} = p[{at}]")
                at = plus(at, "1")
                continue
            if item.kind == "over":
                self.put(f"n_{item.name} = len({self.to(item.size)})")
            elif item.size is not None:
                self.put(f"n_{item.name} = {self.to(item.size)}")
            else:
                others = [f"n_{o.name}" if self.is_pack(o) else "1" for o in lhs if o is not item]
                self.deferred = f"n_{item.name} = len(extents) - ({' + '.join(others) or '0'})"
            end = plus(at, f"n_{item.name}")
            made.append(f"x_{item.name} = p[{at}:{end}]")
            at = end
        if rest:
            self.put(self.deferred)
        return made

    @staticmethod
    def is_pack(item: Lhs) -> bool:
        return item.kind == "pack" or (item.kind == "over" and item.size.sort == INDICES)


def plus(a: str, b: str) -> str:
    if a.isdigit() and b.isdigit():
        return str(int(a) + int(b))
    return b if a == "0" else f"{a} + {b}"


def each(statements: list[Statement]) -> Any:
    for s in statements:
        yield s
        yield from each(s.block)


def names_in(e: Expr | None) -> set[str]:
    if e is None:
        return set()
    found = {e.value} if e.kind in ("name", "scalar") else set()
    parts = list(e.args)
    if e.kind == "match":
        parts += [arm for _, arm in e.value]
    if e.kind == "reduce":
        parts += [one[k] for one in e.value["binders"] for k in ("low", "high", "shape") if k in one]
        parts += [e.value["where"]] if e.value["where"] else []
        found |= {one["family"] for one in e.value["binders"] if "family" in one}
    if e.kind == "read" and e.value and e.value["else"]:
        parts.append(e.value["else"])
    return found.union(*map(names_in, parts)) if parts else found
