"""Writes row kernels (row_kernels): the computation of the reference kernel, a row at a time.

The loops are those of the reference kernel (codegen/kernel.py): rows of the defined tensor, then reduction indices. The
arithmetic is extracted into expressions (codegen/row_expressions.py), which are compiled for each instruction set.
"""

from __future__ import annotations

from codegen.algorithm import Unfit, reads
from codegen.builtins import ARG_REDUCTIONS, BOOL, PREDICATE, Sort
from codegen.cpp import checked, cpp_name, element_type
from codegen.notation import Expr, Statement
from codegen.row_expressions import Lanes, ScalarExpression, inner_reductions

NEUTRAL = {"sum": "0.0F", "prod": "1.0F", "max": "-infinite", "min": "infinite"}
MAX_CHOICES = 4  # max. number of conditions that split a definition into copies


class RowKernel(Lanes):
    reader = "operand_span"

    def block(self, statements: list[Statement]) -> None:
        kept: list[Statement] = []
        taken: bool | None = None
        for s in statements:
            if s.kind == "when":
                taken = self.decided(s.value)
                if taken is None:
                    kept.append(s)
                elif taken:
                    kept += s.block
            elif s.kind == "otherwise" and taken is not None:
                kept += [] if taken else s.block
            else:
                kept.append(s)
        if kept != statements:
            return self.block(kept)
        if any(s.kind in ("through", "scatter", "whole") for s in kept):
            raise Unfit("it scatters, or runs a graph")
        super().block([s for s in kept if s.kind != "seen"])

    # -- definitions -------------------------------------------------------------------------------------------------
    def in_floats(self, sort: Sort) -> bool:
        """True if a buffer is an array of the call's scratch memory."""
        return self.buffer_type(sort) == "Q" or self.is_float(sort)

    def buffer_class(self, sort: Sort) -> str:
        return "const View<float>" if self.in_floats(sort) else super().buffer_class(sort)

    def buffer(self, sort: Sort, name: str, shape: str) -> str:
        if not self.in_floats(sort):
            return super().buffer(sort, name, shape)
        return f"{self.buffer_class(sort)} {name} = row_kernel.array({shape});"

    def define(self, s: Statement) -> None:
        if s.family:
            raise Unfit("a variadic output")
        self.line(s.line, s.path)
        target = cpp_name(s.name)
        if s.name in self.m.buffers and not self.steps:
            self.declare(s)
        if s.view is not None:
            self.open("")
            self.put(f"const auto {target}_whole = {target};")
            self.put(f"const auto {target}_seen = view({target}_whole, {self.cpp(s.view)});")
            target += "_seen"
        self.open("")
        self.put(f"[[maybe_unused]] const Index at_rank = {target}.shape.size();")
        self.apart(s, self.settled(s.value), target, MAX_CHOICES)
        self.close()
        if s.view is not None:
            self.close()

    def apart(self, s: Statement, value: Expr, target: str, left: int) -> None:
        """Writes a copy of the definition for each outcome of a condition decided once per call, so that unused
        branches cost nothing."""
        found = self.choice(value) if left else None
        if found is None:
            self.by_rows_of(s, value, target)
            return
        self.open(f"if ({self.cpp(found.args[0])})")
        self.apart(s, chosen(value, found, 1), target, left - 1)
        self.close()
        self.lines[-1] += " else {"
        self.depth += 1
        self.apart(s, chosen(value, found, 2), target, left - 1)
        self.close()

    def choice(self, e: Expr) -> Expr | None:
        if e.kind == "cond" and e.args[0].sort == BOOL and self.once(e.args[0]):
            return e
        if e.kind in ("comprehension", "match", "read") or (e.kind == "cond" and e.args[0].sort == BOOL):
            return None
        for part in e.args:
            if (found := self.choice(part)) is not None:
                return found
        return None

    def once(self, e: Expr) -> bool:
        """True if `e` has the same value throughout a call and reads no element."""
        return not (e.free - set(self.steps)) and not reads(e)

    def by_rows_of(self, s: Statement, value: Expr, target: str) -> None:
        stepped = bool(s.lhs) and s.lhs[0].name in self.steps
        step = cpp_name(s.lhs[0].name) if stepped else "-1"
        self.readers, self.made, self.held = {}, {}, {}
        self.outside = {item.name for item in s.lhs if item.name not in self.steps}
        reductions = [r for r in self.rowwise(value)]
        work = " + ".join(["1.0", *(self.expressions_of(r) for r in reductions)])
        self.put(
            f"row_kernel.each_row({target}, {step}, {work}, "
            "[&](const Row& row, [[maybe_unused]] const ScratchBuffers& scratch) {"
        )
        self.depth += 1
        self.open("for (Index x_from = 0; x_from < row.length; x_from += RowKernel::piece)")
        self.put("const Index x_count = std::min(RowKernel::piece, row.length - x_from);")
        self.scratch = 0
        for e in reductions:
            self.reduce_rowwise(s, e)
        self.made = {}
        self.make_readers(s, value, None)
        element = element_type(self.m.symbols[s.name].sort.of, self.m) if s.name not in self.m.buffers else None
        floats = (
            self.is_float(self.m.buffers[s.name])
            if s.name in self.m.buffers
            else self.is_float(Sort("element", self.m.symbols[s.name].sort.of))
        )
        slot = f"{target}.data[{target}.offset(row.at) + x_from"
        if floats and self.lane_able(value):
            expression = self.scalar_expression(s, value, None)
            self.fill(s, expression, "x", "x_from", "x_count")
            self.apply("map", expression, "x", "0", "x_from", "x_count", f"&{slot}]")
        elif value.sort in (PREDICATE, BOOL) and self.lane_able(value):
            made = f"scratch.at({self.scratch_buffer()})"
            expression = self.scalar_expression(s, value, None, predicate=True)
            self.fill(s, expression, "x", "x_from", "x_count")
            self.apply("map", expression, "x", "0", "x_from", "x_count", made)
            store = f"{slot} + x]"
            kind = f"put({store}, {target}.type, {made}[x] != 0);" if element else f"{store} = {made}[x] != 0;"
            self.put(f"for (Index x = 0; x < x_count; ++x) {kind}")
        else:
            self.before_conversion(s, value)
            if inner_reductions(value):
                self.slow.add(s.name)
            self.open("for (Index x = x_from; x < x_from + x_count; ++x)")
            text = self.expression(s, value, None)
            store = f"{target}.data[{target}.offset(row.at) + x]"
            if value.sort in (PREDICATE, BOOL) and element:
                text = f"surely({text})"
            self.put(f"put({store}, {target}.type, {text});" if element else f"{store} = {text};")
            self.close()
        self.close()
        self.depth -= 1
        self.put("});")

    def before_conversion(self, s: Statement, value: Expr) -> None:
        """Computes the operand of a type conversion as an expression, which is then converted element by element."""
        if value.kind != "call" or value.value != "convert<>" or not self.is_float(value.args[0].sort):
            return
        made = f"scratch.at({self.scratch_buffer()})"
        expression = self.scalar_expression(s, value.args[0], None)
        self.fill(s, expression, "x", "x_from", "x_count")
        self.apply("map", expression, "x", "0", "x_from", "x_count", made)
        self.readers[id(value.args[0])] = f"{made}[x - x_from]"

    # -- reductions --------------------------------------------------------------------------------------------------
    def rowwise(self, e: Expr) -> list[Expr]:
        """Returns the outermost reductions that have an accumulator for each element of a row."""
        if e.kind == "reduce":
            return [e] if self.is_rowwise(e) else []
        if e.kind in ("match", "comprehension", "read") or (e.kind == "cond" and e.args[0].sort == BOOL):
            return []
        return [r for a in e.args for r in self.rowwise(a)]

    def is_rowwise(self, e: Expr) -> bool:
        if not self.is_float(e.args[0].sort):
            return False
        if e.value["op"] not in ARG_REDUCTIONS:
            return self.by_rows(e) and self.is_float(e.sort)
        (binder, *others) = e.value["binders"]
        plain = e.value["where"] is None and not others and binder["kind"] == "range"
        missing = e.args[0].kind == "read" and e.args[0].value is not None
        return plain and not missing and not (binder["low"].free | binder["high"].free) - set(self.steps)

    def expressions_of(self, e: Expr) -> str:
        parts = []
        for binder in e.value["binders"]:
            if binder["kind"] == "range":
                parts.append(f"(double({self.cpp(binder['high'])}) - double({self.cpp(binder['low'])}))")
            elif binder["kind"] == "box":
                parts.append(f"double(count({self.cpp(binder['shape'])}))")
            else:
                parts.append(f"double(size({cpp_name(binder['family'])}))")
        return " * ".join(parts)

    def reduce_rowwise(self, s: Statement, e: Expr) -> None:
        op, name = e.value["op"], f"{e.value['op']}_{self.count}"
        self.fast += 1
        self.count += 1
        self.put(f"float* const {name} = scratch.at({self.scratch_buffer()});")
        self.put(f"std::fill_n({name}, x_count, {NEUTRAL[op.removeprefix('arg')]});")
        if op in ARG_REDUCTIONS:  # the index of each element's best so far is stored in the next scratch buffer
            self.put(f"Index* const {name}_at = reinterpret_cast<Index*>(scratch.at({self.scratch_buffer()}));")
            self.scratch_buffer()
            self.put(f"std::fill_n({name}_at, x_count, Index{{-1}});")
        self.open("")
        inner_name, low, opened = self.open_binders(e.value["binders"])
        body = e.args[0]
        self.made = {}
        conditions = self.make_shifted(s, body, inner_name, low)
        strips = [c.split(".")[0] for c in conditions]
        saved = self.scratch
        expression = self.scalar_expression(s, body, inner_name, low)
        length = self.inner_length(inner_name)
        if strips:
            even = " && ".join(f"{name}.even()" for name in dict.fromkeys(strips))
            self.open(f"if (!({even}))")
            self.open_inner(length)
            self.open("for (Index x = x_from; x < x_from + x_count; ++x)")
            for line in self.inner_named(body, inner_name, low):
                self.put(line)
            text = self.expression(s, body, inner_name)
            self.put(f"if ({' && '.join(conditions)}) join_{op}({name}[x - x_from], {text});")
            self.close()
            self.close_inner()
            self.close()
            self.lines[-1] += " else {"
            self.depth += 1
        if inner_name:
            names = [leaf.read for leaf in expression.leaves if leaf.read]
            contiguous = " + ".join(f"{read}.contiguous()" for read in names) or "0"
            self.open(f"if (RowKernel::reduce_inner(x_count, {length}, {contiguous}))")
            self.open("for (Index x = x_from; x < x_from + x_count; ++x)")
            self.open(f"for (Index inner_from = 0; inner_from < {length}; inner_from += RowKernel::piece)")
            self.put(f"charge_work(std::min(RowKernel::piece, {length} - inner_from));")
            self.spans(strips, "inner", "x", "inner_from", f"std::min(RowKernel::piece, {length} - inner_from)")
            self.fill(s, expression, "inner", "part_from", "part_count", inner_name, low)
            self.apply(
                op,
                expression,
                "inner",
                "x",
                "part_from",
                "part_count",
                name,
                fold=True,
                met=low and checked("+", low, "part_from"),
            )
            self.close()
            self.close()
            self.close()
            self.lines[-1] += " else {"
            self.depth += 1
        self.open_inner(length)
        self.spans(strips, "x", "inner", "x_from", "x_count")
        self.fill(s, expression, "x", "part_from", "part_count", inner_name, low)
        self.apply(
            op,
            expression,
            "x",
            "inner",
            "part_from",
            "part_count",
            f"{name} + (part_from - x_from)",
            met=checked("+", low, "inner") if low else "",
        )
        self.close_inner()
        if inner_name:
            self.close()
        if strips:
            self.close()
        self.scratch = saved
        for _ in range(opened):
            self.close()
        self.close()
        self.held[id(e)] = name
        self.readers[id(e)] = f"{name}_at[x - x_from]" if op in ARG_REDUCTIONS else f"{name}[x - x_from]"

    def open_inner(self, length: str) -> None:
        """Opens a loop over all inner indices, for the elements of a piece."""
        self.open(f"for (const Strips::Strip some : Strips({length}, x_count))")
        self.open("for (Index inner = some.from; inner < some.to; ++inner)")

    def close_inner(self) -> None:
        self.close()
        self.close()

    def spans(self, strips: list[str], along: str, at: str, first: str, count: str) -> None:
        """Declares `part_from` and `part_count`: the range inside all spans, of `count` elements from `first` on."""
        if not strips:
            self.put(f"const Index part_from = {first}, part_count = {count};")
            return
        self.put(f"Stretch part{{{first}, {first} + {count}}};")
        for name in dict.fromkeys(strips):
            self.put(f"{name}.within_{along}({at}, part);")
        self.put("if (part.first >= part.last) continue;")
        self.put("const Index part_from = part.first, part_count = part.last - part.first;")

    # -- calls of expressions ----------------------------------------------------------------------------------------
    def fill(
        self,
        s: Statement,
        expression: ScalarExpression,
        along: str,
        first: str,
        count: str,
        inner: str | None = None,
        low: str = "",
    ) -> None:
        """Computes, before an expression, its arrays that are filled element by element."""
        self.places = []
        for leaf in expression.leaves:
            if not leaf.scalar:
                self.places.append("")
                continue
            place = f"scratch.at({self.scratch_buffer()})"
            self.places.append(place)
            self.open(f"for (Index {along} = {first}; {along} < {first} + {count}; ++{along})")
            for text in leaf.scalar[:-1]:
                self.put(text)
            self.put(f"{place}[{along} - {first}] = float({leaf.scalar[-1]});")
            self.close()

    def apply(
        self,
        use: str,
        expression: ScalarExpression,
        along: str,
        at: str,
        first: str,
        count: str,
        out: str,
        fold: bool = False,
        met: str = "",
    ) -> None:
        arrays = []
        for leaf, place in zip(expression.leaves, self.places, strict=True):
            if leaf.scalar:
                arrays.append(place)
            elif leaf.held:
                arrays.append(leaf.held)
            else:
                other = f", {leaf.other}" if leaf.other else ""
                arrays.append(
                    f"{leaf.read}.along_{along}({at}, {first}, {count}, scratch.at({self.scratch_buffer()}){other})"
                )
        if use in ARG_REDUCTIONS:
            return self.apply_arg(use, expression, arrays, count, out, fold, met)
        k = self.expressions.of(f"{use} fold" if fold else use, expression)
        given = "arrays" if arrays else "nullptr"
        values = "numbers" if expression.numbers else "nullptr"
        self.open("")
        if arrays:
            self.put(f"const float* const arrays[] = {{{', '.join(arrays)}}};")
        if expression.numbers:
            self.put(f"const float numbers[] = {{{', '.join(expression.numbers)}}};")
        call = f"row_kernel.expressions[{k}]({count}, {given}, {values}, {out}{' + (x - x_from)' if fold else ''});"
        self.put(call + f"  // {use}: {expression.text}")
        self.close()

    def apply_arg(
        self, use: str, expression: ScalarExpression, arrays: list[str], count: str, out: str, fold: bool, met: str
    ) -> None:
        """Updates the best element so far and its index. The compared values are computed before."""
        name = out.split(" ")[0]
        if not expression.computes() and arrays:
            values = arrays[0]
            self.open("")
        else:
            values = f"scratch.at({self.scratch_buffer()})"
            self.open("")
            self.put(f"const float* const arrays[] = {{{', '.join(arrays)}}};")
            self.put(f"const float numbers[] = {{{', '.join(expression.numbers) or '0.0F'}}};")
            k = self.expressions.of("map", expression)
            self.put(f"row_kernel.expressions[{k}]({count}, arrays, numbers, {values});  // map: {expression.text}")
        place = " + (x - x_from)" if fold else " + (part_from - x_from)"
        verb = f"best_of_{'largest' if use == 'argmax' else 'smallest'}"
        kind = "one" if fold else "each"
        self.put(f"{verb}_{kind}({count}, {values}, {met}, {name}{place}, {name}_at{place});")
        self.close()


def chosen(e: Expr, found: Expr, arm: int) -> Expr:
    """Returns `e` with the condition `found` in it replaced by one of its arms."""
    if e is found:
        return e.args[arm]
    if e.kind in ("comprehension", "match", "read"):
        return e
    return Expr(e.kind, [chosen(a, found, arm) for a in e.args], e.value, e.line, e.sort, e.free)
