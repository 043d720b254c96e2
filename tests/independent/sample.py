"""Lines of the spec suite that stand for it: the same number of every version, chosen by hash."""

from __future__ import annotations

import hashlib
from collections import defaultdict

from tests.independent.formats import ROOT

SUITE = ROOT / "conformance" / "suites" / "spec"


def suite_lines() -> list[str]:
    files = sorted(SUITE.rglob("*.cases"))
    rows = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in rows if line and not line.startswith("#")]


def chosen_lines(lines: list[str], each: int) -> list[str]:
    """Of every version `each` lines, and its lines that are refused count as a version of their own."""
    groups: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for line in lines:
        groups[line.partition("(")[0], " !" in line].append(line)
    chosen = []
    for own in groups.values():
        chosen += sorted(own, key=lambda line: hashlib.sha256(line.encode()).digest())[:each]
    return sorted(chosen)
