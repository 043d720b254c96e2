"""The glossary has only words that the rest of the project uses, each once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.house.rules import project_files

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/glossary.md"


def words_of(page: str) -> list[str]:
    """The words in the first column of every table; a row may define several."""
    cells = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    return [word.strip() for cell in cells if cell != "word" for word in cell.split(",")]


def unused(words: list[str]) -> set[str]:
    """The words that no source or page has, except the glossary and tests, which may have any word."""
    left = set(words)
    for path, text in project_files(ROOT).items():
        if path != PAGE and not path.startswith("tests/") and path.endswith((".cc", ".h", ".md", ".py", ".yaml")):
            lower = text.lower()
            left = {word for word in left if re.sub(r" \(.*\)", "", word).lower() not in lower}
    return left


def test_words_are_in_use() -> None:
    words = words_of((ROOT / PAGE).read_text(encoding="utf-8"))
    assert len(words) > 40
    assert [word for word, count in Counter(words).items() if count > 1] == ["exact"]  # a meaning, and a verdict
    assert unused(words) == set()


def test_an_unused_word_is_found() -> None:
    page = "| word | meaning |\n|---|---|\n| zyx bound, case (of x) | One. |\n"
    assert words_of(page) == ["zyx bound", "case (of x)"]
    assert unused(words_of(page)) == {"zyx bound"}
