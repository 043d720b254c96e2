"""Documents quote files faithfully: an excerpt after a line `path` occurs in that file, line by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXCERPT = re.compile(r"^`([^`\n]+)`\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def excerpts() -> list[tuple[str, str, str]]:
    """(document, quoted file, quoted lines) of each excerpt."""
    return [
        (document.name, quoted, lines)
        for document in sorted((ROOT / "docs").glob("*.md"))
        for quoted, lines in EXCERPT.findall(document.read_text(encoding="utf-8"))
    ]


def test_documents_quote_files() -> None:
    assert len(excerpts()) >= 6, "no excerpts found: has their form changed?"


@pytest.mark.parametrize(("document", "quoted", "lines"), excerpts())
def test_an_excerpt_stands_in_its_file(document: str, quoted: str, lines: str) -> None:
    file = ROOT / quoted
    assert file.is_file(), f"docs/{document} quotes {quoted}, which does not exist"
    assert lines in file.read_text(encoding="utf-8"), (
        f"docs/{document} quotes lines that {quoted} does not have:\n{lines}"
    )
