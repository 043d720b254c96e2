"""Writes the part of docs/peers.md with the peers' results on the spec suite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.peers.explained import KINDS, PEERS, ClassifiedRun

HEAD = "## The spec suite\n"
WIDTH = 140
INTRODUCTION = """\
`python -m tools.peers` runs the {lines:,} lines of [the suite](spec-suite.md) on the first two and writes this; for
ONNX Runtime each model's opset is stamped down to the newest that it loads. [lines.yaml](findings/lines.yaml) says
which lines an explanation speaks of, by the line, the verdict and the message: a row that explains nothing fails the
run, as does a line that no row explains.
"""
TABLE = (
    "| runtime | lines | right | anything is right | not implemented | findings | questions | errata | limits | "
    "unexplained |"
)


def version_order(name: str) -> tuple[str, int]:
    op, _, since = name.rpartition("-")
    return op, int(since)


def wrapped(words: Sequence[str]) -> str:
    """Joins words with commas and a full stop, wrapped to lines."""
    lines = [""]
    for k, one in enumerate(words):
        end = "," if k + 1 < len(words) else "."
        if len(lines[-1]) + len(one) + 2 > WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{one}{end}"
    return "\n".join(lines)


def absent_operators(classified: ClassifiedRun) -> list[str]:
    """Returns texts by operator, with its versions in parentheses and its number of lines."""
    by_op: dict[str, Counter[int]] = {}
    for name, count in classified.absent.items():
        op, since = version_order(name)
        by_op.setdefault(op, Counter())[since] += count
    return [f"{op} ({', '.join(map(str, sorted(of)))}): {of.total()}" for op, of in sorted(by_op.items())]


def link_of(root: Path, name: str) -> str:
    if re.fullmatch(r"F\d{3}", name):
        (folder,) = (root / "docs/findings").glob(f"{name[1:]}-*")
        title = (folder / "README.md").read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")[4:]
        return f"[{name}](findings/{folder.name}/README.md) {title}"
    if re.fullmatch(r"[QE]\d{3}", name):
        (file,) = (root / "spec").glob(f"*/{name}-*.md")
        (title,) = re.findall(r"^title: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        return f"[{name}](../spec/{file.parent.name}/{file.name}) {title}"
    return name


def explained_rows(root: Path, classified: ClassifiedRun) -> Iterator[str]:
    """Yields a row per finding, question or limit: findings first, then by the number of explained lines."""
    names: dict[tuple[str, str], Counter[str]] = {}
    for row, count in classified.rows.items():
        names.setdefault((row.kind, row.name), Counter())[row.verdict] += count
    for (kind, name), verdicts in sorted(
        names.items(), key=lambda one: (KINDS.index(one[0][0]), -one[1].total(), one[0][1])
    ):
        counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        yield f"| {kind} | {link_of(root, name)} | {counted} |"


def section(root: Path, classified: Sequence[ClassifiedRun], lines: int) -> str:
    """Returns the section from its heading to the end of the page."""
    text = [
        HEAD,
        INTRODUCTION.format(lines=lines),
        TABLE,
        "|---" * TABLE.count(" | ") + "|---|",
    ]
    for one in classified:
        counts = [one.cases, one.right, one.open, one.absent.total(), *map(one.of, KINDS), len(one.unexplained)]
        text.append(f"| {PEERS[one.peer]} {one.version} | {' | '.join(f'{count:,}' for count in counts)} |")
    for one in classified:
        text += ["", f"### {PEERS[one.peer]}: what explains a line", "", "| | what | lines |", "|---|---|---|"]
        text += explained_rows(root, one)
        text += ["", f"### {PEERS[one.peer]}: not implemented", ""]
        text += ["It refuses these by name, or knows no version as new: operator, versions, lines.", ""]
        text.append(wrapped(absent_operators(one)))
    return "\n".join(text) + "\n"


def with_section(page: str, fresh: str) -> str:
    """Returns the page with its last part replaced."""
    before, _, _ = page.partition(HEAD)
    return before.rstrip("\n") + "\n\n" + fresh
