"""Writes generated/model/derivatives.cc: the derivatives of all entries, as the bytes of one ModelProto of functions.

`derivative:` of an entry is a function body. Its inputs are the node's inputs, outputs and output derivatives (d_Y);
its outputs are the input derivatives (d_X). It becomes one function per version, named after the version. Helper
functions between them come from the `function:` of the operator that requests derivatives (Gradient, form: derivative).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx.parser
from onnx import helper

from codegen.entry import MISSING, Operator, SpecError, Version
from codegen.load import load_spec
from codegen.witnesses import key
from codegen.write import run_emitter, write_if_changed

DOMAIN, FORM, OPSET = "derivative", "derivative", 21
PIECE = re.compile(r"^(\w+) \(([^)]*)\) => \(([^)]*)\) (\{.*?\})\s*(?=^\w+ \(|\Z)", re.DOTALL | re.MULTILINE)
REFERENCE = re.compile(r"@(\w+)")
HEAD = """\
// Written by codegen/emit_derivatives.py from spec/ops: a model in bytes, whose functions are derivatives.
#include "model/derive.h"

namespace touchstone {

"""


def parsed(text: str, path: str, line: int) -> onnx.FunctionProto:
    try:
        return onnx.parser.parse_function(f'<domain: "{DOMAIN}", opset_import: ["": {OPSET}, "{DOMAIN}": 1]> {text}')
    except onnx.parser.ParseError as error:
        raise SpecError(path, line, f"derivative: {error}") from error


def bare(text: str) -> str:
    """Returns the text without comments, which ONNX's text format does not allow."""
    return re.sub(r"#[^\n]*", "", text)


def pieces(version: Version) -> Iterator[onnx.FunctionProto]:
    for name, inputs, outputs, body in PIECE.findall(bare(version.function.text)):
        attributes = sorted(set(REFERENCE.findall(body)))
        said = f" <{', '.join(attributes)}>" if attributes else ""
        yield parsed(f"{name}{said} ({inputs}) => ({outputs}) {body}", version.path, version.function.line)


def derivatives(operator: Operator) -> Iterator[onnx.FunctionProto]:
    says = operator.derivative
    if says is None:
        return
    body = bare(says.text.text)
    for version in operator.versions:
        if version.since < says.since or version.deprecated:
            continue
        inputs, outputs = ([p.name for p in side] for side in (version.inputs, version.outputs))
        made = [f"d_{name}" for name in inputs if re.search(rf"^ *d_{name} =", body, re.MULTILINE)]
        for p in version.inputs:
            if f"d_{p.name}" not in made and "float" in version.types.get(p.type, [p.type]):
                raise SpecError(says.text.path, says.text.line, f"{version.name} has no derivative by {p.name}")
        taken = [*inputs, *outputs, *(f"d_{name}" for name in outputs)]
        function = parsed(f"f ({', '.join(taken)}) => ({', '.join(made)}) {{ {body} }}", says.text.path, says.text.line)
        function.name = key(version)
        for name in sorted(set(REFERENCE.findall(body))):
            attribute = version.attribute(name)
            if attribute is None:
                raise SpecError(says.text.path, says.text.line, f"{version.name} has no attribute {name}")
            if attribute.default is MISSING:
                function.attribute.append(name)
            else:
                function.attribute_proto.append(helper.make_attribute(name, attribute.default))
        yield function


def model_of(operators: list[Operator]) -> onnx.ModelProto:
    graph = helper.make_graph([], "derivatives", [], [])
    asking = [v for operator in operators for v in operator.versions if v.form == FORM]
    functions = [f for v in asking for f in pieces(v)] + [f for operator in operators for f in derivatives(operator)]
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=10)


def render(operators: list[Operator]) -> str:
    data = model_of(operators).SerializeToString(deterministic=True)
    rows = [data[k : k + 24] for k in range(0, len(data), 24)]
    lines = [f'    "{"".join(f"{chr(92)}{byte:03o}" for byte in row)}"' for row in rows]
    text = "\n".join(lines) or '    ""'
    return (
        f"{HEAD}std::string_view derivative_bytes() {{\n  static constexpr char bytes[] =\n{text};\n"
        "  return {bytes, sizeof(bytes) - 1};\n}\n\n}  // namespace touchstone\n"
    )


def names_of(operators: list[Operator]) -> list[str]:
    """Returns the names of all versions that have a derivative."""
    return [function.name for operator in operators for function in derivatives(operator)]


def emit(spec: Path, out: Path) -> None:
    write_if_changed(out, render(load_spec(spec)))


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
