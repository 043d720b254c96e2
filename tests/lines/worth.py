"""What each line of the suite is there for. A line stays if it shows what no line before it did:

  slip   the judge tells by it from the definition a runtime with a slip (slips.h), of its version and types
  form   it sees its version as none did: a rank, an empty input, one held by the model or of unknown size (pick.py)
  rule   the rule refuses it
  three  its version has fewer than three others of one of its types
  side   else, it reaches a block of the definition's kernel that none of its version and types did

One that the judge cannot judge shows nothing, and stays for the three's sake alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codegen.entry import Version
from tests.lines.pick import LEAST, PASSES, form_of, rule_of, types_in
from tests.lines.probe import outcomes

SUITE = Path(__file__).resolve().parents[2] / "conformance" / "suites" / "spec"
BY_SIDE = Path(__file__).with_name("by_side.cases")  # the lines whose only word is "side": no judge can tell


def worth(version: Version, lines: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[str]:
    """A word for each valid line of a version, in order; "" for what may go."""
    seen: set[str] = set()
    words = []
    for line, row in zip(lines, rows, strict=True):
        new = form_of(line) - seen if row["judged"] in PASSES else set()
        words.append("slip" if row["slips"] else "form" if new else "")
        seen |= new
    own = [types_in(version, line, row["types"]) for line, row in zip(lines, rows, strict=True)]
    held = Counter(key for word, types in zip(words, own, strict=True) if word for key in types)
    for k in sorted(range(len(lines)), key=lambda k: rows[k]["judged"] not in PASSES):
        if not words[k] and any(held[key] < LEAST for key in own[k]):
            words[k] = "three"
            held.update(own[k])
        elif not words[k] and rows[k]["fresh"]:
            words[k] = "side"
    return words


def asked(judged: Path, counted: Path | None, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of valid lines, in order, each with what it shows beside those before it."""
    rows = outcomes(judged, lines, judged=True)
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
    files = sorted(SUITE.rglob("*.cases"))
    suite = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if not rule_of(line)]
    fresh = {line for line, row in zip(suite, outcomes(counted, suite), strict=True) if row.get("fresh")}
    return [line for line in listed() if line not in fresh]
