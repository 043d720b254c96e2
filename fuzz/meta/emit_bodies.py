"""Writes the function bodies of the standard that depend on no node, as the bytes of one ModelProto of functions.

python -m fuzz.meta.emit_bodies --spec spec --out generated/fuzz/function_bodies.cc

An attribute that has a default in the operator's schema has it in the function.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx.defs
from onnx import helper

from codegen.write import run_emitter, write_if_changed

DOMAIN = "body"
HEAD = """// Written by fuzz/meta/emit_bodies.py: a model in bytes, whose functions are bodies of the standard.
#include "fuzz/meta/bodies.h"

namespace touchstone::fuzz {

"""


def bodies() -> Iterator[onnx.FunctionProto]:
    schemas = (one for one in onnx.defs.get_all_schemas_with_history() if not one.domain)
    for schema in sorted(schemas, key=lambda one: (one.name, one.since_version)):
        for opset in sorted(schema.function_opset_versions):
            function = onnx.FunctionProto.FromString(schema.get_function_with_opset_version(opset))
            function.domain = DOMAIN
            function.name = f"{schema.name}_{schema.since_version}_at_{opset}"
            for name in list(function.attribute):
                default = schema.attributes[name].default_value
                if default.type:
                    function.attribute.remove(name)
                    function.attribute_proto.append(default)
            yield function


def emit(_: Path, out: Path) -> None:
    model = helper.make_model(helper.make_graph([], "bodies", [], []), functions=list(bodies()), ir_version=10)
    data = model.SerializeToString(deterministic=True)
    rows = [data[k : k + 24] for k in range(0, len(data), 24)]
    lines = "\n".join(f'    "{"".join(f"{chr(92)}{byte:03o}" for byte in row)}"' for row in rows)
    write_if_changed(
        out,
        f"{HEAD}std::string_view body_bytes() {{\n  static constexpr char bytes[] =\n{lines};\n"
        "  return {bytes, sizeof(bytes) - 1};\n}\n\n}  // namespace touchstone::fuzz\n",
    )


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
