"""Picks the candidates that may add coverage, for a closer look (worth.py).

For each version: three of every type of every constraint, each candidate with a new feature, and the first that each
rule refuses. Candidates that the judge cannot judge come last.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from codegen.entry import Version
from codegen.value_types import from_standard

MIN = 3  # cases of each version and type
PASSES = ("exact", "within", "in-set", "profile")
PORT = re.compile(r"(\*?)([a-z]\w*(?:\([^{]*\))?)(?:\[([^\]]*)\])?(~\w+|\{)?|_")


@dataclass
class Picked:
    version: Version
    positive: list[str] = field(default_factory=list)
    negative: dict[str, str] = field(default_factory=dict)  # rule -> line
    by_type: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)  # features
    missing: list[tuple[str, str]] = field(default_factory=list)
    every: bool = False  # takes all valid lines
    worth: dict[str, str] = field(default_factory=dict)  # line -> its purpose (worth.py)
    unjudged: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    odd: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # crashed, or refused without a rule

    def never_broken(self) -> list[str]:
        refused = {rule.rpartition("/")[2] for rule in self.negative}
        return [rule.id for rule in self.version.rules if rule.id not in refused]


def rule_of(line: str) -> str:
    _, mark, rule = line.rpartition(" !")
    return rule if mark and '"' not in rule else ""


def without_rule(line: str) -> str:
    return line[: line.rindex(" !")] if rule_of(line) else line


def types_in(version: Version, line: str, outputs: list[str]) -> set[tuple[str, str]]:
    """(constraint, type) of each input and output of a line."""
    found: set[tuple[str, str]] = set()
    sides = ((version.inputs, map(element, ports_of(line))), (version.outputs, map(from_standard, outputs)))
    for parameters, types in sides:
        for k, said in enumerate(types):
            constraint = parameters[min(k, len(parameters) - 1)].type if parameters else ""
            if said in version.types.get(constraint, []):
                found.add((constraint, said))
    return found


def ports_of(line: str) -> list[str]:
    """The arguments between the parentheses, split at top-level commas."""
    ports, depth, start, quoted = [], 0, line.index("(") + 1, False
    for at in range(start, len(line)):
        c = line[at]
        if c == '"' and line[at - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if c == ")" and depth == 0:
            return [*ports, line[start:at]] if at > start else ports
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            ports.append(line[start:at])
            start = at + 2
    return ports


def element(port: str) -> str:
    """The type of an argument: float for *float[2]~real; seq(float) for seq(tensor(float)){..}."""
    said = port.lstrip("*")
    if said.startswith(("seq(", "optional(", "map(")):
        return from_standard(said[: said.index("{")])
    return said[: said.index("[")] if "[" in said else ""


def form_of(line: str) -> set[str]:
    """Features of a line's form: the given inputs and attributes, ranks, initializers, symbolic and unknown sizes."""
    head = line.partition(")")[0]
    found = {f"attribute {name}" for name in re.findall(r" (\w+)=", line[len(head) :])}
    found.add("outputs " + (re.search(r"-> (\S+)", line) or ["", ""])[1])
    ports = ports_of(line)
    found.add(f"ports {len(ports)}")
    for k, port in enumerate(ports):
        declared = port.partition("{")[0]
        dims = re.findall(r"\[([^\]]*)\]", declared)
        sizes = [size.split("=")[-1] for group in dims[:1] for size in group.split(",") if size]
        known = "unknown" if "?=" in declared else "named" if "=" in declared else "known"
        found |= {
            f"{k} rank {len(sizes)}",
            f"{k} held {port.startswith('*')}",
            f"{k} {known}",
            f"{k} given {port != '_'}",
        }
        found |= {f"{k} has {n}" for n in sizes if n in ("0", "1")}
    return found


def meaningless(version: Version, line: str) -> list[str]:
    """Attributes whose number has no meaning in the standard's text."""
    kept = {attribute.name: attribute.defined for attribute in version.attributes if attribute.defined}
    said = re.findall(r" (\w+)=(-?\d+)(?= |$)", line.rpartition(")")[2])
    return [f"{name}={value}" for name, value in said if int(value) not in kept.get(name, [int(value)])]


def features(line: str) -> set[str]:
    """All features of a case: its form, its regimes of data and its attribute values."""
    head = line.partition(")")[0]
    regimes = (re.search(r"~(\w+)", port) or ["", "said"] for port in ports_of(line))
    data = {f"{k} {regime[1]}" for k, regime in enumerate(regimes)}
    return form_of(line) | data | {f"attribute {word}" for word in re.findall(r" (\w+=\S+)", line[len(head) :])}


class Picker:
    """Picks candidates for all versions of one operator."""

    def __init__(self) -> None:
        self.format_rules: set[str] = set()  # rules of the format: one case of an operator is enough

    def pick(self, picked: Picked, lines: list[str], rows: list[dict[str, Any]], widely: bool) -> None:
        """Picks from the candidates. Unless `widely`: only three of each type and a violation of each rule."""
        for line, row in zip(lines, rows, strict=True):
            rule = row.get("rule")
            if rule == "" and "large" not in row:
                self.take_valid(picked, line, row, widely)
            elif rule and not rule.startswith("?"):
                self.take_refused(picked, line, rule)
            elif rule != "":
                picked.odd.append((line, row))
        types = picked.version.types.items()
        picked.missing = [(c, t) for c, allowed in types for t in allowed if picked.by_type[c, t] < MIN]

    def take_valid(self, picked: Picked, line: str, row: dict[str, Any], widely: bool) -> None:
        if row["judged"] == "unsupported":  # no target supports it, so the right outputs are unknown
            return
        if meaningless(picked.version, line):  # the standard defines no right outputs
            return
        if row["judged"] not in PASSES:
            picked.unjudged.append((line, row))
            return
        own = types_in(picked.version, line, row["types"])
        fresh = features(line) - picked.seen
        if picked.every or not picked.positive or any(picked.by_type[key] < MIN for key in own) or (widely and fresh):
            self.take(picked, line, own)
            picked.seen |= fresh

    def take(self, picked: Picked, line: str, types: set[tuple[str, str]]) -> None:
        picked.positive.append(line)
        picked.by_type.update(types)

    def take_unjudged(self, picked: Picked) -> None:
        """Takes lines without a verdict if a type of the version has fewer than three otherwise."""
        for line, row in picked.unjudged:
            own = types_in(picked.version, line, row["types"])
            if any(picked.by_type[key] < MIN for key in own):
                self.take(picked, line, own)

    def take_refused(self, picked: Picked, line: str, rule: str) -> None:
        of_format = rule.startswith("model/")
        if rule not in picked.negative and rule not in self.format_rules and rule != "model/type-declared":
            picked.negative[rule] = f"{line} !{rule}"
            self.format_rules |= {rule} if of_format else set()
