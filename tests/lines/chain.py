"""The order of a version's lines, and more of them where a type has too few: a chain from the simplest to the richest.

Lines of the same version and types (a kind) are sorted by the number of mutants that each kills, the fewest first: a
scalar, then a row, then a matrix. Thus each line kills a mutant that its predecessors leave alive; a rich line first
would leave nothing for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from codegen.entry import Version
from tests.lines.pick import MIN, PASSES, types_in

Row = dict[str, Any]


def in_order(lines: Iterable[str], rows: dict[str, Row]) -> list[str]:
    """Kinds in order of first appearance, each with its simplest lines first."""
    kinds: dict[str, list[str]] = {}
    for line in lines:
        kinds.setdefault(rows[line]["kind"], []).append(line)
    return [line for kind in kinds.values() for line in plain_first(kind, rows)]


def plain_first(lines: Iterable[str], rows: dict[str, Row]) -> list[str]:
    return sorted(lines, key=lambda line: (len(rows[line]["faults"]), len(line), line))


def that_add(lines: Iterable[str], rows: dict[str, Row]) -> list[str]:
    """The lines of one kind, in order, that kill a mutant which no earlier line kills."""
    told: set[str] = set()
    found = []
    for line in plain_first(lines, rows):
        if not told.issuperset(rows[line]["faults"]):
            found.append(line)
            told.update(rows[line]["faults"])
    return found


class Chains:
    """The lines of one version by kind, and the number of lines of each type that kill a mutant of their own."""

    def __init__(self, version: Version, lines: Sequence[str], rows: dict[str, Row]) -> None:
        self.version, self.rows = version, dict(rows)
        self.kinds: dict[str, list[str]] = {}
        for line in lines:
            self.kinds.setdefault(rows[line]["kind"], []).append(line)

    def held(self) -> Counter[tuple[str, str]]:
        own = (line for kind in self.kinds.values() for line in that_add(kind, self.rows))
        return Counter(key for line in own for key in types_in(self.version, line, self.rows[line]["types"]))

    def short(self) -> list[tuple[str, str]]:
        held = self.held()
        return [(c, t) for c, allowed in self.version.types.items() for t in allowed if held[c, t] < MIN]

    def lengthen(self, lines: Sequence[str], rows: Sequence[Row]) -> list[str]:
        """Adds and returns the lines that lengthen a chain of a type with fewer than three lines."""
        held, taken = self.held(), []
        for line, row in zip(lines, rows, strict=True):
            if row.get("judged") not in PASSES or line in self.rows or "large" in row:
                continue
            if all(held[key] >= MIN for key in types_in(self.version, line, row["types"])):
                continue
            self.rows[line] = row
            before = self.kinds.setdefault(row["kind"], [])
            if len(that_add([*before, line], self.rows)) > len(that_add(before, self.rows)):
                before.append(line)
                taken.append(line)
                held = self.held()
            else:
                del self.rows[line]
        return taken

    def lines(self) -> list[str]:
        return [line for kind in self.kinds.values() for line in kind]
