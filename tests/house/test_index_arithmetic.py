"""Arithmetic on indices is checked wherever sizes come from a model, and each rule finds a violation that is planted
for it.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from codegen.cpp import Cpp
from codegen.notation import Expr
from codegen.units import Unit
from tests.house import rules
from tests.house.index_arithmetic import OfIndices, all_units, raw_around, raw_by_hand, raw_in_text, raw_of_units

ROOT = Path(__file__).resolve().parents[2]
GENERATED = Path(os.environ.get("TOUCHSTONE_GENERATED", ROOT / "generated"))


@functools.cache
def units() -> list[Unit]:
    return all_units(ROOT)


def test_index_expressions_of_entries_are_calls() -> None:
    assert raw_of_units(units()) == []


def test_an_operator_in_an_index_expression_is_found() -> None:
    class Raw(OfIndices):
        def _binary(self, e: Expr) -> str:
            return f"({self(e.args[0])} {e.value} {self(e.args[1])})"

    class Sums(OfIndices):
        def _reduce(self, e: Expr) -> str:
            return Cpp._reduce(self, e).replace("tally = add(tally, ", "tally += (")

    assert len(raw_of_units(units(), Raw)) > 100
    assert raw_of_units(units(), Sums)


def written() -> dict[str, list[str]]:
    """Lines of the generated kernels and row kernels, by file."""
    files = [*GENERATED.glob("reference/kernels/*.h"), *GENERATED.glob("optimized/*_rows.h")]
    return {str(path.relative_to(GENERATED)): path.read_text().split("\n") for path in files}


def test_what_stands_around_the_expressions_is_checked() -> None:
    kernels = written()
    rows = [name for name in kernels if name.endswith("_rows.h")]
    assert len(rows) > 100 and len(kernels) - len(rows) > 300, f"{GENERATED} is not built"
    assert [found for name, lines in kernels.items() for found in raw_around(name, lines)] == []


@pytest.mark.parametrize(
    "line",
    [
        "  const Index c_low = Index{0}, c_count = cg - c_low;",
        "  const Index t = t_low + inner;",
        "  const IndexVector o = part(at, 2, at.size() - 2);",
        "  auto X_1 = reader(X, row, 1, at_rank - 2 > 0, [&](const IndexVector& at, Index) { return join(n); });",
        "  return join(n, (c_low + c));",
    ],
)
def test_an_operator_around_them_is_found(line: str) -> None:
    assert raw_around("a", [line])


def test_calls_comparisons_and_steps_are_no_operators() -> None:
    assert not raw_in_text('(add(a, Index{-1}) < b && text == "a + b" ? c : [&]() -> Index { return ++tally; }())')
    assert raw_in_text("(a - b)")


def test_hand_written_arithmetic_is_checked() -> None:
    assert raw_by_hand(rules.project_files(ROOT)) == []


@pytest.mark.parametrize(
    "path, text",
    [
        ("reference/lists.h", "inline Index twice(Index i) { return i * j; }"),
        ("reference/lists.h", "for (Index i : list) sum += i;"),
        ("reference/view.cc", "const Index last_c = c * reach;"),
        ("optimized/problems/window.h", "const Index reach = kernel[d] * dilation[d];"),
        ("reference/structural/a.cc.j2", 'k = facts.integer("k");\nshape = Shape{k * 2};'),
        ("reference/structural/a.cc.j2", 'const IndexVector lengths = facts.integers("lengths");\nsum += lengths[k];'),
        ("reference/structural/a.cc.j2", "const Index most = values(split)[0];\nf(most + 1);"),
        ("reference/structural/a.cc.j2", "rows = dim(data, 0);\nwanted(rows * classes);"),
    ],
)
def test_hand_written_arithmetic_that_is_not_is_found(path: str, text: str) -> None:
    assert len(raw_by_hand({path: text})) == 1


def test_an_offset_of_an_element_is_no_size() -> None:
    text = (
        "rows = dim(data, 0);\nsum.add(element<S>(*x, n * rows + f) * weight(2));\nto = x.data<float>() + n * rows;\n"
    )
    assert raw_by_hand({"reference/structural/a.cc.j2": text}) == []
