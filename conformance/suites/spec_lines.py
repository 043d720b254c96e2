"""The spec suite's lines, as they stand in conformance/suites/spec."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

SUITE = Path(__file__).parent / "spec"


def suite_lines(root: Path = SUITE) -> list[str]:
    """All lines, file by file."""
    return [line for file in sorted(root.rglob("*.cases")) for line in file.read_text(encoding="utf-8").splitlines()]


def by_version(lines: Iterable[str]) -> dict[str, list[str]]:
    """Clip-13 -> its lines in the order of their hashes, so that the first few are the same everywhere."""
    versions: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        versions[line.partition("(")[0]].append(line)
    for own in versions.values():
        own.sort(key=lambda line: hashlib.sha256(line.encode()).digest())
    return versions
