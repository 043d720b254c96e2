"""Reads the lines of the spec suite from conformance/suites/spec."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

SUITE = Path(__file__).parent / "spec"


def suite_lines(root: Path = SUITE) -> list[str]:
    """Returns all lines, file by file."""
    return [line for file in sorted(root.rglob("*.cases")) for line in file.read_text(encoding="utf-8").splitlines()]


def by_version(lines: Iterable[str]) -> dict[str, list[str]]:
    """Returns Clip-13 -> its lines in the order of their hashes, which is the same on every machine."""
    versions: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        versions[line.partition("(")[0]].append(line)
    for own in versions.values():
        own.sort(key=lambda line: hashlib.sha256(line.encode()).digest())
    return versions
