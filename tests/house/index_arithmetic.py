"""Finds raw arithmetic on indices whose values come from a model, since it may overflow and wrap to a small size.

Checked are add, subtract, multiply, negative, quotient and remainder of indices (core/checked.h, reference/lists.h),
the operators of lists and of Checked, and the members of Fits. In generated code, an index expression must consist of
calls alone; the notation's sorts identify these expressions. Hand-written code is checked line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.builtins import INDEX, INDICES
from codegen.cpp import Cpp
from codegen.entry import SpecError
from codegen.load import load_spec
from codegen.notation import Expr, Statement
from codegen.units import Unit, primitives, units_of
from fuzz.op.emit_rules import inside
from tests.house.rules import Files, _cpp_code

# -- generated code -------------------------------------------------------------------------------------------
OPERATOR = re.compile(r"(?<![-+>{])[-+*/%](?![-+>])")


class OfIndices(Cpp):
    """Writes an index expression, but replaces parts of other sorts by `number` and the checked operators of lists by
    calls.
    """

    def __call__(self, e: Expr) -> str:
        if e.sort.kind in ("element", "truth", "real"):
            return "number"
        return super().__call__(e)

    def _binary(self, e: Expr) -> str:
        if e.sort == INDICES and e.value in "+-*":
            return f"lists({self(e.args[0])}, {self(e.args[1])})"
        return super()._binary(e)


def expressions(unit: Unit) -> Iterator[Expr]:
    """Every expression of an entry, with all its subexpressions."""

    def of(statements: list[Statement]) -> Iterator[Expr]:
        for s in statements:
            yield from (e for e in (s.value, s.low, s.high, s.view, *s.at, *(i.size for i in s.lhs)) if e is not None)
            yield from of(s.block)

    m = unit.meaning
    for e in [*of(m.statements), *of(m.lets), *(rule[1] for rule in m.rules), *m.shapes.values(), *m.elements.values()]:
        yield from inside(e)


def raw_in_text(text: str) -> bool:
    """True if C++ of an index expression contains an operator."""
    return OPERATOR.search(re.sub(r'"(?:\\.|[^"\\])*"', "", text)) is not None


def raw_of_units(units: list[Unit], writer: type[Cpp] = OfIndices) -> list[str]:
    """Index expressions that codegen writes with operators."""
    out = []
    for unit in units:
        for at_call in (True, False):
            cpp = writer(unit.meaning, at_call=at_call)
            for e in expressions(unit):
                if e.sort not in (INDEX, INDICES):
                    continue
                try:
                    text = cpp(e)
                except SpecError:  # it reads elements, which a plan does not
                    continue
                if raw_in_text(text):
                    out.append(f"{unit.meaning.version.path}:{e.line}: {unit.name}: {text}")
    return out


# Index computations of a kernel outside its entry's expressions: declarations, sizes of points, inner indices.
DECLARED = re.compile(r"\bconst Index (\w+ = [^;{}]*);")
AROUND = re.compile(r"(?:_low|at_rank|at\.size\(\)) [-+*/%] | [-+*/%] \w+_low\b")
POSITIONS = re.compile(  # within a row, or within a reduction
    r"std::min\(RowKernel::piece, [\w.]+ - (?:x|inner)_from\)$"
    r"|part_from = part.first, part_count = part.last - part.first$"
)


def raw_around(name: str, lines: list[str]) -> list[str]:
    """Index declarations with operators, in the lines of a kernel."""
    out = []
    for line in lines:
        if line.lstrip().startswith(("#", "//")):
            continue
        held = (text for text in DECLARED.findall(line) if not POSITIONS.search(text))
        out += [f"{name}: {text}" for text in held if raw_in_text(text)]
        if found := AROUND.search(line):
            out.append(f"{name}: {found.group(0).strip()} in {line.strip()}")
    return out


def all_units(root: Path) -> list[Unit]:
    known = primitives(root / "spec")
    units = [unit for operator in load_spec(root / "spec") for unit in units_of(operator, known)]
    return [each for unit in units for each in (unit, *unit.also, *unit.profiles)]


# -- hand-written code ----------------------------------------------------------------------------------------
BINARY = re.compile(r"(?<=[\w)\]]) (?:[-+*]=?) (?=[\w(~])")

# Files that compute indices for all others: an operator in them needs one of REASONS.
WHOLE = {
    "reference/lists.h", "reference/lists.cc", "reference/view.h", "reference/view.cc", "reference/coordinates.h",
    "reference/semantics/index_range.h", "reference/semantics/range_index_vector.h", "optimized/problems/window.h",
    "optimized/problems/window.cc", "optimized/problems/transposed.cc", "optimized/problems/operand.h",
}  # fmt: skip
REASONS = {
    r"size\((?:\w+)?\) [-+] (?:\d|from\b|r\b|n\b|at\.size\(\)|\(open)|\b(?:rank|input\.size\(\)) - ":
        "of lists in memory, within them",
    r"\b(?:list|at_|shape)?\.?begin\(\) \+ from(?: \+ n)?|- list\.begin\(\)": "pointers into a list, held before",
    r"quotient\(a, b\) [-+] \(remainder": "a quotient that leaves a remainder is far from the ends",
    r"return base \+ c \* by_c \+ x \* by_x": "affine_access checked the corners of the loops",
    r"o \+= at\[k\] \* strides\[k\]": "every index was held against its extent",
    r"p\[p\.size\(\) - 1\] \+= x": "of a row of a tensor",
    r"\b(?:extent|inner|length|extents\[k\]|out\[d\]|kernel\[d\]) - 1\b": "of what is positive, or a size of a tensor",
    r"range\.lo \+ k|std::min\(width\(i\), most\) \+ 1|points \* extent|low \+ step":
        "within the range, or at most 4,097 twice",
    r"Checked\(": "the checked type",
    r"\bview\.data \+ at\b": "a pointer to an element that was held",
    r"\bk \+ (?:2|r)\b|\bk \+ 2 - r": "positions in a shape of two more dimensions",
    r"\bwhole - ": "the parts of a size that fits",
    r"\(out - 1 - first\) / stride \+ 1": "from 0 to less than out",
    r"ranks\[k\] [-!<=]|\bterm\b|\bletters\b|\barrow\b|\bcomma\b|\bsymbols?\b|\bk \+= 2|label":
        "the letters of an equation",
    r"all \+=|text\(|std::string\(": "a text",
    r"pi_v<": "an angle",
}  # fmt: skip

# Hand-written kernels that read numbers of a model: these numbers need checked functions.
BY_HAND = re.compile(r"^reference/structural/")
SOURCES = re.compile(
    r"\b(\w+)(?: = |\()(?:facts\.integers?\(|values\([^;]*\)\[0\]|dim\(|\*inputs\[\d\]\.tensor\(\)\.data<std::int64_t>)"
)
# The offset of an element access; the access itself checks that the tensor contains it.
ACCESS = re.compile(
    r"(?:\b(?:element<\w+>|number_at|set_number|set_code|code_at|item|same|places)\(|\bdata<[\w:]+>\(\)(?:\[| \+ ))"
)
FREED = {
    "scan.cc.j2": {"scanned"},  # counts inputs of the node
    "topk.cc.j2": {"k"},  # at most an extent of an allocated output
    "unique.cc.j2": {"n", "axis"},  # slices of the input, and one of its dimensions
    # ascending positions in a list (C4, C5)
    "tf_idf_vectorizer.cc.j2": {"starts", "columns", "least", "most", "skips"},
    "split_to_sequence.cc.j2": {"each", "extent"},  # fewer parts than extent / each
    "svm_classifier.cc.j2": {"per_class"},  # positions in a list of length their sum, which fits
    "draw.cc.j2": {"samples", "classes", "rows"},  # extents of allocated tensors
}  # fmt: skip


def without_access(code: str) -> str:
    """The line without the bracketed arguments of element accesses."""
    while (found := ACCESS.search(code)) is not None:
        depth, end = (1 if found.group(0)[-1] in "([" else 0), found.end()
        while end < len(code) and (depth > 0 or (found.group(0)[-1] == " " and code[end] not in ",;)")):
            depth += (code[end] in "([") - (code[end] in ")]")
            end += 1
        code = code[: found.start()] + "accessed" + code[end:]
    return code


def raw_by_hand(files: Files) -> list[str]:
    """Raw operators on indices in the files of WHOLE, and on a model's numbers in hand-written kernels."""
    out = []
    for path, text in files.items():
        lines = _cpp_code(text).split("\n")
        if path in WHOLE:
            for k, line in enumerate(lines):
                if BINARY.search(line) and not any(re.search(reason, line) for reason in REASONS):
                    out.append(f"{path}:{k + 1}: raw arithmetic: {line.strip()}")
        elif BY_HAND.search(path):
            free = FREED.get(path.rsplit("/", 1)[-1], set())
            named = {name for line in lines for name in SOURCES.findall(line)} - free
            if not named:
                continue
            names = "|".join(sorted(named))
            mixed = re.compile(rf"\b(?:{names})\b(?:\[[^\]]*\])? [-+*]=? [\w(]|[\w)\]] [-+*]=? (?:{names})\b")
            for k, line in enumerate(lines):
                if mixed.search(without_access(line)):
                    out.append(f"{path}:{k + 1}: raw arithmetic on a number of the model: {line.strip()}")
    return out
