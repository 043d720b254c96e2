"""Collects the witnesses of each version: sources outside its entry that confirm it.

Literal cases computed by hand are counted from the entry. All other witnesses must run first: released-suite cases that
the reference passes, the standard's function bodies, other runtimes. Those that ran and agreed are recorded in
spec/witnesses.json, which `python -m tools.witnesses` writes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codegen.emit_cases import said_cases
from codegen.entry import Operator, Version

FILE = "witnesses.json"
CASE, REFUSED = "case", "refused"
KINDS = {
    CASE: "a literal case of the entry, computed by hand",
    REFUSED: "the standard's checker refuses what the reference refuses: no model may use the version",
    "suite": "a case of one node in a released suite, which the reference meets",
    "body": "the function body that the standard gives, run on a literal case",
    "evaluator": "the standard's evaluator, on seeded inputs",
    "onnxruntime": "ONNX Runtime, on seeded inputs",
    "scikit-learn": "scikit-learn, on a model that it trained",
    "computed": "numpy or fractions in a test, on seeded inputs",
    "codes": "integers and fractions in Python, on codes of every type",
    "moments": "the moments of a distribution and its distance from a sample",
    "pillow": "Pillow, on files that it wrote",
}


@dataclass(frozen=True)
class Witness:
    """Number of witnesses of a kind, and the first one: a case's name, a case of a suite, or a test."""

    kind: str
    count: int
    first: str

    def row(self) -> dict[str, Any]:
        return asdict(self)


Found = dict[str, list[Witness]]  # version key -> recorded witnesses


def key(version: Version) -> str:
    """Returns the version's name as in suites: preceded by the domain unless it is the default."""
    return version.name if version.domain == "ai.onnx" else f"{version.domain}.{version.name}"


def load_found(spec: Path) -> Found:
    file = Path(spec) / FILE
    if not file.exists():
        return {}
    return {
        name: [Witness(*row) for row in rows] for name, rows in json.loads(file.read_text(encoding="utf-8")).items()
    }


def found_text(found: Found) -> str:
    """Returns the file's text, a line per version."""
    order = list(KINDS)

    def line(name: str) -> str:
        rows = [[w.kind, w.count, w.first] for w in sorted(found[name], key=lambda w: order.index(w.kind))]
        return f"{json.dumps(name)}: {json.dumps(rows)}"

    return "{\n" + ",\n".join(line(name) for name in sorted(found)) + "\n}\n"


def witnesses(operators: list[Operator], found: Found) -> dict[str, list[Witness]]:
    """Returns the witnesses of every version by its key; empty for a version without one."""
    out: dict[str, list[Witness]] = {key(v): [] for operator in operators for v in operator.versions}
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for version, name, says in said_cases(operators):
        if not says.get("raises") and not (version.deprecated and not version.lived):
            counts[key(version)] += 1
            first.setdefault(key(version), name)
    for name, count in counts.items():
        out[name].append(Witness(CASE, count, first[name]))
    for name, rows in found.items():
        if name in out:  # a scratch spec has fewer versions
            out[name] += rows
    return out
