"""Writes generated/tools/spec_texts.cc: the output of `touchstone spec` for every operator version, inheritance
resolved.

Each version becomes one JSON object in a C++ string; the command prints it unchanged or as plain text.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from codegen.entry import MISSING, Operator, Parameter, Text, Version
from codegen.load import load_spec
from codegen.questions import Note, load_notes
from codegen.witnesses import Witness, key, load_found, witnesses
from codegen.write import run_emitter

HEAD = """\
// Written by codegen/emit_spec_texts.py from spec/ops: what every operator version says, as JSON.
#include "tools/touchstone/spec_texts.h"

namespace touchstone::command {
namespace {

"""
TAIL = """\

}  // namespace

std::span<const SpecText> spec_texts() { return texts; }

}  // namespace touchstone::command
"""
DELIMITER = "ENTRY"


def text(value: Text | str | None) -> str:
    """Returns the notation of a Text; any other value as a string."""
    return value.text if isinstance(value, Text) else "" if value is None else str(value)


def place(value: Any) -> str:
    return f"{value.path}:{value.line}" if isinstance(value, Text) else ""


def parameter(value: Parameter) -> dict[str, Any]:
    out: dict[str, Any] = {"name": value.name, "type": value.type}
    if value.optional:
        out["optional"] = True
    if value.default is not None:
        out["default"] = text(value.default)
    if value.variadic:
        out |= {"variadic": True, "homogeneous": value.homogeneous, "least": value.least}
    if value.shape is not None:
        out["shape"] = text(value.shape)
    if value.element is not None:
        out["element"] = text(value.element)
    return out


def finite(value: Any) -> Any:
    """Replaces infinity and NaN in cases, which JSON lacks, by strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def version_object(version: Version, notes: list[Note], seen: list[Witness]) -> dict[str, Any]:
    attributes = []
    for attribute in version.attributes:
        one: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind, "required": attribute.required}
        if attribute.default is not MISSING:
            one["default"] = attribute.default
        attributes.append(one)
    meaning: dict[str, Any] = {}
    if version.semantics is not None:
        meaning = {"semantics": text(version.semantics), "at": place(version.semantics)}
    elif version.function is not None:
        meaning = {"function": version.function, "at": place(version.function)}
    elif version.structural:
        meaning = {"structural": version.structural}
    elif version.random:
        meaning = {"random": version.random}
    return {
        "domain": version.domain,
        "op": version.op,
        "since": version.since,
        "kind": version.kind,
        "form": version.form,
        "deprecated": version.deprecated,
        **({"all_outputs": True} if version.all_outputs else {}),
        "doc": version.doc,
        "source": f"{version.path}:{version.line}",
        "inputs": [parameter(value) for value in version.inputs],
        "outputs": [parameter(value) for value in version.outputs],
        "attributes": attributes,
        "types": version.types,
        "rules": [
            {"id": rule.id, "that": text(rule.that), "else": rule.message, "at": f"{rule.that.path}:{rule.line}"}
            | ({"meaningless": rule.meaningless} if rule.meaningless else {})
            for rule in version.rules
        ],
        "meaning_of": version.meaning_of,
        **meaning,
        "also": [{"name": form.name, "by": form.by, "semantics": form.text.text} for form in version.also.values()],
        "profiles": [
            {"name": form.name, "by": form.by, "semantics": form.text.text} for form in version.profiles.values()
        ],
        "open": {question: text(by) for question, by in version.open.items()},
        "notes": [
            {"id": note.id, "title": note.title, "status": note.status, "at": note.path}
            for note in notes
            if version.name in note.operators
        ],
        "cases": version.cases,
        "witnesses": [witness.row() for witness in seen],
    }


def plain(value: Any) -> Any:
    """Default of json.dumps: converts a Text to its notation, any other object to a string."""
    return text(value) if isinstance(value, Text) else str(value)


def render(operators: list[Operator], notes: list[Note], seen: dict[str, list[Witness]]) -> str:
    rows: list[str] = []
    for operator in operators:
        for version in sorted(operator.versions, key=lambda each: each.since):
            said = finite(version_object(version, notes, seen[key(version)]))
            body = json.dumps(said, ensure_ascii=False, default=plain, allow_nan=False)
            if f'){DELIMITER}"' in body:
                raise ValueError(f"{version.path}: text ends a raw string")
            domain = "" if version.domain == "ai.onnx" else version.domain
            rows.append(f'    {{"{domain}", "{version.op}", {version.since}, R"{DELIMITER}({body}){DELIMITER}"}},\n')
    table = "const SpecText texts[] = {\n" + "".join(rows) + "};\n"
    return HEAD + table + TAIL


def emit(operators: list[Operator], notes: list[Note], seen: dict[str, list[Witness]], out: Path) -> None:
    """Writes `out`, only if the text changed."""
    content = render(operators, notes, seen)
    if out.exists() and out.read_text(encoding="utf-8") == content:
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(content, encoding="utf-8")


def emit_all(spec: Path, out: Path) -> None:
    operators = load_spec(spec)
    emit(operators, load_notes(spec, operators), witnesses(operators, load_found(spec)), out)


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit_all))
