"""Writes generated/transform/patterns.cc: the table of graph rewrite patterns behind transform/optimize/pattern.h.

python -m codegen.passes.emit --spec spec --out generated
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jinja2

from codegen.load import load_spec
from codegen.passes.language import conditions
from codegen.passes.pattern import Input, Pattern, Versions, load_patterns
from codegen.passes.replacement import replacement
from codegen.write import run_emitter, write_if_changed

PRODUCT = "transform/patterns.cc"
FOLDER = Path(__file__).parents[2] / "transform" / "optimize" / "patterns"


def versions_of(spec: Path) -> Versions:
    return {("" if o.domain == "ai.onnx" else o.domain, o.op): o.versions for o in load_spec(spec)}


def emit(spec: Path, out: Path, folder: Path = FOLDER) -> None:
    versions = versions_of(spec)
    write_if_changed(out / PRODUCT, render(load_patterns(folder, versions), versions))


def environment(folder: Path) -> jinja2.Environment:
    """Returns the Jinja environment of a folder's templates, which produce C++."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(patterns: list[Pattern], versions: Versions) -> str:
    rows = [_row(k, pattern, versions) for k, pattern in enumerate(patterns)]
    return environment(Path(__file__).parent).get_template("patterns.cc.j2").render(patterns=rows)


def _row(k: int, pattern: Pattern, versions: Versions) -> dict[str, Any]:
    alternatives = [
        [
            {
                "head": f"{json.dumps(node.domain)}, {json.dumps(node.op)}",
                "versions": ", ".join(str(version.since) for version in reversed(node.versions)),
                "inputs": ", ".join(_input(given) for given in node.inputs),
                "outputs": ", ".join(map(str, node.outputs)),
                "either": json.dumps(node.either),
                "line": node.line,
            }
            for node in nodes
        ]
        for nodes in pattern.alternatives
    ]
    return {
        "stem": "p_" + pattern.name.replace("-", "_"),
        "path": pattern.path,
        "texts": ", ".join(
            json.dumps(t) for t in (pattern.name, pattern.pass_, pattern.doc, f"{pattern.path}:{pattern.line}")
        ),
        "level": f"Level::{pattern.level}",
        "exact": json.dumps(pattern.exact),
        "opsets": f"{pattern.least}, {pattern.most}",
        "slots": ", ".join(json.dumps(slot) for slot in pattern.slots),
        "alternatives": alternatives,
        "when": conditions(pattern, versions),
        "replace": replacement(pattern, versions),
        "index": k,
    }


def _input(given: Input) -> str:
    if given.number:
        return f"{{MatchInput::Kind::number, -1, false, {given.number}}}"
    kind = "constant" if given.constant else "value"
    return f"{{MatchInput::Kind::{kind}, {given.slot}, {json.dumps(given.optional)}}}"


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
