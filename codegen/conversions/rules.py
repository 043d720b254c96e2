"""Reads spec/conversions/*.yaml: the conversion of a node between two neighboring versions of its operator.

A file is a list of steps. Most pairs of versions need none: their signatures differ in types alone, or in attributes
that the older version never reads. Every other pair has a step, with one of three actions for each direction, `up` and
`down`:

- carry: the node stays as it is, provided that its attributes, inputs and types exist in the other version
- refuse: the other version has no equivalent; `lacking` names the missing feature
- a replacement: nodes, written as in patterns of passes; or a list of replacements, each with conditions (`when`, `do`)

A replacement names inputs and outputs as in the node's own version (an output with an input's name is out_NAME).
`node.axis` is an attribute, `**node` expands to all attributes that the new node can have, and Self is the operator.
`from: 0` is no version: `down` then gives an equivalent for opsets without the operator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from codegen.entry import SpecError, Text, Version
from codegen.lines import Map, Seq, load
from codegen.passes.pattern import Input, Match, Pattern, Versions

KEYS = {"ops", "domain", "from", "to", "up", "down", "lacking"}
WORDS = ("carry", "refuse")


@dataclass
class Piece:
    when: Text | None
    do: Text | None  # None: carry


@dataclass
class Step:
    """One direction between two neighbors: `source` is the version of the node, `target` None if there is none."""

    domain: str  # "" for ai.onnx
    op: str
    source: Version
    target: Version | None
    opset: int  # opset of the replacement's nodes
    pieces: list[Piece] = field(default_factory=list)
    refused: bool = False
    lacking: str = ""
    path: str = ""
    line: int = 1

    def pattern(self, piece: Piece) -> Pattern:
        """Returns the pass pattern that matches one such node, with values named as in the signature."""
        inputs = [p.name for p in self.source.inputs]
        outputs = [f"out_{p.name}" if p.name in inputs else p.name for p in self.source.outputs]
        made = Pattern(f"{self.op}-{self.source.since}", self.path, "", "", "", True, self.opset, self.opset)
        made.slots = ["node", *inputs, *outputs]
        ins = [Input(slot=1 + k, optional=p.optional) for k, p in enumerate(self.source.inputs)]
        outs = [0, *range(1 + len(inputs), len(made.slots))]
        made.alternatives = [[Match(self.domain, self.op, [self.source], ins, outs, False, self.line)]]
        made.when, made.replace = piece.when, piece.do
        made.line = self.line
        return made


def load_steps(folder: Path, versions: Versions, root: str = "spec/conversions") -> list[Step]:
    """Returns every non-trivial step, sorted by operator and version. A pair that differs must have a step."""
    steps: dict[tuple[str, str, int, int], Step] = {}
    for file in sorted(folder.glob("*.yaml")):
        path = f"{root}/{file.name}"
        for entry in load(file, path):
            for step in _steps(entry, path, versions):
                key = (step.domain, step.op, step.source.since, step.target.since if step.target else 0)
                if key in steps:
                    raise SpecError(
                        path, step.line, f"{step.op} {key[2]} -> {key[3]} stands here and in {steps[key].path}"
                    )
                steps[key] = step
    for (domain, op), known in versions.items():
        for newer, older in zip(known, known[1:], strict=False):
            if differs(older, newer) and (domain, op, older.since, newer.since) not in steps:
                raise SpecError(
                    newer.path, newer.line, f"how does {older.name} become {newer.name}? {root} does not say"
                )
    return [steps[key] for key in sorted(steps)]


def differs(older: Version, newer: Version) -> bool:
    """True if two neighbors differ in more than added types and attributes that are never read."""
    if newer.deprecated != older.deprecated and not newer.lived:
        return True
    if _shape_of(older) != _shape_of(newer) or _meaning(older) != _meaning(newer):
        return True
    if any(set(types) - set(newer.types.get(name, types)) for name, types in older.types.items()):
        return True
    idle = set(idle_attributes(older, newer))
    before = {a.name: (a.kind, a.required, a.default) for a in older.attributes if a.name not in idle}
    return before != {a.name: (a.kind, a.required, a.default) for a in newer.attributes}


def idle_attributes(older: Version, newer: Version) -> list[str]:
    """Returns attributes that the newer version dropped and that no part of the older version's definition reads."""
    if older.kind != "semantics":
        return []
    shapes = [text.text for p in [*older.inputs, *older.outputs] for text in (p.shape, p.element, p.default) if text]
    read = set(re.findall(r"\w+", " ".join([*older.written(), *(rule.that.text for rule in older.rules), *shapes])))
    return [
        a.name for a in older.attributes if newer.attribute(a.name) is None and a.name not in read and not a.required
    ]


def _shape_of(version: Version) -> object:
    return [(p.name, p.type, p.optional, p.variadic) for p in [*version.inputs, *version.outputs]], len(version.inputs)


def _meaning(version: Version) -> object:
    return (
        version.kind, version.written(), version.structural, version.random, str(version.function),
        [rule.that.text for rule in version.rules],
    )  # fmt: skip


def _steps(entry: Map, path: str, versions: Versions) -> list[Step]:
    for key in entry:
        if key not in KEYS:
            raise SpecError(path, entry.lines[key], f"a step has no key {key}")
    made = []
    for op in entry["ops"]:
        domain = entry.get("domain", "")
        known = {version.since: version for version in versions.get((domain, op), [])}
        if not known:
            raise SpecError(path, entry.lines["ops"], f"there is no operator {op}")
        older, newer = (known.get(entry[key]) for key in ("from", "to"))
        first = entry["from"] == 0 and entry["to"] == min(known)
        if newer is None or not (first or (older and _are_neighbours(sorted(known), older.since, newer.since))):
            raise SpecError(path, entry.line, f"{op} has no neighbouring versions {entry['from']} and {entry['to']}")
        if older is not None:
            made.append(_step(entry, "up", path, older, newer, newer.since))
        made.append(_step(entry, "down", path, newer, older, newer.since - 1))
    return made


def _are_neighbours(known: list[int], older: int, newer: int) -> bool:
    return (older, newer) in zip(known, known[1:], strict=False)


def _step(entry: Map, way: str, path: str, source: Version, target: Version | None, opset: int) -> Step:
    if way not in entry:
        raise SpecError(path, entry.line, f"a step says what is done on the way {way}")
    domain = entry.get("domain", "")
    step = Step(domain, source.op, source, target, opset, path=path, line=entry.lines[way])
    step.lacking = entry.get("lacking", "")
    said = entry[way]
    if said in WORDS:
        step.refused = said == "refuse"
        step.pieces = [] if step.refused else [Piece(None, None)]
    elif isinstance(said, Seq):
        step.pieces = [_piece(piece, path) for piece in said]
    else:
        step.pieces = [Piece(None, entry.text(way, path))]
    last = step.pieces[-1] if step.pieces else None
    if (last is None or last.when is not None) and not step.lacking:
        raise SpecError(path, step.line, "where a node may be refused, `lacking` says what is missed")
    return step


def _piece(piece: Map, path: str) -> Piece:
    if not set(piece) <= {"when", "do"} or "do" not in piece:
        raise SpecError(path, piece.line, "a piece has `do`, and `when` where it has conditions")
    return Piece(
        piece.text("when", path) if "when" in piece else None,
        None if piece["do"] == "carry" else piece.text("do", path),
    )
