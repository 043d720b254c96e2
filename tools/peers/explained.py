"""Explanations of the spec-suite lines on which a peer differs, from docs/findings/lines.yaml.

A row matches one verdict, lines whose beginning matches a pattern, and optionally messages that contain another
pattern. It names a finding, a question, an erratum whose fault the peer shares, or a limit of the peer in words. The
first matching row applies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FILE = Path("docs/findings/lines.yaml")
PEERS = {"onnxruntime": "ONNX Runtime", "onnx-reference": "ReferenceEvaluator"}  # target -> name in findings
RIGHT = ("exact", "within", "in-set", "profile")
REFUSED = (
    "wrong-value", "wrong-shape", "wrong-type", "rejected-valid", "accepted-invalid", "nondeterministic", "wrote-input",
    "unwritten", "crash", "timeout", "out-of-memory", "harness", "mistrusted",
)  # fmt: skip
KINDS = ("finding", "question", "erratum", "limit")
KEYS = {*KINDS, "lines", "verdict", "message"}
STAMPED = re.compile(r"\bopset (\d+) stamped down to (\d+)")


class WrongRowError(Exception):
    """Invalid row of the file."""


@dataclass(frozen=True)
class Row:
    """One row of the file."""

    peer: str
    kind: str  # one of KINDS
    name: str  # F004, Q027, E033, or a limit in words
    lines: re.Pattern[str]
    verdict: str
    message: re.Pattern[str] | None

    def speaks_of(self, case: dict[str, Any]) -> bool:
        return (
            word(case) == self.verdict
            and self.lines.match(case["name"]) is not None
            and (self.message is None or self.message.search(case["detail"]) is not None)
        )

    def __str__(self) -> str:
        message = f", message {self.message.pattern!r}" if self.message else ""
        return f"{self.peer}: {self.name}: {self.verdict} of {self.lines.pattern!r}{message}"


@dataclass
class ClassifiedRun:
    """Result of a peer's run."""

    peer: str
    version: str
    cases: int = 0
    right: int = 0
    open: int = 0
    absent: Counter[str] = field(default_factory=Counter)  # operator versions that the peer lacks
    rows: Counter[Row] = field(default_factory=Counter)
    unexplained: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str) -> int:
        return sum(count for row, count in self.rows.items() if row.kind == kind)


def word(case: dict[str, Any]) -> str:
    """within(0.5) -> within. A size that an invalid line leaves unset may be any number: both ends are one."""
    verdict = case["verdict"].partition("(")[0]
    return "crash" if verdict == "out-of-memory" and " !" in case["name"] else verdict


def known_names(root: Path, peer: str) -> set[str]:
    """Returns the ids of this runtime's findings, and of all questions and errata."""
    findings = (root / "docs/findings").glob("[0-9][0-9][0-9]-*/README.md")
    own = re.compile(rf"^- Runtime: {re.escape(PEERS[peer])}", re.MULTILINE)
    found = {f"F{file.parent.name[:3]}" for file in findings if own.search(file.read_text(encoding="utf-8"))}
    notes = [*(root / "spec/questions").glob("Q*.md"), *(root / "spec/errata").glob("E*.md")]
    return found | {file.name[:4] for file in notes}


def load_rows(root: Path = ROOT) -> list[Row]:
    """Returns all rows in the order of the file. Raises WrongRowError."""
    written = yaml.safe_load((root / FILE).read_text(encoding="utf-8"))
    if not isinstance(written, dict) or not set(written) <= set(PEERS):
        raise WrongRowError(f"{FILE}: the peers are {', '.join(PEERS)}")
    return [read_row(peer, row, known_names(root, peer)) for peer, rows in written.items() for row in rows]


def read_row(peer: str, row: dict[str, str], known: set[str]) -> Row:
    kinds = [kind for kind in KINDS if kind in row]
    if len(kinds) != 1 or not set(row) <= KEYS or not {"lines", "verdict"} <= set(row):
        raise WrongRowError(f"{FILE}: {row} has one of {', '.join(KINDS)}, lines, verdict, and message or not")
    (kind,) = kinds
    name = row[kind]
    letter = {"finding": "F", "question": "Q", "erratum": "E"}.get(kind)
    if letter and (name not in known or name[0] != letter):
        raise WrongRowError(f"{FILE}: {name} is no {kind} about {peer}")
    if row["verdict"] not in REFUSED:
        raise WrongRowError(f"{FILE}: {row}: verdicts are {', '.join(REFUSED)}")
    try:
        message = re.compile(row["message"]) if "message" in row else None
        return Row(peer, kind, name, re.compile(row["lines"]), row["verdict"], message)
    except re.error as error:
        raise WrongRowError(f"{FILE}: {row}: {error}") from error


def is_absent(case: dict[str, Any]) -> bool:
    """True if the peer reports the operator as unsupported, or if the line's version is newer than the peer's opset."""
    stamped = STAMPED.search(case["detail"])
    newer = stamped and "." not in case["op"] and case["since"] > int(stamped.group(2))
    return word(case) == "unsupported" or bool(newer)


def classify(run: dict[str, Any], rows: Iterable[Row]) -> ClassifiedRun:
    """Classifies one run of `conform --json`."""
    peer = run["target"].partition(":")[0]
    own = [row for row in rows if row.peer == peer]
    classified = ClassifiedRun(peer, run["version"])
    for case in run["cases"]:
        classified.cases += 1
        if is_absent(case):
            classified.absent[case["name"].partition("(")[0]] += 1
        elif word(case) in RIGHT:
            classified.right += 1
        elif word(case) == "open":
            classified.open += 1
        elif row := next((row for row in own if row.speaks_of(case)), None):
            classified.rows[row] += 1
        else:
            classified.unexplained.append(case)
    return classified


def idle(classified: ClassifiedRun, rows: Iterable[Row]) -> list[Row]:
    """Returns rows that explain nothing: they match no line, or only lines explained by an earlier row."""
    return [row for row in rows if row.peer == classified.peer and row not in classified.rows]
