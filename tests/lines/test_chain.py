"""Lines of one version and types are ordered from the simplest to the richest, and more are added where a type has too
few.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from codegen.entry import Version
from codegen.load import load_spec
from tests.lines.chain import Chains, in_order, that_add
from tests.lines.plainer import plainer
from tests.lines.probe import outcomes
from tests.lines.seeds import seeds_of

ROOT = Path(__file__).resolve().parents[2]
PROBE = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "tests" / "lines" / "lines_probe"


def row(kind: str, faults: str, judged: str = "exact") -> dict[str, Any]:
    return {"kind": kind, "faults": list(faults), "judged": judged, "types": [f"tensor({kind})"]}


ROWS = {
    "Relu-14(float[4]~real)": row("float", "abcd"),
    "Relu-14(double[]{1})": row("double", "a"),
    "Relu-14(float[2]~real)": row("float", "ab"),
    "Relu-14(float[]{1})": row("float", "a"),
    "Relu-14(float[]{2})": row("float", "a"),
}


def of_relu() -> Version:
    (relu,) = [operator for operator in load_spec(ROOT / "spec") if operator.op == "Relu"]
    return relu.versions[0]


def test_the_plain_come_first_of_each_kind() -> None:
    assert [line[8:-1] for line in in_order(ROWS, ROWS)] == [
        "float[]{1}",
        "float[]{2}",
        "float[2]~real",
        "float[4]~real",
        "double[]{1}",
    ]


def test_a_line_adds_that_tells_what_none_before_it_tells() -> None:
    of_float = [line for line in ROWS if "float" in line]
    assert [line[8:-1] for line in that_add(of_float, ROWS)] == ["float[]{1}", "float[2]~real", "float[4]~real"]


def test_what_makes_a_chain_longer_is_taken_where_a_type_has_too_few() -> None:
    own = ["Relu-14(float[4]~real)", "Relu-14(double[]{1})"]
    chains = Chains(of_relu(), own, {line: ROWS[line] for line in own})
    assert {("T", "float"), ("T", "double")} <= set(chains.short())
    offered = ["Relu-14(float[]{1})", "Relu-14(float[]{2})", "Relu-14(float[2]~real)", "Relu-14(float[9]~real)"]
    rows = [ROWS[line] for line in offered[:3]] + [row("float", "abcd", "open")]
    assert chains.lengthen(offered, rows) == ["Relu-14(float[]{1})", "Relu-14(float[2]~real)"]
    assert ("T", "float") not in chains.short()


def test_a_type_with_one_line_gets_three_that_differ() -> None:
    (size,) = [operator for operator in load_spec(ROOT / "spec") if operator.op == "Size"]
    version, first = size.versions[-1], f"{size.versions[-1].name}(int8[2,3]{{1,2,3,4,5,6}})"
    chains = Chains(version, [first], dict(zip([first], outcomes(PROBE, [first], "all"), strict=True)))
    drafts = list(dict.fromkeys(map(str, plainer(version, seeds_of(size, version), "T", "int8"))))[:60]
    chains.lengthen(sorted(drafts, key=len), outcomes(PROBE, sorted(drafts, key=len), "all"))
    assert chains.held()["T", "int8"] >= 3
