"""Writes docs/spec-status.md: statistics of the spec.

It counts operator versions with a definition by kind, by operator family and by domain. It lists missing versions,
refused types and witnesses.

python -m codegen.emit_status --spec spec --out docs/spec-status.md
"""

from __future__ import annotations

import sys
from collections import Counter

from codegen.emit_docs import refused_types
from codegen.entry import Operator, Version
from codegen.load import load_spec
from codegen.witnesses import KINDS as WITNESSES
from codegen.witnesses import Found, load_found, witnesses
from codegen.write import run_emitter, write_if_changed

KINDS = ("semantics", "function", "structural", "random", "none")
TITLES = ("index notation", "function", "structural", "random", "missing")


def table(heads: list[str], rows: list[list[object]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def by(versions: list[Version], name: str, group: list[str]) -> list[str]:
    """Returns a table of counts: a row per group, a column per kind. `group` holds the group of each version."""
    counts = Counter(zip(group, (v.kind for v in versions), strict=True))
    rows: list[list[object]] = []
    for each in sorted(set(group)):
        numbers = [counts[each, kind] for kind in KINDS]
        rows.append([each, sum(numbers), *numbers])
    totals = [sum(counts[each, kind] for each in set(group)) for kind in KINDS]
    return table([name, "versions", *TITLES], [*rows, ["all", len(versions), *totals]])


def missing(operators: list[Operator]) -> list[str]:
    rows: list[list[object]] = []
    for operator in operators:
        without = [str(v.since) for v in operator.versions if v.kind == "none"]
        if without:
            whole = "all" if len(without) == len(operator.versions) else ", ".join(without)
            rows.append([operator.op, operator.domain, whole])
    return table(["operator", "domain", "versions without a meaning"], rows) if rows else ["Nothing is missing."]


def witnessed(operators: list[Operator], found: Found) -> list[str]:
    """Returns the number of versions that each kind of witness confirms, and the versions without a witness."""
    seen = witnesses(operators, found)
    rows: list[list[object]] = []
    for kind, meaning in WITNESSES.items():
        counts = [witness.count for each in seen.values() for witness in each if witness.kind == kind]
        if counts:
            rows.append([kind, meaning, len(counts)])
    without = [name for name, each in seen.items() if not each]
    lines = [
        f"{len(seen) - len(without)} of {len(seen)} versions have a witness that was not made from their entry; "
        "`touchstone spec --list --json`",
        "and the pages in `generated/docs` name those of each. What has to run is in `spec/witnesses.json`, by "
        "`python -m tools.witnesses`.",
        "",
        *table(["witness", "what it is", "versions"], rows),
    ]
    return [*lines, "", f"Without one: {', '.join(without)}."] if without else lines


def by_hand(operators: list[Operator]) -> str:
    count = sum(any(v.template for v in operator.versions) for operator in operators)
    return (
        f"{count} of {len(operators)} operators have a version that is written by hand, in a template "
        "(structural or random); 70 would be too many."
    )


def status(operators: list[Operator], found: Found) -> str:
    versions = [v for operator in operators for v in operator.versions]
    known = [v for v in versions if v.kind != "none"]
    lines = [
        "# Status of the spec",
        "",
        "Written by codegen/emit_status.py from spec/ops; a test fails if it is older than they are. "
        "A version that is missing has its",
        "signature: models are checked against it, and refused by its name when they should run. "
        "Which types each version takes",
        "stands in `generated/docs/support.md`.",
        "",
        f"{len(known)} of {len(versions)} versions have a meaning, of {len(operators)} operators.",
        "",
        by_hand(operators),
        "",
        "## By domain and kind",
        "",
        *by(versions, "domain", [v.domain for v in versions]),
        "",
        "## By form",
        "",
        *by(known, "form", [v.form for v in known]),
        "",
        "## Missing versions",
        "",
        *missing(operators),
        "",
        "## Types",
        "",
        "Each type that a version allows runs on the reference (`tests/types`), but for what these rules refuse "
        "where it means nothing.",
        "",
        *table(["rule", "question"], [[rule, question] for rule, _, question in refused_types(operators)]),
        "",
        "## Witnesses",
        "",
        *witnessed(operators, found),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, lambda spec, out: write_if_changed(out, status(load_spec(spec), load_found(spec)))))
