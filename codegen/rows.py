"""Writes the C++ of a row: the indices of a left side, computed from a point, and the readers of all reads in a row."""

from __future__ import annotations

from functools import partial, reduce

from codegen.affine import non_affine
from codegen.builtins import BOOL, INDICES, Sort
from codegen.cpp import Cpp, as_sort, checked, cpp_name
from codegen.notation import Expr, Lhs, Statement
from codegen.sides import Sides
from codegen.sorts import Meaning


def plus(parts: list[str]) -> str:
    """Returns the C++ sum of indices, with literal numbers folded."""
    number = sum(int(p) for p in parts if p.isdigit())
    rest = [p for p in parts if not p.isdigit()]
    return reduce(partial(checked, "+"), [*rest, str(number)] if number or not rest else rest)


def less(whole: str, parts: list[str]) -> str:
    taken = plus(parts)
    return whole if taken == "0" else checked("-", whole, taken)


class Rows:
    """Row handling that definitions and reductions share."""

    reader = "reader"  # the C++ function that makes the reader of a tensor

    def __init__(self, meaning: Meaning, main: str, sides: Sides):
        self.m, self.lines, self.depth = meaning, [], 1
        self.cpp = Cpp(meaning, at_call=False, main=main, sides=sides)
        self.steps: list[str] = []  # scan variables in force
        self.count = 0
        self.reader_of: dict[int, str] = {}  # name of the reader of a read
        self.extents: list[Expr] = []  # extents of reductions, for the estimate of work

    # -- text ----------------------------------------------------------------------------------------------------
    def put(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def line(self, number: int, path: str = "") -> None:
        self.lines.append(f'#line {number} "{path or self.m.version.path}"')

    def open(self, text: str) -> None:
        self.put((text + " {").strip())
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.put("}")

    # -- buffers -----------------------------------------------------------------------------------------------------
    def buffer_type(self, sort: Sort) -> str:
        if sort.kind == "index":
            return "IndexIn<T_>"
        if sort.kind == "predicate":
            return "Predicate<T_>"
        return "Q" if sort.kind == "real" else self.cpp.compute(sort)

    def buffer_class(self, sort: Sort) -> str:
        """Returns the C++ class of a value that is kept between statements."""
        return f"Array<{self.buffer_type(sort)}>"

    def buffer(self, sort: Sort, name: str, shape: str) -> str:
        return f"{self.buffer_class(sort)} {name}({shape});"

    # -- left sides ----------------------------------------------------------------------------------------------
    def decode(self, lhs: list[Lhs], wanted: set[str] | None = None) -> list[str]:
        """Returns C++ lines that compute the left side's indices from the point `at`."""
        lines: list[str] = []
        before: list[str] = []  # sizes of the items before this one
        rest = None
        for k, item in enumerate(lhs):
            if self.is_pack(item) and self.pack_size(item) is None:
                rest = k
        for k, item in enumerate(lhs):
            after = [self.width(i) for i in lhs[k + 1 :]]
            if rest is not None and k > rest:
                place = less("at.size()", [self.width(i) for i in lhs[k:]])
            else:
                place = plus(before)
            if item.name not in self.steps and (wanted is None or item.name in wanted):
                name = cpp_name(item.name)
                if not self.is_pack(item):
                    lines.append(f"[[maybe_unused]] const Index {name} = at[{place}];")
                elif len(lhs) == 1:
                    lines.append(f"[[maybe_unused]] const IndexVector& {name} = at;")
                else:
                    size = self.pack_size(item) or less("at.size()", [*before, *after])
                    lines.append(f"[[maybe_unused]] const IndexVector {name} = part(at, {place}, {size});")
            before.append(self.width(item))
        return lines

    def is_pack(self, item: Lhs) -> bool:
        return item.kind == "pack" or (item.kind == "over" and item.size is not None and item.size.sort == INDICES)

    def pack_size(self, item: Lhs) -> str | None:
        if item.size is None:
            return None
        return self.cpp(item.size) if item.kind == "pack" else f"size({self.cpp(item.size)})"

    def width(self, item: Lhs) -> str:
        return (self.pack_size(item) or "0") if self.is_pack(item) else "1"

    def affinity(self, s: Statement, args: list[Expr], inner: str | None) -> str:
        """Returns C++ that is true if a read is affine in the last index of a row and in the inner reduction index."""
        names = {item.name for item in s.lhs if item.name not in self.steps}
        tracked = frozenset(names | ({inner} if inner else set()))
        non_affine_in: set[str] = set()
        for arg in args:
            non_affine_in |= non_affine(arg, tracked)
        if inner and inner in non_affine_in:
            return "false"
        later: list[str] = []
        for item in reversed(s.lhs):
            if item.name in non_affine_in:
                return " || ".join(later) or "false"
            if not self.is_pack(item):
                return "true"
            size = self.pack_size(item)
            if size is None:
                others = [self.width(i) for i in s.lhs if i is not item]
                size = less("at_rank", others)
            later.append(f"{size} > 0")
        return "true"

    def expression(self, s: Statement, e: Expr, inner: str | None, summand: bool = False) -> str:
        """Returns C++ of `e` for the element x of the row (and the inner index c of a reduction); a term of a sum if
        `summand`."""
        names = self.index_names(e) & {item.name for item in s.lhs if item.name not in self.steps}
        if names:
            self.put("const IndexVector at = row.point(x);")
            for text in self.decode(s.lhs, names):
                self.put(text)
        self.lets: set[str] = set()
        self.bound = {item.name for item in s.lhs} | set(self.steps) | ({inner} if inner else set())
        self.cpp.read = self.answer
        text = self.cpp.summand(e) if summand else self.cpp(e)
        self.cpp.read = lambda _: None
        return text

    def answer(self, e: Expr) -> str | None:
        if e.kind == "let" and e.free <= self.bound:
            name = cpp_name(e.value)
            if e.value not in self.lets:
                text = self.cpp(e.args[0])
                self.put(f"const auto {name} = {text};")
                self.lets.add(e.value)
            return name
        return self.readers.get(id(e))

    def index_names(self, e: Expr) -> set[str]:
        """Returns the indices that `e` uses outside of the reads that readers handle."""
        if id(e) in self.readers:
            other = e.value["else"] if e.kind == "read" and e.value else None
            return self.index_names(other) if other else set()
        found = {e.value} if e.kind == "name" else set()
        parts = list(e.args)
        if e.kind == "match":
            parts += [a for _, a in e.value]
        if e.kind == "reduce":
            parts += [binder[k] for binder in e.value["binders"] for k in ("low", "high", "shape") if k in binder]
            parts += [e.value["where"]] if e.value["where"] else []
        if e.kind == "read" and e.value and e.value["else"]:
            parts.append(e.value["else"])
        for part in parts:
            found |= self.index_names(part)
        return found

    # -- readers -------------------------------------------------------------------------------------------------
    def make_readers(self, s: Statement, e: Expr, inner: str | None, taken: str = "") -> list[str]:
        """Makes a reader for every tensor read in `e` that is evaluated per element of a row.

        Under an `if` the reader is affine only if that arm is `taken`. Returns the conditions under which a term counts
        at all (`else none`).
        """
        conditions: list[str] = []
        if id(e) in self.readers:
            return conditions
        if e.kind in ("reduce", "comprehension"):
            return conditions  # evaluated in place
        if e.kind == "cond" and e.args[0].sort == BOOL:
            plain = not e.args[0].free & ({i.name for i in s.lhs} | {inner})
            test = self.cpp(e.args[0]) if plain else "false"
            for arm, holds in zip(e.args[1:], (test, f"!{test}" if plain else "false"), strict=True):
                conditions += self.make_readers(s, arm, inner, f"{taken} && {holds}" if taken else holds)
            return conditions
        if e.kind == "match":
            return conditions
        if e.kind == "read" and e.args[0].sort.kind == "tensor" and not e.args[0].free & {i.name for i in s.lhs}:
            base = self.cpp(e.args[0])
            followed = e.args[0].value in self.m.seen and self.steps
            if followed:
                base = f"{base}_seen.get()"
            args = e.args[1:]
            affine = self.affinity(s, args, inner)
            if taken and affine != "false":
                affine = taken if affine == "true" else f"({affine}) && {taken}"
            names = set().union(*(self.index_names(a) for a in args)) if args else set()
            at = f"const IndexVector& {'at' if names & {i.name for i in s.lhs} else ''}"
            decode = " ".join(self.decode(s.lhs, names & {i.name for i in s.lhs}))
            c = f"Index {cpp_name(inner)}" if inner and inner in names else "Index"
            split = self.split_point(inner, names)
            if split:
                c = "Index inner"
            may_miss = e.value is not None
            key = f"{base} {inner} {self.cpp.spot(args)} {affine} {may_miss}"
            name = self.made.get(key)
            if name is None:
                name = f"{cpp_name(str(e.args[0].value)) if e.args[0].kind == 'name' else 'item'}_{self.count}"
                self.count += 1
                self.made[key] = name
                walks = "scattering" if affine == "false" else affine
                made = (
                    f"{self.reader}({base}, row, {self.inner_length(inner)}, {walks}, [&]({at}, {c}) "
                    f"{{ {decode}{' ' if decode else ''}{split}return {self.cpp.spot(args)}; }})"
                )
                self.put(f"[[maybe_unused]] const auto {name} = {made}{'' if may_miss else '.checked()'};")
            index = "inner" if inner else "0"
            self.reader_of[id(e)] = name
            if not may_miss:
                self.readers[id(e)] = as_sort(e, f"{name}({index}, x)")
            elif e.value["else"] is None:
                self.readers[id(e)] = as_sort(e, f"{name}({index}, x)")
                conditions.append(self.cpp.sides.asked(e, f"{name}.inside({index}, x)"))
            else:
                conditions += self.make_readers(s, e.value["else"], inner, taken)
                self.pending_else(e, name, index)
            return conditions
        parts = list(e.args)
        for part in parts:
            conditions += self.make_readers(s, part, inner, taken)
        return conditions

    def pending_else(self, e: Expr, name: str, index: str) -> None:
        other = e.value["else"]
        self.cpp.read = self.answer
        read = f"{name}.or_else({index}, x, {self.cpp(other)})"
        self.readers[id(e)] = as_sort(e, self.cpp.sides.read(e, f"{name}.inside({index}, x)", read))
        self.cpp.read = lambda _: None

    def split_point(self, inner: str | None, names: set[str]) -> str:
        if inner and inner in names and self.inner_box:
            return (
                f"const IndexVector {cpp_name(inner)} = {cpp_name(inner)}_box.point({cpp_name(inner)}_outer, inner); "
            )
        return ""

    def inner_length(self, inner: str | None) -> str:
        if not inner:
            return "1"
        return f"{cpp_name(inner)}_box.inner" if self.inner_box else f"{cpp_name(inner)}_count"
