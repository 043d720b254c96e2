"""The purpose of each line of the suite. A line stays if it adds coverage that no earlier line has.

- `fault`: it kills a mutant with an injected fault (faults.h) of its version and types
- `form`: else, it kills a mutant that does not support a kind of case (refusals.h), such as empty inputs
- `rule`: the rule refuses it
- `side`: else, it reaches a block of the definition's kernel that no earlier line of its version and types reached

A line that the judge cannot judge adds nothing. A type left with fewer than three lines is listed in short.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.suites.spec_lines import suite_lines
from tests.lines.pick import PASSES, rule_of
from tests.lines.probe import outcomes

BY_SIDE = Path(__file__).with_name("by_side.cases")  # the lines with the purpose "side" only, which no judge can find


def worth(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The purpose of each valid line of a version, in order; "" if it adds nothing."""
    return [
        "fault" if row.get("faults") else "form" if row.get("forms") else "side" if row["fresh"] else "" for row in rows
    ]


def asked(judged: Path, counted: Path | None, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of valid lines, in order, each with the coverage that it adds to the earlier ones."""
    rows = outcomes(judged, lines, "new")
    for row in rows:
        row["fresh"] = 0
    if counted:
        known = [k for k, row in enumerate(rows) if row.get("judged") in PASSES]
        for k, row in zip(known, outcomes(counted, [lines[k] for k in known]), strict=True):
            rows[k]["fresh"] = row["fresh"]
    return rows


def listed() -> list[str]:
    return BY_SIDE.read_text(encoding="utf-8").splitlines()


def idle(counted: Path) -> list[str]:
    """The listed lines that reach no block beyond those of earlier valid lines of the suite."""
    suite = [line for line in suite_lines() if not rule_of(line)]
    fresh = {line for line, row in zip(suite, outcomes(counted, suite), strict=True) if row.get("fresh")}
    return [line for line in listed() if line not in fresh]
