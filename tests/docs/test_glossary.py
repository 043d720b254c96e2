"""The glossary has only words that the rest of the project uses, each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "glossary.md"
FOLDERS = [
    "codegen",
    "conformance",
    "core",
    "docs",
    "fuzz",
    "model",
    "optimized",
    "reference",
    "spec",
    "tools",
    "transform",
]


def words_of(page: str) -> list[str]:
    """The words in the first column of every table; a row may define several."""
    cells = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    return [word.strip() for cell in cells if cell != "word" for word in cell.split(",")]


def texts() -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cc", ".h", ".md", ".py", ".yaml") and path != PAGE:
                yield path.read_text(encoding="utf-8").lower()


def unused(words: list[str]) -> set[str]:
    """The words that no source or page but the glossary has."""
    left = set(words)
    for text in texts():
        left = {word for word in left if re.sub(r" \(.*\)", "", word).lower() not in text}
        if not left:
            break
    return left


def test_words_are_in_use() -> None:
    words = words_of(PAGE.read_text(encoding="utf-8"))
    assert len(words) > 40
    assert [word for word, count in Counter(words).items() if count > 1] == ["exact"]  # a meaning, and a verdict
    assert unused(words) == set()


def test_an_unused_word_is_found() -> None:
    page = "| word | meaning |\n|---|---|\n| zyx bound, case (of x) | One. |\n"
    assert words_of(page) == ["zyx bound", "case (of x)"]
    assert unused(words_of(page)) == {"zyx bound"}
