"""Writes generated/transform/conversions.cc: the table of operator version conversions behind transform/convert/step.h.

python -m codegen.conversions.emit --spec spec --out generated
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from codegen.conversions.rules import Step, idle_attributes, load_steps
from codegen.conversions.writers import Conditions, Nodes
from codegen.emit_cases import load_releases
from codegen.passes.emit import environment, versions_of
from codegen.passes.language import predicates
from codegen.passes.pattern import Versions
from codegen.passes.replacement import statements
from codegen.write import run_emitter, write_if_changed

PRODUCT = "transform/conversions.cc"


def emit(spec: Path, out: Path) -> None:
    versions = versions_of(spec)
    releases = [
        {"ir": release.ir, "opsets": [(domain_of(name), opset) for name, opset in release.opsets.items()]}
        for release in load_releases(spec)
    ]
    steps = load_steps(spec / "conversions", versions)
    write_if_changed(out / PRODUCT, render(steps, versions, releases))


def domain_of(name: str) -> str:
    return "" if name == "ai.onnx" else name


def render(steps: list[Step], versions: Versions, releases: list[dict[str, Any]]) -> str:
    # A step that only carries the node over needs no row: carrying is the default for nodes without a row.
    told = [step for step in steps if [piece.do for piece in step.pieces] != [None] or step.pieces[0].when]
    rows = [_row(k, step, versions) for k, step in enumerate(told)]
    template = environment(Path(__file__).parent).get_template("conversions.cc.j2")
    return template.render(steps=rows, idle=_idle(versions), releases=releases)


def _idle(versions: Versions) -> list[str]:
    return [
        ", ".join((json.dumps(domain), json.dumps(op), str(older.since), str(newer.since), json.dumps(name)))
        for (domain, op), known in sorted(versions.items())
        for newer, older in zip(known, known[1:], strict=False)
        for name in idle_attributes(older, newer)
    ]


def _row(k: int, step: Step, versions: Versions) -> dict[str, Any]:
    pieces = []
    for piece in step.pieces:
        pattern = step.pattern(piece)
        when = predicates(Conditions(pattern, versions, step)) if piece.when else []
        do = statements(Nodes(pattern, versions, step), piece.do) if piece.do else []
        pieces.append({"when": when, "do": do})
    return {
        "stem": f"s_{k}",
        "name": f"{step.source.name} -> {step.target.name if step.target else 'none'}",
        "at": f"{step.path}:{step.line}",
        "head": ", ".join(
            (
                json.dumps(step.domain),
                json.dumps(step.op),
                str(step.source.since),
                str(step.target.since if step.target else 0),
            )
        ),
        "pieces": pieces,
        "lacking": json.dumps(step.lacking),
    }


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
