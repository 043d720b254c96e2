"""Lines of the spec suite that stand for it: the same number of every version, chosen by hash."""

from __future__ import annotations

from conformance.suites.spec_lines import by_version
from tests.lines.pick import rule_of


def chosen_lines(lines: list[str], each: int) -> list[str]:
    """Of every version `each` lines, and its lines that are refused count as a version of their own."""
    chosen = []
    for own in by_version(lines).values():
        chosen += [line for line in own if not rule_of(line)][:each]
        chosen += [line for line in own if rule_of(line)][:each]
    return sorted(chosen)
