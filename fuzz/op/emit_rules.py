"""Writes the rules of each operator version as terms that the solver of operator cases reads at run time.

python -m fuzz.op.emit_rules --spec spec --out generated/fuzz/op_rules.cc

A program has a statement a line, in prefix form: (let NAME TERM) and (rule ID TERM). (index INPUT TERM) states that
elements of an input are positions below TERM, (computed INPUT) that its elements decide shapes. Versions of a
structural template have no program: their rules are C++.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from codegen.entry import Version
from codegen.load import load_spec
from codegen.notation import Expr, Statement
from codegen.sorts import Checker
from codegen.units import primitives, with_distinct_names
from codegen.write import run_emitter, write_if_changed

BODIES = Path(__file__).with_name("bodies.yaml")
LIMIT = 16_000  # characters of one C++ string literal
BY_VALUE = {"value", "reals", "steps", "positions"}  # functions that read a tensor's elements at call level

HEAD = """// Rules of operator versions as terms. Written by fuzz/op/emit_rules.py.
#include "fuzz/op/program.h"

namespace touchstone::fuzz {
namespace {

"""
TAIL = """}  // namespace

std::span<const ProgramText> program_texts() { return rows; }
std::span<const BodyOperator> body_operators() { return bodies; }

}  // namespace touchstone::fuzz
"""


def term(e: Expr) -> str:
    kind = e.kind
    if kind in ("number", "real", "name"):
        return str(e.value)
    if kind == "string":
        return json.dumps(e.value)
    if kind in ("coerce", "let"):
        return term(e.args[0])
    if kind == "scalar":
        return f"(scalar {e.value})"
    if kind == "match":
        arms = " ".join(f"({json.dumps(key) if key is not None else 'else'} {term(arm)})" for key, arm in e.value)
        return f"(match {term(e.args[0])} {arms})"
    if kind == "reduce":
        where = term(e.value["where"]) if e.value["where"] else "true"
        return f"(reduce {e.value['op']} ({' '.join(map(binder, e.value['binders']))}) {where} {term(e.args[0])})"
    if kind == "comprehension":
        body, low, high, *where = e.args
        return f"(for {e.value} {term(low)} {term(high)} {term(where[0]) if where else 'true'} {term(body)})"
    head = {"cond": "if", "not": "not", "negative": "neg", "list": "list", "splice": "splice", "read": "read"}.get(kind)
    if kind == "member":
        return f"(in {term(e.args[0])} {e.value})"
    if head is None and kind in ("compare", "binary", "logic", "call"):
        head = e.value
    return f"({head or 'unknown'} {' '.join(term(a) for a in e.args)})"


def binder(said: dict[str, Any]) -> str:
    if said["kind"] == "range":
        return f"(range {said['name']} {term(said['low'])} {term(said['high'])})"
    return f"({said['kind']} {said['name']} {term(said['shape']) if said['kind'] == 'box' else said['family']})"


def inside(e: Expr) -> Iterator[Expr]:
    yield e
    inner = [*e.args]
    if e.kind == "match":
        inner += [arm for _, arm in e.value]
    if e.kind == "reduce":
        inner += [b[k] for b in e.value["binders"] for k in ("low", "high", "shape") if k in b]
        inner += [e.value["where"]] if e.value["where"] else []
    if e.kind == "read" and e.value and e.value["else"]:
        inner.append(e.value["else"])
    for each in inner:
        yield from inside(each)


def expressions(statements: list[Statement]) -> Iterator[Expr]:
    for s in statements:
        for e in (s.value, s.low, s.high, s.view, *s.at, *(i.size for i in s.lhs)):
            if isinstance(e, Expr):
                yield from inside(e)
        yield from expressions(s.block)


def program(version: Version, known: dict[str, int]) -> str:
    version = with_distinct_names(version)
    meaning = Checker(version, known).run()
    inputs = {p.name for p in version.inputs}
    aliases = [s for s in meaning.statements if s.kind == "let" and s.value.sort.kind == "tensor"]
    lets = sorted([*meaning.lets, *aliases], key=lambda s: s.order)
    lines = [f"(let {s.name} {term(s.value)})" for s in lets]
    lines += [f"(rule {name} {term(that)})" for name, that, _, _ in meaning.rules]
    at_call = [e for s in lets for e in inside(s.value)] + [e for _, that, _, _ in meaning.rules for e in inside(that)]
    every = [*at_call, *expressions(meaning.statements)]
    for e in every:
        if e.kind == "call" and e.value in BY_VALUE:
            lines += [f"(computed {a.value})" for a in e.args if a.kind == "name" and a.value in inputs]
        if e.kind == "call" and e.value == "index" and (name := element_of(e.args[0])) in inputs:
            limit = term(e.args[1]) if len(e.args) > 1 and not e.args[1].free else "?"
            lines.append(f"(index {name} {limit})")
    return "\n".join(dict.fromkeys(lines))


def element_of(e: Expr) -> str:
    """The tensor that an element is read from, "" if none."""
    if e.kind == "scalar":
        return str(e.value)
    if e.kind in ("read", "coerce", "let") and e.args:
        return str(e.args[0].value) if e.args[0].kind == "name" else element_of(e.args[0])
    return ""


def literal(text: str) -> str:
    parts = [text[k : k + LIMIT] for k in range(0, len(text), LIMIT)] or [""]
    return "\n    ".join(f'R"rules({part})rules"' for part in parts)


def emit(spec: Path, out: Path) -> None:
    known = primitives(spec)
    names: dict[str, str] = {}  # program -> constant
    constants, rows = [], []
    for operator in load_spec(spec):
        for version in operator.versions:
            if version.kind != "semantics":
                continue
            text = program(version, known)
            if text not in names:
                names[text] = f"{version.op}_{version.since}_{len(names)}"
                constants.append(f"constexpr char {names[text]}[] =\n    {literal(text)};\n")
            domain = "" if version.domain == "ai.onnx" else version.domain
            rows.append(f'    {{"{domain}", "{version.op}", {version.since}, {names[text]}}},\n')
    table = "constexpr ProgramText rows[] = {\n" + "".join(rows) + "};\n\n"
    write_if_changed(out, HEAD + "\n".join(constants) + "\n" + table + bodies() + TAIL)


def bodies() -> str:
    said = yaml.safe_load(BODIES.read_text(encoding="utf-8"))
    pairs = [*said["uses"].items(), *((template, op) for op, template in said["templates"].items())]
    rows = "".join(f'    {{"{role}", "{op}"}},\n' for role, op in pairs)
    return "constexpr BodyOperator bodies[] = {\n" + rows + "};\n\n"


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
