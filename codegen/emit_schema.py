"""Writes generated/model/schema_table.cc: the signatures of all versions, the table behind model/schema.h.

python -m codegen.emit_schema --spec spec --out generated
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import jinja2

from codegen.entry import MISSING, Attribute, Operator, Parameter, Version
from codegen.load import load_spec
from codegen.value_types import to_text
from codegen.write import run_emitter, write_if_changed

PRODUCT = "model/schema_table.cc"


def emit(operators: list[Operator], out_dir: Path | str) -> Path:
    """Writes the table below `out_dir` and returns its path."""
    file = Path(out_dir) / PRODUCT
    write_if_changed(file, _render(operators))
    return file


def _render(operators: list[Operator]) -> str:
    lists: dict[tuple[str, ...], str] = {}
    versions: list[dict[str, Any]] = []
    # Sorted by bytes, as std::string_view compares; model/schema.cc uses binary search.
    for operator in sorted(operators, key=lambda o: (_domain(o.domain).encode(), o.op.encode())):
        arrays: dict[
            tuple[str, ...], str
        ] = {}  # arrays of this operator, so that equal ones of several versions are emitted once
        versions += [_row(version, lists, arrays) for version in reversed(operator.versions) if not version.left_out]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    template = environment.get_template("schema_table.cc.j2")
    type_lists = [{"name": name, "lines": _lines(types)} for types, name in lists.items()]
    return template.render(type_lists=type_lists, versions=versions)


def _row(version: Version, lists: dict[tuple[str, ...], str], arrays: dict[tuple[str, ...], str]) -> dict[str, Any]:
    source = f"{version.path}:{version.line}"
    fields = {
        "inputs": ("ParameterSpec", [_parameter(p) for p in version.inputs]),
        "outputs": ("ParameterSpec", [_parameter(p) for p in version.outputs]),
        "attributes": ("AttributeSpec", [_attribute(a) for a in version.attributes]),
        "types": ("ConstraintSpec", [_constraint(name, types, lists) for name, types in version.types.items()]),
    }
    row: dict[str, Any] = {
        "name": version.name,
        "source": source,
        "domain": _quoted(_domain(version.domain)),
        "op": _quoted(version.op),
        "since": version.since,
        "deprecated": json.dumps(version.deprecated and not version.lived),
        "all_outputs": ", .all_outputs = true" if version.all_outputs else "",
        "form": _quoted(version.form),
        "kind": _quoted(version.kind),
        "doc": _quoted(version.doc),
        "quoted_source": _quoted(source),
        "arrays": [],
    }
    stem = re.sub(r"\W", "_", f"{_domain(version.domain)}_{version.op}_{version.since}".lower().lstrip("_"))
    for field, (type_, rows) in fields.items():
        key = (field, *rows)
        if rows and key not in arrays:
            arrays[key] = f"{stem}_{field}"
            row["arrays"].append({"type": type_, "name": arrays[key], "rows": rows})
        row[field] = arrays[key] if rows else "{}"
    return row


def _parameter(parameter: Parameter) -> str:
    parts = [f".name = {_quoted(parameter.name)}", f".type = {_quoted(to_text(parameter.type))}"]
    parts += [".optional = true"] if parameter.optional else []
    parts += [".variadic = true"] if parameter.variadic else []
    parts += [".homogeneous = false"] if not parameter.homogeneous else []
    parts += [f".least = {parameter.least}"] if parameter.least != 1 else []
    return "{" + ", ".join(parts) + "}"


def _attribute(attribute: Attribute) -> str:
    parts = [f".name = {_quoted(attribute.name)}", f".kind = {_quoted(attribute.kind)}"]
    parts += [".required = true"] if attribute.required else []
    if attribute.default is not MISSING:
        parts.append(f".default_json = {_quoted(json.dumps(attribute.default, ensure_ascii=False))}")
    return "{" + ", ".join(parts) + "}"


def _constraint(name: str, types: list[str], lists: dict[tuple[str, ...], str]) -> str:
    key = tuple(to_text(type_) for type_ in types)
    listed = lists.setdefault(key, f"types_{len(lists) + 1}")
    return "{" + f".name = {_quoted(name)}, .types = {listed}" + "}"


def _lines(types: tuple[str, ...]) -> list[str]:
    # A quoted type holds a space only in map(int64, float): no line may break there.
    text = ", ".join(_quoted(type_).replace(" ", "\0") for type_ in types)
    return [line.replace("\0", " ") for line in textwrap.wrap(text, 90, break_long_words=False)]


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) + "sv"


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, lambda spec, out: emit(load_spec(spec), out)))
