"""What each line of the suite is there for. A line stays if it shows what no line before it did:

  slip   the judge tells by it from the definition a runtime with a slip (slips.h), of its version and types
  form   else, one that takes no case of its form (refusals.h): a rank, an empty input, one that the model holds
  rule   the rule refuses it
  side   else, it reaches a block of the definition's kernel that none of its version and types did

One that the judge cannot judge shows nothing. A type that is left with fewer than three stands in short.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.suites.spec_lines import suite_lines
from tests.lines.pick import PASSES, rule_of
from tests.lines.probe import outcomes

BY_SIDE = Path(__file__).with_name("by_side.cases")  # the lines whose only word is "side": no judge can tell


def worth(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A word for each valid line of a version, in order; "" for what may go."""
    return [
        "slip" if row.get("slips") else "form" if row.get("forms") else "side" if row["fresh"] else "" for row in rows
    ]


def asked(judged: Path, counted: Path | None, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of valid lines, in order, each with what it shows beside those before it."""
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
    """Those listed that reach nothing which no valid line of the suite before them does."""
    suite = [line for line in suite_lines() if not rule_of(line)]
    fresh = {line for line, row in zip(suite, outcomes(counted, suite), strict=True) if row.get("fresh")}
    return [line for line in listed() if line not in fresh]
