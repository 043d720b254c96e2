"""Writes statements as C++ loops of a reference kernel.

A definition becomes loops over the rows of its tensor and over the outer reduction indices, which set up readers. Two
plain inner loops, over the innermost reduction index and over the row, then increment pointers. A sum and the + and -
around it form one sum.
"""

from __future__ import annotations

from codegen import builtins as b
from codegen.builtins import BOOL, PREDICATE, Sort
from codegen.cpp import checked, constraints, cpp_name, element_type
from codegen.notation import Expr, Statement
from codegen.rows import Rows
from codegen.sides import Sides
from codegen.sorts import Meaning


class Kernel(Rows):
    """Writer of a kernel's body: `lines` after run()."""

    def __init__(
        self, meaning: Meaning, main: str, reals: frozenset[str] | set[str] = frozenset(), sides: Sides | None = None
    ):
        super().__init__(meaning, main, sides or Sides())
        self.reals = reals  # inputs that are bound as reals, whatever their type

    # -- statements ----------------------------------------------------------------------------------------------
    def run(self) -> list[str]:
        self.hoist_scalars()
        self.block(self.m.statements)
        return self.lines

    def hoist_scalars(self) -> None:
        for name in sorted(self.m.scalars):
            default = self.m.defaults.get(name)
            view = cpp_name(name)
            made = f"scalar_or({view}, {self.cpp(default)})" if default else f"scalar_of({view})"
            if default and name in self.reals:
                made = f"scalar_or({view}, constant<Compute<RealIn<{self.cpp.main}>>>({self.number(default)}))"
            self.put(f"[[maybe_unused]] const auto {view}_value = {made};")

    def number(self, e: Expr) -> str:
        """Returns a default that is a literal number."""
        if e.kind == "coerce":
            return self.number(e.args[0])
        if e.kind == "negative":
            return f"-{self.number(e.args[0])}"
        if e.kind not in ("number", "real"):
            raise self.cpp.fail(e, "what stands for an input that is read as a real is a number")
        return e.value

    def block(self, statements: list[Statement]) -> None:
        for s in statements:
            self.comment(s)
            if s.kind == "let":
                self.let(s)
            elif s.kind == "when":
                self.line(s.line, s.path)
                test = self.cpp(s.value)
                typed = self.typed(s.value)
                self.open(f"if constexpr ({test})" if typed else f"if ({self.cpp.sides.asked(s.value, test)})")
                self.block(s.block)
                self.close()
            elif s.kind == "otherwise":
                self.lines[-1] += " else {"
                self.depth += 1
                self.block(s.block)
                self.close()
            elif s.kind == "scan":
                self.scan(s)
            elif s.kind == "define":
                self.define(s)
            elif s.kind == "scatter":
                self.scatter(s)
            elif s.kind == "seen":
                self.seen(s)
            elif s.kind == "through":
                self.line(s.line, s.path)
                self.put(
                    f"const auto {cpp_name(s.name)} = "
                    f"through({cpp_name(s.family)}, {cpp_name(s.source)}, {self.cpp(s.value)});"
                )

    def typed(self, e: Expr) -> bool:
        """True if element types alone decide a condition, at compile time."""
        if e.kind == "member":
            return True
        return e.kind in ("logic", "not") and all(self.typed(a) for a in e.args)

    def comment(self, s: Statement) -> None:
        if s.kind in ("define", "let", "seen", "scatter", "through"):
            self.put(f"// {s.text}")

    def let(self, s: Statement) -> None:
        name = cpp_name(s.name)
        if self.cpp.sides.counted:
            self.line(s.line, s.path)
        if s.value.sort.kind == "tensor":
            source = self.cpp(s.value.args[0])
            absent = f"{source}.given() ? {s.value.value}({source}, {name}_seen) : {source}"
            self.put(f"[[maybe_unused]] const auto {name} = {absent};")
        else:
            self.put(f"const auto {name} = {self.cpp(s.value)};")

    def scan(self, s: Statement) -> None:
        for inner in s.block:
            if inner.kind == "define" and inner.name in self.m.buffers:
                self.declare(inner, s)
        name = cpp_name(s.name)
        self.line(s.line, s.path)
        self.open(f"for (const Index {name} : Steps({self.cpp(s.low)}, {self.cpp(s.high)}))")
        self.steps.append(s.name)
        self.block(s.block)
        for inner in s.block:
            if inner.kind == "define" and inner.name in self.m.seen:
                self.put(f"{cpp_name(inner.name)}_seen.take({name});")
        self.steps.pop()
        self.close()

    def declare(self, s: Statement, scan: Statement | None = None) -> None:
        extents = []
        for item in s.lhs:
            if scan and item.name == scan.name:
                extents.append(self.cpp(scan.high))
            else:
                extents.append(self.cpp(item.size))
        shape = f"join({', '.join(extents)})"
        sort, name = self.m.buffers[s.name], cpp_name(s.name)
        self.put(self.buffer(sort, name, shape))
        if s.name in self.m.seen:
            self.put(f"Followed<T_, {self.buffer_class(sort)}> {name}_seen({name});")

    # -- a definition --------------------------------------------------------------------------------------------
    def scatter(self, s: Statement) -> None:
        """Writes updates in the order of their box; the updates of one element of a sum share one accumulator."""
        self.line(s.line, s.path)
        target, sort = cpp_name(s.name), Sort("element", self.m.symbols[s.name].sort.of)
        if s.update:
            self.open("")
            kind = f"{b.accumulator(s.update)}<{self.cpp.compute(sort)}>"
            element = element_type(sort.of, self.m)
            self.put(f"Scattered<{kind}, {element}> updated({target});")
        test = f"if ({self.cpp.sides.asked(s.high, self.cpp(s.high))}) " if s.high is not None else ""
        at = self.cpp.spot(s.at)
        verb = "updated.add(" if s.update else f"scatter({target}, "
        self.put(
            f"for (const IndexVector& {cpp_name(s.binder)} : box({self.cpp(s.low)})) "
            f"{test}{verb}{at}, {self.cpp(s.value)});"
        )
        if s.update:
            self.put("updated.finish();")
            self.close()

    def define(self, s: Statement) -> None:
        self.line(s.line, s.path)
        target = cpp_name(s.name)
        if s.family:
            name = cpp_name(s.family)
            self.open(f"for (Index {name} = 0; {name} < size({target}); ++{name})")
            self.put(f"const auto& {target}_one = item({target}, {name});")
            target += "_one"
        if s.name in self.m.buffers and not self.steps:
            self.declare(s)
        if s.view is not None:
            self.open("")
            self.put(f"const auto {target}_whole = {target};")
            self.put(f"const auto {target}_seen = view({target}_whole, {self.cpp(s.view)});")
            target += "_seen"
        stepped = bool(s.lhs) and s.lhs[0].name in self.steps
        self.open("")
        self.put(f"[[maybe_unused]] const Index at_rank = {target}.shape.size();")
        chosen = f"rows_at({target}, {cpp_name(s.lhs[0].name)})" if stepped else f"rows({target})"
        self.put(f"const Rows all = {chosen};")
        self.readers: dict[int, str] = {}
        self.decoded = False
        value = s.value
        if narrow := self.narrow(value):
            self.put(f"[[maybe_unused]] const Narrowly<T_> narrowly({self.cpp(narrow)});")
            types = sorted({f"Compute<{element_type(of, self.m)}>" for of in constraints(value.args[0])})
            if len(types) > 1:  # no part is computed in less than the whole
                self.put(f"using Widest = std::common_type_t<{', '.join(types)}>; using Q [[maybe_unused]] = Widest;")
                self.cpp.widest = "Widest"
        groups = self.groups(value)
        for group in groups:
            self.put(f"Accumulators<{group['accumulator']}> {group['name']}(all.longest());")
        self.open("for (const Row& row : all)")
        for group in groups:
            self.reduce(s, group)
        self.made = {}
        self.make_readers(s, value, None)
        self.open("for (Index x = 0; x < row.length; ++x)")
        text = self.expression(s, value, None)
        self.cpp.widest = ""
        element = element_type(self.m.symbols[s.name].sort.of, self.m) if s.name not in self.m.buffers else None
        slot = f"{target}.data[{target}.offset(row.at) + x]"
        if value.sort in (PREDICATE, BOOL) and element:
            text = f"surely({text})"
        text = self.cpp.stored(text, value, self.m.buffers.get(s.name) or self.m.symbols[s.name].sort)
        if element:
            self.put(f"put({slot}, {target}.type, {text});")
        else:
            self.put(f"{slot} = {text};")
        self.close()
        self.close()
        self.close()
        if s.view is not None or s.family:
            self.close()

    def narrow(self, e: Expr) -> Expr | None:
        """Returns the type in which a whole value is computed, if round_to<type>(...) names one."""
        if e.kind != "call" or e.value != "round_to<>":
            return None
        return self.narrow(e.args[0]) or e.args[1]

    # -- reductions ----------------------------------------------------------------------------------------------
    def groups(self, e: Expr, lazy: bool = False) -> list[dict]:
        """Returns the reductions of `e` that get a row of accumulators; each sum includes the + and - around it."""
        found: list[dict] = []
        if e.kind == "binary" and e.sort.kind in ("element", "real") and e.value in "+-":
            terms = self.terms(e, 1)
            if any(t.kind == "reduce" and t.value["op"] == "sum" and self.by_rows(t) for _, t in terms):
                found.append(self.group(e, terms, b.accumulator("sum")))
                for _, term in terms:
                    if not (term.kind == "reduce" and self.by_rows(term)):
                        found = self.groups(term) + found
                return found
        if e.kind == "reduce" and self.by_rows(e):
            return [self.group(e, [(1, e)], b.accumulator(e.value["op"], e.args[0]))]
        if e.kind in ("reduce", "match", "comprehension", "read") or (e.kind == "cond" and e.args[0].sort == BOOL):
            return found
        for part in e.args:
            found += self.groups(part)
        return found

    def group(self, e: Expr, terms: list[tuple[int, Expr]], kind: str) -> dict:
        name = f"{kind.lower()}_{self.count}"
        self.count += 1
        return {"expr": e, "terms": terms, "name": name, "accumulator": f"{kind}<{self.cpp.compute(e.sort)}>"}

    def terms(self, e: Expr, sign: int) -> list[tuple[int, Expr]]:
        if e.kind == "binary" and e.value in "+-" and e.sort.kind in ("element", "real"):
            return self.terms(e.args[0], sign) + self.terms(e.args[1], sign if e.value == "+" else -sign)
        if e.kind == "negative":
            return self.terms(e.args[0], -sign)
        if e.kind == "let":
            return self.terms(e.args[0], sign)
        return [(sign, e)]

    def by_rows(self, e: Expr) -> bool:
        """True if the reduction can use one accumulator per element of a row: its bounds must be the same for the whole
        row."""
        if (
            e.value["op"] not in b.ELEMENT_REDUCTIONS
            or e.value["where"] is not None
            or e.sort.kind not in ("element", "real")
        ):
            return False
        outside: set[str] = set()
        for binder in e.value["binders"]:
            for key in ("low", "high", "shape"):
                if key in binder:
                    outside |= binder[key].free
        return not (outside - set(self.steps))

    def reduce(self, s: Statement, group: dict) -> None:
        name = group["name"]
        self.put(f"{name}.reset(row.length);")
        for sign, term in group["terms"]:
            verb = "add" if sign > 0 else "subtract"
            if term.kind == "reduce" and self.by_rows(term) and term.value["op"] == "sum" or term is group["expr"]:
                several = sum(t.kind == "reduce" for _, t in group["terms"]) > 1
                if several:  # each gets a block, so that names do not collide
                    self.open("")
                self.reduction(s, term, name, verb)
                if several:
                    self.close()
        self.make_rest(s, group)
        self.readers[id(group["expr"])] = f"{name}[x].get()"

    def make_rest(self, s: Statement, group: dict) -> None:
        rest = [(g, t) for g, t in group["terms"] if not (t.kind == "reduce" and self.by_rows(t))]
        if not rest:
            return
        self.open("")
        self.made = {}
        for _, term in rest:
            self.make_readers(s, term, None)
        self.open("for (Index x = 0; x < row.length; ++x)")
        for sign, term in rest:
            self.open("")
            text = self.expression(s, term, None, summand=True)
            self.put(f"{group['name']}[x].{'add' if sign > 0 else 'subtract'}({text});")
            self.close()
        self.close()
        self.close()

    def reduction(self, s: Statement, e: Expr, accumulator: str, verb: str) -> None:
        inner_name, low, opened = self.open_binders(e.value["binders"])
        body = e.args[0]
        self.made = {}
        conditions = self.make_shifted(s, body, inner_name, low)
        if inner_name:
            self.open(f"for (const Strips::Strip strip : Strips({self.inner_length(inner_name)}, row.length))")
            self.open("for (Index inner = strip.from; inner < strip.to; ++inner)")
            opened += 2
        self.open("for (Index x = 0; x < row.length; ++x)")
        opened += 1
        used = self.index_names(body)
        if inner_name and inner_name in used:
            called = cpp_name(inner_name)
            self.put(
                f"const IndexVector {called} = {called}_box.point({called}_outer, inner);"
                if self.inner_box
                else f"const Index {called} = {checked('+', low, 'inner')};"
            )
        text = self.expression(s, body, inner_name, summand=e.value["op"] == "sum")
        test = f"if ({' && '.join(conditions)}) " if conditions else ""
        self.put(f"{test}{accumulator}[x].{verb}({text});")
        for _ in range(opened):
            self.close()

    def open_binders(self, binders: list[dict]) -> tuple[str | None, str, int]:
        """Opens all loops of a reduction except the innermost: the last range, else the last box.

        Returns the innermost index's name, its lower bound ("" for a box), and the number of opened loops.
        """
        inner = next((x for x in reversed(binders) if x["kind"] == "range"), None)
        inner = inner or next((x for x in reversed(binders) if x["kind"] == "box"), None)
        self.inner_box = inner is not None and inner["kind"] == "box"
        opened = 0
        for binder in binders:
            if binder is not inner:
                self.open(self.cpp.loop(binder).strip())
                opened += 1
        if not inner:
            return None, "", opened
        called = cpp_name(inner["name"])
        if self.inner_box:
            self.put(f"const Split {called}_box({self.cpp(inner['shape'])});")
            self.open(f"for (const IndexVector& {called}_outer : box({called}_box.outer))")
            return inner["name"], "", opened + 1
        low, high = self.cpp(inner["low"]), self.cpp(inner["high"])
        length = checked("-", high, f"{called}_low")
        self.put(f"const Index {called}_low = {low}, {called}_count = {length};")
        return inner["name"], f"{called}_low", opened

    def make_shifted(self, s: Statement, body: Expr, inner: str | None, low: str) -> list[str]:
        """Makes readers, which count the inner index from 0; the notation counts it from its lower bound."""
        if not low:
            return self.make_readers(s, body, inner)
        called = cpp_name(inner)
        before = dict(self.cpp.names)
        self.cpp.names[inner] = checked("+", low, called)
        conditions = self.make_readers(s, body, inner)
        self.cpp.names = before
        return conditions

    # -- states of a recurrence that outputs show --------------------------------------------------------------------
    def seen(self, s: Statement) -> None:
        name = cpp_name(s.name)
        self.open("if constexpr (is_extended<T_>)")
        self.put(f"{name}_seen.watch([&](const IndexVector& at) {{")
        self.depth += 1
        for text in self.decode(s.lhs):
            self.put(text)
        base, spot = cpp_name(s.value.args[0].value), self.cpp.spot(s.value.args[1:])
        own = f"[&] {{ return {name}.read(at); }}"
        self.put(f"return as_seen(observed(observed_{base}, {spot}), observed_{base}.type, {own});")
        self.depth -= 1
        self.put("});")
        self.close()


def reductions_of(meaning: Meaning) -> list[Expr]:
    found: list[Expr] = []

    def walk(e: Expr) -> None:
        if e.kind == "reduce":
            found.append(e)
        for a in e.args:
            walk(a)

    def each(statements: list[Statement]) -> None:
        for s in statements:
            if s.kind == "define":
                walk(s.value)
            each(s.block)

    each(meaning.statements)
    return found
