"""Reads transform/optimize/patterns/*.yaml: rewrite patterns, bound to the operator versions of the spec.

Keys of a file:
- `doc`, `pass`, `level`, `exact`
- `opset`: the opsets for which the replacement is written (7, or 7..12)
- `match`: a block of lines `y = Conv-1+(x, w!, b?!)`, or a list of such blocks
- `when`: conditions, one a line
- `replace`: assignments
- `examples`, and `feeds`: numbers from which their inputs are drawn
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

from codegen.entry import Attribute, SpecError, Text, Version
from codegen.lines import Map, Seq, load

KEYS = {"doc", "pass", "level", "exact", "opset", "match", "when", "replace", "feeds", "examples"}
LEVELS = ("basic", "extended", "all")
NEWEST = 1 << 30

Versions = dict[tuple[str, str], list[Version]]  # by domain ("" for ai.onnx) and operator, newest first

_LINE = re.compile(
    r"(?P<outputs>\w+(?:\s*,\s*\w+)*)\s*=\s*(?P<op>[\w.|]+?)(?:-(?P<least>\d+)(?P<upto>\+|\.\.(?P<most>\d+))?)?"
    r"(?P<either>~?)\((?P<inputs>.*)\)\Z"
)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?\Z")
_INPUT = re.compile(r"(?P<name>[A-Za-z]\w*)(?P<marks>[!?]*)\Z")


@dataclass
class Input:
    slot: int = -1
    constant: bool = False
    optional: bool = False
    number: str = ""


@dataclass
class Match:
    """One node of a pattern."""

    domain: str
    op: str
    versions: list[Version]
    inputs: list[Input]
    outputs: list[int]
    either: bool
    line: int


@dataclass
class Pattern:
    name: str
    path: str
    doc: str
    pass_: str
    level: str
    exact: bool
    least: int
    most: int
    slots: list[str] = field(default_factory=list)
    alternatives: list[list[Match]] = field(default_factory=list)
    when: Text | None = None
    replace: Text | None = None
    line: int = 1

    def error(self, line: int, message: str) -> SpecError:
        return SpecError(self.path, line, message)

    def makers(self, slot: int) -> list[Match]:
        """Returns the nodes that make a value, one per alternative; empty if the value is an input of the pattern."""
        return [node for nodes in self.alternatives for node in nodes if slot in node.outputs]

    def is_constant(self, slot: int) -> bool:
        marks = [[i.constant for n in nodes for i in n.inputs if i.slot == slot] for nodes in self.alternatives]
        return all(any(one) for one in marks)

    def roots(self) -> set[int]:
        """Returns the slots that the root makes; the same in each alternative."""
        return {slot for slot in self.alternatives[0][-1].outputs if slot >= 0}

    def attribute(self, slot: int, name: str, line: int, lacking: bool = False) -> Attribute:
        """Returns an attribute of the node that makes a value. Kind and default must agree in all versions that can
        match."""
        nodes = self.makers(slot)
        if not nodes:
            raise self.error(line, f"{self.slots[slot]} is made by no node of the pattern, so it has no {name}")
        first: Attribute | None = None
        for version in (version for node in nodes for version in node.versions):
            found = version.attribute(name)
            if found is None:
                if lacking:
                    continue
                raise self.error(
                    line, f"{version.name} has no attribute {name}: say which versions are meant, or use get()"
                )
            if first is not None and (first.kind, first.default) != (found.kind, found.default):
                raise self.error(line, f"{name} is not the same in all versions that may be met: say which are meant")
            first = found
        if first is None:
            raise self.error(line, f"no version of {nodes[0].op} that may be met has an attribute {name}")
        return first


def load_patterns(folder: Path, versions: Versions) -> list[Pattern]:
    """Returns every pattern, sorted by name."""
    return [
        _pattern(file, f"transform/optimize/patterns/{file.name}", versions) for file in sorted(folder.glob("*.yaml"))
    ]


def _pattern(file: Path, path: str, versions: Versions) -> Pattern:
    document = load(file, path)
    if not isinstance(document, Map):
        raise SpecError(path, 1, "a pattern is a mapping")
    for key in document:
        if key not in KEYS:
            raise SpecError(path, document.lines[key], f"'{key}' is no key of a pattern")
    for key in ("doc", "pass", "exact", "match", "examples"):
        if key not in document:
            raise SpecError(path, 1, f"a pattern says `{key}`")
    level = document.get("level", "basic")
    if level not in LEVELS:
        raise SpecError(path, document.lines["level"], f"'{level}' is none of the levels {', '.join(LEVELS)}")
    least, most = _opsets(document, path)
    pattern = Pattern(file.stem, path, document["doc"], document["pass"], level, bool(document["exact"]), least, most)
    pattern.line = document.lines["match"]
    for text in _blocks(document, path):
        pattern.alternatives += _alternatives(pattern, text, versions)
    pattern.when = document.text("when", path) if "when" in document else None
    pattern.replace = document.text("replace", path) if "replace" in document else None
    roots = [{pattern.slots[slot] for slot in nodes[-1].outputs if slot >= 0} for nodes in pattern.alternatives]
    if any(root != roots[0] for root in roots):
        raise pattern.error(pattern.line, "the last lines of all alternatives make the same values")
    return pattern


def _opsets(document: Map, path: str) -> tuple[int, int]:
    text = str(document.get("opset", "1"))
    found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text)
    if found is None:
        raise SpecError(path, document.lines["opset"], f"opset is a number or two (7..12), not '{text}'")
    return int(found[1]), int(found[2]) if found[2] else NEWEST


def _blocks(document: Map, path: str) -> list[Text]:
    value = document["match"]
    if isinstance(value, Seq):
        return [Text(s.text, path, s.line) for s in value.scalars if s is not None]
    return [document.text("match", path)]


def _alternatives(pattern: Pattern, text: Text, versions: Versions) -> list[list[Match]]:
    """Parses alternatives. A line may name several operators (A|B): each choice is an alternative of its own."""
    lines = [
        [_node(pattern, written.strip(), op, line, versions) for op in _operators(pattern, written.strip(), line)]
        for line, written in enumerate(text.text.split("\n"), text.line)
        if written.strip()
    ]
    if not lines:
        raise pattern.error(text.line, "a match has at least one node")
    read = {i.slot for line in lines for i in line[0].inputs}
    for line in lines[:-1]:
        if not read & set(line[0].outputs):
            raise pattern.error(line[0].line, "no node of the pattern reads this one, and it is not the last")
    return [list(nodes) for nodes in itertools.product(*lines)]


def _operators(pattern: Pattern, written: str, line: int) -> list[str]:
    found = _LINE.match(written)
    if found is None:
        raise pattern.error(line, f"not `y = Operator(x, w!, b?!)`: {written}")
    return found["op"].split("|")


def _node(pattern: Pattern, written: str, called: str, line: int, versions: Versions) -> Match:
    found = _LINE.match(written)
    assert found is not None
    domain, _, op = called.rpartition(".")
    known = versions.get((domain, op))
    if known is None:
        raise pattern.error(line, f"there is no operator {called}")
    texts = [text.strip() for text in found["inputs"].split(",")] if found["inputs"].strip() else []
    inputs = [_input(pattern, text, line) for text in texts]
    outputs = [-1 if name == "_" else _slot(pattern, name) for name in re.split(r"\s*,\s*", found["outputs"])]
    node = Match(domain, op, [], inputs, outputs, found["either"] == "~", line)
    node.versions = _versions(pattern, node, known, found)
    return node


def _versions(pattern: Pattern, node: Match, known: list[Version], found: re.Match[str]) -> list[Version]:
    """Returns the versions that the line names, or else all versions that can have such inputs and outputs."""
    least = int(found["least"] or 1)
    most = least if found["least"] and not found["upto"] else int(found["most"] or NEWEST)
    if found["least"] and all(version.since != least for version in known):
        raise pattern.error(node.line, f"{node.op} has no version {least}")
    named = [version for version in known if least <= version.since <= most]
    fitting = [version for version in named if _fits(node, version)]
    if not fitting:
        raise pattern.error(node.line, f"no version of {node.op} has such inputs and outputs")
    if found["least"] and len(fitting) != len(named):
        wrong = next(version for version in named if version not in fitting)
        raise pattern.error(node.line, f"{wrong.name} has no such inputs and outputs")
    return fitting


def _fits(node: Match, version: Version) -> bool:
    surely = max((k + 1 for k, given in enumerate(node.inputs) if not given.optional), default=0)
    return takes(version, surely, len(node.inputs)) and (
        len(node.outputs) <= len(version.outputs) or any(p.variadic for p in version.outputs)
    )


def takes(version: Version, least: int, most: int) -> bool:
    """True if a node of the version can have `least` inputs and needs at most `most`."""
    open_ended = any(p.variadic for p in version.inputs)
    needed = sum(not p.optional and not p.variadic for p in version.inputs)
    needed += sum(p.least for p in version.inputs if p.variadic)
    return needed <= most and (open_ended or least <= len(version.inputs))


def _input(pattern: Pattern, text: str, line: int) -> Input:
    if _NUMBER.match(text):
        return Input(number=text)
    found = _INPUT.match(text)
    if found is None:
        raise pattern.error(line, f"not an input: {text}")
    marks = found["marks"]
    return Input(_slot(pattern, found["name"]), "!" in marks, "?" in marks)


def _slot(pattern: Pattern, name: str) -> int:
    if name not in pattern.slots:
        pattern.slots.append(name)
    return pattern.slots.index(name)
