"""Writes generated/docs as Markdown: a page per operator, an index, and a table of the versions that have semantics.

A page shows each version with inheritance resolved: signature, types, rules with their ids, definition, cases and open
questions. A version that only adds types is shown as such, without repetition.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

from codegen.entry import MISSING, Attribute, Operator, Parameter, Text, Version
from codegen.load import load_spec
from codegen.questions import Note, load_notes
from codegen.value_types import ELEMENTS
from codegen.witnesses import Witness, key, load_found, witnesses
from codegen.write import run_emitter, write_if_changed

TEMPLATES = Path(__file__).parent / "templates"
Witnesses = dict[str, list[Witness]]  # version key -> its witnesses
KINDS = {
    "semantics": "index notation",
    "function": "function",
    "structural": "hand-written",
    "random": "distribution",
    "none": "signature only",
}


@dataclass(frozen=True)
class Row:
    """Version and the preceding one, with which a page compares it."""

    version: Version
    older: Version | None

    @property
    def widened(self) -> dict[str, list[str]]:
        """Types that this version adds to the preceding one, shown if nothing else differs."""
        older = self.older.types if self.older else {}
        added = {name: [t for t in types if t not in older.get(name, [])] for name, types in self.version.types.items()}
        return {name: types for name, types in added.items() if types}

    @property
    def only_widens(self) -> bool:
        if self.older is None or shape_of(self.version) != shape_of(self.older):
            return False
        return all(set(types) <= set(self.version.types[name]) for name, types in self.older.types.items())


def shape_of(version: Version) -> Any:
    """Returns all that a page shows of a version, except its types and its line."""

    def said(text: Text | None) -> str | None:
        return text.text if text else None

    def port(p: Parameter) -> Any:
        texts = [said(text) for text in (p.default, p.shape, p.element)]
        return (p.name, p.type, p.optional, p.variadic, p.homogeneous, p.least, texts)

    return (
        version.deprecated,
        version.all_outputs,
        version.kind,
        version.doc,
        [port(p) for p in version.inputs],
        [port(p) for p in version.outputs],
        [(a.name, a.kind, a.required, a.default) for a in version.attributes],
        [(rule.id, rule.that.text, rule.message) for rule in version.rules],
        meaning(version),
        list(version.types),
        [(name, form.by, form.text.text) for name, form in [*version.also.items(), *version.profiles.items()]],
        {name: text.text for name, text in version.open.items()},
        version.cases,
    )


def meaning(version: Version) -> str:
    """Returns the text of the definition, whatever its kind."""
    if version.semantics:
        return "\n".join(version.written())
    if isinstance(version.function, Text):
        return version.function.text.rstrip()
    if version.function:
        pieces = [(piece["when"], piece["text"].text.rstrip()) for piece in version.function]
        return "\n".join((f"# when {when.text}\n" if when else "") + text for when, text in pieces)
    return version.structural or version.random


def kind_of(version: Version) -> str:
    return KINDS[version.kind]


def cell(text: object) -> str:
    """Formats text for a table cell: one line, no bar."""
    return " ".join(str(text).split()).replace("|", "\\|")


def code(text: object) -> str:
    """Formats notation for a table cell; a backtick in it needs a longer fence."""
    inside = cell(text)
    fence = "``" if "`" in inside else "`"
    return f"{fence}{inside}{fence}"


def presence(p: Parameter) -> str:
    if p.variadic:
        mixed = "" if p.homogeneous else ", of any type each"
        return f"{p.least} or more{mixed}"
    if p.default:
        return f"optional: {code(p.default.text)}"
    return "optional" if p.optional else "required"


def default_of(a: Attribute) -> str:
    if a.required:
        return "required"
    return "none" if a.default is MISSING else code(json.dumps(a.default, ensure_ascii=False))


def case_text(says: dict[str, Any]) -> str:
    """Formats a case on one line of YAML."""
    return yaml.safe_dump(says, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1 << 30)


def link(path: str, line: int, page: str) -> str:
    """Returns a Markdown link from a page of `generated/docs` to a line of the spec."""
    up = "../" * (page.count("/") + 2)
    return f"[{path}:{line}]({up}{path}#L{line})"


class Pages:
    def __init__(self) -> None:
        self.environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        self.environment.filters |= {"cell": cell, "code": code, "case": case_text}
        self.environment.globals |= {
            "default_of": default_of,
            "kind_of": kind_of,
            "link": link,
            "meaning": meaning,
            "presence": presence,
        }

    def operator(self, operator: Operator, notes: list[Note], seen: Witnesses) -> str:
        older = [*operator.versions[1:], None]
        named = {note.id: [v.name for v in operator.versions if v.name in note.operators] for note in notes}
        rows = [Row(version, below) for version, below in zip(operator.versions, older, strict=True)]
        template = self.environment.get_template("doc_operator.md.j2")
        own = [note for note in notes if named[note.id]]
        return template.render(
            operator=operator, rows=rows, page=page_of(operator), notes=own, named=named, seen=seen, key=key
        )

    def index(self, operators: list[Operator]) -> str:
        domains: dict[str, list[Operator]] = {}
        for operator in operators:
            domains.setdefault(operator.domain, []).append(operator)
        return self.environment.get_template("doc_index.md.j2").render(domains=domains, page_of=page_of)

    def support(self, operators: list[Operator]) -> str:
        types = [
            t
            for t in ELEMENTS
            if any(t in allowed for o in operators for v in o.versions for allowed in v.types.values())
        ]
        versions = [version for operator in operators for version in operator.versions]
        counts = {title: sum(kind_of(v) == title for v in versions) for title in KINDS.values()}
        template = self.environment.get_template("doc_support.md.j2")
        return template.render(
            operators=operators,
            counts=counts,
            total=len(versions),
            page_of=page_of,
            types=types,
            mark=mark,
            refused=refused_types(operators),
        )


def mark(version: Version, of: str) -> str:
    """Returns `x` if a version has a definition for elements of a type, `o` if only its signature allows them, else
    empty."""
    named = [p.type for p in [*version.inputs, *version.outputs]]
    if not any(
        of in name.replace("(", ",").replace(")", ",").split(",") or of in version.types.get(name, []) for name in named
    ):
        return ""
    return "o" if version.kind == "none" else "x"


def refused_types(operators: list[Operator]) -> list[tuple[str, str, str]]:
    """Returns the rules that refuse types allowed by the signature: (version/rule, message, question)."""
    return [
        (f"{version.name}/{rule.id}", rule.message, rule.meaningless)
        for operator in operators
        for version in operator.versions
        for rule in version.rules
        if rule.meaningless
    ]


def page_of(operator: Operator) -> str:
    return f"{operator.domain}/{operator.op}.md"


def emit(
    operators: list[Operator], out: Path, notes: list[Note] | None = None, found: Witnesses | None = None
) -> list[Path]:
    """Writes the pages below `out`, each only if its text changed, and deletes pages of removed operators."""
    pages, seen = Pages(), witnesses(operators, found or {})
    texts = {page_of(operator): pages.operator(operator, notes or [], seen) for operator in operators}
    texts |= {"README.md": pages.index(operators), "support.md": pages.support(operators)}
    for name, text in texts.items():
        write_if_changed(out / name, text)
    for file in out.rglob("*.md"):
        if file.relative_to(out).as_posix() not in texts:
            file.unlink()
    return [out / name for name in texts]


def emit_all(spec: Path, out: Path) -> None:
    operators = load_spec(spec)
    emit(operators, out, load_notes(spec, operators), load_found(spec))


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit_all))
