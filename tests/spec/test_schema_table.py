"""The generated table of signatures compiles and matches the entries; a specimen shows its text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.emit_schema import emit
from codegen.entry import MISSING, Operator, Parameter, Version
from codegen.value_types import from_standard, to_standard, to_text

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "codegen" / "golden" / "schema_table.cc"

SPECIMEN = """\
op: Toy
form: elementwise
doc: Doubles every element of `x`, "quoted" or not.
versions:
  - {since: 3, inherits: 1, deprecated: true, types: {T: [+bfloat16]}, attributes: null}
  - since: 1
    inputs: {x: {type: T}, more: {type: int64, variadic: true, homogeneous: false, least: 0}}
    outputs: {y: {type: T, optional: true}, z: {type: seq(float)}}
    attributes:
      gain: {type: float, default: 1e-3}
      names: {type: strings, default: ["a\\"b", ""]}
      to: {type: int, required: true}
    types: {T: [floats], M: ["map(int64,float)", seq(int8)]}
    semantics: y[i] = x[i] + x[i]
"""

DUMP = r"""
#include <cstddef>
#include <cstdio>
#include "model/schema.h"
namespace touchstone {
extern const Signature signature_table[];
extern const std::size_t signature_count;
}
using namespace touchstone;
static void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); std::putchar('\n'); }
static void put(int number) { std::printf("%d\n", number); }
static void put(std::span<const ParameterSpec> parameters) {
  put(int(parameters.size()));
  for (const ParameterSpec& p : parameters) {
    put(p.name), put(p.type), put(p.optional), put(p.variadic), put(p.homogeneous), put(p.least);
  }
}
int main() {
  for (std::size_t i = 0; i < signature_count; ++i) {
    const Signature& s = signature_table[i];
    put(s.domain), put(s.op), put(s.since), put(s.deprecated), put(s.all_outputs);
    put(s.form), put(s.kind), put(s.doc), put(s.source);
    put(s.inputs), put(s.outputs), put(int(s.attributes.size()));
    for (const AttributeSpec& a : s.attributes) put(a.name), put(a.kind), put(a.required), put(a.default_json);
    put(int(s.types.size()));
    for (const ConstraintSpec& c : s.types) {
      put(c.name), put(int(c.types.size()));
      for (std::string_view type : c.types) put(type);
    }
  }
}
"""


def parameters(items: list[Parameter]) -> list[object]:
    said: list[object] = [len(items)]
    for p in items:
        said += [p.name, to_text(p.type), p.optional, p.variadic, p.homogeneous, p.least]
    return said


def expected(version: Version) -> list[object]:
    domain = "" if version.domain == "ai.onnx" else version.domain
    said: list[object] = [
        domain,
        version.op,
        version.since,
        version.deprecated and not version.lived,
        version.all_outputs,
        version.form,
        version.kind,
        version.doc,
    ]
    said += [f"{version.path}:{version.line}", *parameters(version.inputs), *parameters(version.outputs)]
    said.append(len(version.attributes))
    for a in version.attributes:
        default = "" if a.default is MISSING else json.dumps(a.default, ensure_ascii=False)
        said += [a.name, a.kind, a.required, default]
    said.append(len(version.types))
    for name, types in version.types.items():
        said += [name, len(types), *map(to_text, types)]
    return said


def test_the_table_says_what_the_entries_say(operators: list[Operator], tmp_path: Path) -> None:
    table = emit(operators, tmp_path)
    assert table == tmp_path / "model" / "schema_table.cc"
    dump = tmp_path / "dump.cc"
    dump.write_text(DUMP, encoding="utf-8")
    program = tmp_path / "dump"
    compiler = os.environ.get("CXX") or shutil.which("g++") or "c++"
    command = [
        compiler,
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-field-initializers",
        "-Wno-unused-value",
    ]
    subprocess.run([*command, f"-I{ROOT}", str(table), str(dump), "-o", str(program)], check=True)
    said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split("\n")
    versions = [version for operator in operators for version in operator.versions]
    versions.sort(key=lambda v: ("" if v.domain == "ai.onnx" else v.domain, v.op, v.since))
    wanted = [str(int(item) if isinstance(item, bool) else item) for v in versions for item in expected(v)]
    assert said == [*wanted, ""]


def test_the_specimen_reads_as_it_did(load_entry: Callable[[str], Operator], tmp_path: Path) -> None:
    """If this fails, check the difference before you copy the new text over the specimen."""
    assert emit([load_entry(SPECIMEN)], tmp_path).read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")


def test_a_table_that_is_the_same_is_not_written_again(load_entry: Callable[[str], Operator], tmp_path: Path) -> None:
    table = emit([load_entry(SPECIMEN)], tmp_path)
    os.utime(table, ns=(1, 1))
    emit([load_entry(SPECIMEN)], tmp_path)
    assert table.stat().st_mtime_ns == 1
    emit([load_entry(SPECIMEN.replace("least: 0", "least: 2"))], tmp_path)
    assert table.stat().st_mtime_ns != 1


@pytest.mark.parametrize(
    ("ours", "standard"),
    [
        ("float", "tensor(float)"),
        ("seq(float8e4m3fn)", "seq(tensor(float8e4m3fn))"),
        ("optional(seq(int4))", "optional(seq(tensor(int4)))"),
        ("sparse(double)", "sparse_tensor(double)"),
        ("map(int64,float)", "map(int64, float)"),
        ("T1", "T1"),
    ],
)
def test_types_are_spelled_both_ways(ours: str, standard: str) -> None:
    assert to_standard(ours) == standard
    assert from_standard(standard) == ours
