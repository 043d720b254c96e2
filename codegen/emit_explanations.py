"""Writes generated/conformance/explanations.cc: case outcomes that questions, errata and findings explain.

The table is compiled in because the command must explain a case without the files of spec/ and docs/. A finding applies
to its own runtime only.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from codegen.entry import SpecError
from codegen.load import load_spec
from codegen.questions import ANY, OUTCOME_FORM, Note, is_outcome, load_notes, suites_named
from codegen.write import run_emitter, write_if_changed

HEAD = """\
// Written by codegen/emit_explanations.py from spec/questions, spec/errata and docs/findings.
#include "conformance/explanations.h"

namespace touchstone::conformance {
namespace {

const Explanation table[] = {
"""
TAIL = """\
};

}  // namespace

std::span<const Explanation> explanations() { return table; }

}  // namespace touchstone::conformance
"""
FINDINGS = "docs/findings"
RUNTIMES = {  # name in findings -> target
    "ONNX Runtime": "onnxruntime",
    "ReferenceEvaluator": "onnx-reference",
    "OpenVINO": "openvino",
    "Apache TVM": "tvm",
    "tract": "tract",
}


@dataclass
class Finding:
    """Pinned-suite part of one folder of docs/findings."""

    id: str  # F011
    title: str
    target: str
    cases: list[str]
    outcomes: list[str]


def load_findings(root: Path) -> list[Finding]:
    """Returns the findings that name cases: `- Cases: test_a`, `- Outcomes: error/crash` beside `- Runtime: NAME
    VERSION`."""
    found = []
    for file in sorted((root / FINDINGS).glob("[0-9][0-9][0-9]-*/README.md")):
        text = file.read_text(encoding="utf-8")
        cases = re.search(r"^- Cases: (.+(?:\n  .+)*)", text, re.MULTILINE)
        if not cases:
            continue
        runtime = re.search(r"^- Runtime: (.+)$", text, re.MULTILINE)
        targets = [target for name, target in RUNTIMES.items() if runtime and runtime.group(1).startswith(name)]
        place = f"{FINDINGS}/{file.parent.name}/README.md"
        if len(targets) != 1:
            raise SpecError(place, 1, f"the runtime is one of {', '.join(RUNTIMES)}")
        outcomes = re.search(r"^- Outcomes: (.+)$", text, re.MULTILINE)
        named = outcomes.group(1).split(", ") if outcomes else []
        if not named or not all(map(is_outcome, named)):
            raise SpecError(place, 1, f"a finding with cases has a line '- Outcomes: ': {OUTCOME_FORM}")
        title = text.split("\n", 1)[0].removeprefix("# ")[4:]
        names = [name.strip().strip("`") for name in cases.group(1).replace("\n", " ").split(",")]
        found.append(Finding(f"F{file.parent.name[:3]}", title, targets[0], names, named))
    return found


def render(notes: list[Note], findings: list[Finding], releases: list[str], pinned: str) -> str:
    """Returns the C++ table, a row for each pattern of each suite; errata come first. `onnx` is the suite of the
    `pinned` release."""
    cells = [
        (note.id, note.title, "" if target == ANY else target, " ".join(outcomes), suite, pattern)
        for note in notes
        for target, outcomes in note.explains.items()
        for key, patterns in note.cases.items()
        for suite in suites_named(key, releases, pinned)
        for pattern in patterns
    ]
    cells += [
        (one.id, one.title, one.target, " ".join(one.outcomes), f"onnx@{pinned}", name)
        for one in findings
        for name in one.cases
    ]
    rows = [", ".join(json.dumps(cell, ensure_ascii=False) for cell in row) for row in sorted(cells, key=rank)]
    return HEAD + "".join(f"    {{{row}}},\n" for row in rows) + TAIL


def rank(row: tuple[str, ...]) -> tuple[int, str]:
    """Sort key: errata, questions, findings, each by number."""
    return "EQF".index(row[0][0]), row[0]


def emit(spec: Path, out: Path) -> None:
    rows = yaml.safe_load((spec / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    releases = [row["version"] for row in rows if "wheel" in row]
    pinned = next(row["version"] for row in rows if row.get("pinned"))
    notes, findings = load_notes(spec, load_spec(spec)), load_findings(spec.resolve().parent)
    write_if_changed(out, render(notes, findings, releases, pinned))


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
