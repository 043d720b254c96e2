"""A sample of the spec suite: the same number of lines of every version, chosen by hash."""

from __future__ import annotations

from conformance.suites.spec_lines import by_version
from tests.lines.pick import rule_of


def chosen_lines(lines: list[str], each: int) -> list[str]:
    """`each` valid lines and `each` refused lines of every version."""
    chosen = []
    for own in by_version(lines).values():
        chosen += [line for line in own if not rule_of(line)][:each]
        chosen += [line for line in own if rule_of(line)][:each]
    return sorted(chosen)
