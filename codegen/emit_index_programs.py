"""Writes the index programs of all definitions: a C++ table of bytes, and the numbers of their operations."""

from __future__ import annotations

from pathlib import Path

import yaml

from codegen import index_program as program
from codegen.cpp import quoted
from codegen.entry import Operator
from codegen.sorts import Checker
from codegen.units import primitives, same_kernel, with_distinct_names
from codegen.write import write_if_changed

HERE = "Written by codegen from spec/."
RESERVED = {
    "real",
    "index",
    "bool",
    "text",
    "type",
    "int",
    "float",
    "signed",
    "unsigned",
}  # enumerators get an underscore
ENUMS = {
    "IndexOperation": program.OPERATIONS, "IndexSort": program.SORTS, "IndexReduction": program.REDUCTIONS,
    "IndexBinder": program.BINDERS, "IndexStatementKind": program.STATEMENTS, "IndexPlace": program.LEFT_HAND_SIDES,
    "IndexAttribute": ("other", *program.ATTRIBUTES), "IndexClass": program.CLASSES,
    "IndexFunction": program.FUNCTIONS,
}  # fmt: skip


def operations_header() -> str:
    lines = [f"// Numbers of the operations of index programs. {HERE}", "#pragma once", "", "#include <cstdint>", ""]
    lines += ["namespace touchstone {", ""]
    for name, items in ENUMS.items():
        written = ", ".join(item + "_" if item in RESERVED else item for item in items)
        lines += [f"enum class {name} : std::uint8_t {{ {written} }};"]
    return "\n".join([*lines, "", "}  // namespace touchstone", ""])


def literal(data: bytes) -> list[str]:
    """C++ string literals of bytes, in lines of 32."""
    rows = [data[k : k + 32] for k in range(0, len(data), 32)]
    return ['    "' + "".join(f"\\{byte:03o}" for byte in row) + '"' for row in rows]


def table(operators: list[Operator], spec: Path) -> str:
    types = yaml.safe_load((spec / "types.yaml").read_text(encoding="utf-8"))
    codes = {facts["name"]: facts["code"] for facts in types["types"]}
    texts, known, places = program.Texts(), primitives(spec), {}
    data, rows = bytearray(), {}
    for operator in operators:
        groups: dict[str, bytes] = {}
        for v in operator.versions:
            if v.kind != "semantics" or v.left_out:
                continue
            key = same_kernel(v)
            if key not in groups:
                meaning = Checker(with_distinct_names(v), known).run()
                groups[key] = program.IndexProgram(meaning, texts, codes).bytes()
            made = groups[key]
            if made not in places:
                places[made] = len(data)
                data += made
            rows["" if v.domain == "ai.onnx" else v.domain, v.op, v.since] = places[made]
    lines = [f"// Index programs of all definitions. {HERE}", '#include "reference/shapes/index_program.h"', ""]
    lines += ["namespace touchstone {", ""]
    lines += ["const IndexProgramRow index_rows[] = {  // domain, operator, version, place of its program"]
    for (domain, op, since), place in sorted(rows.items()):
        lines.append(f"    {{{texts.number(domain)}, {texts.number(op)}, {since}, {place}}},")
    lines += ["};", f"const std::size_t index_row_count = {len(rows)};"]
    lines += [f"const std::size_t index_text_count = {len(texts.places)};", "", "const char index_texts[] ="]
    lines += [f'    {quoted(text)} "\\0"' for text in texts.places] + ["    ;", ""]
    lines += ["const char index_bytes[] ="] + literal(bytes(data)) + ["    ;", "", "}  // namespace touchstone", ""]
    return "\n".join(lines)


def emit(operators: list[Operator], spec: Path, out: Path) -> None:
    write_if_changed(out / "reference" / "index_operations.h", operations_header())
    write_if_changed(out / "reference" / "index_programs.cc", table(operators, spec))
